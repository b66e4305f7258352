//! The talk of the web room in SQLite.

mod own_talk;
mod query;
mod rows;
mod sessions;
mod write;

use aizuchi_core::Input;
use rusqlite::{Connection, Transaction};

use super::{Database, StoreError};
use crate::ports::{
    BoxFuture, TalkWrite, WebChange, WebHistory, WebMessage, WebQuery, WebQueryResult, WebRoom, WebTalk,
};

impl WebTalk for Database {
    fn change<'a>(&'a self, change: &'a WebChange) -> BoxFuture<'a, Result<Option<Input>, StoreError>> {
        let change = change.clone();
        Box::pin(self.write(move |transaction| apply(transaction, &change)))
    }

    fn query(&self, query: WebQuery) -> BoxFuture<'_, Result<WebQueryResult, StoreError>> {
        Box::pin(self.read(move |connection| {
            // All as of the same instant.
            let snapshot = connection.unchecked_transaction()?;
            query::find(&snapshot, &query)
        }))
    }

    fn history<'a>(
        &'a self,
        room: &'a str,
        before: u64,
        at_most: usize,
    ) -> BoxFuture<'a, Result<WebHistory, StoreError>> {
        let room = room.to_owned();
        let read = move |connection: &Connection| {
            // Both as of the same instant, so that nothing is sent twice or missed.
            let snapshot = connection.unchecked_transaction()?;
            let (messages, more_before) = rows::history(&snapshot, &room, before, at_most)?;
            Ok(WebHistory { messages, more_before, last_seq: rows::last_seq(&snapshot)? })
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
fn apply(transaction: &Transaction<'_>, change: &WebChange) -> rusqlite::Result<Option<Input>> {
    let decision = (change.decide)(&query::find(transaction, &change.query)?);
    decision.writes.iter().try_for_each(|write| write::write(transaction, write))?;
    if let Some(seq) = decision.last_seq {
        transaction.prepare_cached("UPDATE web_counter SET seq = ?1")?.execute([seq as i64])?;
    }
    Ok(decision.input)
}

/// The same for the journal, which records the input for the engine in the same commit.
pub fn store_talk(transaction: &Transaction<'_>, write: &TalkWrite) -> rusqlite::Result<Option<Input>> {
    Ok(apply(transaction, &write.change)?.map(|input| write.finish(input)))
}
