//! Decisions in their table.

use std::sync::Arc;

use aizuchi_core::types::{MessageId, RoomId};
use aizuchi_core::{Time, Trace};
use tokio_postgres::Row;

use super::PostgresDatabase;
use super::connection::{OwnedValue, PgConnection, Value};
use super::error::PgResult;
use super::text::{from_stored, to_stored};
use crate::journal::traces::{ConflictRule, has_words};
use crate::ports::{BoxFuture, DecisionPart, DecisionQuery, DecisionStore, Replacement, StoredDecision};
use crate::stores::StoreError;

/// Rows read at once.
const PAGE: i64 = 512;

impl DecisionStore for PostgresDatabase {
    fn keep(&self, decided: Arc<[Trace]>) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.write_behind(move |connection| keep(connection, &decided)))
    }

    fn find<'a>(&'a self, query: DecisionQuery<'a>) -> BoxFuture<'a, Result<Vec<StoredDecision>, StoreError>> {
        let stored = |text: &str| to_stored(text).into_owned();
        match query {
            DecisionQuery::Message(None, message) => {
                let message = stored(message.as_str());
                let query = "SELECT room, message, body FROM trace WHERE message = $1 ORDER BY at DESC LIMIT 1";
                Box::pin(self.read(move |connection| rows(connection, query, &[&message])))
            }
            DecisionQuery::Message(Some(room), message) => self.of_messages(room, std::slice::from_ref(message)),
            DecisionQuery::Messages(room, messages) => self.of_messages(room, messages),
            DecisionQuery::Latest(room, wanted) => {
                let room = room.map(|room| stored(room.as_str()));
                Box::pin(self.read(move |connection| latest(connection, room.as_deref(), wanted)))
            }
        }
    }

    fn page<'a>(
        &'a self,
        part: DecisionPart<'a>,
        after: Option<(&'a RoomId, &'a MessageId)>,
    ) -> BoxFuture<'a, Result<Vec<StoredDecision>, StoreError>> {
        let (condition, value) = match part {
            DecisionPart::All => ("$4::text IS NULL", None),
            DecisionPart::By(person) => ("author = $4", Some(to_stored(person.as_str()).into_owned())),
            DecisionPart::Worded => ("worded AND $4::text IS NULL", None),
            DecisionPart::WordedIn(room) => ("worded AND room = $4", Some(to_stored(room.as_str()).into_owned())),
        };
        let query = format!(
            "SELECT room, message, body FROM trace WHERE (room, message) > ($1, $2) AND {condition}
            ORDER BY room, message LIMIT $3"
        );
        let (room, message) = after.map_or(("", ""), |(room, message)| (room.as_str(), message.as_str()));
        let after = (to_stored(room).into_owned(), to_stored(message).into_owned());
        Box::pin(self.read(move |connection| rows(connection, &query, &[&after.0, &after.1, &PAGE, &value])))
    }

    fn latest<'a>(
        &'a self,
        room: Option<&'a RoomId>,
        holding: &'a str,
        count: u32,
    ) -> BoxFuture<'a, Result<Vec<MessageId>, StoreError>> {
        let room = room.map(|room| to_stored(room.as_str()).into_owned());
        let holding = to_stored(holding).into_owned();
        let latest = move |connection: &PgConnection| {
            let query = "SELECT message FROM trace WHERE ($1::text IS NULL OR room = $1) AND strpos(message, $3) > 0
                ORDER BY at DESC, message DESC LIMIT $2";
            let found = connection.query(query, &[&room, &i64::from(count), &holding])?;
            Ok(found.iter().map(|row| MessageId::new(from_stored(row.get(0)))).collect())
        };
        Box::pin(self.read(latest))
    }

    fn rooms(&self) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>> {
        // Goes from name to name, however many decisions lie between.
        let query = "WITH RECURSIVE known AS (
                SELECT min(room) AS room FROM trace
                UNION ALL
                SELECT (SELECT min(room) FROM trace WHERE room > known.room) FROM known WHERE known.room IS NOT NULL
            )
            SELECT room FROM known WHERE room IS NOT NULL";
        let read = move |connection: &PgConnection| {
            Ok(connection.query(query, &[])?.iter().map(|row| RoomId::new(from_stored(row.get(0)))).collect())
        };
        Box::pin(self.read(read))
    }

    fn reorder(&self, now: Time) -> BoxFuture<'_, Result<(), StoreError>> {
        let order = "UPDATE trace SET at = $1 WHERE at > $1";
        Box::pin(self.write(move |connection| connection.execute(order, &[&(now.0 as i64)]).map(drop)))
    }
}

impl PostgresDatabase {
    fn of_messages(
        &self,
        room: &RoomId,
        messages: &[MessageId],
    ) -> BoxFuture<'static, Result<Vec<StoredDecision>, StoreError>> {
        let (database, room) = (self.clone(), to_stored(room.as_str()).into_owned());
        let messages: Vec<String> = messages.iter().map(|id| to_stored(id.as_str()).into_owned()).collect();
        let query = "SELECT room, message, body FROM unnest($2::text[]) WITH ORDINALITY AS asked (id, position)
            JOIN trace ON room = $1 AND message = id ORDER BY position";
        Box::pin(async move { database.read(move |connection| rows(connection, query, &[&room, &messages])).await })
    }
}

/// Part of a larger commit, or one of its own.
pub(super) fn keep(connection: &PgConnection, traces: &[Trace]) -> PgResult<()> {
    // Those that depend on nothing go in together; one about the same message as one before it does not.
    let mut plain: Vec<&Trace> = Vec::new();
    for trace in traces {
        let rule = ConflictRule::of(trace);
        let is_about_the_same =
            plain.iter().any(|other| (&other.message, &other.place.room) == (&trace.message, &trace.place.room));
        if rule != ConflictRule::Replace || is_about_the_same {
            insert(connection, REPLACE, &std::mem::take(&mut plain))?;
        }
        match rule {
            ConflictRule::Not => (),
            ConflictRule::Replace => plain.push(trace),
            ConflictRule::AddResponse => {
                add(connection, trace, |stored| stored.received.clone_from(&trace.received))?;
            }
            ConflictRule::AddProgress => add(connection, trace, |stored| stored.chunks.clone_from(&trace.chunks))?,
            ConflictRule::IfNew => insert(connection, "NOTHING", &[trace])?,
        }
    }
    insert(connection, REPLACE, &plain)
}

const REPLACE: &str =
    "UPDATE SET at = excluded.at, body = excluded.body, author = excluded.author, worded = excluded.worded";

/// `or` says what is done where there is a decision already.
fn insert(connection: &PgConnection, or: &str, traces: &[&Trace]) -> PgResult<()> {
    if traces.is_empty() {
        return Ok(());
    }
    let insert = format!(
        "INSERT INTO trace (room, message, at, body, author, worded)
        SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::boolean[])
        ON CONFLICT (room, message) DO {or}"
    );
    let stored = |text: &str| to_stored(text).into_owned();
    let values: Vec<OwnedValue> = vec![
        Box::new(traces.iter().map(|trace| stored(trace.place.room.as_str())).collect::<Vec<_>>()),
        Box::new(traces.iter().map(|trace| stored(trace.message.as_str())).collect::<Vec<_>>()),
        Box::new(traces.iter().map(|trace| trace.at.0 as i64).collect::<Vec<_>>()),
        Box::new(traces.iter().map(|trace| encode(trace)).collect::<Vec<_>>()),
        Box::new(traces.iter().map(|trace| stored(trace.author_id.as_str())).collect::<Vec<_>>()),
        Box::new(traces.iter().map(|trace| has_words(trace)).collect::<Vec<_>>()),
    ];
    connection.execute_later(&insert, values)
}

/// Adds something to the decision that is there, or keeps the whole where there is none that can be read.
fn add(connection: &PgConnection, trace: &Trace, change: impl FnOnce(&mut Trace)) -> PgResult<()> {
    let (room, message) = (to_stored(trace.place.room.as_str()), to_stored(trace.message.as_str()));
    let query = "SELECT room, message, body FROM trace WHERE room = $1 AND message = $2";
    let known = rows(connection, query, &[&room, &message])?.pop().and_then(|known| known.trace.ok());
    let Some(mut known) = known else { return insert(connection, REPLACE, &[trace]) };
    change(&mut known);
    let update = "UPDATE trace SET body = $3 WHERE room = $1 AND message = $2";
    connection.execute(update, &[&room, &message, &encode(&known)]).map(drop)
}

fn encode(trace: &Trace) -> String {
    serde_json::to_string(trace).expect("a trace is plain data")
}

/// One that was decided anew since it was read is left to the engine that decided it.
pub fn replace(connection: &PgConnection, replacement: &Replacement) -> PgResult<()> {
    let Replacement { room, message, before, after } = replacement;
    let (room, message) = (to_stored(room.as_str()), to_stored(message.as_str()));
    match after {
        Some(trace) => {
            let update = "UPDATE trace SET body = $4, worded = $5 WHERE room = $1 AND message = $2 AND body = $3";
            connection.execute(update, &[&room, &message, before, &encode(trace), &has_words(trace)]).map(drop)
        }
        None => {
            let delete = "DELETE FROM trace WHERE room = $1 AND message = $2 AND body = $3";
            connection.execute(delete, &[&room, &message, before]).map(drop)
        }
    }
}

/// The latest that is wanted, looked for from the end, a page at a time.
fn latest(connection: &PgConnection, room: Option<&str>, wanted: fn(&Trace) -> bool) -> PgResult<Vec<StoredDecision>> {
    let query = "SELECT room, message, body, at FROM trace WHERE ($1::text IS NULL OR room = $1)
        AND (at, message) < ($2, $3) ORDER BY at DESC, message DESC LIMIT $4";
    let first = "SELECT room, message, body, at FROM trace WHERE ($1::text IS NULL OR room = $1)
        ORDER BY at DESC, message DESC LIMIT $2";
    let mut found = connection.query(first, &[&room, &PAGE])?;
    loop {
        for row in &found {
            let stored = read(row);
            if stored.trace.as_ref().map_or(true, wanted) {
                return Ok(vec![stored]);
            }
        }
        let Some(last) = found.last() else { return Ok(Vec::new()) };
        let (at, message): (i64, String) = (last.get(3), last.get(1));
        found = connection.query(query, &[&room, &at, &message, &PAGE])?;
    }
}

fn rows(connection: &PgConnection, query: &str, values: &[Value<'_>]) -> PgResult<Vec<StoredDecision>> {
    Ok(connection.query(query, values)?.iter().map(read).collect())
}

fn read(row: &Row) -> StoredDecision {
    let (room, message, body): (String, String, String) = (row.get(0), row.get(1), row.get(2));
    let trace = serde_json::from_str(&body).map_err(|error| error.to_string());
    let (room, message) = (RoomId::new(from_stored(room)), MessageId::new(from_stored(message)));
    StoredDecision { room, message, body, trace }
}
