//! What the rooms of a cluster leave in a store that all its processes share.

use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::policy::StoredPolicies;
use aizuchi_core::types::RoomId;
use aizuchi_core::{Input, Time, Trace};

use super::{BoxFuture, TalkWrite};
use crate::stores::StoreError;

/// What came of one invocation of a room.
#[derive(Clone, Debug)]
pub struct RoomBatch {
    pub room: RoomId,
    /// How many records of this room there were before these.
    pub after: u64,
    pub records: Vec<(Time, Input)>,
    pub decided: Vec<Trace>,
    pub set_aside: Vec<SetAside>,
}

/// Something that could not be handled, kept so that the room goes on without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    pub room: RoomId,
    pub at: Time,
    /// As it arrived.
    pub input: String,
    pub error: String,
}

/// What a room is to hear and has not been told yet.
#[derive(Clone, Debug)]
pub struct Unsent {
    /// The same however often it is told.
    pub id: i64,
    pub at: Time,
    pub input: Input,
}

/// Settings as rooms name them: the same settings have the same number in every process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct PoliciesId(pub u64);

pub trait ClusterStore: Send + Sync {
    /// Records what a room did, in one commit, unless it is recorded already. Returns the number of its last record.
    fn record(&self, batch: Arc<RoomBatch>) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// Stores what a platform keeps itself, and in the same commit what the room is to hear of it, until that is sent.
    fn store_talk(&self, at: Time, write: TalkWrite) -> BoxFuture<'_, Result<Option<Unsent>, StoreError>>;

    /// These are with their rooms.
    fn sent(&self, ids: Vec<i64>) -> BoxFuture<'_, Result<(), StoreError>>;

    /// What was stored so long ago that whoever stored it must have ended before it was sent, oldest first.
    fn unsent(&self, older_than: Duration) -> BoxFuture<'_, Result<Vec<Unsent>, StoreError>>;

    /// Keeps settings under their number.
    fn keep_policies(&self, id: PoliciesId, stated: StoredPolicies) -> BoxFuture<'_, Result<(), StoreError>>;

    /// From now on these hold, in every process.
    fn hold_policies(&self, id: PoliciesId) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Those that hold now.
    fn held_policies(&self) -> BoxFuture<'_, Result<Option<PoliciesId>, StoreError>>;

    fn policies(&self, id: PoliciesId) -> BoxFuture<'_, Result<Option<StoredPolicies>, StoreError>>;

    /// Every room that was ever heard.
    fn rooms(&self) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>>;

    /// Lets go of what was said in a room that is closed for good, and of what was decided there.
    fn forget_room(&self, room: RoomId) -> BoxFuture<'_, Result<(), StoreError>>;

    /// What was set aside last.
    fn set_aside(&self, at_most: u32) -> BoxFuture<'_, Result<Vec<SetAside>, StoreError>>;
}
