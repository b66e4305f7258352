//! The chat platforms, and the commands people give there.

use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::types::{ClockShift, MessageId, PersonId, Place};

use super::{BoxFuture, OwnTalk};
use crate::language::Language;
use crate::stores::StoreError;

/// A chat platform. Its rooms are named `name:room`.
pub trait Platform: Send + Sync {
    /// The prefix of its rooms' names.
    fn name(&self) -> &'static str;

    /// Posts one part of an answer. Called again with the same key, it finds the first post instead of posting twice.
    fn post<'a>(&'a self, posting: PostRequest<'a>) -> BoxFuture<'a, Result<MessageId, PostError>>;

    /// Adds a reaction; adding it again changes nothing.
    fn react<'a>(&'a self, place: &'a Place, to: &'a MessageId, emoji: &'a str)
    -> BoxFuture<'a, Result<(), PostError>>;

    /// Deletes one of its own posts; deleting it again changes nothing.
    fn withdraw<'a>(&'a self, place: &'a Place, _post: &'a MessageId) -> BoxFuture<'a, Result<(), PostError>> {
        Box::pin(async move { Err(PostError::GiveUp { what: format!("a post cannot be deleted in {place}") }) })
    }

    /// Shows a typing indicator for a few seconds.
    fn typing<'a>(&'a self, place: &'a Place) -> BoxFuture<'a, ()>;

    /// Why it has stopped until a person helps; `None` while it is connected or reconnecting.
    fn stopped(&self) -> Option<String> {
        None
    }

    /// Whether its messages carry the time of our own clock.
    fn dates_by_our_clock(&self) -> bool {
        false
    }

    /// How far our clock is ahead of the one that dates its messages.
    fn clock_ahead(&self) -> ClockShift {
        ClockShift(0)
    }

    /// The talk that it stores itself, if it does.
    fn own_talk(&self) -> Option<&dyn OwnTalk> {
        None
    }

    /// Deletes what the platform itself keeps of a person: names, words, what was not handled yet, and answers to them.
    fn forget<'a>(&'a self, _request: &'a Arc<ForgetRequest>) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }
}

#[derive(Clone, Copy, Debug)]
pub struct PostRequest<'a> {
    /// Always the same for this part of this answer.
    pub key: &'a str,
    pub place: &'a Place,
    pub text: &'a str,
    /// The message it answers, on the first part.
    pub answering: Option<&'a MessageId>,
    /// Whether further parts of the answer follow.
    pub more: bool,
}

/// Why a post failed, as far as the caller can act on it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PostError {
    #[error("{what}")]
    TryLater { after: Option<Duration>, what: String },
    #[error("{what}")]
    GiveUp { what: String },
}

/// Slash commands, the same on every platform. Answers are visible to the caller alone.
pub trait Commands: Send + Sync {
    /// `text` is the command without its slash: `mute 2h`, `why`, `channel off`. The answer is in the caller's language.
    fn run<'a>(&'a self, text: &'a str, caller: &'a Caller, place: &'a Place) -> BoxFuture<'a, String>;
}

/// Who runs a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    pub person: PersonId,
    /// Whether this person may change settings here.
    pub manages: bool,
    pub language: Language,
}
