//! Which connections of a platform this process has, where several processes share them.

use std::collections::BTreeSet;

use tokio::sync::watch;

use super::{BoxFuture, Tenure};

/// The part of the connections that this process has.
#[derive(Clone, Debug)]
pub struct ShardShare {
    /// How many there are in all: every process that runs now goes by the same number.
    pub count: u32,
    /// The shards of this process. The platform closes a connection that is not among them any more, and then releases it.
    pub ours: watch::Receiver<OwnShards>,
}

#[derive(Clone, Debug, Default)]
pub struct OwnShards {
    pub shards: BTreeSet<u32>,
    /// As long as what is heard on them may be handed on, if that can end: another process may have them then.
    pub tenure: Option<Tenure>,
}

pub trait ShardClaims: Send + Sync {
    /// Takes part. `count` is how many connections the platform wants, if no other process has decided that already.
    fn claim(&self, count: u32) -> BoxFuture<'_, ShardShare>;

    /// This connection is closed: another process may have it.
    fn release(&self, shard: u32);

    /// All connections are closed for good: other processes may have all of them.
    fn leave(&self);

    /// Waits until a connection may begin a new session: of those of one bucket one at a time, over all processes.
    fn wait_for_turn(&self, bucket: u32) -> BoxFuture<'_, ()>;
}
