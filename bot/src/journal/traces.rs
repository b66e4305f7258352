//! What was decided about each message, kept so that it can be explained later.

use aizuchi_core::Trace;
use aizuchi_core::listen::Unheard;
use aizuchi_core::trace::Cause;
use aizuchi_core::types::{MessageId, RoomId};
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};

use crate::stores::{Database, StoreError};

/// Cheap to clone.
#[derive(Clone)]
pub struct Traces {
    pub(super) database: Database,
}

impl Traces {
    pub fn new(database: Database) -> Traces {
        Traces { database }
    }

    pub async fn find(&self, room: &RoomId, message: &MessageId) -> Result<Option<Trace>, StoreError> {
        let (room, message) = (room.clone(), message.clone());
        self.database.read(move |connection| find(connection, Some(room.as_str()), message.as_str())).await
    }

    /// The decisions about these messages, as far as there are any.
    pub async fn of(&self, room: &RoomId, messages: Vec<MessageId>) -> Result<Vec<Trace>, StoreError> {
        let room = room.clone();
        let found = move |connection: &Connection| {
            let mut statement = connection.prepare_cached("SELECT body FROM trace WHERE room = ?1 AND message = ?2")?;
            let found = messages
                .iter()
                .map(|message| statement.query_row(params![room.as_str(), message.as_str()], read).optional());
            found.filter_map(Result::transpose).collect()
        };
        self.database.read(found).await
    }

    /// The latest decision of a room, its own posts aside.
    pub async fn last(&self, room: &RoomId) -> Result<Option<Trace>, StoreError> {
        let room = room.clone();
        self.database.read(move |connection| last(connection, Some(room.as_str()))).await
    }
}

/// Whether it is the decision of the first time that counts: it was made, or will be.
pub fn is_repeat(trace: &Trace) -> bool {
    trace.cause == Cause::Unheard(Unheard::Repeated)
}

/// Writes them down. A message heard again keeps the decision of the first time, and what people made of a decision is
/// added to it: its times stay those of when it was made, also if the clock was set since.
pub fn keep(transaction: &Transaction<'_>, traces: &[Trace]) -> rusqlite::Result<()> {
    let mut insert = transaction.prepare_cached("INSERT OR REPLACE INTO trace VALUES (?1, ?2, ?3, ?4)")?;
    let mut insert_new = transaction.prepare_cached("INSERT OR IGNORE INTO trace VALUES (?1, ?2, ?3, ?4)")?;
    for trace in traces.iter().filter(|trace| !is_repeat(trace)) {
        if trace.received.is_some() && add_received(transaction, trace)? {
            continue;
        }
        let body = serde_json::to_string(trace).expect("a trace is plain data");
        let again = matches!(trace.cause, Cause::Unheard(unheard) if unheard.is_late());
        let statement = if again { &mut insert_new } else { &mut insert };
        statement.execute(params![trace.place.room.as_str(), trace.message.as_str(), trace.at.0 as i64, body])?;
    }
    Ok(())
}

/// Whether there is a decision to which it could be added.
fn add_received(transaction: &Transaction<'_>, trace: &Trace) -> rusqlite::Result<bool> {
    let received = serde_json::to_string(&trace.received).expect("a response is plain data");
    let update = "UPDATE trace SET body = json_set(body, '$.received', json(?3)) WHERE room = ?1 AND message = ?2";
    let values = params![trace.place.room.as_str(), trace.message.as_str(), received];
    Ok(transaction.prepare_cached(update)?.execute(values)? > 0)
}

/// The decision about a message; without a room, the latest of that id.
pub fn find(connection: &Connection, room: Option<&str>, message: &str) -> rusqlite::Result<Option<Trace>> {
    let query = "SELECT body FROM trace WHERE message = ?2 AND (?1 IS NULL OR room = ?1) ORDER BY at DESC LIMIT 1";
    connection.prepare_cached(query)?.query_row(params![room, message], read).optional()
}

/// The latest decision about somebody else's words.
pub fn last(connection: &Connection, room: Option<&str>) -> rusqlite::Result<Option<Trace>> {
    let query = "SELECT body FROM trace WHERE ?1 IS NULL OR room = ?1 ORDER BY at DESC, message DESC";
    let mut statement = connection.prepare_cached(query)?;
    for trace in statement.query_map([room], read)? {
        let trace = trace?;
        if trace.cause != Cause::Unheard(Unheard::Itself) {
            return Ok(Some(trace));
        }
    }
    Ok(None)
}

/// Every decision that can be read.
pub fn all(connection: &Connection) -> rusqlite::Result<Vec<Trace>> {
    let mut statement = connection.prepare("SELECT body FROM trace")?;
    let bodies = statement.query_map([], |row| row.get::<_, String>(0))?;
    let parsed = bodies.map(|body| body.map(|body| serde_json::from_str(&body).ok()));
    parsed.filter_map(Result::transpose).collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<Trace> {
    let body: String = row.get(0)?;
    serde_json::from_str(&body)
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Text, Box::new(error)))
}

#[cfg(test)]
mod tests {
    use aizuchi_core::Time;
    use aizuchi_core::trace::Response;
    use aizuchi_core::types::{Author, Message, PersonId, Place, Visibility, Voice};

    use super::*;

    #[test]
    fn what_people_made_of_it_leaves_its_times_alone() {
        let mut connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(include_str!("../stores/sqlite/migrations/0001.sql")).unwrap();
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
        // The clock was set forward by an hour before somebody answered.
        let received = Trace { at: Time(3_605_000), received: Some(Response::Answered), ..made.clone() };
        let transaction = connection.transaction().unwrap();
        keep(&transaction, &[made.clone(), received]).unwrap();
        let found = find(&transaction, Some("web:lobby"), "w1").unwrap();
        assert_eq!(found, Some(Trace { received: Some(Response::Answered), ..made }));
    }
}
