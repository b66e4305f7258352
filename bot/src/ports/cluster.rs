//! What the rooms of a cluster leave in a store that all its processes share.

use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::policy::StoredPolicies;
use aizuchi_core::room::Cost;
use aizuchi_core::siblings::Siblings;
use aizuchi_core::types::{CallId, RoomId};
use aizuchi_core::usage::TotalSpent;
use aizuchi_core::{Input, Time, Trace};

use super::{BoxFuture, TalkWrite};
use crate::stores::StoreError;

/// A gateway, as long as it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatewayNumber(pub i32);

/// What came of one invocation of a room.
#[derive(Clone, Debug)]
pub struct RoomBatch {
    pub room: RoomId,
    /// How many records of this room there were before these.
    pub after: u64,
    pub records: Vec<(Time, Input)>,
    pub decided: Vec<Trace>,
    pub set_aside: Vec<SetAside>,
    /// The settings by which it was decided; `None` if they had no say in it.
    pub policies: Option<PoliciesId>,
    /// `None` if nothing was spent or reserved, and nothing is to be.
    pub spending: Option<RoomSpending>,
}

impl RoomBatch {
    /// An empty one.
    pub fn new(room: RoomId, after: u64) -> RoomBatch {
        let (records, decided, set_aside) = (Vec::new(), Vec::new(), Vec::new());
        RoomBatch { room, after, records, decided, set_aside, policies: None, spending: None }
    }
}

/// What a room has spent and is about to spend, for the budget over all rooms.
#[derive(Clone, Debug)]
pub struct RoomSpending {
    /// What it has spent by day, for the days that it keeps.
    pub days: Vec<(i64, Cost)>,
    /// The numbers of its calls that are not over.
    pub in_flight: Vec<u64>,
    /// Calls that it wants to make now, by number.
    pub wanted: Vec<(u64, Cost)>,
    pub budget: TotalLimit,
}

/// What all rooms may spend together on a day.
#[derive(Clone, Copy, Debug)]
pub struct TotalLimit {
    /// Today, by the calendar of the room that wants to spend.
    pub today: i64,
    /// Zero is no limit.
    pub limit: Cost,
}

/// What became of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordOutcome {
    /// It is recorded, now or by an attempt before.
    Recorded(RecordedBatch),
    /// An attempt before has recorded what came of the same invocation by other settings, which hold for it.
    DecidedBy(PoliciesId),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedBatch {
    /// The number of its last record.
    pub seq: u64,
    /// By the clock of the store, which is the same for all.
    pub now: Time,
    /// Calls that the budget over all rooms does not allow, by number.
    pub refused: Vec<(u64, TotalSpent)>,
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

/// What a room is to hear and has not been sent yet.
#[derive(Clone, Debug)]
pub struct Unsent {
    /// The same however often it is sent.
    pub id: i64,
    pub at: Time,
    pub input: Input,
}

/// What rooms are to hear and have not been told yet, oldest first.
#[derive(Clone, Debug, Default)]
pub struct UnsentRows {
    pub unsent: Vec<Unsent>,
    /// What this program cannot read.
    pub unreadable: Vec<UnreadableUnsent>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadableUnsent {
    pub id: i64,
    pub room: Option<RoomId>,
    /// Without words of people.
    pub why: String,
}

/// Settings as rooms name them: the same settings have the same number in every process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct PoliciesId(pub u64);

pub trait ClusterStore: Send + Sync {
    /// Records what a room did, in one commit, unless it is recorded already. In the same commit its spending is added to that of all
    /// rooms, and each call that it wants to make is reserved or refused.
    fn record(&self, batch: Arc<RoomBatch>) -> BoxFuture<'_, Result<RecordOutcome, StoreError>>;

    /// Reserves what is to be paid for without a record of the room so far, until its next batch with spending. `false` if the budget
    /// over all rooms does not allow it.
    fn reserve(&self, call: CallId, cost: Cost, budget: TotalLimit) -> BoxFuture<'_, Result<bool, StoreError>>;

    /// What all rooms spent together, by day.
    fn spent_by_day(&self) -> BoxFuture<'_, Result<Vec<(i64, Cost)>, StoreError>>;

    /// Stores what a platform keeps itself, and in the same commit what the room is to hear of it, until that is sent.
    /// `by` is who is to send it.
    fn store_talk(
        &self,
        by: GatewayNumber,
        at: Time,
        write: TalkWrite,
    ) -> BoxFuture<'_, Result<Option<Unsent>, StoreError>>;

    /// These are with their rooms.
    fn sent(&self, ids: Vec<i64>) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Of each room the newest of what a gateway stored that ended before it was sent: one that lives no more, as far as the store knows
    /// that, or stored it so long ago.
    fn newest_left(&self, older_than: Duration) -> BoxFuture<'_, Result<UnsentRows, StoreError>>;

    /// What a room is to hear up to this and has not been sent yet. All of it, or the order would be lost: each process stores no more
    /// than it sends at once.
    fn unsent_up_to(&self, room: RoomId, id: i64) -> BoxFuture<'_, Result<UnsentRows, StoreError>>;

    /// The number of the newest of what is not sent; `None` if everything is.
    fn last_unsent(&self) -> BoxFuture<'_, Result<Option<i64>, StoreError>>;

    /// How much is not sent, of what has a number up to this.
    fn count_unsent(&self, up_to: i64) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// Puts what cannot be read beside the other inputs that were set aside, in one commit: rooms go on without it.
    fn set_aside_unsent(&self, unreadable: Vec<UnreadableUnsent>) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Keeps settings under their number.
    fn keep_policies(&self, id: PoliciesId, stated: StoredPolicies) -> BoxFuture<'_, Result<(), StoreError>>;

    /// From now on these hold, in every process.
    fn hold_policies(&self, id: PoliciesId) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Those that hold now.
    fn held_policies(&self) -> BoxFuture<'_, Result<Option<PoliciesId>, StoreError>>;

    fn policies(&self, id: PoliciesId) -> BoxFuture<'_, Result<Option<StoredPolicies>, StoreError>>;

    /// Adds to what rooms of one kind are like, and returns that of all workers.
    fn share_siblings(&self, seen: Siblings) -> BoxFuture<'_, Result<Siblings, StoreError>>;

    /// The state of a room of a single process that the cluster is to go on with; `None` if there is none.
    fn offered_state(&self, room: RoomId) -> BoxFuture<'_, Result<Option<Vec<u8>>, StoreError>>;

    /// Every room that was ever heard.
    fn rooms(&self) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>>;

    /// Lets go of what was said in a room that is closed for good, wherever it is kept, and of what was decided there.
    fn forget_room(&self, room: RoomId) -> BoxFuture<'_, Result<(), StoreError>>;

    /// What was set aside last.
    fn set_aside(&self, at_most: u32) -> BoxFuture<'_, Result<Vec<SetAside>, StoreError>>;

    /// How much was set aside since so long ago.
    fn count_set_aside(&self, within: Duration) -> BoxFuture<'_, Result<u64, StoreError>>;

    /// Empties what was set aside and may be of these people or about them.
    fn forget_set_aside(&self, request: Arc<ForgetRequest>) -> BoxFuture<'_, Result<(), StoreError>>;
}
