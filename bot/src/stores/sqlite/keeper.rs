//! The progress of long-term memory, and who is being forgotten.

use aizuchi_core::Time;
use aizuchi_core::types::RoomId;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};

use super::Database;
use crate::ports::{BoxFuture, ForgetJobs, JobStep, KeeperStore};
use crate::stores::StoreError;

impl KeeperStore for Database {
    fn position(&self) -> BoxFuture<'_, Result<i64, StoreError>> {
        let read = |connection: &Connection| {
            connection.prepare_cached("SELECT seq FROM keeper")?.query_row([], |row| row.get(0))
        };
        Box::pin(self.read(read))
    }

    fn set_position(&self, seq: i64) -> BoxFuture<'_, Result<(), StoreError>> {
        let write =
            move |transaction: &Transaction<'_>| transaction.execute("UPDATE keeper SET seq = ?1", [seq]).map(drop);
        Box::pin(self.write_behind(write))
    }

    fn note_left(&self, rooms: Vec<(RoomId, Option<Time>)>) -> BoxFuture<'_, Result<(), StoreError>> {
        let write = move |transaction: &Transaction<'_>| {
            for (room, left) in &rooms {
                match left {
                    Some(at) => {
                        let insert = "INSERT OR REPLACE INTO keeper_left VALUES (?1, ?2)";
                        transaction.prepare_cached(insert)?.execute(params![room.as_str(), at.0 as i64])?;
                    }
                    None => {
                        let delete = "DELETE FROM keeper_left WHERE room = ?1";
                        transaction.prepare_cached(delete)?.execute([room.as_str()])?;
                    }
                }
            }
            Ok(())
        };
        Box::pin(self.write(write))
    }

    fn left_by(&self, at: Time) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>> {
        let read = move |connection: &Connection| {
            let mut statement = connection.prepare_cached("SELECT room FROM keeper_left WHERE at <= ?1")?;
            let rooms = statement.query_map([at.0 as i64], |row| Ok(RoomId::new(row.get::<_, String>(0)?)))?;
            rooms.collect()
        };
        Box::pin(self.read(read))
    }
}

impl ForgetJobs for Database {
    fn begin(&self, step: JobStep) -> BoxFuture<'_, Result<i64, StoreError>> {
        let insert = move |transaction: &Transaction<'_>| {
            transaction.execute("INSERT INTO forgetting (body) VALUES (?1)", [step.encode()])?;
            Ok(transaction.last_insert_rowid())
        };
        Box::pin(self.write(insert))
    }

    fn next(&self, after: i64) -> BoxFuture<'_, Result<Option<(i64, JobStep)>, StoreError>> {
        let read = move |connection: &Connection| {
            let query = "SELECT id, body FROM forgetting WHERE id > ?1 ORDER BY id LIMIT 1";
            let row = |row: &Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, Option<String>>(1)?));
            connection.prepare_cached(query)?.query_row([after], row).optional()
        };
        Box::pin(async move {
            let Some((id, body)) = self.read(read).await? else { return Ok(None) };
            Ok(Some((id, JobStep::decode(body.as_deref())?)))
        })
    }

    fn go_on(&self, id: i64, step: JobStep) -> BoxFuture<'_, Result<(), StoreError>> {
        let update = move |transaction: &Transaction<'_>| {
            transaction.execute("UPDATE forgetting SET body = ?2 WHERE id = ?1", params![id, step.encode()]).map(drop)
        };
        Box::pin(self.write(update))
    }

    fn end(&self, id: i64) -> BoxFuture<'_, Result<(), StoreError>> {
        let delete = move |transaction: &Transaction<'_>| {
            transaction.execute("DELETE FROM forgetting WHERE id = ?1", [id]).map(drop)
        };
        Box::pin(self.write(delete))
    }
}
