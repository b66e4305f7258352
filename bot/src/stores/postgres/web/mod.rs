//! The talk of the web room in PostgreSQL.

mod own_talk;
mod query;
mod rows;
mod sessions;
mod write;

use aizuchi_core::Input;

use super::PostgresDatabase;
use super::connection::PgConnection;
use super::error::PgResult;
use crate::ports::{
    BoxFuture, TalkWrite, WebChange, WebHistory, WebMessage, WebQuery, WebQueryResult, WebRoom, WebTalk,
};
use crate::stores::StoreError;

impl WebTalk for PostgresDatabase {
    fn change<'a>(&'a self, change: &'a WebChange) -> BoxFuture<'a, Result<Option<Input>, StoreError>> {
        let change = change.clone();
        Box::pin(self.write(move |connection| apply(connection, &change)))
    }

    fn query(&self, query: WebQuery) -> BoxFuture<'_, Result<WebQueryResult, StoreError>> {
        Box::pin(self.read(move |connection| connection.snapshot(|| query::find(connection, &query))))
    }

    fn history<'a>(
        &'a self,
        room: &'a str,
        before: u64,
        at_most: usize,
    ) -> BoxFuture<'a, Result<WebHistory, StoreError>> {
        let room = room.to_owned();
        let read = move |connection: &PgConnection| {
            // Both as of the same instant, so that nothing is sent twice or missed.
            connection.snapshot(|| {
                let (messages, more_before) = rows::history(connection, &room, before, at_most)?;
                Ok(WebHistory { messages, more_before, last_seq: rows::last_seq(connection)? })
            })
        };
        Box::pin(self.read(read))
    }

    fn changes<'a>(
        &'a self,
        room: Option<&'a str>,
        since: u64,
        at_most: usize,
    ) -> BoxFuture<'a, Result<Vec<WebMessage>, StoreError>> {
        let room = room.map(str::to_owned);
        Box::pin(self.read(move |connection| rows::changes(connection, room.as_deref(), since, at_most)))
    }

    fn count_messages(&self) -> BoxFuture<'_, Result<Vec<(WebRoom, u64)>, StoreError>> {
        Box::pin(self.read(rows::count_messages))
    }
}

/// Part of a larger commit, or in its own. Returns the input for the engine.
fn apply(connection: &PgConnection, change: &WebChange) -> PgResult<Option<Input>> {
    let decision = (change.decide)(&query::find(connection, &change.query)?);
    decision.writes.iter().try_for_each(|write| write::write(connection, write))?;
    if let Some(seq) = decision.last_seq {
        connection.execute_later("UPDATE web_counter SET seq = $1", vec![Box::new(seq.cast_signed())])?;
    }
    Ok(decision.input)
}

/// The same for the journal, which records the input for the engine in the same commit.
pub fn store_talk(connection: &PgConnection, write: &TalkWrite) -> PgResult<Option<Input>> {
    Ok(apply(connection, &write.change)?.map(|input| write.finish(input)))
}
