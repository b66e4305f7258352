//! The progress of long-term memory, and who is being forgotten.

use aizuchi_core::Time;
use aizuchi_core::types::RoomId;

use super::PostgresDatabase;
use super::connection::PgConnection;
use super::text::{from_stored, to_stored};
use crate::ports::{BoxFuture, ForgetJobs, JobStep, KeeperStore};
use crate::stores::StoreError;

impl KeeperStore for PostgresDatabase {
    fn position(&self) -> BoxFuture<'_, Result<i64, StoreError>> {
        Box::pin(self.read(|connection| Ok(connection.one("SELECT seq FROM keeper", &[])?.get(0))))
    }

    fn set_position(&self, seq: i64) -> BoxFuture<'_, Result<(), StoreError>> {
        let update = "UPDATE keeper SET seq = $1";
        Box::pin(self.write_behind(move |connection| connection.execute(update, &[&seq]).map(drop)))
    }

    fn note_left(&self, rooms: Vec<(RoomId, Option<Time>)>) -> BoxFuture<'_, Result<(), StoreError>> {
        let write = move |connection: &PgConnection| {
            for (room, left) in &rooms {
                let room = to_stored(room.as_str());
                match left {
                    Some(at) => {
                        let insert = "INSERT INTO keeper_left VALUES ($1, $2)
                            ON CONFLICT (room) DO UPDATE SET at = excluded.at";
                        connection.execute(insert, &[&room, &(at.0 as i64)])?;
                    }
                    None => {
                        connection.execute("DELETE FROM keeper_left WHERE room = $1", &[&room])?;
                    }
                }
            }
            Ok(())
        };
        Box::pin(self.write(write))
    }

    fn left_by(&self, at: Time) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>> {
        let read = move |connection: &PgConnection| {
            let rows = connection.query("SELECT room FROM keeper_left WHERE at <= $1", &[&(at.0 as i64)])?;
            Ok(rows.iter().map(|row| RoomId::new(from_stored(row.get(0)))).collect())
        };
        Box::pin(self.read(read))
    }
}

impl ForgetJobs for PostgresDatabase {
    fn begin(&self, step: JobStep) -> BoxFuture<'_, Result<i64, StoreError>> {
        let body = step.encode();
        let insert = "INSERT INTO forgetting (body) VALUES ($1) RETURNING id";
        Box::pin(self.write(move |connection| Ok(connection.one(insert, &[&body])?.get(0))))
    }

    fn next(&self, after: i64) -> BoxFuture<'_, Result<Option<(i64, JobStep)>, StoreError>> {
        let read = move |connection: &PgConnection| {
            let query = "SELECT id, body FROM forgetting WHERE id > $1 ORDER BY id LIMIT 1";
            Ok(connection.first(query, &[&after])?.map(|row| (row.get::<_, i64>(0), row.get::<_, Option<String>>(1))))
        };
        Box::pin(async move {
            let Some((id, body)) = self.read(read).await? else { return Ok(None) };
            Ok(Some((id, JobStep::decode(body.as_deref())?)))
        })
    }

    fn go_on(&self, id: i64, step: JobStep) -> BoxFuture<'_, Result<(), StoreError>> {
        let (body, update) = (step.encode(), "UPDATE forgetting SET body = $2 WHERE id = $1");
        Box::pin(self.write(move |connection| connection.execute(update, &[&id, &body]).map(drop)))
    }

    fn end(&self, id: i64) -> BoxFuture<'_, Result<(), StoreError>> {
        let delete = "DELETE FROM forgetting WHERE id = $1";
        Box::pin(self.write(move |connection| connection.execute(delete, &[&id]).map(drop)))
    }
}
