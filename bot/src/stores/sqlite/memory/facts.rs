//! Facts in SQLite: each with its index words, its place and time, and its vector.

use std::collections::BTreeSet;

use aizuchi_core::memory::rank::{day_of, index_words, terms};
use aizuchi_core::memory::{Fact, FactId, sketch};
use aizuchi_core::types::{RoomId, stable_hash};
use rusqlite::{OptionalExtension as _, params};

use super::signs;
use super::table::{SqliteMemoryTable, encode, read_all};
use crate::memory::search::{day_word, month_word, places_of};
use crate::memory::table::{MemoryTable as _, SHARING_MAX, StoreResult, count_shared, most_alike};

/// How many facts of earlier versions are upgraded at once.
const UPGRADED_AT_ONCE: usize = 2000;

/// A number for the rooms of a server, or for one room.
pub fn place(name: &str) -> i64 {
    stable_hash(1, name).cast_signed()
}

pub fn place_word(place: i64) -> String {
    format!("p{:x}", place.cast_unsigned())
}

/// The suffix of each word in the index: a few digits of the place in which it may be read. Two places may share them;
/// facts that a reader may not know are removed when facts are ranked.
pub fn scope(place: i64) -> String {
    format!("{SCOPE}{:05x}", place.cast_unsigned() & 0xf_ffff)
}

/// Between a word and its place.
pub const SCOPE: char = '~';

impl SqliteMemoryTable<'_> {
    pub(super) fn store_fact(&self, fact: &Fact) -> StoreResult<()> {
        let id = fact.id.0.cast_signed();
        let before = self.one::<Fact>("SELECT body FROM memory_fact WHERE id = ?1 AND body <> ''", [id])?;
        if before.as_ref().is_some_and(|before| before.is_indexed_like(fact)) {
            return self.run("UPDATE memory_fact SET body = ?2 WHERE id = ?1", params![id, encode(fact)]);
        }
        self.index_fact(fact, before.as_ref())
    }

    /// Stores a fact and its index entries. `before` is the fact stored under its number.
    fn index_fact(&self, fact: &Fact, before: Option<&Fact>) -> StoreResult<()> {
        let (id, room) = (fact.id.0.cast_signed(), fact.origin.room.as_str());
        let vector = if before.is_some() { self.vector(id)? } else { None };
        if let Some(before) = before {
            self.remove_vector_of(before)?;
            self.unlist(before)?;
        }
        let terms = terms(fact);
        // Not REPLACE, which would flush the word index for each fact.
        let write = "INSERT INTO memory_fact (id, room, body, terms) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (id) DO UPDATE SET room = excluded.room, body = excluded.body, terms = excluded.terms";
        self.run(write, params![id, room, encode(fact), terms])?;
        for person in &fact.people {
            self.run("INSERT OR IGNORE INTO memory_fact_person VALUES (?1, ?2)", params![person.as_str(), id])?;
        }
        for message in &fact.messages {
            let values = params![room, message.as_str(), id];
            self.run("INSERT OR IGNORE INTO memory_fact_message VALUES (?1, ?2, ?3)", values)?;
        }
        for turn in &fact.context {
            let values = params![room, turn.message.as_str(), id];
            self.run("INSERT OR IGNORE INTO memory_fact_context VALUES (?1, ?2, ?3)", values)?;
        }
        let room_number = place(room);
        for word in sketch(&fact.content) {
            let values = params![room_number, word.cast_signed(), id];
            self.run("INSERT OR IGNORE INTO memory_sketch VALUES (?1, ?2, ?3)", values)?;
        }
        let (words, beside) = index_words(&terms);
        self.list_words(fact, &words, &beside)?;
        for word in words {
            let more = "INSERT INTO memory_word VALUES (?1, 1) ON CONFLICT (word) DO UPDATE SET facts = facts + 1";
            self.run(more, [word])?;
        }
        match vector {
            Some((model, vector)) => self.store_vector(fact, &model, &vector),
            None => Ok(()),
        }
    }

    fn list_words(&self, fact: &Fact, words: &[&str], beside: &[&str]) -> StoreResult<()> {
        let places = places_of(&fact.origin);
        let scope = places.last().map(|place| scope(*place)).unwrap_or_default();
        let scoped = |words: &[&str]| {
            let mut text = String::new();
            for word in words {
                text.extend([if text.is_empty() { "" } else { " " }, word, &scope]);
            }
            text
        };
        let places: Vec<String> = places.into_iter().map(place_word).collect();
        let day = day_of(fact.said_at());
        let days = [day_word(day), month_word(day)].join(" ");
        let values = params![fact.id.0.cast_signed(), places.join(" "), days, scoped(words), scoped(beside)];
        self.run("INSERT INTO memory_index (rowid, place, day, words, beside) VALUES (?1, ?2, ?3, ?4, ?5)", values)
    }

    /// Removes the index entries of a stored fact.
    pub(super) fn unlist(&self, fact: &Fact) -> StoreResult<()> {
        let (id, room) = (fact.id.0.cast_signed(), fact.origin.room.as_str());
        self.run("DELETE FROM memory_fact_person WHERE fact = ?1", [id])?;
        self.run("DELETE FROM memory_fact_message WHERE fact = ?1", [id])?;
        for turn in &fact.context {
            let delete = "DELETE FROM memory_fact_context WHERE room = ?1 AND message = ?2 AND fact = ?3";
            self.run(delete, params![room, turn.message.as_str(), id])?;
        }
        for word in sketch(&fact.content) {
            let delete = "DELETE FROM memory_sketch WHERE room = ?1 AND word = ?2 AND fact = ?3";
            self.run(delete, params![place(room), word.cast_signed(), id])?;
        }
        let mut listed = self.0.prepare_cached("SELECT words FROM memory_index WHERE rowid = ?1")?;
        let words: Option<String> = listed.query_row([id], |row| row.get(0)).optional()?;
        let words = words.iter().flat_map(|words| words.split(' ')).filter_map(|word| word.rsplit_once(SCOPE));
        for word in words.map(|(word, _)| word).collect::<BTreeSet<_>>() {
            self.run("UPDATE memory_word SET facts = facts - 1 WHERE word = ?1", [word])?;
            self.run("DELETE FROM memory_word WHERE word = ?1 AND facts <= 0", [word])?;
        }
        self.run("DELETE FROM memory_index WHERE rowid = ?1", [id])
    }

    pub(super) fn store_vector(&self, fact: &Fact, model: &str, vector: &[f32]) -> StoreResult<()> {
        let id = fact.id.0.cast_signed();
        let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.run("INSERT OR REPLACE INTO memory_vector VALUES (?1, ?2, ?3)", params![id, model, bytes])?;
        signs::add(self.0, &places_of(&fact.origin), id, model, vector)
    }

    /// Removes the vector of a stored fact.
    pub(super) fn remove_vector_of(&self, fact: &Fact) -> StoreResult<()> {
        let id = fact.id.0.cast_signed();
        if let Some((model, vector)) = self.vector(id)? {
            signs::remove(self.0, &places_of(&fact.origin), id, &model, vector.len())?;
            self.run("DELETE FROM memory_vector WHERE fact = ?1", [id])?;
        }
        Ok(())
    }

    pub fn vector(&self, id: i64) -> StoreResult<Option<(String, Vec<f32>)>> {
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, numbers(row.get_ref(1)?.as_blob()?)));
        let query = "SELECT model, vector FROM memory_vector WHERE fact = ?1";
        Ok(self.0.prepare_cached(query)?.query_row([id], read).optional()?)
    }

    /// Facts of a room that share most of their rare words with a text, ordered by number.
    pub(super) fn alike(&self, room: &RoomId, content: &str) -> StoreResult<Vec<Fact>> {
        self.upgrade_facts(Some(room))?;
        let query = "SELECT fact FROM memory_sketch WHERE room = ?1 AND word = ?2 ORDER BY fact DESC LIMIT ?3";
        let mut statement = self.0.prepare_cached(query)?;
        let (asked, room) = (sketch(content), place(room.as_str()));
        let mut newest: Vec<Vec<i64>> = Vec::new();
        for word in &asked {
            let values = params![room, word.cast_signed(), SHARING_MAX as i64];
            newest.push(statement.query_map(values, |row| row.get(0))?.collect::<rusqlite::Result<_>>()?);
        }
        let query = "SELECT 1 FROM memory_sketch WHERE room = ?1 AND word = ?2 AND fact = ?3";
        let mut has = self.0.prepare_cached(query)?;
        let shared =
            count_shared(&newest, |word, fact| Ok(has.exists(params![room, asked[word].cast_signed(), fact])?))?;
        let mut facts = Vec::new();
        for id in most_alike(shared, asked.len()) {
            facts.extend(self.fact(FactId(id.cast_unsigned()))?);
        }
        Ok(facts)
    }

    /// Adds the current index entries to facts of earlier versions: those of a room, or of any.
    pub(super) fn upgrade_facts(&self, room: Option<&RoomId>) -> StoreResult<()> {
        let query =
            "SELECT body FROM memory_fact WHERE terms = '' AND body <> '' AND (?1 IS NULL OR room = ?1) LIMIT ?2";
        let old = read_all::<Fact>(self.0, query, params![room.map(RoomId::as_str), UPGRADED_AT_ONCE as i64])?;
        old.iter().try_for_each(|fact| self.index_fact(fact, Some(fact)))
    }
}

fn numbers(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}
