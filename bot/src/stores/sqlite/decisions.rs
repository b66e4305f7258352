//! Decisions in their table.

use std::sync::Arc;

use aizuchi_core::types::{MessageId, RoomId};
use aizuchi_core::{Time, Trace};
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};
use serde::Serialize;

use super::Database;
use crate::journal::traces::{ConflictRule, has_words};
use crate::ports::{BoxFuture, DecisionPart, DecisionQuery, DecisionStore, Replacement, StoredDecision};
use crate::stores::StoreError;

/// How many rows are read at once.
const PAGE: usize = 512;

impl DecisionStore for Database {
    fn keep(&self, decided: Arc<[Trace]>) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.write_behind(move |transaction| keep(transaction, &decided)))
    }

    fn find<'a>(&'a self, query: DecisionQuery<'a>) -> BoxFuture<'a, Result<Vec<StoredDecision>, StoreError>> {
        let query = OwnedQuery::new(query);
        Box::pin(self.read(move |connection| find(connection, &query)))
    }

    fn page<'a>(
        &'a self,
        part: DecisionPart<'a>,
        after: Option<(&'a RoomId, &'a MessageId)>,
    ) -> BoxFuture<'a, Result<Vec<StoredDecision>, StoreError>> {
        let (condition, value) = match part {
            DecisionPart::All => ("?4 IS NULL", None),
            DecisionPart::By(person) => ("author = ?4", Some(person.as_str().to_owned())),
            DecisionPart::Worded => ("worded = 1 AND ?4 IS NULL", None),
            DecisionPart::WordedIn(room) => ("room = ?4", Some(room.as_str().to_owned())),
        };
        let worded_only = matches!(part, DecisionPart::WordedIn(_));
        let (room, message) = after.map_or(("", ""), |(room, message)| (room.as_str(), message.as_str()));
        let after = (room.to_owned(), message.to_owned());
        let read = move |connection: &Connection| {
            let query = format!(
                "SELECT room, message, body FROM trace WHERE (room, message) > (?1, ?2) AND {condition}
                ORDER BY room, message LIMIT ?3"
            );
            let limit = if worded_only { -1 } else { PAGE as i64 };
            let mut statement = connection.prepare_cached(&query)?;
            let rows = statement.query_map(params![after.0, after.1, limit, value], read)?;
            let is_wanted = |stored: &StoredDecision| !worded_only || stored.trace.as_ref().map_or(true, has_words);
            rows.filter(|row| row.as_ref().map_or(true, is_wanted)).take(PAGE).collect()
        };
        Box::pin(self.read(read))
    }

    fn latest<'a>(
        &'a self,
        room: Option<&'a RoomId>,
        holding: &'a str,
        count: u32,
    ) -> BoxFuture<'a, Result<Vec<MessageId>, StoreError>> {
        let (room, holding) = (room.cloned(), holding.to_owned());
        let latest = move |connection: &Connection| {
            let query = "SELECT message FROM trace WHERE (?1 IS NULL OR room = ?1) AND instr(message, ?3)
                ORDER BY at DESC, message DESC LIMIT ?2";
            let values = params![room.as_ref().map(RoomId::as_str), count, holding];
            let mut statement = connection.prepare(query)?;
            statement.query_map(values, |row| Ok(MessageId::new(row.get::<_, String>(0)?)))?.collect()
        };
        Box::pin(self.read(latest))
    }

    fn rooms(&self) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>> {
        Box::pin(self.read(rooms))
    }

    fn reorder(&self, now: Time) -> BoxFuture<'_, Result<(), StoreError>> {
        let order = "UPDATE trace SET at = ?1 WHERE at > ?1";
        Box::pin(self.write(move |transaction| transaction.execute(order, [now.0 as i64]).map(drop)))
    }
}

fn keep(transaction: &Transaction<'_>, traces: &[Trace]) -> rusqlite::Result<()> {
    for trace in traces {
        match ConflictRule::of(trace) {
            ConflictRule::Not => (),
            ConflictRule::AddResponse if add(transaction, trace, "$.received", &trace.received)? => (),
            ConflictRule::AddProgress if add(transaction, trace, "$.chunks", &trace.chunks)? => (),
            ConflictRule::AddResponse | ConflictRule::AddProgress | ConflictRule::Replace => {
                insert(transaction, "REPLACE", trace)?
            }
            ConflictRule::IfNew => insert(transaction, "IGNORE", trace)?,
        }
    }
    Ok(())
}

fn insert(transaction: &Transaction<'_>, or: &str, trace: &Trace) -> rusqlite::Result<()> {
    let insert =
        format!("INSERT OR {or} INTO trace (room, message, at, body, author, worded) VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
    let (room, message, worded) = (trace.place.room.as_str(), trace.message.as_str(), has_words(trace).then_some(1));
    let row = params![room, message, trace.at.0 as i64, encode(trace), trace.author_id.as_str(), worded];
    transaction.prepare_cached(&insert)?.execute(row).map(drop)
}

/// Whether there is a decision to which it could be added.
fn add(transaction: &Transaction<'_>, trace: &Trace, field: &str, value: &impl Serialize) -> rusqlite::Result<bool> {
    let value = serde_json::to_string(value).expect("what is added to a decision is plain data");
    let update = "UPDATE trace SET body = json_set(body, ?3, json(?4)) WHERE room = ?1 AND message = ?2";
    let values = params![trace.place.room.as_str(), trace.message.as_str(), field, value];
    Ok(transaction.prepare_cached(update)?.execute(values)? > 0)
}

fn encode(trace: &Trace) -> String {
    serde_json::to_string(trace).expect("a trace is plain data")
}

/// A decision that was made anew since it was read is left as it is.
pub fn replace(transaction: &Transaction<'_>, replacement: &Replacement) -> rusqlite::Result<()> {
    let Replacement { room, message, before, after } = replacement;
    let (room, message) = (room.as_str(), message.as_str());
    match after {
        Some(trace) => {
            let update = "UPDATE trace SET body = ?4, worded = ?5 WHERE room = ?1 AND message = ?2 AND body = ?3";
            let row = params![room, message, before, encode(trace), has_words(trace).then_some(1)];
            transaction.prepare_cached(update)?.execute(row).map(drop)
        }
        None => {
            let delete = "DELETE FROM trace WHERE room = ?1 AND message = ?2 AND body = ?3";
            transaction.prepare_cached(delete)?.execute(params![room, message, before]).map(drop)
        }
    }
}

/// A query that can be moved to another thread.
enum OwnedQuery {
    Message(Option<RoomId>, MessageId),
    Messages(RoomId, Vec<MessageId>),
    Latest(Option<RoomId>, fn(&Trace) -> bool),
}

impl OwnedQuery {
    fn new(query: DecisionQuery<'_>) -> OwnedQuery {
        match query {
            DecisionQuery::Message(room, message) => OwnedQuery::Message(room.cloned(), message.clone()),
            DecisionQuery::Messages(room, messages) => OwnedQuery::Messages(room.clone(), messages.to_vec()),
            DecisionQuery::Latest(room, wanted) => OwnedQuery::Latest(room.cloned(), wanted),
        }
    }
}

fn find(connection: &Connection, query: &OwnedQuery) -> rusqlite::Result<Vec<StoredDecision>> {
    match query {
        OwnedQuery::Message(None, message) => {
            let query = "SELECT room, message, body FROM trace WHERE message = ?1 ORDER BY at DESC LIMIT 1";
            connection.prepare_cached(query)?.query_map([message.as_str()], read)?.collect()
        }
        OwnedQuery::Message(Some(room), message) => of_message(connection, room, message).map(Vec::from_iter),
        OwnedQuery::Messages(room, messages) => {
            let found = messages.iter().map(|message| of_message(connection, room, message));
            found.filter_map(Result::transpose).collect()
        }
        OwnedQuery::Latest(room, wanted) => latest(connection, room.as_ref(), *wanted).map(Vec::from_iter),
    }
}

fn of_message(connection: &Connection, room: &RoomId, message: &MessageId) -> rusqlite::Result<Option<StoredDecision>> {
    let query = "SELECT room, message, body FROM trace WHERE room = ?1 AND message = ?2";
    connection.prepare_cached(query)?.query_row([room.as_str(), message.as_str()], read).optional()
}

fn latest(
    connection: &Connection,
    room: Option<&RoomId>,
    wanted: fn(&Trace) -> bool,
) -> rusqlite::Result<Option<StoredDecision>> {
    let query = "SELECT room, message, body FROM trace WHERE ?1 IS NULL OR room = ?1 ORDER BY at DESC, message DESC";
    let mut statement = connection.prepare_cached(query)?;
    for found in statement.query_map([room.map(RoomId::as_str)], read)? {
        let found = found?;
        if found.trace.as_ref().is_ok_and(wanted) || found.trace.is_err() {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

fn read(row: &Row<'_>) -> rusqlite::Result<StoredDecision> {
    let (room, message, body): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let trace = serde_json::from_str(&body).map_err(|error| error.to_string());
    Ok(StoredDecision { room: RoomId::new(room), message: MessageId::new(message), body, trace })
}

/// Skips from name to name, however many decisions are in between.
fn rooms(connection: &Connection) -> rusqlite::Result<Vec<RoomId>> {
    let mut next = connection.prepare("SELECT min(room) FROM trace WHERE ?1 IS NULL OR room > ?1")?;
    let mut rooms: Vec<RoomId> = Vec::new();
    while let Some(room) = next.query_row([rooms.last().map(RoomId::as_str)], |row| row.get::<_, Option<String>>(0))? {
        rooms.push(RoomId::new(room));
    }
    Ok(rooms)
}

#[cfg(test)]
mod tests {
    use aizuchi_core::listen::Unheard;
    use aizuchi_core::trace::{ChunkProgress, Response};
    use aizuchi_core::types::{Author, Message, PersonId, Place, Visibility, Voice};

    use super::*;
    use crate::stores::scratch;

    #[tokio::test]
    async fn what_became_of_it_leaves_its_times_alone() {
        let (_folder, database) = scratch("decisions");
        let author = Author { id: PersonId::new("mia"), name: "mia".into(), voice: Voice::Person };
        let message = Message {
            id: MessageId::new("w1"),
            place: Place { room: RoomId::new("web:lobby"), thread: None },
            at: Time(5_000),
            author,
            text: "does anybody know?".into(),
            reply: None,
            mentions: Vec::new(),
            mentions_me: false,
            visibility: Visibility::Public,
            backfilled: false,
            heard: None,
        };
        let made = Trace::passed_over(&message, Unheard::Empty);
        let progress = ChunkProgress { of: 2, later: Vec::new(), stopped: None };
        let made = Trace { chunks: Some(progress.clone()), ..made };
        // The clock was set forward by an hour before somebody answered.
        let received = Trace { at: Time(3_605_000), received: Some(Response::Answered), ..made.clone() };
        let chunks = Some(ChunkProgress { later: vec![Time(7_000)], ..progress });
        let went_on = Trace { at: Time(3_605_000), chunks: chunks.clone(), ..made.clone() };
        DecisionStore::keep(&database, [made.clone(), received, went_on].into()).await.unwrap();
        let query = DecisionQuery::Message(Some(&made.place.room), &made.message);
        let found = DecisionStore::find(&database, query).await.unwrap().pop().unwrap();
        assert_eq!(found.trace, Ok(Trace { received: Some(Response::Answered), chunks, ..made }));
    }
}
