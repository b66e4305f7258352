//! The inbox of all platforms in SQLite.

use aizuchi_core::types::Time;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};

use super::{Database, StoreError, marks};
use crate::ports::{ArrivedThreads, BoxFuture, Inbox, InboxEntry, PendingEntry};

impl Inbox for Database {
    fn keep<'a>(
        &'a self,
        platform: &'a str,
        entries: Vec<InboxEntry>,
        now: Time,
    ) -> BoxFuture<'a, Result<usize, StoreError>> {
        let platform = platform.to_owned();
        Box::pin(self.write(move |transaction| keep(transaction, &platform, &entries, now)))
    }

    fn pending<'a>(
        &'a self,
        platform: &'a str,
        after: u64,
        at_most: usize,
    ) -> BoxFuture<'a, Result<Vec<PendingEntry>, StoreError>> {
        let platform = platform.to_owned();
        let at_most = i64::try_from(at_most).unwrap_or(i64::MAX);
        let find = move |connection: &Connection| {
            let find = "SELECT seq, body FROM inbox \
                        WHERE platform = ?1 AND seq > ?2 AND body IS NOT NULL ORDER BY seq LIMIT ?3";
            let pending = |row: &Row<'_>| Ok(PendingEntry { seq: row.get::<_, i64>(0)? as u64, body: row.get(1)? });
            connection.prepare_cached(find)?.query_map(params![platform, after as i64, at_most], pending)?.collect()
        };
        Box::pin(self.read(find))
    }

    fn handled<'a>(&'a self, platform: &'a str, up_to: u64) -> BoxFuture<'a, Result<(), StoreError>> {
        let platform = platform.to_owned();
        let note = "UPDATE inbox SET body = NULL WHERE platform = ?1 AND seq <= ?2 AND body IS NOT NULL";
        let note = move |transaction: &Transaction<'_>| {
            transaction.prepare_cached(note)?.execute(params![platform, up_to as i64]).map(drop)
        };
        Box::pin(self.write_behind(note))
    }

    fn amend<'a>(
        &'a self,
        platform: &'a str,
        bodies: Vec<(u64, Option<String>)>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let platform = platform.to_owned();
        let amend = move |transaction: &Transaction<'_>| {
            let amend = "UPDATE inbox SET body = ?3 WHERE platform = ?1 AND seq = ?2 AND body IS NOT NULL";
            let mut amend = transaction.prepare_cached(amend)?;
            bodies.iter().try_for_each(|(seq, body)| amend.execute(params![platform, *seq as i64, body]).map(drop))
        };
        Box::pin(self.write(amend))
    }

    fn sweep<'a>(&'a self, platform: &'a str, before: Time) -> BoxFuture<'a, Result<(), StoreError>> {
        let platform = platform.to_owned();
        let delete = "DELETE FROM inbox WHERE platform = ?1 AND at < ?2 AND body IS NULL";
        let delete = move |transaction: &Transaction<'_>| {
            transaction.execute(delete, params![platform, before.0 as i64]).map(drop)
        };
        Box::pin(self.write(delete))
    }
}

impl ArrivedThreads for Database {
    fn thread_of<'a>(&'a self, platform: &'a str, key: &'a str) -> BoxFuture<'a, Result<Option<String>, StoreError>> {
        let (platform, key) = (platform.to_owned(), key.to_owned());
        let find = move |connection: &Connection| {
            let find = "SELECT thread FROM inbox WHERE platform = ?1 AND key = ?2";
            let found = connection.prepare_cached(find)?.query_row([&platform, &key], |row| row.get(0)).optional()?;
            Ok(found.flatten())
        };
        Box::pin(self.read(find))
    }

    fn is_known_between<'a>(
        &'a self,
        platform: &'a str,
        keys: (&'a str, &'a str),
        thread: &'a str,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        let values = [platform, keys.0, keys.1, thread].map(str::to_owned);
        let find = move |connection: &Connection| {
            // By the key, so that only the entries in between are read.
            let find = "SELECT 1 FROM inbox WHERE platform = ?1 AND key > ?2 AND key < ?3 AND thread = ?4";
            connection.prepare_cached(find)?.exists(values.each_ref())
        };
        Box::pin(self.read(find))
    }
}

/// Part of a larger commit, or in its own.
pub(super) fn keep(
    transaction: &Transaction<'_>,
    platform: &str,
    entries: &[InboxEntry],
    now: Time,
) -> rusqlite::Result<usize> {
    let insert = "INSERT OR IGNORE INTO inbox (platform, key, at, thread, body) VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut kept = 0;
    for InboxEntry { key, thread, body, mark } in entries {
        let new = transaction.prepare_cached(insert)?.execute(params![platform, key, now.0 as i64, thread, body])?;
        kept += new;
        if let Some(mark) = mark.as_ref().filter(|_| new > 0) {
            marks::change(transaction, platform, mark)?;
        }
    }
    Ok(kept)
}
