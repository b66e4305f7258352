//! What came in and was not told yet, and what came in before: stored before it is acknowledged, so that neither a
//! crash loses anything nor a redelivery counts twice.

use std::collections::BTreeMap;

use aizuchi_core::types::{Span, Time};
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::Event;
use super::names::Names;
use super::read::text;

/// As long as Slack might send something again, and people might react to it.
const KEPT: Span = Span::minutes(7 * 24 * 60);

/// Something that came in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Arrival {
    /// The same however often it comes.
    #[serde(skip)]
    pub key: String,
    /// Slack's event.
    pub event: Value,
    /// Fetched later, to fill a gap.
    #[serde(default)]
    pub fetched: bool,
}

impl Arrival {
    /// From an envelope; `None` if there is nothing in it for the engine. Names are noted at once and not kept: who
    /// changes theirs often would fill the store, and the next look at everybody finds what was missed.
    pub fn of_payload(envelope: &str, mut payload: Value, names: &Names) -> Option<Arrival> {
        let event = payload.get_mut("event").map(Value::take)?;
        let read = Event::read(&event);
        match &read {
            Event::Person(person) => names.is_person(person.clone()),
            Event::Renamed(channel) => names.is_channel(channel.clone()),
            Event::Said(_) | Event::Changed(_) | Event::Reacted(_) | Event::Joined { .. } | Event::Left { .. } => (),
            Event::Nothing => return None,
        }
        if matches!(read, Event::Person(_) | Event::Renamed(_)) {
            return None;
        }
        let named = payload.get("event_id").and_then(Value::as_str).filter(|id| !id.is_empty() && id.len() <= 200);
        let key = read.key().unwrap_or_else(|| named.unwrap_or(envelope).to_owned());
        Some(Arrival { key, event, fetched: false })
    }

    /// From a channel's history.
    pub fn of_history(channel: &str, mut message: Value) -> Option<Arrival> {
        let fields = message.as_object_mut()?;
        fields.insert("channel".into(), channel.into());
        fields.insert("type".into(), "message".into());
        let key = Event::read(&message).key()?;
        Some(Arrival { key, event: message, fetched: true })
    }
}

/// Stores what was not known yet; how many that were.
pub fn store(transaction: &Transaction<'_>, arrivals: Vec<Arrival>, at: Time) -> rusqlite::Result<usize> {
    let insert = "INSERT OR IGNORE INTO slack_event (key, at, thread, body) VALUES (?1, ?2, ?3, ?4)";
    let mut stored = 0;
    for arrival in arrivals {
        let read = Event::read(&arrival.event);
        let thread = if let Event::Said(saying) = &read { saying.thread.as_deref() } else { None };
        let body = serde_json::to_string(&arrival).expect("an arrival is plain data");
        let new = transaction.prepare_cached(insert)?.execute(params![arrival.key, at.0 as i64, thread, body])?;
        stored += new;
        if new > 0 {
            note_place(transaction, &read)?;
        }
    }
    Ok(stored)
}

/// Whether a slash command arrives for the first time.
pub fn is_new(transaction: &Transaction<'_>, key: &str, at: Time) -> rusqlite::Result<bool> {
    let insert = "INSERT OR IGNORE INTO slack_event (key, at) VALUES (?1, ?2)";
    Ok(transaction.prepare_cached(insert)?.execute(params![key, at.0 as i64])? > 0)
}

/// Remembers up to where each channel is known.
fn note_place(transaction: &Transaction<'_>, event: &Event) -> rusqlite::Result<()> {
    match event {
        Event::Said(saying) => {
            let upsert = "INSERT INTO slack_channel (id, last) VALUES (?1, ?2) \
                          ON CONFLICT (id) DO UPDATE SET last = max(last, ?2)";
            transaction.prepare_cached(upsert)?.execute(params![saying.channel, saying.ts])?;
        }
        Event::Left { channel } => {
            transaction.execute("DELETE FROM slack_channel WHERE id = ?1", [channel])?;
        }
        Event::Changed(_)
        | Event::Reacted(_)
        | Event::Person(_)
        | Event::Renamed(_)
        | Event::Joined { .. }
        | Event::Nothing => (),
    }
    Ok(())
}

/// Some of what was not told, in the order in which it came.
pub fn untold(connection: &Connection, after: i64, count: usize) -> rusqlite::Result<Vec<(i64, String)>> {
    let query = "SELECT seq, body FROM slack_event WHERE seq > ?1 AND body IS NOT NULL ORDER BY seq LIMIT ?2";
    let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    connection.prepare_cached(query)?.query_map(params![after, count as i64], row)?.collect()
}

/// Lets go of what was told; that it came stays known.
pub fn told(transaction: &Transaction<'_>, up_to: i64) -> rusqlite::Result<()> {
    let forget = "UPDATE slack_event SET body = NULL WHERE seq <= ?1 AND body IS NOT NULL";
    transaction.prepare_cached(forget)?.execute([up_to]).map(|_| ())
}

/// What these people did and nobody was told yet is not told any more.
pub fn forget(transaction: &Transaction<'_>, users: &[&str]) -> rusqlite::Result<()> {
    let by = |event: &Value| ["user", "bot_id"].iter().any(|field| users.contains(&text(event, field).unwrap_or("")));
    for (seq, body) in untold(transaction, 0, usize::MAX >> 1)? {
        let Ok(Arrival { event, .. }) = serde_json::from_str(&body) else { continue };
        let inner = ["message", "previous_message"].iter().filter_map(|field| event.get(*field));
        if by(&event) || inner.into_iter().any(by) {
            transaction.execute("UPDATE slack_event SET body = NULL WHERE seq = ?1", [seq])?;
        }
    }
    Ok(())
}

/// The thread a message lies in, if it came lately.
pub fn thread_of(connection: &Connection, channel: &str, ts: &str) -> rusqlite::Result<Option<String>> {
    let query = "SELECT thread FROM slack_event WHERE key = ?1";
    let found =
        connection.prepare_cached(query)?.query_row([format!("{channel}/{ts}")], |row| row.get(0)).optional()?;
    Ok(found.flatten())
}

/// Whether nothing came of this thread before this message.
pub fn is_first(connection: &Connection, channel: &str, thread: &str, ts: &str) -> rusqlite::Result<bool> {
    // By the key, so that only what lies between the two is looked at.
    let query = "SELECT 1 FROM slack_event WHERE key > ?1 AND key < ?2 AND thread = ?3";
    let (parent, message) = (format!("{channel}/{thread}"), format!("{channel}/{ts}"));
    connection.prepare_cached(query)?.exists(params![parent, message, thread]).map(|known| !known)
}

/// The channels it heard, and the last message of each.
pub fn channels(connection: &Connection) -> rusqlite::Result<BTreeMap<String, String>> {
    let query = "SELECT id, last FROM slack_channel";
    connection.prepare_cached(query)?.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
}

pub fn sweep(transaction: &Transaction<'_>, now: Time) -> rusqlite::Result<()> {
    let old = "DELETE FROM slack_event WHERE at < ?1 AND body IS NULL";
    transaction.execute(old, [(now - KEPT).0 as i64]).map(|_| ())
}
