//! Up to which message each channel was heard. While a gap is being filled, what is heard live does not count yet: a
//! crash in between must not hide the gap.

use std::collections::HashMap;
use std::sync::Mutex;

use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use crate::stores::{Database, StoreError};

pub struct Marks {
    database: Database,
    /// Channels whose gap is being filled, and the newest message that was heard live meanwhile.
    filling: Mutex<HashMap<u64, u64>>,
}

/// A message that was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    pub channel: u64,
    /// 0 for direct messages.
    pub guild: u64,
    pub message: u64,
}

/// A channel as Discord tells of it when a session begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    pub channel: u64,
    /// Its last message, where that is told.
    pub newest: Option<u64>,
    /// Whether it is to be looked at in any case.
    pub look: bool,
}

/// The newest id that was known when the channels of a guild were last told: what was made later has a greater one. Before
/// that was noted, the newest message that was heard in the guild has to do.
fn last_told(transaction: &Transaction<'_>, guild: u64) -> rusqlite::Result<u64> {
    let mut told = transaction.prepare_cached("SELECT told FROM discord_guild WHERE id = ?1")?;
    match told.query_row([guild as i64], |row| row.get::<_, i64>(0)).optional()? {
        Some(told) => Ok(told as u64),
        None => last_heard(transaction, guild),
    }
}

fn last_heard(transaction: &Transaction<'_>, guild: u64) -> rusqlite::Result<u64> {
    let mut heard = transaction.prepare_cached("SELECT max(heard) FROM discord_channel WHERE guild = ?1")?;
    Ok(heard.query_row([guild as i64], |row| row.get::<_, Option<i64>>(0))?.unwrap_or(0) as u64)
}

const NOTE: &str = "INSERT INTO discord_channel (id, guild, heard) VALUES (?1, ?2, ?3)
    ON CONFLICT (id) DO UPDATE SET heard = max(heard, excluded.heard)";

impl Marks {
    pub fn new(database: Database) -> Marks {
        Marks { database, filling: Mutex::default() }
    }

    /// What was heard live.
    pub async fn note(&self, mut marks: Vec<Mark>) -> Result<(), StoreError> {
        {
            let mut filling = self.filling.lock().expect("marks are never held over a panic");
            marks.retain(|mark| match filling.get_mut(&mark.channel) {
                Some(newest) => {
                    *newest = mark.message.max(*newest);
                    false
                }
                None => true,
            });
        }
        self.write(marks).await
    }

    async fn write(&self, marks: Vec<Mark>) -> Result<(), StoreError> {
        if marks.is_empty() {
            return Ok(());
        }
        let note = move |transaction: &rusqlite::Transaction<'_>| {
            let mut note = transaction.prepare_cached(NOTE)?;
            for Mark { channel, guild, message } in marks {
                note.execute(params![channel as i64, guild as i64, message as i64])?;
            }
            Ok(())
        };
        self.database.write(note).await
    }

    /// Where the gaps of channels begin, of those that may have one. A channel seen for the first time has none and is
    /// heard from now on, unless it was made after the channels of its guild were last told: then it is all gap, whether
    /// anybody told that it was made or not. One write for all: a guild has many.
    pub async fn begin(&self, guild: u64, channels: Vec<Told>) -> Result<Vec<(u64, u64)>, StoreError> {
        let look = move |transaction: &Transaction<'_>| {
            let mut heard = transaction.prepare_cached("SELECT heard FROM discord_channel WHERE id = ?1")?;
            let mut note = transaction.prepare_cached(NOTE)?;
            let last_told = last_told(transaction, guild)?;
            let mut known = Vec::new();
            for told in &channels {
                let channel = told.channel as i64;
                match heard.query_row([channel], |row| row.get::<_, i64>(0)).optional()? {
                    Some(heard) => known.push((*told, heard as u64)),
                    None => {
                        let is_younger = guild != 0 && last_told != 0 && told.channel >= last_told;
                        let from = if is_younger { 0 } else { told.newest.unwrap_or(0) };
                        note.execute(params![channel, guild as i64, from as i64])?;
                        known.push((Told { look: told.look || (is_younger && told.newest.is_none()), ..*told }, from));
                    }
                }
            }
            if guild != 0 {
                let newest = channels.iter().flat_map(|told| [Some(told.channel), told.newest]).flatten().max();
                let set = "INSERT INTO discord_guild (id, told) VALUES (?1, ?2)
                    ON CONFLICT (id) DO UPDATE SET told = max(told, excluded.told)";
                let newest = newest.unwrap_or(0).max(last_heard(transaction, guild)?);
                transaction.prepare_cached(set)?.execute(params![guild as i64, newest as i64])?;
            }
            Ok(known)
        };
        let known = self.database.write(look).await?;
        let mut filling = self.filling.lock().expect("marks are never held over a panic");
        let mut gaps = Vec::new();
        for (told, heard) in known {
            // Where something was heard and no last message is told, the server does not know.
            let may_lack = told.look || told.newest.map_or(heard > 0, |newest| newest > heard);
            if may_lack && !filling.contains_key(&told.channel) {
                filling.insert(told.channel, heard);
                gaps.push((told.channel, heard));
            }
        }
        Ok(gaps)
    }

    /// Part of the gap is filled.
    pub async fn fill(&self, mark: Mark) -> Result<(), StoreError> {
        self.write(vec![mark]).await
    }

    /// The whole gap is filled, or it can not be: what was heard live counts from now on.
    pub async fn end(&self, channel: u64, guild: u64) -> Result<(), StoreError> {
        let newest = self.filling.lock().expect("marks are never held over a panic").remove(&channel);
        let mark = newest.map(|message| Mark { channel, guild, message });
        self.write(mark.into_iter().collect()).await
    }

    /// The conversations with one person that were heard last.
    pub async fn direct(&self, at_most: usize) -> Result<Vec<u64>, StoreError> {
        let find = move |connection: &Connection| {
            let find = "SELECT id FROM discord_channel WHERE guild = 0 ORDER BY heard DESC LIMIT ?1";
            let mut find = connection.prepare_cached(find)?;
            find.query_map([at_most as i64], |row| row.get::<_, i64>(0).map(|id| id as u64))?.collect()
        };
        self.database.read(find).await
    }
}
