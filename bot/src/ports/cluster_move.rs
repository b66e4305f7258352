//! How a store of a single process becomes that of a cluster, and back.

use aizuchi_core::siblings::Siblings;
use aizuchi_core::types::RoomId;

use super::{BoxFuture, EngineState, NewBase};
use crate::stores::StoreError;

/// A room of a single process that a cluster is to go on with.
#[derive(Clone, Debug)]
pub struct OfferedRoom {
    pub room: RoomId,
    /// As that of an engine.
    pub number: usize,
    /// As the cluster keeps it.
    pub state: Vec<u8>,
}

/// All rooms of a single process.
pub struct RoomOffer {
    pub rooms: Vec<OfferedRoom>,
    /// The journal begins with these from now on: each room has an engine of its own.
    pub base: NewBase,
    /// What rooms of one kind are like.
    pub siblings: Siblings,
}

/// Whose the rooms of a database are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoomsOwner {
    Cluster,
    /// A cluster's, and a single process has recorded something after it.
    Disputed,
    /// The cluster was left, and nothing was recorded since.
    JustLeft,
    /// The cluster was left, and a single process has recorded something since.
    SingleSinceLeft,
    /// They were never a cluster's.
    Single,
}

pub trait ClusterMoves: Send + Sync {
    /// Where a single process has recorded something and no cluster has yet: the first number that a room may have.
    fn first_number(&self) -> BoxFuture<'_, Result<Option<usize>, StoreError>>;

    /// Hands the rooms of a single process over to a cluster, in one commit. `false` if the journal has been rewritten meanwhile.
    fn offer_rooms(&self, offer: RoomOffer) -> BoxFuture<'_, Result<bool, StoreError>>;

    /// The rooms that were handed over and that the cluster has not taken yet.
    fn offered_rooms(&self) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>>;

    fn rooms_owner(&self) -> BoxFuture<'_, Result<RoomsOwner, StoreError>>;

    /// A few rooms of the cluster of which something is recorded, whichever are found first; none if there are none.
    fn heard_rooms(&self, at_most: u32) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>>;

    /// Every room of the cluster, with the number of its records.
    fn record_counts(&self) -> BoxFuture<'_, Result<Vec<(RoomId, u64)>, StoreError>>;

    /// Hands the rooms of a cluster over to a single process, as its snapshots, in one commit, with which their presets go too. `false` if
    /// the rooms do not have exactly these records any more, something waits for one of them, or they are not a cluster's alone.
    fn end_cluster(
        &self,
        snapshots: Vec<EngineState>,
        records: Vec<(RoomId, u64)>,
    ) -> BoxFuture<'_, Result<bool, StoreError>>;
}
