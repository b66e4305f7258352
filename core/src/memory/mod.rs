//! What is remembered beyond the talk of the moment: facts, people, what a channel is about; who may know what of it, and
//! what of it fits. Only the arithmetic is here: stores keep it, models write it.

mod change;
mod channel;
mod context;
mod digest;
mod fact;
mod forgetting;
mod memories;
mod merge;
mod people;
mod query;
pub mod rank;
mod sketch;
mod walls;
pub mod words;

pub use change::{ExportItem, HeardFrom, Layer, Marks, MemoryChange};
pub use channel::{ChannelMemory, MESSAGES_MAX};
pub use context::{ContextTurn, context_of};
pub use digest::Reflection;
pub use digest::Summary;
pub use digest::{DigestLine, read_reflection, read_summary};
pub use fact::{Fact, FactDraft, FactId, FadedFacts, to_forget};
pub use forgetting::{ForgetRequest, Recognizer};
pub use memories::Memories;
pub use merge::{MergeOutcome, compare};
pub use people::Remark;
pub use people::{Familiarity, KnownPerson, Note, Person};
pub use query::{Candidate, Filter, PersonExport, Query, Recalled, SearchOptions, recall};
pub use sketch::sketch;
pub use walls::{Allowed, Origin, allowed, house, narrower};
