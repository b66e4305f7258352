//! The talk of a scenario, a line for each thing that happens:
//!
//! ```text
//! 10:00:00 alice: a message                       10:00:00 [room/thread] alice: in another place
//! 10:00:00 alice -> m3: a reply                   10:00:00 alice -> p1: a reply to the bot's first post
//! 10:00:00 helper(bot): another bot speaks        10:00:00 alice(direct): a direct message
//! 10:00:00 alice(sent 09:00:00): arrives late     10:00:00 alice(missed 09:00:00): said while the bot was away
//! 10:00:00 me: a post of the bot's own            10:00:00 echo p1: the platform repeats its first post
//! 10:00:05 edit m1: new text                      10:00:05 delete m1
//! 10:00:05 again m1                               10:00:05 ! mute 2h
//! 10:00:05 tick                                   10:00:05 restart
//! 09:00:05 clock back 1h                          the clock was set, and shows this now
//! 10:00:05 reacts 👍 p1                           somebody gives its first post an emoji
//! ```
//!
//! Messages are m1, m2, … in order, posts of the bot p1, p2, …. `<@me>` and `<@bob>` in a text are mentions by the
//! platform's own means, `\n` and `\u{1f}` stand for a line break and a control character. A restart begins where the
//! line before it ended: the program was gone in between.

use std::collections::BTreeMap;

use aizuchi_core::Input;
use aizuchi_core::input::Command;
use aizuchi_core::types::{
    Author, Change, ClockShift, Message, MessageId, PersonId, Place, Reaction, Reply, RoomId, Span, ThreadId, Time,
    Visibility, Voice,
};

pub enum Event {
    Happens(Time, Input),
    Restart(Time),
}

/// A Monday, so that times read as those of one day.
const DAY: u64 = 1_700_438_400_000;

pub fn parse(text: &str) -> Result<Vec<Event>, String> {
    let mut said: BTreeMap<String, Message> = BTreeMap::new();
    let mut events = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let wrong = || format!("talk line {line:?} is not understood");
        let (clock, rest) = line.trim().split_once(' ').ok_or_else(wrong)?;
        let at = time(clock).ok_or_else(wrong)?;
        let rest = rest.trim();
        let event = match rest.split_once(' ').unwrap_or((rest, "")) {
            ("restart", _) => Event::Restart(at),
            ("reacts", more) => Event::Happens(at, reacted(more, at).ok_or_else(wrong)?),
            ("tick", _) => Event::Happens(at, Input::Tick),
            ("clock", how) => Event::Happens(at, clock_set(how).ok_or_else(wrong)?),
            ("!", order) => Event::Happens(at, order_input(order).ok_or_else(wrong)?),
            ("again", id) => {
                let message = said.get(id.trim()).ok_or_else(wrong)?.clone();
                Event::Happens(at, Input::Said(Message { heard: Some(at), ..message }))
            }
            ("delete", id) => changed(&said, at, id.trim(), None).unwrap_or_else(|| taken_down(at, id.trim())),
            ("edit", more) => {
                let (id, text) = more.split_once(": ").ok_or_else(wrong)?;
                changed(&said, at, id.trim(), Some(text.into())).ok_or_else(wrong)?
            }
            ("echo", post) => {
                let (id, text) = post.split_once(": ").ok_or_else(wrong)?;
                let echo = message(&format!("me: {text}"), at, 0, &said).ok_or_else(wrong)?;
                Event::Happens(at, Input::Said(Message { id: MessageId::new(id), ..echo }))
            }
            _ => {
                let message = message(rest, at, said.len() + 1, &said).ok_or_else(wrong)?;
                said.insert(message.id.to_string(), message.clone());
                Event::Happens(at, Input::Said(message))
            }
        };
        events.push(event);
    }
    Ok(events)
}

/// A post of the bot's own.
fn taken_down(at: Time, id: &str) -> Event {
    let change = Change { place: Place::room("room"), id: MessageId::new(id), at, text: None };
    Event::Happens(at, Input::Changed(change))
}

fn reacted(more: &str, at: Time) -> Option<Input> {
    let (emoji, post) = more.split_once(' ')?;
    let (place, message) = (Place::room("room"), MessageId::new(post.trim()));
    Some(Input::Reacted(Reaction { place, message, at, by: PersonId::new("alice"), emoji: emoji.into(), on: true }))
}

fn clock_set(how: &str) -> Option<Input> {
    let (direction, by) = how.split_once(' ')?;
    let ms = span(by)?.0 as i64;
    Some(Input::ClockSet(ClockShift(if direction == "back" { -ms } else { ms })))
}

fn order_input(order: &str) -> Option<Input> {
    let mut words = order.split_whitespace();
    let command = match (words.next()?, words.next()) {
        ("mute", None) => Command::Mute(None),
        ("mute", Some(length)) => Command::Mute(Some(span(length)?)),
        ("unmute", None) => Command::Unmute,
        ("talk", Some(share)) => Command::Talk(Some(aizuchi_core::types::Share::parse(share)?)),
        ("reset", None) => Command::Reset,
        ("on", None) => Command::Listen(true),
        ("off", None) => Command::Listen(false),
        _ => return None,
    };
    Some(Input::Told(RoomId::new("room"), command))
}

fn changed(said: &BTreeMap<String, Message>, at: Time, id: &str, text: Option<Box<str>>) -> Option<Event> {
    let message = said.get(id)?;
    let change = Change { place: message.place.clone(), id: message.id.clone(), at, text };
    Some(Event::Happens(at, Input::Changed(change)))
}

fn message(rest: &str, at: Time, number: usize, said: &BTreeMap<String, Message>) -> Option<Message> {
    let (place, rest) = match rest.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((place, rest)) => (named_place(place), rest),
        None => (Place::room("room"), rest),
    };
    let (who, text) = rest.split_once(": ").or_else(|| rest.strip_suffix(':').map(|who| (who, "")))?;
    let (who, reply) = match who.split_once(" -> ") {
        Some((who, to)) => (who, Some(reply(to, said))),
        None => (who, None),
    };
    let (name, notes) = who.split_once('(').map_or((who, ""), |(name, notes)| (name, notes.trim_end_matches(')')));
    let voice = if name == "me" {
        Voice::Me
    } else if notes == "bot" {
        Voice::Bot
    } else {
        Voice::Person
    };
    let missed = notes.strip_prefix("missed ");
    let sent = match notes.strip_prefix("sent ").or(missed) {
        Some(clock) => time(clock)?,
        None => at,
    };
    let mentions: Vec<&str> =
        text.split("<@").skip(1).filter_map(|part| part.split_once('>')).map(|(who, _)| who).collect();
    Some(Message {
        id: MessageId::new(format!("m{number}")),
        place,
        at: sent,
        author: Author { id: PersonId::new(name), name: name.into(), voice },
        text: text.replace("\\n", "\n").replace("\\u{1f}", "\u{1f}").into(),
        reply,
        mentions: mentions.iter().filter(|who| **who != "me").map(PersonId::new).collect(),
        mentions_me: mentions.contains(&"me"),
        visibility: if notes == "direct" { Visibility::Direct } else { Visibility::Public },
        backfilled: missed.is_some(),
        heard: Some(at),
    })
}

fn named_place(name: &str) -> Place {
    let (room, thread) =
        name.split_once('/').map_or((name, None), |(room, thread)| (room, Some(ThreadId::new(thread))));
    Place { room: RoomId::new(room), thread }
}

fn reply(to: &str, said: &BTreeMap<String, Message>) -> Reply {
    if to == "me" {
        return Reply { to: None, to_me: true, to_person: None };
    }
    let to_person = said.get(to).map(|message| message.author.id.clone());
    Reply { to: Some(MessageId::new(to)), to_me: false, to_person }
}

fn time(clock: &str) -> Option<Time> {
    let (plain, millis) = clock.split_once('.').unwrap_or((clock, "0"));
    let parts: Vec<u64> = plain.split(':').map(str::parse).collect::<Result<_, _>>().ok()?;
    let [hours, minutes, seconds] = parts[..] else { return None };
    Some(Time(DAY + ((hours * 60 + minutes) * 60 + seconds) * 1000 + millis.parse::<u64>().ok()?))
}

/// "90s", "10m", "2h".
pub fn span(text: &str) -> Option<Span> {
    let (number, unit) = text.split_at(text.find(|c: char| c.is_alphabetic())?);
    let number: u64 = number.parse().ok()?;
    match unit {
        "s" => Some(Span::seconds(number)),
        "m" => Some(Span::minutes(number)),
        "h" => Some(Span::minutes(60 * number)),
        _ => None,
    }
}
