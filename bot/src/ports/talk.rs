//! Talk that a platform stores itself.

use std::sync::Arc;

use aizuchi_core::Input;
use aizuchi_core::types::{MessageId, PersonId, RoomId, Time, Voice};

use super::{BoxFuture, WebChange};
use crate::stores::StoreError;

/// A change of talk that a platform stores itself, in one commit with its record. It may run several times: whenever the
/// whole commit is retried.
#[derive(Clone)]
pub struct TalkWrite {
    pub change: WebChange,
    finishes: Vec<Finish>,
}

type Finish = Arc<dyn Fn(&mut Input) + Send + Sync>;

impl TalkWrite {
    pub fn new(change: WebChange) -> TalkWrite {
        TalkWrite { change, finishes: Vec::new() }
    }

    /// Adds a function that completes the resulting input before it is recorded.
    pub fn finished_by(mut self, finish: impl Fn(&mut Input) + Send + Sync + 'static) -> TalkWrite {
        self.finishes.push(Arc::new(finish));
        self
    }

    /// The input as it is recorded.
    pub fn finish(&self, mut input: Input) -> Input {
        self.finishes.iter().for_each(|finish| finish(&mut input));
        input
    }
}

/// The talk that a platform stores itself, perhaps for longer than the journal.
pub trait OwnTalk: Send + Sync {
    fn utterances<'a>(&'a self, by: TalkOf<'a>) -> BoxFuture<'a, Result<Vec<StoredUtterance>, StoreError>>;

    /// Everybody it knows with a name, except the bot; a person with several names is listed several times.
    fn names(&self) -> BoxFuture<'_, Result<Vec<PersonName>, StoreError>>;
}

/// A person, and a name they use.
pub type PersonName = (PersonId, Box<str>);

/// Which part of the talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TalkOf<'a> {
    People(&'a [PersonId]),
    Bot,
    Room(&'a RoomId),
}

/// A stored message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredUtterance {
    pub room: RoomId,
    pub id: MessageId,
    pub at: Time,
    pub by: PersonId,
    pub name: Box<str>,
    pub voice: Voice,
    pub text: Box<str>,
    pub reply: Option<MessageId>,
    pub deleted: bool,
}
