//! Our own transcript format: JSON Lines, one event per line.

use std::borrow::Cow;

use aizuchi_core::Input;
use aizuchi_core::types::{
    Author, Change, Message, MessageId, PersonId, Place, Reaction, Reply, RoomId, ThreadId, Time, Visibility, Voice,
};
use serde::Deserialize;

use super::command::parse_command;
use super::error::ReadError;
use super::json::{Field, broken, quoted};
use super::log::{Event, Format, Log, Options};
use super::text_lines::for_each_line;
use super::when;

/// The bot itself, in fields that name a person.
pub const ME: &str = "@me";

/// Parses one line of a transcript; `None` for a reaction without effect: the bot's own, or to an unknown message. The
/// error says what is wrong and what is allowed.
pub fn parse_line(line: &str, number: u64) -> Result<Option<Event>, String> {
    TranscriptReader::default().parse(line, number)
}

pub fn read(name: &str, text: &[u8], options: &Options, progress: &mut dyn FnMut(u64)) -> Result<Log, ReadError> {
    let mut log = Log::empty(Format::Transcript);
    let mut reader = TranscriptReader::default();
    for_each_line(text, progress, |number, line| {
        let parsed = match std::str::from_utf8(line) {
            Ok(line) => reader.parse(line, number),
            Err(_) => Err("not UTF-8".to_owned()),
        };
        match parsed {
            Ok(Some(event)) => log.events.push(event),
            Ok(None) => log.reactions += 1,
            Err(problem) => log.note(options, name, number, problem)?,
        }
        Ok(())
    })?;
    Ok(log)
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Record<'a> {
    #[serde(borrow)]
    ts: Field<'a>,
    #[serde(borrow)]
    channel: Field<'a>,
    #[serde(borrow)]
    thread: Field<'a>,
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    author: Field<'a>,
    #[serde(borrow)]
    author_id: Field<'a>,
    #[serde(borrow)]
    bot: Field<'a>,
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow)]
    reply_to: Field<'a>,
    #[serde(borrow)]
    reply_to_author: Field<'a>,
    #[serde(borrow)]
    mentions: Field<'a>,
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    room: Field<'a>,
    /// When it arrived, if that was not when it was said.
    #[serde(borrow)]
    heard: Field<'a>,
    #[serde(borrow)]
    backfilled: Field<'a>,
    /// For a reaction.
    #[serde(borrow)]
    taken_back: Field<'a>,
}

/// Remembers the room of the previous line: most lines are in the same one.
#[derive(Default)]
struct TranscriptReader {
    room: Option<RoomId>,
}

impl TranscriptReader {
    fn parse(&mut self, line: &str, number: u64) -> Result<Option<Event>, String> {
        if !line.trim_start().starts_with('{') {
            return Err(format!("the line must be an object, got {}", quoted(line)));
        }
        let record: Record<'_> = serde_json::from_str(line).map_err(|error| broken(&error))?;
        let at = when::from_field("ts", &record.ts)?;
        let is_given = !matches!(record.heard, Field::Absent);
        let heard = is_given.then(|| when::from_field("heard", &record.heard)).transpose()?;
        let place = self.place(record.channel, record.thread)?;
        let author = author(record.author, record.author_id, &record.bot)?;
        let words = record.text.words("text")?;
        let id = record.id.text("id")?;
        let input = match record.kind.text("type")?.as_deref() {
            None | Some("said") => Input::Said(to_message(SaidLine {
                id: id.map_or_else(|| MessageId::new(number.to_string()), MessageId::new),
                place,
                at,
                author,
                text: words.ok_or("no `text`")?,
                reply_to: record.reply_to,
                reply_to_author: record.reply_to_author,
                mentions: record.mentions,
                room: record.room,
                backfilled: record.backfilled,
                heard,
            })?),
            Some("edited") => change(place, id, at, Some(words.ok_or("no `text`")?))?,
            Some("deleted") => change(place, id, at, None)?,
            Some("told") => Input::Told(place.room, parse_command(&words.ok_or("no `text`")?)?),
            Some("reacted") => match id {
                Some(id) if author.voice != Voice::Me => {
                    to_reaction(place, &id, at, author, words, &record.taken_back)?
                }
                Some(_) | None => return Ok(None),
            },
            Some(other) => {
                return Err(format!("`type` must be said, edited, deleted, reacted or told, got {}", quoted(other)));
            }
        };
        Ok(Some(Event { line: number, at: heard.unwrap_or(at), input }))
    }

    fn place(&mut self, channel: Field<'_>, thread: Field<'_>) -> Result<Place, String> {
        let channel = channel.needed("channel")?;
        let thread = thread.text("thread")?.map(ThreadId::new);
        let room = match &self.room {
            Some(room) if room.as_str() == channel => room.clone(),
            _ => self.room.insert(RoomId::new(channel)).clone(),
        };
        Ok(Place { room, thread })
    }
}

fn author(name: Field<'_>, id: Field<'_>, bot: &Field<'_>) -> Result<Author, String> {
    let name = name.needed("author")?;
    let id = id.text("author_id")?;
    let bot = bot.flag("bot")?;
    let voice = if name == ME || id.as_deref() == Some(ME) {
        Voice::Me
    } else if bot {
        Voice::Bot
    } else {
        Voice::Person
    };
    Ok(Author { id: id.as_ref().map_or_else(|| PersonId::new(&name), PersonId::new), name: boxed(name), voice })
}

fn to_reaction(
    place: Place,
    id: &str,
    at: Time,
    by: Author,
    emoji: Option<Cow<'_, str>>,
    taken_back: &Field<'_>,
) -> Result<Input, String> {
    let on = !taken_back.flag("taken_back")?;
    let emoji = boxed(emoji.unwrap_or_default());
    Ok(Input::Reacted(Reaction { place, message: MessageId::new(id), at, by: by.id, emoji, on }))
}

fn boxed(text: Cow<'_, str>) -> Box<str> {
    match text {
        Cow::Borrowed(text) => text.into(),
        Cow::Owned(text) => text.into(),
    }
}

/// The parts of a `to_message` line, the last of them still unparsed.
struct SaidLine<'a> {
    id: MessageId,
    place: Place,
    at: Time,
    author: Author,
    text: Cow<'a, str>,
    reply_to: Field<'a>,
    reply_to_author: Field<'a>,
    mentions: Field<'a>,
    room: Field<'a>,
    backfilled: Field<'a>,
    heard: Option<Time>,
}

fn to_message(said: SaidLine<'_>) -> Result<Message, String> {
    let mut mentions = Vec::new();
    let mut mentions_me = false;
    for person in said.mentions.list("mentions")? {
        let person = person.needed("mentions[]")?;
        if person == ME {
            mentions_me = true;
        } else {
            mentions.push(PersonId::new(person));
        }
    }
    Ok(Message {
        id: said.id,
        place: said.place,
        at: said.at,
        author: said.author,
        text: boxed(said.text),
        reply: reply(said.reply_to, said.reply_to_author)?,
        mentions,
        mentions_me,
        visibility: visibility(said.room)?,
        backfilled: said.backfilled.flag("backfilled")?,
        heard: said.heard,
    })
}

fn reply(to: Field<'_>, author: Field<'_>) -> Result<Option<Reply>, String> {
    let to = to.text("reply_to")?.map(MessageId::new);
    let author = author.text("reply_to_author")?;
    if to.is_none() && author.is_none() {
        return Ok(None);
    }
    let to_me = author.as_deref() == Some(ME);
    Ok(Some(Reply { to, to_me, to_person: author.filter(|_| !to_me).map(PersonId::new) }))
}

fn visibility(room: Field<'_>) -> Result<Visibility, String> {
    match room.text("room")?.as_deref() {
        None | Some("public") => Ok(Visibility::Public),
        Some("private") => Ok(Visibility::Private),
        Some("direct") => Ok(Visibility::Direct),
        Some(other) => Err(format!("`room` must be public, private or direct, got {}", quoted(other))),
    }
}

fn change(place: Place, id: Option<Cow<'_, str>>, at: Time, text: Option<Cow<'_, str>>) -> Result<Input, String> {
    let id = id.ok_or("no `id`; expected the id of the message that was changed")?;
    Ok(Input::Changed(Change { place, id: MessageId::new(id), at, text: text.map(boxed) }))
}

#[cfg(test)]
mod tests {
    use aizuchi_core::input::Command;
    use aizuchi_core::types::Span;

    use super::*;

    fn event(line: &str) -> Input {
        match parse_line(line, 7) {
            Ok(Some(event)) => event.input,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn message(line: &str) -> Message {
        match event(line) {
            Input::Said(message) => message,
            other => panic!("{line}: {other:?}"),
        }
    }

    /// A line with the required fields and these.
    fn with(fields: &str) -> String {
        format!(r#"{{"ts": 1700000000.5, "channel": "雑談", "author": "alice", "text": "おはよう", {fields}}}"#)
    }

    fn problem(line: &str) -> String {
        parse_line(line, 7).unwrap_err()
    }

    #[test]
    fn what_is_left_out_has_its_default() {
        let message = message(&with(r#""gold_reply_to": ["x"], "深い": {"a": [1, {}]}"#));
        assert_eq!(message.id.as_str(), "7");
        assert_eq!(message.at, Time(1_700_000_000_500));
        assert_eq!(message.place, Place::room("雑談"));
        assert_eq!((message.author.id.as_str(), &*message.author.name), ("alice", "alice"));
        assert_eq!((message.author.voice, message.visibility), (Voice::Person, Visibility::Public));
        assert_eq!((&*message.text, message.reply, message.mentions.len()), ("おはよう", None, 0));
        assert!(!message.mentions_me && !message.backfilled);
    }

    #[test]
    fn every_field_arrives() {
        let message = message(
            r#"{"ts": "2023-11-14T22:13:20Z", "channel": 12, "thread": "t1", "id": 99, "author": "Bo\u0062", "author_id": 5,
            "bot": true, "text": "hi", "reply_to": "m0", "reply_to_author": "@me", "mentions": ["u2", "@me", 3],
            "type": "said", "room": "direct"}"#,
        );
        assert_eq!(message.place.to_string(), "12/t1");
        assert_eq!((message.id.as_str(), message.author.id.as_str(), &*message.author.name), ("99", "5", "Bob"));
        assert_eq!((message.author.voice, message.visibility), (Voice::Bot, Visibility::Direct));
        assert_eq!(message.reply, Some(Reply { to: Some(MessageId::new("m0")), to_me: true, to_person: None }));
        assert_eq!(message.mentions, [PersonId::new("u2"), PersonId::new("3")]);
        assert!(message.mentions_me);
    }

    #[test]
    fn a_reply_may_name_the_person_only() {
        let answer = message(&with(r#""reply_to": null, "reply_to_author": "bob""#));
        assert_eq!(answer.reply, Some(Reply { to: None, to_me: false, to_person: Some(PersonId::new("bob")) }));
        assert_eq!(message(&with(r#""reply_to": null, "reply_to_author": null, "mentions": null"#)).reply, None);
    }

    #[test]
    fn the_bot_itself_is_known_by_name_or_id() {
        assert_eq!(message(&with(r#""author_id": "@me", "bot": true"#)).author.voice, Voice::Me);
        let me = r#"{"ts": 1, "channel": "c", "author": "@me", "text": ""}"#;
        assert_eq!((message(me).author.voice, &*message(me).text), (Voice::Me, ""));
    }

    #[test]
    fn later_changes_and_orders() {
        let Input::Changed(edit) = event(&with(r#""type": "edited", "id": "m1", "thread": "t""#)) else { panic!() };
        assert_eq!((edit.id.as_str(), edit.text.as_deref(), edit.at.0), ("m1", Some("おはよう"), 1_700_000_000_500));
        assert_eq!(edit.place.to_string(), "雑談/t");
        let gone = r#"{"ts": 1, "channel": "c", "author": "a", "type": "deleted", "id": "m1"}"#;
        assert!(matches!(event(gone), Input::Changed(Change { text: None, .. })));
        let order = r#"{"ts": 1, "channel": "c", "author": "a", "type": "told", "text": "mute 2h"}"#;
        let Input::Told(room, command) = event(order) else { panic!() };
        assert_eq!((room.as_str(), command), ("c", Command::Mute(Some(Span::minutes(120)))));
        let liked = r#"{"ts": 1, "channel": "c", "author": "a", "type": "reacted", "id": "m1", "text": "👍"}"#;
        let Input::Reacted(given) = event(liked) else { panic!() };
        let Reaction { place, message, at, by, emoji, on } = given;
        assert_eq!((place, message.as_str(), at, by.as_str()), (Place::room("c"), "m1", Time(1000), "a"));
        assert_eq!((&*emoji, on), ("👍", true));
        let to_nothing = r#"{"ts": 1, "channel": "c", "author": "a", "type": "reacted"}"#;
        assert!(matches!(parse_line(to_nothing, 1), Ok(None)));
    }

    #[test]
    fn a_broken_line_says_what_is_wrong_and_what_would_be_right() {
        assert_eq!(problem(r#"{"ts": 1, "channel": "c", "text": "x"}"#), "no `author`");
        assert_eq!(problem(r#"{"ts": 1, "author": "a", "text": "x"}"#), "no `channel`");
        assert_eq!(problem(r#"{"ts": 1, "channel": "c", "author": "a"}"#), "no `text`");
        assert_eq!(problem(r#"{"ts": 1, "channel": "c", "author": "a", "id": "m", "type": "edited"}"#), "no `text`");
        assert_eq!(problem(&with(r#""type": "deleted""#)), "no `id`; expected the id of the message that was changed");
        assert_eq!(
            problem(&with(r#""type": "joined""#)),
            "`type` must be said, edited, deleted, reacted or told, got \"joined\""
        );
        assert_eq!(problem(&with(r#""room": "secret""#)), "`room` must be public, private or direct, got \"secret\"");
        assert_eq!(problem(&with(r#""mentions": "u2""#)), "`mentions` must be a list, got \"u2\"");
        assert_eq!(problem(&with(r#""bot": 1"#)), "`bot` must be true or false, got 1");
        assert_eq!(problem("[1, 2]"), "the line must be an object, got \"[1, 2]\"");
        assert_eq!(problem(r#"{"ts": 1, "chan"#), "invalid JSON: EOF while parsing a string at column 15");
        assert_eq!(problem(r#"{"ts": 1e999}"#), "invalid JSON: number out of range at column 12");
    }

    #[test]
    fn bad_lines_are_numbered_and_the_rest_goes_on() {
        let good = with(r#""id": "m1""#);
        let liked = with(r#""type": "reacted""#);
        let mut text = format!("\u{feff}{good}\r\n\nnonsense\n{good}\n{liked}\n").into_bytes();
        text.extend(b"\xff\xfe\n");
        text.extend(&good.as_bytes()[..20]);
        let log = read("雑談.jsonl", &text, &Options::default(), &mut |_| ()).unwrap();
        assert_eq!(log.events.iter().map(|event| event.line).collect::<Vec<_>>(), [1, 4]);
        assert_eq!(log.bad.iter().map(|bad| bad.line).collect::<Vec<_>>(), [3, 6, 7]);
        assert_eq!(log.bad[1].to_string(), "雑談.jsonl:6: not UTF-8");
        assert_eq!(log.reactions, 1);
    }

    #[test]
    fn messages_of_a_channel_share_its_name() {
        let text = format!("{0}\n{0}\n", with(r#""bot": false"#));
        let log = read("x", text.as_bytes(), &Options::default(), &mut |_| ()).unwrap();
        let rooms: Vec<_> = log.events.iter().filter_map(|event| room_of(&event.input)).collect();
        assert!(std::sync::Arc::ptr_eq(&rooms[0].0, &rooms[1].0));
    }

    fn room_of(input: &Input) -> Option<&RoomId> {
        if let Input::Said(message) = input { Some(&message.place.room) } else { None }
    }
}
