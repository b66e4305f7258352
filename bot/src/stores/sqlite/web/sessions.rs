//! Sessions of browsers in SQLite.

use aizuchi_core::types::Time;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};

use super::super::{Database, StoreError};
use crate::ports::{BoxFuture, WebSession, WebSessions};

impl WebSessions for Database {
    fn all(&self, since: Time, at_most: usize) -> BoxFuture<'_, Result<Vec<WebSession>, StoreError>> {
        let read = move |transaction: &Transaction<'_>| {
            sweep(transaction, since, at_most)?;
            transaction.prepare("SELECT hash, begun FROM web_session")?.query_map([], session)?.collect()
        };
        Box::pin(self.write(read))
    }

    fn begin(&self, session: WebSession, since: Time, at_most: usize) -> BoxFuture<'_, Result<(), StoreError>> {
        let write = move |transaction: &Transaction<'_>| {
            let insert = "INSERT INTO web_session (hash, begun) VALUES (?1, ?2)";
            transaction.execute(insert, params![session.hash, session.begun.0 as i64])?;
            sweep(transaction, since, at_most)
        };
        Box::pin(self.write(write))
    }

    fn find(&self, hashes: Vec<[u8; 32]>) -> BoxFuture<'_, Result<Vec<WebSession>, StoreError>> {
        let read = move |connection: &Connection| {
            let mut find = connection.prepare("SELECT hash, begun FROM web_session WHERE hash = ?1")?;
            let found = hashes.iter().map(|hash| find.query_row([hash], session).optional());
            found.filter_map(Result::transpose).collect()
        };
        Box::pin(self.read(read))
    }
}

fn session(row: &Row<'_>) -> rusqlite::Result<WebSession> {
    Ok(WebSession { hash: row.get(0)?, begun: Time(row.get::<_, i64>(1)? as u64) })
}

fn sweep(transaction: &Transaction<'_>, since: Time, at_most: usize) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM web_session WHERE begun < ?1", [since.0 as i64])?;
    let beyond = "DELETE FROM web_session WHERE hash IN \
                  (SELECT hash FROM web_session ORDER BY begun DESC LIMIT -1 OFFSET ?1)";
    transaction.execute(beyond, [at_most as i64]).map(drop)
}
