//! The journal as a store keeps it: records in the order in which they were handled, and indexes to find them.

use std::sync::Arc;

use aizuchi_core::types::{MessageId, PersonId, RoomId, Span, Voice};
use aizuchi_core::{Input, Time};

use super::{BaseMark, BoxFuture, EngineState, PersonName, Replacement, TalkWrite};
use crate::stores::StoreError;

/// An input, and when it was handled.
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
    /// A platform's own data, stored in the same commit as its record.
    Talk(Time, TalkWrite),
}

/// The result of an append.
pub struct Appended {
    /// The number of the last record.
    pub seq: u64,
    /// The result of each [`JournalEntry::Talk`], in order. Each may fail alone.
    pub stored: Vec<Result<Option<Input>, StoreError>>,
}

/// Records, and rewriting them.
pub trait JournalStore: Send + Sync {
    /// Records inputs in this order, in one commit, and returns when they are durable.
    fn append<'a>(&'a self, shard: usize, entries: &'a [JournalEntry]) -> BoxFuture<'a, Result<Appended, StoreError>>;

    /// The first records of a range, oldest first: one page. Empty if there are no more.
    fn page<'a>(&'a self, range: &'a Range) -> BoxFuture<'a, Result<Vec<Result<Record, Unreadable>>, StoreError>>;

    /// The number of a record; `None` if there is no such record.
    fn locate(&self, position: Position) -> BoxFuture<'_, Result<Option<i64>, StoreError>>;

    /// Changes what is stored, in one commit. `false` if the states that the journal begins with no longer match the mark:
    /// then nothing was changed.
    fn rewrite(&self, rewrite: Arc<Rewrite>, base: Option<NewBase>) -> BoxFuture<'_, Result<bool, StoreError>>;

    /// Deletes some of the records up to `seq`, and some of the decisions before `at`.
    fn prune(&self, seq: i64, at: Time) -> BoxFuture<'_, Result<Pruned, StoreError>>;
}

/// What was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pruned {
    pub records: u64,
    /// Whether there may be more to delete.
    pub more: bool,
}

/// Finds records without reading the others.
pub trait JournalIndex: Send + Sync {
    /// The numbers of these records, in order.
    fn select<'a>(&'a self, selection: &'a Selection) -> BoxFuture<'a, Result<Vec<i64>, StoreError>>;

    /// The records with these numbers, if they exist.
    fn read<'a>(&'a self, seqs: &'a [i64]) -> BoxFuture<'a, Result<Vec<Result<Record, Unreadable>>, StoreError>>;

    /// Everybody who said something, with every name they used, except the bot.
    fn names(&self) -> BoxFuture<'_, Result<Vec<PersonName>, StoreError>>;

    /// The number of records.
    fn count(&self) -> BoxFuture<'_, Result<u64, StoreError>>;
}

/// A part of the journal, to be read in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Range {
    /// Only records of this room.
    pub room: Option<RoomId>,
    /// Only records of these kinds; all if empty.
    pub kinds: &'static [RecordKind],
    /// Exclusive start, and inclusive end.
    pub after: i64,
    pub up_to: i64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Position {
    First,
    Last,
    /// This many before the last one, in a room or in all.
    BeforeLast(Option<RoomId>, u32),
    /// The first that is not old.
    FirstNotOld(OldRecords),
    /// The last one that is part of every snapshot.
    InEverySnapshot,
}

/// Which records are old, by the time at which they were handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OldRecords {
    /// Those from before this time.
    pub before: Time,
    /// And those from after this time: a clock recorded them that was ahead, and was set back since.
    pub after: Time,
}

impl OldRecords {
    /// No record is from after this time.
    pub const END: Time = Time(i64::MAX as u64);
    /// A record from a little later than now is not old: clocks of several machines differ.
    const AHEAD_MAX: Span = Span::minutes(24 * 60);

    /// With a clock that says this now.
    pub fn by_clock(before: Time, now: Time) -> OldRecords {
        OldRecords { before, after: now + OldRecords::AHEAD_MAX }
    }

    pub fn has(self, at: Time) -> bool {
        at < self.before || at > self.after
    }
}

impl From<Time> for OldRecords {
    fn from(before: Time) -> OldRecords {
        OldRecords { before, after: OldRecords::END }
    }
}

/// What is to be changed in one commit.
#[derive(Default)]
pub struct Rewrite {
    /// Records and their replacements.
    pub records: Vec<(i64, Input)>,
    pub decisions: Vec<Replacement>,
    /// Rooms whose records are deleted as far as the snapshot of their engine covers them, and whose decisions are deleted.
    pub rooms: Vec<RoomId>,
    pub snapshot: Option<EngineState>,
}

/// The states that the journal is to begin with, replacing those of the mark.
pub struct NewBase {
    pub instead_of: BaseMark,
    pub states: Vec<EngineState>,
}

/// A selection of records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// By one of these people, or with a link to them: a mention, a reply.
    People(Vec<PersonId>),
    /// Said, changed, let go of or reacted to.
    Messages(Vec<(RoomId, MessageId)>),
    Of(RecordKind),
    /// In a room, handled at this instant.
    At(Vec<(RoomId, Time)>),
}

/// The kind of a record, if it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordKind {
    /// The bot said it, or a model wrote it for the bot.
    Own = 1,
    /// A message was edited or deleted.
    Changed = 2,
    /// A command.
    Told = 3,
}

/// The index values of a record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Keys<'a> {
    pub kind: Option<RecordKind>,
    /// Its author, and the name they used.
    pub person: Option<&'a PersonId>,
    pub name: Option<&'a str>,
    /// The message it is about.
    pub message: Option<&'a MessageId>,
    /// Other people it has a link to.
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
            Input::LetGo(_, message) => Keys { message: Some(message), ..Keys::default() },
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
            | Input::StartedOver(_)
            | Input::ClockSet(_)
            | Input::Forgotten => Keys::default(),
        }
    }
}

impl Selection {
    /// Whether a record matches: every index has to agree with this.
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
