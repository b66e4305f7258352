//! What was sent to a platform under which key, for platforms on other servers: a post can succeed without our knowing, so
//! it is recorded before it is sent. The web room needs no ledger: its posts are rows of its own talk, stored once under
//! their keys.

use std::collections::HashSet;

use aizuchi_core::types::Time;

use super::BoxFuture;
use crate::stores::StoreError;

/// The name of a post, which never changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostKey<'a> {
    pub platform: &'a str,
    pub key: &'a str,
}

/// What is recorded of a post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostProgress {
    New,
    /// Begun at this time, and perhaps posted.
    Begun(Time),
    /// Posted, with the platform's id.
    Posted(String),
}

pub trait PostLedger: Send + Sync {
    /// Records durably that a post is about to be sent, unless that is recorded already. Returns what was known before.
    fn begin<'a>(&'a self, post: PostKey<'a>, now: Time) -> BoxFuture<'a, Result<PostProgress, StoreError>>;

    /// The same for a post that was begun at `before` and is not there: it is begun again. `false` if another process was faster.
    fn begin_again<'a>(&'a self, post: PostKey<'a>, before: Time, now: Time)
    -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Whether other processes send posts of the same names.
    fn has_others(&self) -> bool {
        false
    }

    /// Records the id of a post. The first id that is recorded stays; for a post that was never begun, nothing is recorded.
    fn posted<'a>(&'a self, post: PostKey<'a>, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;

    /// The post was certainly not sent: it is new again. One that has an id stays.
    fn withdraw<'a>(&'a self, post: PostKey<'a>) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Which of these ids belong to a recorded post.
    fn taken<'a>(&'a self, platform: &'a str, ids: &'a [String]) -> BoxFuture<'a, Result<HashSet<String>, StoreError>>;

    /// Deletes what was begun before this time.
    fn sweep<'a>(&'a self, platform: &'a str, before: Time) -> BoxFuture<'a, Result<(), StoreError>>;
}
