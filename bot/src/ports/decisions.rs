//! What was decided about each message, as a store keeps it.

use std::sync::Arc;

use aizuchi_core::types::{MessageId, PersonId, RoomId};
use aizuchi_core::{Time, Trace};

use super::BoxFuture;
use crate::stores::StoreError;

pub trait DecisionStore: Send + Sync {
    /// Keeps them, sometime soon. A message heard again keeps the decision of the first time, and what people made of a decision
    /// is added to it: its times stay those of when it was made, also if the clock was set since.
    fn keep(&self, decided: Arc<[Trace]>) -> BoxFuture<'_, Result<(), StoreError>>;

    fn find<'a>(&'a self, query: DecisionQuery<'a>) -> BoxFuture<'a, Result<Vec<StoredDecision>, StoreError>>;

    /// The first decisions of a part by room and message, after this one: as many as are read at once. None if there are no
    /// more.
    fn page<'a>(
        &'a self,
        part: DecisionPart<'a>,
        after: Option<(&'a RoomId, &'a MessageId)>,
    ) -> BoxFuture<'a, Result<Vec<StoredDecision>, StoreError>>;

    /// The messages that were decided last, in a room or in all; only those whose id holds this text.
    fn latest<'a>(
        &'a self,
        room: Option<&'a RoomId>,
        holding: &'a str,
        count: u32,
    ) -> BoxFuture<'a, Result<Vec<MessageId>, StoreError>>;

    /// The rooms in which anything was decided.
    fn rooms(&self) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>>;

    /// The clock was set back: what was decided by the old one comes before what is decided from now on.
    fn reorder(&self, now: Time) -> BoxFuture<'_, Result<(), StoreError>>;
}

/// Which decisions: at most a few.
#[derive(Clone, Copy, Debug)]
pub enum DecisionQuery<'a> {
    /// About a message; without a room, the latest of that id.
    Message(Option<&'a RoomId>, &'a MessageId),
    Messages(&'a RoomId, &'a [MessageId]),
    /// The latest of a room or of all that is wanted.
    Latest(Option<&'a RoomId>, fn(&Trace) -> bool),
}

/// Which decisions: perhaps many.
#[derive(Clone, Copy, Debug)]
pub enum DecisionPart<'a> {
    All,
    /// About what somebody said.
    By(&'a PersonId),
    /// With words of a model.
    Worded,
    /// Of a room, with words of a model or not to be read.
    WordedIn(&'a RoomId),
}

#[derive(Clone, Debug)]
pub struct StoredDecision {
    pub room: RoomId,
    pub message: MessageId,
    /// As it is stored: to look for names in it, and to tell whether it is still the same.
    pub body: String,
    /// `Err` says why it cannot be read.
    pub trace: Result<Trace, String>,
}

/// A decision that must not stay as it is. One that was decided anew since is left alone.
#[derive(Clone, Debug)]
pub struct Replacement {
    pub room: RoomId,
    pub message: MessageId,
    pub before: String,
    /// `None` if all of it goes.
    pub after: Option<Box<Trace>>,
}
