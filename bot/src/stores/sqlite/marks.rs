//! The marks of channels in SQLite.

use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};

use super::{Database, StoreError};
use crate::ports::{BoxFuture, ChannelMark, ChannelMarks, MarkChange};

impl ChannelMarks for Database {
    fn advance<'a>(&'a self, platform: &'a str, marks: Vec<ChannelMark>) -> BoxFuture<'a, Result<(), StoreError>> {
        let platform = platform.to_owned();
        let note = move |transaction: &Transaction<'_>| {
            marks.iter().try_for_each(|mark| advance(transaction, &platform, mark))
        };
        Box::pin(self.write(note))
    }

    fn find<'a>(
        &'a self,
        platform: &'a str,
        channels: Vec<String>,
    ) -> BoxFuture<'a, Result<Vec<ChannelMark>, StoreError>> {
        let platform = platform.to_owned();
        let find = move |connection: &Connection| {
            let find = "SELECT channel, server, heard FROM channel_mark WHERE platform = ?1 AND channel = ?2";
            let mut find = connection.prepare_cached(find)?;
            let mut found = Vec::new();
            for channel in &channels {
                found.extend(find.query_row([&platform, channel], mark).optional()?);
            }
            Ok(found)
        };
        Box::pin(self.read(find))
    }

    fn of_server<'a>(
        &'a self,
        platform: &'a str,
        server: &'a str,
        at_most: usize,
    ) -> BoxFuture<'a, Result<Vec<ChannelMark>, StoreError>> {
        let (platform, server) = (platform.to_owned(), server.to_owned());
        let at_most = i64::try_from(at_most).unwrap_or(i64::MAX);
        let find = move |connection: &Connection| {
            let find = "SELECT channel, server, heard FROM channel_mark \
                        WHERE platform = ?1 AND server = ?2 ORDER BY heard DESC LIMIT ?3";
            connection.prepare_cached(find)?.query_map(params![platform, server, at_most], mark)?.collect()
        };
        Box::pin(self.read(find))
    }
}

fn mark(row: &Row<'_>) -> rusqlite::Result<ChannelMark> {
    Ok(ChannelMark { channel: row.get(0)?, server: row.get(1)?, heard: row.get(2)? })
}

/// Part of a larger commit.
pub(super) fn change(transaction: &Transaction<'_>, platform: &str, change: &MarkChange) -> rusqlite::Result<()> {
    match change {
        MarkChange::Heard(mark) => advance(transaction, platform, mark),
        MarkChange::Left(channel) => {
            let delete = "DELETE FROM channel_mark WHERE platform = ?1 AND channel = ?2";
            transaction.prepare_cached(delete)?.execute([platform, channel]).map(drop)
        }
    }
}

fn advance(transaction: &Transaction<'_>, platform: &str, mark: &ChannelMark) -> rusqlite::Result<()> {
    let upsert = "INSERT INTO channel_mark (platform, channel, server, heard) VALUES (?1, ?2, ?3, ?4) \
                  ON CONFLICT (platform, channel) DO UPDATE SET heard = max(heard, excluded.heard)";
    transaction.prepare_cached(upsert)?.execute([platform, &mark.channel, &mark.server, &mark.heard]).map(drop)
}
