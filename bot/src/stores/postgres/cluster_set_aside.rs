//! What rooms of a cluster could not handle, kept so that they go on without it.

use std::time::Duration;

use aizuchi_core::memory::{ForgetRequest, Recognizer};
use aizuchi_core::types::RoomId;
use aizuchi_core::{Input, Time};
use tokio_postgres::Row;

use super::connection::PgConnection;
use super::error::PgResult;
use super::text::{from_stored, to_stored};
use crate::ports::{SetAside, UnreadableUnsent};

const INSERT: &str = "INSERT INTO cluster_set_aside (room, at, input, error) VALUES ($1, $2, $3, $4)";

pub fn add(connection: &PgConnection, all: &[SetAside]) -> PgResult<()> {
    for SetAside { room, at, input, error } in all {
        let (room, input, error) = (to_stored(room.as_str()), to_stored(input), to_stored(error));
        connection.execute(INSERT, &[&room, &(at.0 as i64), &input, &error])?;
    }
    Ok(())
}

/// Moves what cannot be read here from what rooms are to hear.
pub fn take_unsent(connection: &PgConnection, unreadable: &[UnreadableUnsent]) -> PgResult<()> {
    for UnreadableUnsent { id, why, .. } in unreadable {
        let take = "WITH taken AS (DELETE FROM cluster_outbox WHERE id = $1 RETURNING room, at, body)
            INSERT INTO cluster_set_aside (room, at, input, error) SELECT coalesce(room, ''), at, body, $2 FROM taken";
        connection.execute(take, &[id, why])?;
    }
    Ok(())
}

pub fn latest(connection: &PgConnection, at_most: u32) -> PgResult<Vec<SetAside>> {
    let query = "SELECT room, at, input, error FROM cluster_set_aside ORDER BY id DESC LIMIT $1";
    let text = |row: &Row, column: usize| from_stored(row.get(column));
    let found = |row: &Row| SetAside {
        room: RoomId::new(text(row, 0)),
        at: Time(row.get::<_, i64>(1).cast_unsigned()),
        input: text(row, 2),
        error: text(row, 3),
    };
    Ok(connection.query(query, &[&i64::from(at_most)])?.iter().map(found).collect())
}

/// How many were set aside since so long ago.
pub fn count_within(connection: &PgConnection, age: Duration) -> PgResult<u64> {
    let query = "SELECT count(*) FROM cluster_set_aside WHERE stored > now() - $1::float8 * interval '1 second'";
    Ok(connection.one(query, &[&age.as_secs_f64()])?.get::<_, i64>(0).cast_unsigned())
}

pub fn prune(connection: &PgConnection, before: Time) -> PgResult<()> {
    connection.execute("DELETE FROM cluster_set_aside WHERE at < $1", &[&(before.0 as i64)]).map(drop)
}

/// Nothing is known for sure about what could not be handled: what may be theirs goes.
pub fn forget(connection: &PgConnection, request: &ForgetRequest) -> PgResult<()> {
    let theirs = request.recognizer();
    let rows = connection.query("SELECT id, room, input, error FROM cluster_set_aside WHERE input <> ''", &[])?;
    let is_theirs = |row: &Row| {
        let (room, input, error) = (row.get::<_, String>(1), row.get::<_, String>(2), row.get::<_, String>(3));
        tells_of_them(&RoomId::new(from_stored(room)), &from_stored(input), &from_stored(error), &theirs)
    };
    let ids: Vec<i64> = rows.iter().filter(|row| is_theirs(row)).map(|row| row.get(0)).collect();
    let scrub = "UPDATE cluster_set_aside SET input = '', error = 'forgotten on request' WHERE id = ANY ($1)";
    connection.execute(scrub, &[&ids]).map(drop)
}

fn tells_of_them(room: &RoomId, input: &str, error: &str, theirs: &Recognizer<'_>) -> bool {
    let has_id = theirs.request.ids.iter().any(|id| input.contains(id.as_str()));
    if has_id || theirs.speaks_of_them(room, input) || theirs.speaks_of_them(room, error) {
        return true;
    }
    // What somebody else said stays, where that can be told.
    let said_by_others = matches!(serde_json::from_str(input), Ok(Input::Said(_)));
    theirs.request.rooms.contains(room) && !said_by_others
}
