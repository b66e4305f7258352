//! The marks of channels in PostgreSQL.

use tokio_postgres::Row;

use super::PostgresDatabase;
use super::connection::PgConnection;
use super::error::PgResult;
use super::text::{from_stored, to_stored};
use crate::ports::{BoxFuture, ChannelMark, ChannelMarks, MarkChange};
use crate::stores::StoreError;

impl ChannelMarks for PostgresDatabase {
    fn advance<'a>(&'a self, platform: &'a str, marks: Vec<ChannelMark>) -> BoxFuture<'a, Result<(), StoreError>> {
        let platform = platform.to_owned();
        let note =
            move |connection: &PgConnection| marks.iter().try_for_each(|mark| advance(connection, &platform, mark));
        Box::pin(self.write(note))
    }

    fn find<'a>(
        &'a self,
        platform: &'a str,
        channels: Vec<String>,
    ) -> BoxFuture<'a, Result<Vec<ChannelMark>, StoreError>> {
        let platform = platform.to_owned();
        let channels: Vec<String> = channels.iter().map(|channel| to_stored(channel).into_owned()).collect();
        let find = "SELECT channel, server, heard FROM unnest($2::text[]) WITH ORDINALITY AS asked (name, position)
            JOIN channel_mark ON platform = $1 AND channel = name ORDER BY position";
        let find = move |connection: &PgConnection| {
            Ok(connection.query(find, &[&platform, &channels])?.iter().map(mark).collect())
        };
        Box::pin(self.read(find))
    }

    fn of_server<'a>(
        &'a self,
        platform: &'a str,
        server: &'a str,
        at_most: usize,
    ) -> BoxFuture<'a, Result<Vec<ChannelMark>, StoreError>> {
        let (platform, server) = (platform.to_owned(), to_stored(server).into_owned());
        let at_most = i64::try_from(at_most).unwrap_or(i64::MAX);
        let find = "SELECT channel, server, heard FROM channel_mark
            WHERE platform = $1 AND server = $2 ORDER BY heard DESC LIMIT $3";
        let find = move |connection: &PgConnection| {
            Ok(connection.query(find, &[&platform, &server, &at_most])?.iter().map(mark).collect())
        };
        Box::pin(self.read(find))
    }
}

fn mark(row: &Row) -> ChannelMark {
    let text = |column| from_stored(row.get(column));
    ChannelMark { channel: text(0), server: text(1), heard: text(2) }
}

/// Part of a larger commit.
pub(super) fn change(connection: &PgConnection, platform: &str, change: &MarkChange) -> PgResult<()> {
    match change {
        MarkChange::Heard(mark) => advance(connection, platform, mark),
        MarkChange::Left(channel) => {
            let delete = "DELETE FROM channel_mark WHERE platform = $1 AND channel = $2";
            connection.execute(delete, &[&platform, &to_stored(channel)]).map(drop)
        }
    }
}

fn advance(connection: &PgConnection, platform: &str, mark: &ChannelMark) -> PgResult<()> {
    let upsert = "INSERT INTO channel_mark (platform, channel, server, heard) VALUES ($1, $2, $3, $4)
        ON CONFLICT (platform, channel) DO UPDATE SET heard = greatest(channel_mark.heard, excluded.heard)";
    let (channel, server, heard) = (to_stored(&mark.channel), to_stored(&mark.server), to_stored(&mark.heard));
    connection.execute(upsert, &[&platform, &channel, &server, &heard]).map(drop)
}
