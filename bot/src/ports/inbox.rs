//! What arrived at a platform and is not handled yet, and what arrived before: stored before it is acknowledged, so that no
//! crash loses anything and no redelivery counts twice.

use aizuchi_core::types::Time;

use super::{BoxFuture, MarkChange};
use crate::stores::StoreError;

/// An arrival.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InboxEntry {
    /// The same however often it arrives.
    pub key: String,
    /// The thread it belongs to. Known as long as the key is.
    pub thread: Option<String>,
    /// What is to be handled, in the platform's format; `None` if it is enough to know that it arrived.
    pub body: Option<String>,
    /// The mark of its channel, stored in the same commit.
    pub mark: Option<MarkChange>,
}

/// An entry that is to be handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingEntry {
    /// Increases in order of arrival.
    pub seq: u64,
    pub body: String,
}

pub trait Inbox: Send + Sync {
    /// Stores durably, in one commit, the entries that did not arrive before. Returns how many there were.
    fn keep<'a>(
        &'a self,
        platform: &'a str,
        entries: Vec<InboxEntry>,
        now: Time,
    ) -> BoxFuture<'a, Result<usize, StoreError>>;

    /// Some of the pending entries, in order of arrival, after the entry `after`.
    fn pending<'a>(
        &'a self,
        platform: &'a str,
        after: u64,
        at_most: usize,
    ) -> BoxFuture<'a, Result<Vec<PendingEntry>, StoreError>>;

    /// Marks everything up to the entry `up_to` as handled: its bodies are deleted, but that it arrived stays known. After
    /// a crash it may be pending again.
    fn handled<'a>(&'a self, platform: &'a str, up_to: u64) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Replaces a pending body; with `None` there is nothing to handle. A handled entry stays as it is.
    fn amend<'a>(
        &'a self,
        platform: &'a str,
        bodies: Vec<(u64, Option<String>)>,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Forgets that entries handled before this time ever arrived.
    fn sweep<'a>(&'a self, platform: &'a str, before: Time) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// The threads of recent arrivals, handled or not.
pub trait ArrivedThreads: Send + Sync {
    fn thread_of<'a>(&'a self, platform: &'a str, key: &'a str) -> BoxFuture<'a, Result<Option<String>, StoreError>>;

    /// Whether something of this thread arrived whose key is between the two.
    fn is_known_between<'a>(
        &'a self,
        platform: &'a str,
        keys: (&'a str, &'a str),
        thread: &'a str,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;
}
