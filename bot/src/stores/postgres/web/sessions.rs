//! Sessions of browsers in PostgreSQL.

use aizuchi_core::types::Time;
use tokio_postgres::Row;

use super::super::PostgresDatabase;
use super::super::connection::PgConnection;
use super::super::error::PgResult;
use crate::ports::{BoxFuture, WebSession, WebSessions};
use crate::stores::StoreError;

impl WebSessions for PostgresDatabase {
    fn all(&self, since: Time, at_most: usize) -> BoxFuture<'_, Result<Vec<WebSession>, StoreError>> {
        let read = move |connection: &PgConnection| {
            sweep(connection, since, at_most)?;
            let rows = connection.query("SELECT hash, begun FROM web_session", &[])?;
            Ok(rows.iter().filter_map(session).collect())
        };
        Box::pin(self.write(read))
    }

    fn begin(&self, session: WebSession, since: Time, at_most: usize) -> BoxFuture<'_, Result<(), StoreError>> {
        let write = move |connection: &PgConnection| {
            let insert = "INSERT INTO web_session (hash, begun) VALUES ($1, $2)";
            connection.execute(insert, &[&&session.hash[..], &(session.begun.0 as i64)])?;
            sweep(connection, since, at_most)
        };
        Box::pin(self.write(write))
    }

    fn has_others(&self) -> bool {
        self.is_shared()
    }

    fn find(&self, hashes: Vec<[u8; 32]>) -> BoxFuture<'_, Result<Vec<WebSession>, StoreError>> {
        let read = move |connection: &PgConnection| {
            let hashes: Vec<&[u8]> = hashes.iter().map(|hash| &hash[..]).collect();
            let rows = connection.query("SELECT hash, begun FROM web_session WHERE hash = ANY ($1)", &[&hashes])?;
            Ok(rows.iter().filter_map(session).collect())
        };
        Box::pin(self.read(read))
    }
}

fn session(row: &Row) -> Option<WebSession> {
    let hash = row.get::<_, Vec<u8>>(0).try_into().ok()?;
    Some(WebSession { hash, begun: Time(row.get::<_, i64>(1).cast_unsigned()) })
}

fn sweep(connection: &PgConnection, since: Time, at_most: usize) -> PgResult<()> {
    connection.execute("DELETE FROM web_session WHERE begun < $1", &[&(since.0 as i64)])?;
    let beyond = "DELETE FROM web_session WHERE hash IN
        (SELECT hash FROM web_session ORDER BY begun DESC OFFSET $1)";
    connection.execute(beyond, &[&(at_most as i64)]).map(drop)
}
