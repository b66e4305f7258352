//! What was sent to a platform under which key. It is for platforms that post elsewhere: a post can be out without our knowing, so
//! that it is about to go out is recorded first. The web room needs no ledger: its posts are rows of its own talk, stored once
//! under their keys.

use std::collections::HashSet;

use aizuchi_core::types::Time;

use super::BoxFuture;
use crate::stores::StoreError;

/// The name of a post, the same for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PostKey<'a> {
    pub platform: &'a str,
    pub key: &'a str,
}

/// What was recorded of a post before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostProgress {
    New,
    /// Begun at this time, and perhaps out.
    Begun(Time),
    /// Out, under this id of the platform's.
    Posted(String),
}

pub trait PostLedger: Send + Sync {
    /// Records durably that a post is about to go out, unless that is recorded already. Returns what was known before.
    fn begin<'a>(&'a self, post: PostKey<'a>, now: Time) -> BoxFuture<'a, Result<PostProgress, StoreError>>;

    /// The post is out under this id. The first id that is recorded stays; of a post that was never begun, nothing is.
    fn posted<'a>(&'a self, post: PostKey<'a>, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;

    /// The post is certainly not out: it is new again. One that has an id stays.
    fn withdraw<'a>(&'a self, post: PostKey<'a>) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Which of these ids belong to a recorded post.
    fn taken<'a>(&'a self, platform: &'a str, ids: &'a [String]) -> BoxFuture<'a, Result<HashSet<String>, StoreError>>;

    /// Deletes what was begun before this time.
    fn sweep<'a>(&'a self, platform: &'a str, before: Time) -> BoxFuture<'a, Result<(), StoreError>>;
}
