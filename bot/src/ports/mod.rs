//! What the shell needs of the outside world. Small on purpose: an adapter is one file behind one of these.

mod decisions;
mod inbox;
mod journal;
mod keeper;
mod marks;
mod memory;
mod models;
mod platform;
mod platform_stores;
mod posts;
mod recent;
mod snapshots;
mod stores;
mod talk;
mod web_talk;

use std::pin::Pin;

pub use decisions::{DecisionPart, DecisionQuery, DecisionStore, Replacement, StoredDecision};
pub use inbox::{ArrivedThreads, Inbox, InboxEntry, Pending};
pub use journal::{
    Appended, Entry, JournalIndex, JournalStore, Keys, Kind, NewBase, Position, Pruned, Range, Record, Rewrite,
    Selection, Unreadable,
};
pub use keeper::{ForgetJobs, JobStep, KeeperStore};
pub use marks::{ChannelMark, ChannelMarks, MarkChange};
pub use memory::{Memory, MemoryCatalog};
pub use models::{
    By, Digest, Embedder, Mind, ModelError, Prompt, Provider, Reply, Request, Schema, Thinking, Turn, Wording, bill,
};
pub use platform::{Caller, Commands, Platform, PostError, Posting};
pub use platform_stores::PlatformStores;
pub use posts::{PostKey, PostLedger, PostProgress};
pub use recent::RecentMessages;
pub use snapshots::{BaseMark, EngineState, SnapshotStore, StateKind, StoredState, StoredStates};
pub use stores::{Settled, StoreFiles, Stores};
pub use talk::{OwnTalk, PersonName, TalkOf, TalkWrite, Utterance};
pub use web_talk::{
    Speaker, WebBody, WebChange, WebDecision, WebFound, WebHistory, WebLook, WebMessage, WebRoom, WebSession,
    WebSessions, WebTalk, WebWrite,
};

/// Something that is under way. Dropping it cancels it.
pub type Doing<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
