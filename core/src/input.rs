//! Everything that can happen.

use serde::{Deserialize, Serialize};

use crate::likelihood::SiblingTalk;
use crate::memory::FactId;
use crate::policy::StoredPolicies;
use crate::reminders::NewReminder;
use crate::tools::{ToolCall, ToolOutput};
use crate::types::{CallId, Change, ClockShift, Message, MessageId, Place, Reaction, RoomId, Share, Span};
pub(crate) use crate::usage::TotalSpent;
use crate::usage::{Failure, Usage};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Input {
    Said(Message),
    /// A message was edited or deleted.
    Changed(Change),
    /// Somebody reacted to a message. Kept for what a contribution leads to; it decides nothing by itself.
    Reacted(Reaction),
    /// Somebody gave an order that no model has a say in.
    Told(RoomId, Command),
    /// Other settings hold from now on.
    PolicyChanged(Box<StoredPolicies>),
    /// Time has passed. Carries no information.
    Tick,
    /// The program starts again with the state it had: what is long overdue is dropped, what was in flight is asked again.
    Resumed,
    Judged(CallId, Result<Answer, Failure>),
    Written(CallId, Result<Answer, Failure>),
    /// Who was to write an answer asked for tools first.
    ToolCalls(CallId, Vec<ToolCall>, Usage),
    ToolResult(CallId, Result<ToolOutput, Failure>),
    /// When a schedule of the settings is next, and what it is to say here then.
    Scheduled(Place, Box<NewReminder>),
    /// The platform's ids of the parts that were posted.
    Delivered(CallId, Result<Vec<MessageId>, Failure>),
    /// Something to tell that fits, if there is anything, and what looking cost.
    Recalled(CallId, Option<FactId>, #[serde(default)] Usage),
    /// What was to be summed up or thought over is kept, or is not.
    Remembered(CallId, Result<Usage, Failure>),
    /// The call was not made: nothing is left of the budget over all rooms.
    Refused(CallId, TotalSpent),
    /// Something was paid for on behalf of this room that it did not ask for itself.
    Billed(RoomId, Usage),
    /// How likely the messages of other rooms of the same kind were, for a room that has few of its own.
    Siblings(RoomId, Box<SiblingTalk>),
    /// Stands where somebody wanted something to be forgotten.
    Forgotten,
    /// The clock that times are taken from was set: what was noted before it counts by the new one, so that a wait ends
    /// after as long as it was meant to.
    ClockSet(ClockShift),
}

impl Input {
    /// The call this is the result of.
    pub fn call(&self) -> Option<&CallId> {
        match self {
            Input::Judged(call, _)
            | Input::Written(call, _)
            | Input::ToolCalls(call, ..)
            | Input::ToolResult(call, _)
            | Input::Delivered(call, _)
            | Input::Recalled(call, ..)
            | Input::Remembered(call, _)
            | Input::Refused(call, _) => Some(call),
            Input::Said(_)
            | Input::Changed(_)
            | Input::Reacted(_)
            | Input::Told(..)
            | Input::Scheduled(..)
            | Input::PolicyChanged(_)
            | Input::Tick
            | Input::Billed(..)
            | Input::Siblings(..)
            | Input::Forgotten
            | Input::ClockSet(_)
            | Input::Resumed => None,
        }
    }
}

impl Input {
    /// Whether people did this; the rest follows from what they did.
    pub fn is_by_people(&self) -> bool {
        match self {
            Input::Said(_) | Input::Changed(_) | Input::Reacted(_) | Input::Told(..) => true,
            Input::PolicyChanged(_)
            | Input::Tick
            | Input::Resumed
            | Input::Scheduled(..)
            | Input::Judged(..)
            | Input::Written(..)
            | Input::ToolCalls(..)
            | Input::ToolResult(..)
            | Input::Delivered(..)
            | Input::Recalled(..)
            | Input::Remembered(..)
            | Input::Refused(..)
            | Input::Billed(..)
            | Input::Siblings(..)
            | Input::ClockSet(_)
            | Input::Forgotten => false,
        }
    }

    /// The room it is about; what is about none concerns them all.
    pub fn room(&self) -> Option<&RoomId> {
        match self {
            Input::Said(message) => Some(&message.place.room),
            Input::Changed(change) => Some(&change.place.room),
            Input::Reacted(reaction) => Some(&reaction.place.room),
            Input::Scheduled(place, _) => Some(&place.room),
            Input::Told(room, _) | Input::Billed(room, _) | Input::Siblings(room, _) => Some(room),
            Input::Judged(call, _)
            | Input::Written(call, _)
            | Input::ToolCalls(call, ..)
            | Input::ToolResult(call, _)
            | Input::Delivered(call, _)
            | Input::Recalled(call, ..)
            | Input::Remembered(call, _)
            | Input::Refused(call, _) => Some(&call.room),
            Input::PolicyChanged(_) | Input::Tick | Input::Resumed | Input::Forgotten | Input::ClockSet(_) => None,
        }
    }
}

/// A model's words, unparsed, and what they cost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    pub text: Box<str>,
    pub usage: Usage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Command {
    /// Say nothing, for a while or until further notice.
    Mute(Option<Span>),
    Unmute,
    /// Forget the talk of this room.
    Reset,
    /// It is no longer in this room; nobody there can be answered.
    Left,
    /// Speak up at this share of the messages; `None`: as the settings say.
    Talk(Option<Share>),
    /// Listen in this room, or not.
    Listen(bool),
    /// The reminder of this number is not wanted any more.
    CancelReminder(u32),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_down_before_money_was_counted_everywhere_is_read() {
        let read = |text: &str| serde_json::from_str::<Input>(text).unwrap();
        let old = read(r#"{"Recalled": [{"room": "r", "serial": 3}, null]}"#);
        assert!(matches!(old, Input::Recalled(call, None, usage) if call.serial == 3 && usage == Usage::default()));
        let old = read(r#"{"Remembered": [{"room": "r", "serial": 3}, {"Err": "busy"}]}"#);
        assert!(matches!(old, Input::Remembered(_, Err(failure)) if failure == Failure::new("busy")));
        for input in [
            Input::Refused(
                CallId { room: RoomId::new("r"), serial: 1 },
                TotalSpent { have: 1, limit: 2, for_today: true },
            ),
            Input::Billed(RoomId::new("r"), Usage { calls: 2, ..Usage::default() }),
            Input::Recalled(CallId { room: RoomId::new("r"), serial: 1 }, None, Usage { calls: 1, ..Usage::default() }),
        ] {
            let written = serde_json::to_string(&input).unwrap();
            assert_eq!(serde_json::to_string(&read(&written)).unwrap(), written);
        }
    }
}
