//! The journal as a store keeps it: records in the order in which they were handled, found by what they are about.

use std::sync::Arc;

use aizuchi_core::types::{MessageId, PersonId, RoomId, Voice};
use aizuchi_core::{Input, Time};

use super::{BaseMark, BoxFuture, EngineState, PersonName, Replacement, TalkWrite};
use crate::stores::StoreError;

/// Something that happened, and when it was handled.
#[derive(Clone, Debug)]
pub struct Record {
    pub seq: i64,
    /// The engine that handled it.
    pub shard: u32,
    pub at: Time,
    pub input: Input,
}

/// A record that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    pub seq: i64,
    pub what: String,
}

/// What is to be recorded.
#[derive(Clone)]
pub enum JournalEntry {
    Input(Time, Input),
    /// What a platform stores itself: in the same commit as the record of it.
    Talk(Time, TalkWrite),
}

/// What was recorded.
pub struct Appended {
    /// The number of the last record.
    pub seq: u64,
    /// What came of each [`JournalEntry::Talk`], in their order. Each may fail alone.
    pub stored: Vec<Result<Option<Input>, StoreError>>,
}

/// Records and what follows from rewriting them.
pub trait JournalStore: Send + Sync {
    /// Records what happened, in this order, in one commit, and returns when it is durable.
    fn append<'a>(&'a self, shard: usize, entries: &'a [JournalEntry]) -> BoxFuture<'a, Result<Appended, StoreError>>;

    /// The first records of a range, oldest first: as many as are read at once. None if there are no more.
    fn page<'a>(&'a self, range: &'a Range) -> BoxFuture<'a, Result<Vec<Result<Record, Unreadable>>, StoreError>>;

    /// The number of a record; `None` if there is no such record.
    fn locate(&self, position: Position) -> BoxFuture<'_, Result<Option<i64>, StoreError>>;

    /// Changes what is kept, in one commit. `false` if the states that the journal begins with are not those of the mark any
    /// more: then nothing was changed.
    fn rewrite(&self, rewrite: Arc<Rewrite>, base: Option<NewBase>) -> BoxFuture<'_, Result<bool, StoreError>>;

    /// Lets go of some of the records up to `seq`, and of some of the decisions before `at`.
    fn prune(&self, seq: i64, at: Time) -> BoxFuture<'_, Result<Pruned, StoreError>>;
}

/// What was let go of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pruned {
    pub records: u64,
    /// Whether there may be more to let go of.
    pub more: bool,
}

/// Finds records without reading the others.
pub trait JournalIndex: Send + Sync {
    /// The numbers of these records, in their order.
    fn select<'a>(&'a self, selection: &'a Selection) -> BoxFuture<'a, Result<Vec<i64>, StoreError>>;

    /// The records of these numbers, as far as they are there.
    fn read<'a>(&'a self, seqs: &'a [i64]) -> BoxFuture<'a, Result<Vec<Result<Record, Unreadable>>, StoreError>>;

    /// Everybody who said something, by every name they went by; the bot aside.
    fn names(&self) -> BoxFuture<'_, Result<Vec<PersonName>, StoreError>>;

    /// How many records there are.
    fn count(&self) -> BoxFuture<'_, Result<u64, StoreError>>;
}

/// A part of the journal, to be read in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// Only of this room.
    pub room: Option<RoomId>,
    /// Only of these kinds; of all if there are none.
    pub kinds: &'static [RecordKind],
    /// From the record that follows this one, up to and including that one.
    pub after: i64,
    pub up_to: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    First,
    Last,
    /// So many before the last one, of a room or of all.
    BeforeLast(Option<RoomId>, u32),
    /// The first that was handled at this time or later.
    Since(Time),
    /// The last one that is part of every snapshot.
    InEverySnapshot,
}

/// What is to be changed in one commit.
#[derive(Default)]
pub struct Rewrite {
    /// Records, and what takes their place.
    pub records: Vec<(i64, Input)>,
    pub decisions: Vec<Replacement>,
    /// Rooms whose records go as far as the snapshot of their engine holds them, and whose decisions go.
    pub rooms: Vec<RoomId>,
    pub snapshot: Option<EngineState>,
}

/// The states that the journal is to begin with, in place of those of the mark.
pub struct NewBase {
    pub instead_of: BaseMark,
    pub states: Vec<EngineState>,
}

/// Records that have something in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// By one of these people, or with a link to them: a mention, a reply.
    People(Vec<PersonId>),
    /// Said, changed or reacted to.
    Messages(Vec<(RoomId, MessageId)>),
    Of(RecordKind),
    /// Of a room, handled at this instant.
    At(Vec<(RoomId, Time)>),
}

/// What a record is by its nature, where that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// The bot said it, or a model wrote it for the bot.
    Own = 1,
    /// A message was edited or deleted.
    Changed = 2,
    /// A command.
    Told = 3,
}

/// By what a record is found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys<'a> {
    pub kind: Option<RecordKind>,
    /// Whose it is, and the name they went by.
    pub person: Option<&'a PersonId>,
    pub name: Option<&'a str>,
    /// The message it is about.
    pub message: Option<&'a MessageId>,
    /// Who else it has a link to.
    pub mentions: Vec<&'a PersonId>,
}

impl<'a> Keys<'a> {
    pub fn of(input: &'a Input) -> Keys<'a> {
        match input {
            Input::Said(message) => {
                let own = message.author.voice == Voice::Me;
                let replied = message.reply.as_ref().and_then(|reply| reply.to_person.as_ref());
                let mut mentions: Vec<&PersonId> = message.mentions.iter().chain(replied).collect();
                mentions.sort();
                mentions.dedup();
                Keys {
                    kind: own.then_some(RecordKind::Own),
                    person: (!own).then_some(&message.author.id),
                    name: (!own).then_some(&*message.author.name),
                    message: Some(&message.id),
                    mentions,
                }
            }
            Input::Changed(change) => {
                Keys { kind: Some(RecordKind::Changed), message: Some(&change.id), ..Keys::default() }
            }
            Input::Reacted(reaction) => {
                Keys { person: Some(&reaction.by), message: Some(&reaction.message), ..Keys::default() }
            }
            Input::Judged(..) | Input::Written(..) | Input::ToolCalls(..) | Input::ToolResult(..) => {
                Keys { kind: Some(RecordKind::Own), ..Keys::default() }
            }
            Input::Told(..) => Keys { kind: Some(RecordKind::Told), ..Keys::default() },
            Input::PolicyChanged(_)
            | Input::Tick
            | Input::Resumed
            | Input::Delivered(..)
            | Input::Recalled(..)
            | Input::Remembered(..)
            | Input::Refused(..)
            | Input::Scheduled(..)
            | Input::Billed(..)
            | Input::Siblings(..)
            | Input::ClockSet(_)
            | Input::Forgotten => Keys::default(),
        }
    }
}

impl Selection {
    /// Whether a record is one of them: what every index has to agree with.
    pub fn has(&self, record: &Record) -> bool {
        let (keys, room) = (Keys::of(&record.input), record.input.room());
        match self {
            Selection::People(people) => keys.person.iter().chain(&keys.mentions).any(|id| people.contains(id)),
            Selection::Messages(messages) => {
                messages.iter().any(|(of, message)| Some(of) == room && Some(message) == keys.message)
            }
            Selection::Of(kind) => keys.kind == Some(*kind),
            Selection::At(instants) => instants.iter().any(|(of, at)| Some(of) == room && *at == record.at),
        }
    }
}
