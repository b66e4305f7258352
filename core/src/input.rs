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
    /// Somebody reacted to a message. Kept for the response to a contribution; it decides nothing by itself.
    Reacted(Reaction),
    /// A command, which no model decides about.
    Told(RoomId, Command),
    /// New settings apply from now on.
    PolicyChanged(Box<StoredPolicies>),
    /// Time has passed. Carries no information.
    Tick,
    /// The program was restarted with its state: what is long overdue is dropped, what was in flight is requested again.
    Resumed,
    Judged(CallId, Result<Answer, Failure>),
    Written(CallId, Result<Answer, Failure>),
    /// The writer of an answer requested tools first.
    ToolCalls(CallId, Vec<ToolCall>, Usage),
    ToolResult(CallId, Result<ToolOutput, Failure>),
    /// The next time of a schedule of the settings, and what it is to say here then.
    Scheduled(Place, Box<NewReminder>),
    /// The platform's ids of the parts that were posted.
    Delivered(CallId, Result<Vec<MessageId>, Failure>),
    /// A matching fact to mention, if there is one, and the cost of the search.
    Recalled(CallId, Option<FactId>, #[serde(default)] Usage),
    /// A summary or reflection was stored, or failed.
    Remembered(CallId, Result<Usage, Failure>),
    /// The call was not made: the budget over all rooms is spent.
    Refused(CallId, TotalSpent),
    /// Something was paid on behalf of this room that it did not request itself.
    Billed(RoomId, Usage),
    /// How likely the messages of other rooms of the same kind were, for a room that has few of its own.
    Siblings(RoomId, Box<SiblingTalk>),
    /// A placeholder for a record that was forgotten on request.
    Forgotten,
    /// What the room remembers could not be handled: what was said and is pending there is dropped, and it begins anew.
    StartedOver(RoomId),
    /// A message leaves what the bot reads before its time, since it is not to be kept: its author opted out, or it answers somebody who did.
    LetGo(Place, MessageId),
    /// The clock was set: times stored before it are converted to the new one, so that a wait lasts as long as intended.
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
            | Input::StartedOver(_)
            | Input::LetGo(..)
            | Input::Forgotten
            | Input::ClockSet(_)
            | Input::Resumed => None,
        }
    }
}

impl Input {
    /// Whether people did this; all other inputs follow from what they did.
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
            | Input::StartedOver(_)
            | Input::LetGo(..)
            | Input::ClockSet(_)
            | Input::Forgotten => false,
        }
    }

    /// The room it is about; `None` if it concerns them all.
    pub fn room(&self) -> Option<&RoomId> {
        match self {
            Input::Said(message) => Some(&message.place.room),
            Input::Changed(change) => Some(&change.place.room),
            Input::Reacted(reaction) => Some(&reaction.place.room),
            Input::Scheduled(place, _) | Input::LetGo(place, _) => Some(&place.room),
            Input::Told(room, _) | Input::Billed(room, _) | Input::Siblings(room, _) | Input::StartedOver(room) => {
                Some(room)
            }
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

/// A model's words, unparsed, and their cost.
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
    /// The bot is no longer in this room; nobody there can be answered.
    Left,
    /// Speak unasked at this share of the messages; `None`: as the settings say.
    Talk(Option<Share>),
    /// Listen in this room, or not.
    Listen(bool),
    /// Cancel the reminder of this number.
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
