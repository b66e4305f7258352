//! Talk that a platform keeps itself.

use std::sync::Arc;

use aizuchi_core::Input;
use aizuchi_core::types::{MessageId, PersonId, RoomId, Time, Voice};

use super::{BoxFuture, WebChange};
use crate::stores::StoreError;

/// A change of talk that a platform keeps itself, to be stored in one commit with the record of it. It may be stored several
/// times: whenever the whole commit is tried again.
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

    /// Has the input that comes of it finished by this as well, before it is recorded.
    pub fn finished_by(mut self, finish: impl Fn(&mut Input) + Send + Sync + 'static) -> TalkWrite {
        self.finishes.push(Arc::new(finish));
        self
    }

    /// What is recorded of an input that came of it.
    pub fn finish(&self, mut input: Input) -> Input {
        self.finishes.iter().for_each(|finish| finish(&mut input));
        input
    }
}

/// What a platform keeps of the talk itself, perhaps for longer than the journal.
pub trait OwnTalk: Send + Sync {
    fn utterances<'a>(&'a self, by: TalkOf<'a>) -> BoxFuture<'a, Result<Vec<StoredUtterance>, StoreError>>;

    /// Everybody it knows by a name, the bot aside; somebody of several names several times.
    fn names(&self) -> BoxFuture<'_, Result<Vec<PersonName>, StoreError>>;
}

/// Somebody, and a name they go by.
pub type PersonName = (PersonId, Box<str>);

/// Which part of the talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TalkOf<'a> {
    People(&'a [PersonId]),
    Bot,
    Room(&'a RoomId),
}

/// Something that was said.
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
