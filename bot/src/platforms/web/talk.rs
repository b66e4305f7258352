//! What was said in the web rooms: stored once, changed by whoever said it, told from any point on.

use std::collections::BTreeSet;

use aizuchi_core::types::{Change, MessageId, PersonId, Place, Reaction, RoomId, ThreadId, Time, Voice};
use aizuchi_core::{Input, Message, types};
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};
use serde::{Deserialize, Serialize};

use super::forget::is_forgotten;
use super::mentions::mentions;
use super::wire::{FromServer, Post};
use super::{people, rooms};

/// The beginning of the names of rooms and people.
const PREFIX: &str = "web:";
/// Different emoji on one message, and people who gave one of them.
const EMOJI_MAX: usize = 20;
const GIVERS_MAX: usize = 100;

pub fn room_id(room: &str) -> RoomId {
    RoomId::new(format!("{PREFIX}{room}"))
}

pub fn person_id(person: &str) -> PersonId {
    PersonId::new(format!("{PREFIX}{person}"))
}

/// The room's name on the pages; `None` for another platform's.
pub fn room_name(room: &RoomId) -> Option<&str> {
    room.as_str().strip_prefix(PREFIX)
}

/// The id that pages know a person by; `None` for another platform's.
pub fn person_name(person: &PersonId) -> Option<&str> {
    person.as_str().strip_prefix(PREFIX)
}

/// Who speaks. The id is the one everybody may see.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Speaker {
    pub id: String,
    pub name: String,
}

/// Something to be said.
#[derive(Clone, Debug)]
pub struct Saying {
    pub room: String,
    /// Said again with the same key, it is the same message.
    pub key: String,
    pub at: Time,
    pub by: Speaker,
    pub voice: Voice,
    pub text: String,
    pub thread: Option<String>,
    pub reply_to: Option<String>,
}

/// A reaction to be given or taken back.
#[derive(Clone, Debug)]
pub struct Reacting {
    pub room: String,
    pub id: String,
    pub at: Time,
    pub by: Speaker,
    pub voice: Voice,
    pub emoji: String,
    pub on: bool,
}

/// What is stored, and the number of the change that stored it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    pub id: String,
    pub seq: u64,
}

/// A change of the talk, and what the engine is to hear of it; nothing where it knows already.
#[derive(Clone, Debug)]
pub struct Changed {
    pub stored: Stored,
    pub input: Option<Input>,
}

impl From<Stored> for Changed {
    fn from(stored: Stored) -> Changed {
        Changed { stored, input: None }
    }
}

/// Why something is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    NoSuchMessage,
    NoSuchThread,
    NotYours,
    Deleted,
    TooManyReactions,
    RoomClosed,
    NotYourRoom,
}

/// A message as it is kept.
#[derive(Clone, Debug)]
pub struct Kept {
    pub id: String,
    pub room: String,
    pub seq: u64,
    pub first_seq: u64,
    pub(super) body: Body,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Body {
    at: Time,
    pub by: Speaker,
    voice: Voice,
    pub text: String,
    thread: Option<String>,
    pub reply_to: Option<String>,
    pub edited: bool,
    pub deleted: bool,
    pub reactions: Vec<(String, Vec<Speaker>)>,
}

impl Kept {
    /// For a page that knows everything up to `since`.
    pub fn tell(&self, since: u64) -> FromServer {
        let message = Box::new(self.post());
        if self.first_seq > since {
            FromServer::Said { seq: self.seq, message }
        } else {
            FromServer::Changed { seq: self.seq, message }
        }
    }

    fn post(&self) -> Post {
        let body = self.body.clone();
        let names = |givers: Vec<Speaker>| givers.into_iter().map(|giver| giver.name).collect();
        Post {
            id: self.id.clone(),
            order: self.first_seq,
            at: body.at.0,
            author_id: body.by.id,
            author: body.by.name,
            voice: body.voice,
            text: body.text,
            thread: body.thread,
            reply_to: body.reply_to,
            edited: body.edited,
            deleted: body.deleted,
            reactions: body.reactions.into_iter().map(|(emoji, givers)| (emoji, names(givers))).collect(),
        }
    }
}

/// Stores what somebody says, once. `here` are those whose pages are in the room.
pub fn say(
    transaction: &Transaction<'_>,
    saying: Saying,
    my_names: &[String],
    here: &[Speaker],
) -> rusqlite::Result<Result<Changed, Refusal>> {
    let known = "SELECT id, seq FROM web_message WHERE key = ?1";
    let as_stored = |row: &Row<'_>| Ok(Stored { id: row.get(0)?, seq: row.get::<_, i64>(1)? as u64 });
    if let Some(stored) = transaction.prepare_cached(known)?.query_row([&saying.key], as_stored).optional()? {
        return Ok(Ok(stored.into()));
    }
    if !rooms::is_room(transaction, &saying.room)? {
        return Ok(Err(Refusal::RoomClosed));
    }
    if let Some(thread) = &saying.thread
        && !is_thread(transaction, &saying.room, thread)?
    {
        return Ok(Err(Refusal::NoSuchThread));
    }
    let replied = match &saying.reply_to {
        Some(id) => find(transaction, &saying.room, id)?,
        None => None,
    };
    if (saying.reply_to.is_some() && replied.is_none()) || is_forgotten(transaction, &saying, replied.as_ref())? {
        return Ok(Err(Refusal::NoSuchMessage));
    }
    let seq = next_seq(transaction)?;
    let id = format!("w{seq}");
    let input = match saying.voice {
        Voice::Me => None,
        Voice::Person | Voice::Bot => {
            let members = mentionable(transaction, &saying, here)?;
            Some(Input::Said(message(&saying, &id, replied.as_ref(), my_names, &members)))
        }
    };
    if saying.voice == Voice::Person {
        people::spoke(transaction, &saying.room, &saying.by, saying.at)?;
    }
    let Saying { room, key, at, by, voice, text, thread, reply_to } = saying;
    let body = Body { at, by, voice, text, thread, reply_to, edited: false, deleted: false, reactions: Vec::new() };
    let insert = "INSERT INTO web_message (id, room, seq, first_seq, key, body) VALUES (?1, ?2, ?3, ?3, ?4, ?5)";
    transaction.prepare_cached(insert)?.execute(params![id, room, seq as i64, key, written(&body)])?;
    Ok(Ok(Changed { stored: Stored { id, seq }, input }))
}

/// Whose names are looked for in the text: those who are here, and those who spoke.
fn mentionable(connection: &Connection, saying: &Saying, here: &[Speaker]) -> rusqlite::Result<Vec<Speaker>> {
    if !may_mention(&saying.text) {
        return Ok(Vec::new());
    }
    let mut members = people::members(connection, &saying.room)?;
    members.extend_from_slice(here);
    Ok(members)
}

pub fn may_mention(text: &str) -> bool {
    text.contains(['@', '＠'])
}

/// The message in the engine's words.
fn message(saying: &Saying, id: &str, replied: Option<&Kept>, my_names: &[String], members: &[Speaker]) -> Message {
    let mentioned = members.iter().filter(|member| mentions(&saying.text, &member.name));
    // Somebody may be here in two tabs, and may have spoken before.
    let mentioned: BTreeSet<PersonId> = mentioned.map(|member| person_id(&member.id)).collect();
    let reply = replied.map(|kept| types::Reply {
        to: Some(MessageId::new(&kept.id)),
        to_me: kept.body.voice == Voice::Me,
        to_person: (kept.body.voice != Voice::Me).then(|| person_id(&kept.body.by.id)),
    });
    Message {
        id: MessageId::new(id),
        place: place(&saying.room, saying.thread.as_deref()),
        at: saying.at,
        author: types::Author {
            id: person_id(&saying.by.id),
            name: saying.by.name.as_str().into(),
            voice: saying.voice,
        },
        text: saying.text.as_str().into(),
        reply,
        mentions: mentioned.into_iter().collect(),
        mentions_me: my_names.iter().any(|name| mentions(&saying.text, name)),
        visibility: types::Visibility::Public,
        backfilled: false,
        heard: None,
    }
}

/// Changes the text of one's own message; `None` deletes it. What is so already stays as it is.
pub fn change(
    transaction: &Transaction<'_>,
    room: &str,
    id: &str,
    by: &str,
    at: Time,
    text: Option<String>,
) -> rusqlite::Result<Result<Changed, Refusal>> {
    let Some(mut kept) = find(transaction, room, id)? else { return Ok(Err(Refusal::NoSuchMessage)) };
    if kept.body.by.id != by {
        return Ok(Err(Refusal::NotYours));
    }
    match (&text, kept.body.deleted) {
        (Some(_), true) => return Ok(Err(Refusal::Deleted)),
        (None, true) => return Ok(Ok(kept.stored().into())),
        (Some(text), false) if *text == kept.body.text => return Ok(Ok(kept.stored().into())),
        (Some(_) | None, false) => (),
    }
    match &text {
        Some(text) => (kept.body.text, kept.body.edited) = (text.clone(), true),
        None => {
            kept.body.deleted = true;
            kept.body.text.clear();
            kept.body.reactions.clear();
        }
    }
    let stored = update(transaction, kept.clone())?;
    let place = place(room, kept.body.thread.as_deref());
    let change = Change { place, id: MessageId::new(id), at, text: text.map(Into::into) };
    Ok(Ok(Changed { stored, input: Some(Input::Changed(change)) }))
}

/// Gives a reaction or takes it back. What is so already stays as it is.
pub fn react(transaction: &Transaction<'_>, reacting: Reacting) -> rusqlite::Result<Result<Changed, Refusal>> {
    let Reacting { room, id, at, by, voice, emoji, on } = reacting;
    let Some(mut kept) = find(transaction, &room, &id)? else { return Ok(Err(Refusal::NoSuchMessage)) };
    if kept.body.deleted {
        return Ok(Err(Refusal::Deleted));
    }
    let (place, giver) = (place(&room, kept.body.thread.as_deref()), person_id(&by.id));
    let reactions = &mut kept.body.reactions;
    let given = reactions.iter().position(|(given, _)| *given == emoji);
    let by_them = given.and_then(|place| reactions[place].1.iter().position(|giver| giver.id == by.id));
    match (on, given, by_them) {
        (true, _, Some(_)) | (false, _, None) => return Ok(Ok(kept.stored().into())),
        (true, None, None) if reactions.len() >= EMOJI_MAX => return Ok(Err(Refusal::TooManyReactions)),
        (true, None, None) => reactions.push((emoji.clone(), vec![by])),
        (true, Some(place), None) if reactions[place].1.len() >= GIVERS_MAX => {
            return Ok(Err(Refusal::TooManyReactions));
        }
        (true, Some(place), None) => reactions[place].1.push(by),
        (false, given, Some(giver)) => {
            reactions[given.expect("somebody gave it")].1.remove(giver);
            reactions.retain(|(_, givers)| !givers.is_empty());
        }
    }
    let stored = update(transaction, kept)?;
    let reaction = Reaction { place, message: MessageId::new(id), at, by: giver, emoji: emoji.into(), on };
    let input = (voice != Voice::Me).then_some(Input::Reacted(reaction));
    Ok(Ok(Changed { stored, input }))
}

impl Kept {
    fn stored(self) -> Stored {
        Stored { id: self.id, seq: self.seq }
    }
}

pub(super) fn update(transaction: &Transaction<'_>, kept: Kept) -> rusqlite::Result<Stored> {
    let seq = next_seq(transaction)?;
    let update = "UPDATE web_message SET seq = ?2, body = ?3 WHERE id = ?1";
    transaction.prepare_cached(update)?.execute(params![kept.id, seq as i64, written(&kept.body)])?;
    Ok(Stored { id: kept.id, seq })
}

/// Some messages of a room, oldest first, and whether there are older ones.
pub fn history(connection: &Connection, room: &str, before: u64, count: usize) -> rusqlite::Result<(Vec<Kept>, bool)> {
    let before = i64::try_from(before).unwrap_or(i64::MAX);
    let query = "SELECT id, room, seq, first_seq, body FROM web_message \
                 WHERE room = ?1 AND first_seq < ?2 ORDER BY first_seq DESC LIMIT ?3";
    let mut statement = connection.prepare_cached(query)?;
    let found = statement.query_map(params![room, before, count as i64 + 1], kept)?;
    let mut found: Vec<Kept> = found.collect::<rusqlite::Result<_>>()?;
    let more = found.len() > count;
    found.truncate(count);
    found.reverse();
    Ok((found, more))
}

/// What changed after `since`, in the order of the changes; of one room or of all.
pub fn changes(connection: &Connection, room: Option<&str>, since: u64, count: usize) -> rusqlite::Result<Vec<Kept>> {
    let of_room = if room.is_some() { "room = ?1 AND" } else { "?1 IS NULL AND" };
    let query = format!(
        "SELECT id, room, seq, first_seq, body FROM web_message WHERE {of_room} seq > ?2 ORDER BY seq LIMIT ?3"
    );
    let mut statement = connection.prepare_cached(&query)?;
    statement.query_map(params![room, since as i64, count as i64], kept)?.collect()
}

/// The number of the latest change.
pub fn last_seq(connection: &Connection) -> rusqlite::Result<u64> {
    connection.query_row("SELECT seq FROM web_counter", [], |row| row.get::<_, i64>(0)).map(|seq| seq as u64)
}

pub fn next_seq(transaction: &Transaction<'_>) -> rusqlite::Result<u64> {
    let next = "UPDATE web_counter SET seq = seq + 1 RETURNING seq";
    transaction.prepare_cached(next)?.query_row([], |row| row.get::<_, i64>(0)).map(|seq| seq as u64)
}

/// Whether a thread can be there: a message of the room that is in none itself.
pub fn is_thread(connection: &Connection, room: &str, id: &str) -> rusqlite::Result<bool> {
    Ok(find(connection, room, id)?.is_some_and(|first| first.body.thread.is_none()))
}

fn find(connection: &Connection, room: &str, id: &str) -> rusqlite::Result<Option<Kept>> {
    let query = "SELECT id, room, seq, first_seq, body FROM web_message WHERE id = ?1 AND room = ?2";
    connection.prepare_cached(query)?.query_row([id, room], kept).optional()
}

pub(super) fn kept(row: &Row<'_>) -> rusqlite::Result<Kept> {
    let body: String = row.get(4)?;
    let body = serde_json::from_str(&body)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(4, rusqlite::types::Type::Text, Box::new(error)))?;
    let number = |column| row.get::<_, i64>(column).map(|number| number as u64);
    Ok(Kept { id: row.get(0)?, room: row.get(1)?, seq: number(2)?, first_seq: number(3)?, body })
}

fn written(body: &Body) -> String {
    serde_json::to_string(body).expect("a message is plain data")
}

fn place(room: &str, thread: Option<&str>) -> Place {
    Place { room: room_id(room), thread: thread.map(ThreadId::new) }
}
