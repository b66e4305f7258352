//! What is kept of a person, looked up before anything of it is deleted.

use std::collections::BTreeSet;

use aizuchi_core::memory::words::{NameFinder, Phrases};
use aizuchi_core::types::{MessageId, PersonId, RoomId, Voice};
use aizuchi_core::{Input, Time, Trace};
use rusqlite::{Connection, params};
use serde::Deserialize;

use super::read::Records;
use super::write::Journal;
use crate::stores::StoreError;

/// Where somebody is found, and by what.
#[derive(Debug, Default)]
pub struct Trail {
    /// What they went by.
    pub names: BTreeSet<Box<str>>,
    /// Where they spoke.
    pub rooms: BTreeSet<RoomId>,
    /// Posts of the bot that answered them.
    pub answers: BTreeSet<(RoomId, MessageId)>,
    /// What they said, as far as the bot repeated it and nobody else said it.
    pub phrases: Phrases,
    /// What everybody else goes by.
    pub others: BTreeSet<Box<str>>,
    messages: BTreeSet<(RoomId, MessageId)>,
    /// The bot's posts and what they answer.
    replies: Vec<(RoomId, MessageId, MessageId)>,
}

/// Rows read at once: no read lasts long, so that the writer can tidy up behind it.
const PAGE: i64 = 512;

impl Journal {
    pub async fn trail(&self, ids: Vec<PersonId>) -> Result<Trail, StoreError> {
        self.database.read(move |connection| trail(connection, &ids)).await
    }

    /// Those of the names that are in something the bot said.
    pub async fn names_it_used(&self, names: Vec<Box<str>>) -> Result<Vec<Box<str>>, StoreError> {
        self.database.read(move |connection| names_it_used(connection, names)).await
    }
}

fn trail(connection: &Connection, ids: &[PersonId]) -> rusqlite::Result<Trail> {
    let mut trail = Trail::default();
    each_said(connection, &mut |said| trail.note(said, ids))?;
    trail.follow_replies();
    members(connection, ids, &mut trail)?;
    let acted = acted_for(connection, ids)?;
    trail.rooms.extend(acted.iter().map(|(room, _)| room.clone()));
    for record in Records::all(connection)? {
        let Ok(record) = record? else { continue };
        if let Input::Delivered(call, Ok(posts)) = record.input
            && acted.contains(&(call.room.clone(), record.at))
        {
            trail.answers.extend(posts.into_iter().map(|post| (call.room.clone(), post)));
        }
    }
    let mut own = Phrases::default();
    each_own_text(connection, &mut |text| own.add(text))?;
    trail.phrases.retain_common(&own);
    if !trail.phrases.is_empty() {
        each_said(connection, &mut |said| {
            if said.voice != Voice::Me && !ids.contains(&said.by) {
                trail.phrases.remove(said.text);
            }
        })?;
    }
    Ok(trail)
}

impl Trail {
    fn note(&mut self, said: &Utterance<'_>, ids: &[PersonId]) {
        let room = || said.room.clone();
        if ids.contains(&said.by) {
            self.names.insert(said.name.into());
            self.rooms.insert(room());
            self.messages.insert((room(), said.id.clone()));
            self.phrases.add(said.text);
        } else if said.voice != Voice::Me {
            self.others.insert(said.name.into());
        } else if let Some(to) = &said.reply {
            self.replies.push((room(), said.id.clone(), to.clone()));
        }
    }

    fn follow_replies(&mut self) {
        for (room, post, to) in std::mem::take(&mut self.replies) {
            if self.messages.contains(&(room.clone(), to)) {
                self.answers.insert((room, post));
            }
        }
    }
}

/// Something that was said, wherever it is kept.
struct Utterance<'a> {
    room: RoomId,
    id: MessageId,
    by: PersonId,
    name: &'a str,
    voice: Voice,
    text: &'a str,
    reply: Option<MessageId>,
}

/// Everything that was said, in the journal and in the talk of the web rooms, which is kept for longer.
fn each_said(connection: &Connection, see: &mut dyn FnMut(&Utterance<'_>)) -> rusqlite::Result<()> {
    for record in Records::all(connection)? {
        let Ok(record) = record? else { continue };
        let Input::Said(message) = record.input else { continue };
        let reply = message.reply.and_then(|reply| reply.to);
        let (id, by, voice) = (message.id, message.author.id, message.author.voice);
        let (name, text) = (&*message.author.name, &*message.text);
        see(&Utterance { room: message.place.room, id, by, name, voice, text, reply });
    }
    each_web_post(connection, &mut |room, id, post| {
        let (by, reply) = (PersonId::new(format!("web:{}", post.by.id)), post.reply_to.as_deref().map(MessageId::new));
        let (room, id) = (RoomId::new(format!("web:{room}")), MessageId::new(id));
        if !post.by.id.is_empty() {
            see(&Utterance { room, id, by, name: &post.by.name, voice: post.voice, text: &post.text, reply });
        }
    })
}

/// Everything the bot said or wanted to say.
fn each_own_text(connection: &Connection, see: &mut dyn FnMut(&str)) -> rusqlite::Result<()> {
    for record in Records::all(connection)? {
        let Ok(record) = record? else { continue };
        if let Input::Written(_, Ok(answer)) = record.input {
            see(&answer.text);
        }
    }
    each_said(connection, &mut |said| {
        if said.voice == Voice::Me {
            see(said.text);
        }
    })
}

/// A message of the web room.
#[derive(Deserialize)]
struct WebPost {
    by: WebAuthor,
    voice: Voice,
    text: String,
    reply_to: Option<String>,
}

#[derive(Deserialize)]
struct WebAuthor {
    id: String,
    name: String,
}

fn each_web_post(connection: &Connection, see: &mut dyn FnMut(&str, &str, &WebPost)) -> rusqlite::Result<()> {
    let query = "SELECT id, room, body FROM web_message WHERE id > ?1 ORDER BY id LIMIT ?2";
    let mut newest = String::new();
    loop {
        let mut statement = connection.prepare_cached(query)?;
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let page = statement.query_map(params![newest, PAGE], row)?;
        let page: Vec<(String, String, String)> = page.collect::<rusqlite::Result<_>>()?;
        for (id, room, body) in &page {
            if let Ok(post) = serde_json::from_str(body) {
                see(room, id, &post);
            }
        }
        let Some((last, ..)) = page.into_iter().last() else { return Ok(()) };
        newest = last;
    }
}

/// NameFinder in the web rooms, also of those who said nothing.
fn members(connection: &Connection, ids: &[PersonId], trail: &mut Trail) -> rusqlite::Result<()> {
    let query = "SELECT id, name FROM web_person UNION SELECT person, name FROM web_member";
    let mut statement = connection.prepare_cached(query)?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
    for row in rows {
        let (id, name) = row?;
        let of = if ids.contains(&PersonId::new(format!("web:{id}"))) { &mut trail.names } else { &mut trail.others };
        of.insert(name.into());
    }
    Ok(())
}

/// When and where it acted on messages of these ids: the delivery of that time is the answer.
pub(super) fn acted_for(connection: &Connection, ids: &[PersonId]) -> rusqlite::Result<BTreeSet<(RoomId, Time)>> {
    let query =
        "SELECT body FROM trace WHERE CASE WHEN json_valid(body) THEN json_extract(body, '$.author_id') = ?1 END";
    let mut acted = BTreeSet::new();
    for id in ids {
        let mut statement = connection.prepare_cached(query)?;
        for body in statement.query_map([id.as_str()], |row| row.get::<_, String>(0))? {
            let Ok(trace) = serde_json::from_str::<Trace>(&body?) else { continue };
            acted.extend(trace.acted_at.map(|at| (trace.place.room, at)));
        }
    }
    Ok(acted)
}

/// Every decision, by room, message and body.
pub(super) fn each_trace(connection: &Connection, see: &mut dyn FnMut(&str, &str, &str)) -> rusqlite::Result<()> {
    let query =
        "SELECT room, message, body FROM trace WHERE (room, message) > (?1, ?2) ORDER BY room, message LIMIT ?3";
    let mut newest = (String::new(), String::new());
    loop {
        let mut statement = connection.prepare_cached(query)?;
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
        let page = statement.query_map(params![newest.0, newest.1, PAGE], row)?;
        let page: Vec<(String, String, String)> = page.collect::<rusqlite::Result<_>>()?;
        page.iter().for_each(|(room, message, body)| see(room, message, body));
        let Some((room, message, _)) = page.into_iter().last() else { return Ok(()) };
        newest = (room, message);
    }
}

fn names_it_used(connection: &Connection, names: Vec<Box<str>>) -> rusqlite::Result<Vec<Box<str>>> {
    let mut looked: Vec<(Box<str>, NameFinder, bool)> =
        names.into_iter().map(|name| (name.clone(), NameFinder::new([&name]), false)).collect();
    each_own_text(connection, &mut |text| {
        looked.iter_mut().for_each(|(_, names, found)| *found = *found || names.are_in(text));
    })?;
    Ok(looked.into_iter().filter(|(.., found)| *found).map(|(name, ..)| name).collect())
}
