//! What is remembered beyond the current talk: facts, people and who answers whom, what a channel is about; who may know
//! which part of it, and what matches a question. Only the logic is here: stores keep the data, models write it.

mod asked;
mod change;
mod channel;
mod context;
mod contradict;
mod digest;
mod fact;
mod forgetting;
mod memories;
mod merge;
mod own_part;
mod people;
mod person_names;
mod query;
pub mod rank;
mod resembling;
mod same;
mod sketch;
mod ties;
mod walls;
pub mod words;

pub use asked::{ForgetTopic, asked_to_forget, asked_to_forget_by, changes_to_unsay};
pub use change::{ExportItem, HeardFrom, Layer, Marks, MemoryChange};
pub use channel::{ChannelMemory, MESSAGES_MAX};
pub use context::{ContextTurn, context_of};
pub use contradict::contradicts;
pub use digest::Reflection;
pub use digest::Summary;
pub use digest::{DigestLine, read_reflection, read_summary};
pub use fact::{Fact, FactDraft, FactId, FadedFacts, Former, Wording, to_forget, weakest_beyond};
pub use forgetting::{ForgetRequest, PersonMatcher, Recognizer};
pub use memories::Memories;
pub use merge::{MergeOutcome, compare};
pub use own_part::OwnPart;
pub use people::Remark;
pub use people::{EchoedMessage, Familiarity, KnownPerson, Note, Person};
pub use person_names::{NameScope, PersonNames};
pub use query::{Candidate, CloseTo, Filter, PersonExport, Query, Recalled, SearchOptions, recall};
pub use resembling::most_like;
pub use sketch::sketch;
pub use ties::{
    Answered, Frequency, KnownPair, Pair, TIES_MAX, Tie, TieWord, WORDS_SHOWN, pairs as pairs_of_ties,
    weakest as weakest_tie,
};
pub use walls::{Allowed, Origin, allowed, home, house, narrower};
