//! The decision about each message, as a store keeps it.

use std::sync::Arc;

use aizuchi_core::types::{MessageId, PersonId, RoomId};
use aizuchi_core::{Time, Trace};

use super::BoxFuture;
use crate::stores::StoreError;

pub trait DecisionStore: Send + Sync {
    /// Stores them soon. A message that is received again keeps its first decision, and people's response to a decision is
    /// added to it: its times stay those of when it was made, even if the clock was set since.
    fn keep(&self, decided: Arc<[Trace]>) -> BoxFuture<'_, Result<(), StoreError>>;

    fn find<'a>(&'a self, query: DecisionQuery<'a>) -> BoxFuture<'a, Result<Vec<StoredDecision>, StoreError>>;

    /// The first decisions of a part ordered by room and message, after this one: one page. Empty if there are no more.
    fn page<'a>(
        &'a self,
        part: DecisionPart<'a>,
        after: Option<(&'a RoomId, &'a MessageId)>,
    ) -> BoxFuture<'a, Result<Vec<StoredDecision>, StoreError>>;

    /// The most recently decided messages, in a room or in all; only those whose id contains this text.
    fn latest<'a>(
        &'a self,
        room: Option<&'a RoomId>,
        holding: &'a str,
        count: u32,
    ) -> BoxFuture<'a, Result<Vec<MessageId>, StoreError>>;

    /// The rooms in which anything was decided.
    fn rooms(&self) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>>;

    /// The clock was set back: decisions made by the old clock are ordered before those made from now on.
    fn reorder(&self, now: Time) -> BoxFuture<'_, Result<(), StoreError>>;
}

/// Which decisions: at most a few.
#[derive(Clone, Copy, Debug)]
pub enum DecisionQuery<'a> {
    /// About a message; without a room, the latest with that id.
    Message(Option<&'a RoomId>, &'a MessageId),
    Messages(&'a RoomId, &'a [MessageId]),
    /// The latest in a room or in all that this function accepts.
    Latest(Option<&'a RoomId>, fn(&Trace) -> bool),
}

/// Which decisions: perhaps many.
#[derive(Clone, Copy, Debug)]
pub enum DecisionPart<'a> {
    All,
    /// About what a person said.
    By(&'a PersonId),
    /// With words of a model.
    Worded,
    /// In a room, those with words of a model or unreadable ones.
    WordedIn(&'a RoomId),
}

#[derive(Clone, Debug)]
pub struct StoredDecision {
    pub room: RoomId,
    pub message: MessageId,
    /// As it is stored: for searching names in it, and for detecting changes.
    pub body: String,
    /// `Err` says why it cannot be read.
    pub trace: Result<Trace, String>,
}

/// A decision that must be changed or deleted. One that was made anew since is left alone.
#[derive(Clone, Debug)]
pub struct Replacement {
    pub room: RoomId,
    pub message: MessageId,
    pub before: String,
    /// `None` if it is deleted.
    pub after: Option<Box<Trace>>,
}
