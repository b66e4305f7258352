//! What the shell needs of the outside world. Small on purpose: an adapter is one file behind one of these.

#[cfg(feature = "cluster")]
mod cluster;
#[cfg(feature = "cluster")]
mod cluster_move;
mod copy;
mod decisions;
mod inbox;
mod journal;
mod keeper;
mod marks;
mod memory;
mod models;
mod page_notices;
mod platform;
mod platform_stores;
mod posts;
mod recent;
mod shard_claims;
mod snapshots;
mod stores;
mod talk;
mod tenure;
mod tools;
mod web_talk;

pub use futures_util::future::BoxFuture;

#[cfg(feature = "cluster")]
pub use cluster::{
    ClusterStore, GatewayNumber, PoliciesId, RecordOutcome, RecordedBatch, RoomBatch, RoomSpending, SetAside,
    TotalLimit, UnreadableUnsent, Unsent, UnsentRows,
};
#[cfg(feature = "cluster")]
pub use cluster_move::{ClusterMoves, OfferedRoom, RoomOffer, RoomsOwner};
pub use copy::{COPY_TABLES, COPYING_TABLE, Cell, CopyRow, CopyScope, CopySource, CopyStore, CopyTable};
pub use decisions::{DecisionPart, DecisionQuery, DecisionStore, Replacement, StoredDecision};
pub use inbox::{ArrivedThreads, Inbox, InboxEntry, PendingEntry};
pub use journal::{
    Appended, JournalEntry, JournalIndex, JournalStore, Keys, NewBase, OldRecords, Position, Pruned, Range, Record,
    RecordKind, Rewrite, Selection, Unreadable,
};
pub use keeper::{ForgetJobs, JobStep, KeeperStore};
pub use marks::{ChannelMark, ChannelMarks, MarkChange};
pub use memory::{Memory, MemoryCatalog, MemoryStore, WaitDeadline, WaitLimit};
pub use models::{
    DigestRequest, Draft, Embedder, ModelClient, ModelError, ModelProvider, ModelReply, ModelRequest, Prompt,
    PromptBuilder, PromptTools, PromptTurn, RequestedCall, Role, Schema, Thinking, bill,
};
pub use page_notices::{PageNotice, PageNotices};
pub use platform::{Caller, Commands, Platform, PostError, PostRequest};
pub use platform_stores::PlatformStores;
pub use posts::{PostKey, PostLedger, PostProgress};
pub use recent::{LateRooms, RecentMessages, UnrecordedInputs};
pub use shard_claims::{OwnShards, ShardClaims, ShardShare};
pub use snapshots::{BaseMark, EngineState, SnapshotStore, StateKind, StoredState, StoredStates};
pub use stores::{FileCleanup, JournalId, StoreBackend, StoreCondition, StoreFiles, StoreKind, Stores};
pub use talk::{OwnTalk, PersonName, StoredUtterance, TalkOf, TalkWrite};
pub use tenure::Tenure;
pub use tools::{Tool, ToolRequest, ToolSource, ToolSpec};
pub use web_talk::{
    Speaker, WebBody, WebChange, WebDecision, WebHistory, WebMessage, WebQuery, WebQueryResult, WebRoom, WebSession,
    WebSessions, WebTalk, WebWrite,
};
