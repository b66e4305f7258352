//! Pairs recorded answers with the calls of a replay from which messages are missing.
//!
//! A call is numbered in its room. A message that was deleted, forgotten or skipped leads to no call, so that all later calls of
//! the room have lower numbers than they had, and its own answers belong to none. The stored decisions say which message a
//! judge's answer and a post are about; what was written is for the oldest call for words.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aizuchi_core::types::{CallId, MessageId, RoomId, Time};
use aizuchi_core::{Effect, Engine, Input, Trace};

use super::differences::StoredTraces;

/// A call of the replay.
#[derive(Clone, Debug)]
struct ReplayedCall {
    /// What it is about, if that is one message.
    message: Option<MessageId>,
    purpose: CallPurpose,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallPurpose {
    Judge,
    Words,
    Post,
    Fact,
    Memory,
}

pub(super) struct CallPairing<'a> {
    stored: HashMap<&'a RoomId, Vec<&'a Trace>>,
    /// Calls without an answer, by room and number.
    open: BTreeMap<(RoomId, u64), ReplayedCall>,
    /// The last number that the replay gave in each room.
    last: HashMap<RoomId, u64>,
    /// Rooms whose numbers are no longer those of the records.
    shifted: BTreeSet<RoomId>,
    /// Calls of the records, and what they are in the replay; answers may come in several parts.
    known: HashMap<CallId, Option<CallId>>,
}

/// What a recorded answer is about.
enum About {
    Message(MessageId),
    /// Its decision is not stored: nobody knows.
    Unknown,
}

impl<'a> CallPairing<'a> {
    pub fn new(stored: &'a StoredTraces) -> CallPairing<'a> {
        let mut rooms: HashMap<&RoomId, Vec<&Trace>> = HashMap::new();
        for trace in stored.iter() {
            rooms.entry(&trace.place.room).or_default().push(trace);
        }
        CallPairing {
            stored: rooms,
            open: BTreeMap::new(),
            last: HashMap::new(),
            shifted: BTreeSet::new(),
            known: HashMap::new(),
        }
    }

    /// The replay calls somebody.
    pub fn note(&mut self, engine: &Engine, effect: &Effect) {
        let (call, purpose, message) = match effect {
            Effect::Ask(ask) => (&ask.call, CallPurpose::Judge, engine.asked_about(&ask.call).cloned()),
            Effect::Write(brief) => (&brief.call, CallPurpose::Words, None),
            Effect::Deliver(delivery) => (&delivery.call, CallPurpose::Post, Some(delivery.answering.clone())),
            Effect::Recall(recall) => (&recall.call, CallPurpose::Fact, None),
            Effect::Remember(remember) => (&remember.call, CallPurpose::Memory, None),
            Effect::Type(_)
            | Effect::Withdraw(_)
            | Effect::RunTool(_)
            | Effect::Abort(_)
            | Effect::Trace(_)
            | Effect::Received(_)
            | Effect::Updated(_) => return,
        };
        let last = self.last.entry(call.room.clone()).or_default();
        *last = call.serial.max(*last);
        self.open.insert((call.room.clone(), call.serial), ReplayedCall { message, purpose });
    }

    /// A recorded input, as an answer to the call of the replay. `None` if the replay made no such call.
    pub fn pair(&mut self, at: Time, input: Input) -> Option<Input> {
        let Some(call) = input.call().cloned() else { return Some(input) };
        let meant = match self.known.get(&call) {
            Some(known) => known.clone(),
            None => {
                let meant = self.find(at, &input, &call);
                self.known.insert(call, meant.clone());
                meant
            }
        }?;
        if !matches!(input, Input::ToolCalls(..) | Input::ToolResult(..)) {
            self.open.remove(&(meant.room.clone(), meant.serial));
        }
        Some(with_call(input, meant))
    }

    /// Rooms whose calls are not those of the records, and rooms in which a model was asked and no record has its answer.
    pub fn into_incomplete(self) -> BTreeSet<RoomId> {
        let of_model = |open: &ReplayedCall| matches!(open.purpose, CallPurpose::Judge | CallPurpose::Words);
        let unanswered = self.open.iter().filter(|(_, open)| of_model(open)).map(|((room, _), _)| room.clone());
        self.shifted.iter().cloned().chain(unanswered).collect()
    }

    fn find(&mut self, at: Time, input: &Input, call: &CallId) -> Option<CallId> {
        let about = self.about(at, input, &call.room);
        let fits = |open: &ReplayedCall| {
            let other = match (&about, &open.message) {
                (About::Message(message), Some(of)) => message != of,
                (About::Message(_) | About::Unknown, _) => false,
            };
            is_answer(input, open.purpose) && !other
        };
        if !self.shifted.contains(&call.room) {
            let is_beyond = self.last.get(&call.room).is_some_and(|last| call.serial > *last);
            let open = self.open.get(&(call.room.clone(), call.serial));
            if !is_beyond && open.is_none_or(fits) {
                return Some(call.clone());
            }
            self.shifted.insert(call.room.clone());
        }
        let mut of_room = self.open.range((call.room.clone(), 0)..=(call.room.clone(), u64::MAX));
        let found = of_room.find(|(_, open)| fits(open)).map(|((room, serial), _)| (room.clone(), *serial));
        found.map(|(room, serial)| CallId { room, serial })
    }

    fn about(&self, at: Time, input: &Input, room: &RoomId) -> About {
        let mut traces = self.stored.get(room).into_iter().flatten();
        let found = if let Input::Judged(_, Ok(answer)) = input {
            let asked = |trace: &&&Trace| {
                trace.asked.iter().any(|asked| !asked.cached && asked.at <= at && asked.answer == answer.text)
            };
            traces.filter(asked).max_by_key(|trace| trace.at)
        } else if let Input::Delivered(_, Ok(_)) = input {
            let later = |trace: &Trace| trace.chunks.iter().any(|chunks| chunks.later.contains(&at));
            traces.find(|trace| trace.acted_at == Some(at) || later(trace))
        } else {
            None
        };
        found.map_or(About::Unknown, |trace| About::Message(trace.message.clone()))
    }
}

fn is_answer(input: &Input, purpose: CallPurpose) -> bool {
    match input {
        Input::Judged(..) => purpose == CallPurpose::Judge,
        Input::Written(..) | Input::ToolCalls(..) | Input::ToolResult(..) => purpose == CallPurpose::Words,
        Input::Delivered(..) => purpose == CallPurpose::Post,
        Input::Recalled(..) => purpose == CallPurpose::Fact,
        Input::Remembered(..) => purpose == CallPurpose::Memory,
        Input::Refused(..) => true,
        Input::Said(_)
        | Input::Changed(_)
        | Input::Reacted(_)
        | Input::Told(..)
        | Input::PolicyChanged(_)
        | Input::Tick
        | Input::Resumed
        | Input::Scheduled(..)
        | Input::Billed(..)
        | Input::Siblings(..)
        | Input::StartedOver(_)
        | Input::LetGo(..)
        | Input::ClockSet(_)
        | Input::Forgotten => false,
    }
}

fn with_call(input: Input, call: CallId) -> Input {
    match input {
        Input::Judged(_, answer) => Input::Judged(call, answer),
        Input::Written(_, answer) => Input::Written(call, answer),
        Input::ToolCalls(_, calls, usage) => Input::ToolCalls(call, calls, usage),
        Input::ToolResult(_, result) => Input::ToolResult(call, result),
        Input::Delivered(_, posts) => Input::Delivered(call, posts),
        Input::Recalled(_, fact, usage) => Input::Recalled(call, fact, usage),
        Input::Remembered(_, result) => Input::Remembered(call, result),
        Input::Refused(_, result) => Input::Refused(call, result),
        other @ (Input::Said(_)
        | Input::Changed(_)
        | Input::Reacted(_)
        | Input::Told(..)
        | Input::PolicyChanged(_)
        | Input::Tick
        | Input::Resumed
        | Input::Scheduled(..)
        | Input::Billed(..)
        | Input::Siblings(..)
        | Input::StartedOver(_)
        | Input::LetGo(..)
        | Input::ClockSet(_)
        | Input::Forgotten) => other,
    }
}
