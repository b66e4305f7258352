//! Every change of memory.

use serde::{Deserialize, Serialize};

use super::{Answered, ChannelMemory, Fact, FactDraft, FactId, Note, Origin, Person, PersonNames, Tie};
use crate::types::{MessageId, PersonId, RoomId, Time};

/// A list of these is applied atomically.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum MemoryChange {
    /// The channel was summarized up to the record `up_to`. Ignored if that was done before.
    Summarized(Box<ChannelMemory>),
    /// The talk up to the record `up_to` was reflected on. Ignored if that was done before.
    Reflected {
        origin: Origin,
        up_to: u64,
        at: Time,
        facts: Vec<FactDraft>,
        people: Vec<Note>,
    },
    /// Somebody said something. Ignored if it was counted before.
    Heard(Box<HeardFrom>),
    /// Somebody answered somebody.
    Answered(Box<Answered>),
    /// A fact entered by a person.
    Kept(Box<FactDraft>),
    /// An entry of an export. A fact gets a new number; people who are known here already stay as they are, and so do the
    /// ties between people.
    Imported(Box<ExportItem>),
    /// These helped to write an answer.
    Used {
        facts: Vec<FactId>,
        at: Time,
    },
    /// It was mentioned unasked.
    Told {
        fact: FactId,
        room: RoomId,
        at: Time,
    },
    Edited {
        fact: FactId,
        content: Box<str>,
        keywords: Vec<Box<str>>,
    },
    Pinned {
        fact: FactId,
        pinned: bool,
    },
    Forgotten {
        fact: FactId,
    },
    /// The embedding of the fact by this model. Ignored if the content of the fact has changed.
    Embedded {
        fact: FactId,
        content: Box<str>,
        model: Box<str>,
        vector: Vec<f32>,
    },
    /// A message was deleted, or edited into something else: what rests on it alone is deleted.
    MessageGone {
        room: RoomId,
        message: MessageId,
    },
    /// Fewer people can read the room than before.
    Narrowed {
        origin: Origin,
    },
    /// Deletes everything about a person, what rests on their words, and what mentions them by one of these names where these
    /// count; and the summaries of these rooms, and of those they are known to have spoken in.
    PersonForgotten {
        person: PersonId,
        names: PersonNames,
        rooms: Vec<RoomId>,
    },
    RoomForgotten {
        room: RoomId,
    },
    /// Whether a person opted out; what is known of them by their id is deleted at once.
    OptedOut {
        person: PersonId,
        out: bool,
    },
    /// Time has passed: what is too weak now is deleted.
    Faded {
        at: Time,
    },
}

/// One line of an export.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExportItem {
    Fact(Fact),
    Person(Person),
    Channel(ChannelMemory),
    Tie(Tie),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeardFrom {
    pub origin: Origin,
    /// The record of the journal.
    pub up_to: u64,
    pub message: MessageId,
    pub person: PersonId,
    pub name: Box<str>,
    pub at: Time,
    pub mentions_me: bool,
    /// Its topics, determined without a model: see [`super::words::topics`].
    pub topics: Vec<Box<str>>,
}

/// How far a room's records were read, for each purpose; 0 means not at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    pub summarized: u64,
    pub reflected: u64,
    pub heard: u64,
}

impl Marks {
    /// The same, but not beyond this record.
    #[must_use]
    pub fn up_to(self, last: u64) -> Marks {
        let Marks { summarized, reflected, heard } = self;
        Marks { summarized: summarized.min(last), reflected: reflected.min(last), heard: heard.min(last) }
    }
}

impl MemoryChange {
    /// Whether words have to be removed from the store for good.
    pub fn forgets(&self) -> bool {
        match self {
            MemoryChange::Edited { .. }
            | MemoryChange::Forgotten { .. }
            | MemoryChange::MessageGone { .. }
            | MemoryChange::PersonForgotten { .. }
            | MemoryChange::RoomForgotten { .. }
            | MemoryChange::OptedOut { .. } => true,
            MemoryChange::Summarized(_)
            | MemoryChange::Reflected { .. }
            | MemoryChange::Heard(_)
            | MemoryChange::Answered(_)
            | MemoryChange::Kept(_)
            | MemoryChange::Imported(_)
            | MemoryChange::Used { .. }
            | MemoryChange::Told { .. }
            | MemoryChange::Pinned { .. }
            | MemoryChange::Embedded { .. }
            | MemoryChange::Narrowed { .. }
            | MemoryChange::Faded { .. } => false,
        }
    }
}

/// What can be kept in a separate store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    Channels,
    People,
    Facts,
}
