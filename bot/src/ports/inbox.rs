//! What arrived at a platform and is not handled yet, and what arrived before: kept before it is acknowledged, so that neither a
//! crash loses anything nor a redelivery counts twice.

use aizuchi_core::types::Time;

use super::{BoxFuture, MarkChange};
use crate::stores::StoreError;

/// Something that arrived.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InboxEntry {
    /// The same however often it arrives.
    pub key: String,
    /// The thread it belongs to. Known as long as the key is.
    pub thread: Option<String>,
    /// What is to be handled, as the platform writes it; none where it is enough to know that it arrived.
    pub body: Option<String>,
    /// What it says of its channel, recorded in the same commit.
    pub mark: Option<MarkChange>,
}

/// Something that is to be handled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingEntry {
    /// Counts up in the order of arrival.
    pub seq: u64,
    pub body: String,
}

pub trait Inbox: Send + Sync {
    /// Keeps durably, in one commit, what did not arrive before. Returns how many entries that were.
    fn keep<'a>(
        &'a self,
        platform: &'a str,
        entries: Vec<InboxEntry>,
        now: Time,
    ) -> BoxFuture<'a, Result<usize, StoreError>>;

    /// Some of what is to be handled, in the order of arrival, behind the entry `after`.
    fn pending<'a>(
        &'a self,
        platform: &'a str,
        after: u64,
        at_most: usize,
    ) -> BoxFuture<'a, Result<Vec<PendingEntry>, StoreError>>;

    /// Everything up to the entry `up_to` was handled: its bodies are deleted, and that it arrived stays known. After a crash it
    /// may be pending again.
    fn handled<'a>(&'a self, platform: &'a str, up_to: u64) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Replaces what is to be handled; with `None` there is nothing to handle. An entry that was handled stays as it is.
    fn amend<'a>(
        &'a self,
        platform: &'a str,
        bodies: Vec<(u64, Option<String>)>,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Forgets that handled entries of before this time ever arrived.
    fn sweep<'a>(&'a self, platform: &'a str, before: Time) -> BoxFuture<'a, Result<(), StoreError>>;
}

/// The threads of what arrived lately, handled or not.
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
