//! What rooms of a cluster are to hear and have not been told yet, in the order in which people see it.

use std::time::Duration;

use aizuchi_core::types::RoomId;
use aizuchi_core::{Input, Time};
use tokio_postgres::Row;
use xxhash_rust::xxh3::xxh3_64;

use super::connection::PgConnection;
use super::error::PgResult;
use super::text::{from_stored, to_stored};
use crate::ports::{GatewayNumber, UnreadableUnsent, Unsent, UnsentRows};

/// The first number of the locks of gateways that live.
pub fn gateways_class() -> i32 {
    xxh3_64(b"aizuchi gateways") as u32 as i32
}

pub fn add(connection: &PgConnection, by: GatewayNumber, at: Time, input: Input) -> PgResult<Unsent> {
    let insert = "INSERT INTO cluster_outbox (at, room, body, gateway) VALUES ($1, $2, $3, $4) RETURNING id";
    let body = serde_json::to_string(&input).expect("an input can be written");
    let room = input.room().map(|room| to_stored(room.as_str()));
    let row = connection.one(insert, &[&(at.0 as i64), &room, &to_stored(&body), &by.0])?;
    Ok(Unsent { id: row.get(0), at, input })
}

pub fn delete(connection: &PgConnection, ids: &[i64]) -> PgResult<()> {
    connection.execute("DELETE FROM cluster_outbox WHERE id = ANY ($1)", &[&ids]).map(drop)
}

/// The newest of each room, of what is so old, or was stored by a gateway that lives no more. A room that cannot be told may have any
/// number of them.
pub fn newest_left(connection: &PgConnection, age: Duration) -> PgResult<UnsentRows> {
    let query = "SELECT id, at, room, body FROM cluster_outbox WHERE id IN (
            SELECT max(id) FROM cluster_outbox
            WHERE stored < now() - $1::float8 * interval '1 second' OR gateway IS NOT NULL AND gateway <> ALL (ARRAY(
                SELECT objid::bigint FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = $2
                AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            ))
            GROUP BY room
        ) ORDER BY id";
    Ok(rows(&connection.query(query, &[&age.as_secs_f64(), &(gateways_class() as u32)])?))
}

pub fn up_to(connection: &PgConnection, room: &RoomId, id: i64) -> PgResult<UnsentRows> {
    let query = "SELECT id, at, room, body FROM cluster_outbox WHERE room = $1 AND id <= $2 ORDER BY id";
    Ok(rows(&connection.query(query, &[&to_stored(room.as_str()), &id])?))
}

fn rows(found: &[Row]) -> UnsentRows {
    let mut rows = UnsentRows::default();
    for row in found {
        let id = row.get(0);
        match serde_json::from_str(&from_stored(row.get(3))) {
            Ok(input) => rows.unsent.push(Unsent { id, at: Time(row.get::<_, i64>(1).cast_unsigned()), input }),
            Err(error) => {
                let room = row.get::<_, Option<String>>(2).map(|room| RoomId::new(from_stored(room)));
                // The message of the error may have words of people.
                let why = format!("{:?} error at column {}", error.classify(), error.column());
                rows.unreadable.push(UnreadableUnsent { id, room, why });
            }
        }
    }
    rows
}
