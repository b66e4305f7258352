//! The inbox of all platforms in PostgreSQL.

use aizuchi_core::types::Time;
use tokio_postgres::Row;

use super::connection::PgConnection;
use super::error::PgResult;
use super::text::{from_stored, to_stored};
use super::{PostgresDatabase, marks};
use crate::ports::{ArrivedThreads, BoxFuture, Inbox, InboxEntry, PendingEntry};
use crate::stores::StoreError;

impl Inbox for PostgresDatabase {
    fn keep<'a>(
        &'a self,
        platform: &'a str,
        entries: Vec<InboxEntry>,
        now: Time,
    ) -> BoxFuture<'a, Result<usize, StoreError>> {
        let platform = platform.to_owned();
        Box::pin(self.write(move |connection| keep(connection, &platform, &entries, now)))
    }

    fn pending<'a>(
        &'a self,
        platform: &'a str,
        after: u64,
        at_most: usize,
    ) -> BoxFuture<'a, Result<Vec<PendingEntry>, StoreError>> {
        let (platform, after) = (platform.to_owned(), after.cast_signed());
        let at_most = i64::try_from(at_most).unwrap_or(i64::MAX);
        let find = "SELECT seq, body FROM inbox
            WHERE platform = $1 AND seq > $2 AND body IS NOT NULL ORDER BY seq LIMIT $3";
        let find = move |connection: &PgConnection| {
            let pending =
                |row: &Row| PendingEntry { seq: row.get::<_, i64>(0).cast_unsigned(), body: from_stored(row.get(1)) };
            Ok(connection.query(find, &[&platform, &after, &at_most])?.iter().map(pending).collect())
        };
        Box::pin(self.read(find))
    }

    fn handled<'a>(&'a self, platform: &'a str, up_to: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        let (platform, up_to) = (platform.to_owned(), up_to.cast_signed());
        let note = "UPDATE inbox SET body = NULL WHERE platform = $1 AND seq <= $2 AND body IS NOT NULL";
        Box::pin(self.write_behind(move |connection| connection.execute(note, &[&platform, &up_to]).map(drop)))
    }

    fn amend<'a>(
        &'a self,
        platform: &'a str,
        bodies: Vec<(u64, Option<String>)>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let platform = platform.to_owned();
        let amend = move |connection: &PgConnection| {
            let amend = "UPDATE inbox SET body = $3 WHERE platform = $1 AND seq = $2 AND body IS NOT NULL";
            for (seq, body) in &bodies {
                let body = body.as_deref().map(to_stored);
                connection.execute(amend, &[&platform, &seq.cast_signed(), &body])?;
            }
            Ok(())
        };
        Box::pin(self.write(amend))
    }

    fn sweep<'a>(&'a self, platform: &'a str, before: Time) -> BoxFuture<'a, Result<(), StoreError>> {
        let (platform, before) = (platform.to_owned(), before.0 as i64);
        let delete = "DELETE FROM inbox WHERE platform = $1 AND at < $2 AND body IS NULL";
        Box::pin(self.write(move |connection| connection.execute(delete, &[&platform, &before]).map(drop)))
    }
}

impl ArrivedThreads for PostgresDatabase {
    fn thread_of<'a>(&'a self, platform: &'a str, key: &'a str) -> BoxFuture<'a, Result<Option<String>, StoreError>> {
        let (platform, key) = (platform.to_owned(), to_stored(key).into_owned());
        let find = "SELECT thread FROM inbox WHERE platform = $1 AND key = $2";
        let find = move |connection: &PgConnection| {
            let found = connection.first(find, &[&platform, &key])?;
            Ok(found.and_then(|row| row.get::<_, Option<String>>(0)).map(from_stored))
        };
        Box::pin(self.read(find))
    }

    fn is_known_between<'a>(
        &'a self,
        platform: &'a str,
        keys: (&'a str, &'a str),
        thread: &'a str,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        let platform = platform.to_owned();
        let [from, to, thread] = [keys.0, keys.1, thread].map(|text| to_stored(text).into_owned());
        let find = "SELECT EXISTS (SELECT 1 FROM inbox WHERE platform = $1 AND key > $2 AND key < $3 AND thread = $4)";
        Box::pin(self.read(move |connection| Ok(connection.one(find, &[&platform, &from, &to, &thread])?.get(0))))
    }
}

/// Part of a larger commit, or in its own.
pub(super) fn keep(connection: &PgConnection, platform: &str, entries: &[InboxEntry], now: Time) -> PgResult<usize> {
    // Only new entries use up a number, and in order of arrival.
    let insert = "INSERT INTO inbox (platform, key, at, thread, body) SELECT $1, $2, $3, $4, $5
        WHERE NOT EXISTS (SELECT 1 FROM inbox WHERE platform = $1 AND key = $2)";
    let mut kept = 0;
    for InboxEntry { key, thread, body, mark } in entries {
        let (key, thread, body) = (to_stored(key), thread.as_deref().map(to_stored), body.as_deref().map(to_stored));
        let new = connection.execute(insert, &[&platform, &key, &(now.0 as i64), &thread, &body])?;
        kept += new as usize;
        if let Some(mark) = mark.as_ref().filter(|_| new > 0) {
            marks::change(connection, platform, mark)?;
        }
    }
    Ok(kept)
}
