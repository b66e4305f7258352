//! Writes events as our own transcript, so that reading it gives the same events.

use std::borrow::Cow;
use std::collections::HashMap;

use aizuchi_core::Input;
use aizuchi_core::input::Command;
use aizuchi_core::types::{
    Change, Message, MessageId, PersonId, Place, Reaction, RoomId, Span, Time, Visibility, Voice,
};
use serde_json::{Value, json};

use super::lines::ME;

/// Remembers authors: an edit is written under the name of the author of the message.
#[derive(Default)]
pub struct Writer {
    authors: HashMap<(RoomId, MessageId), Value>,
}

/// Who ran a command is not recorded.
const SOMEBODY: &str = "somebody";

impl Writer {
    /// One line; `None` for what is not talk. `handled` is when it was handled, which is the time of arrival if nothing
    /// else is known.
    pub fn line(&mut self, handled: Time, input: &Input) -> Option<String> {
        let heard = if let Input::Said(Message { heard: Some(heard), .. }) = input { *heard } else { handled };
        let mut line = match input {
            Input::Said(message) => self.message_line(message),
            Input::Changed(change) => self.change_line(change),
            Input::Reacted(reaction) => reaction_line(reaction),
            Input::Told(room, command) => command_line(heard, room, *command),
            Input::PolicyChanged(_)
            | Input::Tick
            | Input::Resumed
            | Input::Judged(..)
            | Input::Written(..)
            | Input::Scheduled(..)
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
            | Input::Forgotten => return None,
        };
        if line["ts"] != seconds(heard) {
            line["heard"] = seconds(heard);
        }
        Some(line.to_string())
    }

    fn message_line(&mut self, message: &Message) -> Value {
        let author = match message.author.voice {
            Voice::Me => json!({"author": ME, "author_id": ME}),
            Voice::Person | Voice::Bot => {
                let id = somebody_else(message.author.id.as_str());
                let name = somebody_else(&message.author.name);
                let name = if name.is_empty() { id.clone() } else { name };
                json!({"author": if name.is_empty() { SOMEBODY.into() } else { name }, "author_id": id})
            }
        };
        self.authors.insert((message.place.room.clone(), message.id.clone()), author["author"].clone());
        let mut line = begin(message.at, &message.place, "said");
        for (key, value) in author.as_object().expect("it is an object") {
            line[key] = value.clone();
        }
        line["id"] = message.id.as_str().into();
        line["text"] = (*message.text).into();
        if message.author.voice == Voice::Bot {
            line["bot"] = true.into();
        }
        if let Some(reply) = &message.reply {
            line["reply_to"] = reply.to.as_ref().map(|to| to.as_str()).into();
            let person = reply.to_person.as_ref().map(|person| somebody_else(person.as_str()));
            line["reply_to_author"] = if reply.to_me { ME.into() } else { person.into() };
        }
        let me = message.mentions_me.then_some(ME.into());
        let others = message.mentions.iter().map(PersonId::as_str).map(somebody_else);
        let mentions: Vec<Cow<'_, str>> = me.into_iter().chain(others).collect();
        if !mentions.is_empty() {
            line["mentions"] = json!(mentions);
        }
        if message.visibility != Visibility::Public {
            line["room"] = json!(message.visibility);
        }
        if message.backfilled {
            line["backfilled"] = true.into();
        }
        line
    }

    fn change_line(&self, change: &Change) -> Value {
        let kind = if change.text.is_some() { "edited" } else { "deleted" };
        let mut line = begin(change.at, &change.place, kind);
        let author = self.authors.get(&(change.place.room.clone(), change.id.clone()));
        line["author"] = author.cloned().unwrap_or_else(|| SOMEBODY.into());
        line["id"] = change.id.as_str().into();
        line["text"] = change.text.as_deref().unwrap_or_default().into();
        line
    }
}

fn command_line(at: Time, room: &RoomId, command: Command) -> Value {
    let mut line = begin(at, &Place { room: room.clone(), thread: None }, "told");
    line["author"] = SOMEBODY.into();
    line["text"] = format_command(command).into();
    line
}

fn begin(at: Time, place: &Place, kind: &str) -> Value {
    let mut line = json!({"ts": seconds(at), "channel": place.room, "type": kind});
    if let Some(thread) = &place.thread {
        line["thread"] = thread.as_str().into();
    }
    line
}

fn seconds(at: Time) -> Value {
    at.seconds().into()
}

/// A person may have a name that is reserved for the bot here.
fn somebody_else(name: &str) -> Cow<'_, str> {
    if name == ME { "＠me".into() } else { name.into() }
}

fn reaction_line(reaction: &Reaction) -> Value {
    let mut line = begin(reaction.at, &reaction.place, "reacted");
    line["id"] = reaction.message.as_str().into();
    let by = somebody_else(reaction.by.as_str());
    (line["author"], line["author_id"]) = (by.clone().into(), by.into());
    line["text"] = (*reaction.emoji).into();
    if !reaction.on {
        line["taken_back"] = true.into();
    }
    line
}

fn format_command(command: Command) -> String {
    match command {
        Command::Mute(None) => "mute".into(),
        Command::Mute(Some(Span(ms))) if ms.is_multiple_of(3_600_000) => format!("mute {}h", ms / 3_600_000),
        Command::Mute(Some(Span(ms))) if ms.is_multiple_of(60_000) => format!("mute {}m", ms / 60_000),
        Command::Mute(Some(Span(ms))) => format!("mute {ms}ms"),
        Command::Unmute => "unmute".into(),
        Command::Talk(None) => "talk".into(),
        Command::Talk(Some(share)) => format!("talk {share}"),
        Command::Reset => "reset".into(),
        Command::Left => "left".into(),
        Command::CancelReminder(number) => format!("reminders cancel {number}"),
        Command::Listen(true) => "on".into(),
        Command::Listen(false) => "off".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::lines::parse_line;
    use super::*;
    use aizuchi_core::types::{Author, Reply};

    fn message() -> Message {
        Message {
            id: MessageId::new("m1"),
            place: Place::room("web:庭"),
            at: Time(1_700_000_000_123),
            author: Author { id: PersonId::new("u1"), name: "みお".into(), voice: Voice::Person },
            text: "おはよう\n\"朝\"".into(),
            reply: None,
            mentions: Vec::new(),
            mentions_me: false,
            visibility: Visibility::Public,
            backfilled: false,
            heard: None,
        }
    }

    #[track_caller]
    fn comes_back(heard: Time, input: &Input) {
        let line = Writer::default().line(heard, input).expect("it is talk");
        let Ok(Some(event)) = parse_line(&line, 1) else { panic!("{line}") };
        assert_eq!(event.at, heard, "{line}");
        let json = |input: &Input| serde_json::to_value(input).unwrap();
        assert_eq!(json(&event.input), json(input), "{line}");
    }

    #[test]
    fn what_is_written_is_read_as_it_was() {
        let at = message().at;
        comes_back(at, &Input::Said(message()));
        comes_back(at + Span(250), &Input::Said(Message { heard: Some(at + Span(250)), ..message() }));
        comes_back(at - Span::minutes(60), &Input::Said(Message { heard: Some(at - Span::minutes(60)), ..message() }));
        let mut full = message();
        full.place.thread = Some(aizuchi_core::types::ThreadId::new("t"));
        full.author.voice = Voice::Bot;
        full.reply = Some(Reply { to: Some(MessageId::new("m0")), to_me: true, to_person: None });
        (full.mentions, full.mentions_me) = (vec![PersonId::new("u2")], true);
        (full.visibility, full.backfilled) = (Visibility::Private, true);
        full.heard = Some(at + Span::minutes(5));
        comes_back(at + Span::minutes(5), &Input::Said(full.clone()));
        full.reply = Some(Reply { to: None, to_me: false, to_person: Some(PersonId::new("u3")) });
        full.heard = None;
        comes_back(at, &Input::Said(full));
        let change = Change { place: Place::room("c"), id: MessageId::new("m1"), at, text: Some("変".into()) };
        comes_back(at, &Input::Changed(change.clone()));
        comes_back(at + Span(1), &Input::Changed(Change { text: None, ..change }));
        let (message, by) = (MessageId::new("m1"), PersonId::new("u1"));
        let given = Reaction { place: Place::room("c"), message, at, by, emoji: "👍".into(), on: true };
        comes_back(at, &Input::Reacted(given.clone()));
        comes_back(at + Span(1), &Input::Reacted(Reaction { on: false, ..given }));
        for command in [
            Command::Mute(None),
            Command::Mute(Some(Span(90_061_001))),
            Command::Mute(Some(Span::ZERO)),
            Command::Unmute,
            Command::Reset,
            Command::Listen(true),
            Command::Listen(false),
        ] {
            comes_back(at, &Input::Told(RoomId::new("c"), command));
        }
        assert_eq!(Writer::default().line(at, &Input::Tick), None);
    }

    #[test]
    fn nobody_becomes_the_bot_by_a_name() {
        let mut sly = message();
        sly.author = Author { id: PersonId::new("@me"), name: "@me".into(), voice: Voice::Person };
        sly.mentions = vec![PersonId::new("@me")];
        let line = Writer::default().line(sly.at, &Input::Said(sly)).unwrap();
        assert!(!line.contains("\"@me\""), "{line}");
    }

    #[test]
    fn its_own_posts_are_marked_and_edits_carry_a_name() {
        let mut own = message();
        own.author.voice = Voice::Me;
        let mut writer = Writer::default();
        let line: Value = serde_json::from_str(&writer.line(own.at, &Input::Said(own.clone())).unwrap()).unwrap();
        assert_eq!((&line["author"], &line["author_id"]), (&json!("@me"), &json!("@me")));
        let edit = Change { place: own.place, id: own.id, at: own.at, text: None };
        let line: Value = serde_json::from_str(&writer.line(own.at, &Input::Changed(edit)).unwrap()).unwrap();
        assert_eq!((&line["author"], &line["type"]), (&json!("@me"), &json!("deleted")));
    }
}
