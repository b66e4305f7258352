//! The index of facts in the file, limited to what a reader may know.

use std::collections::BTreeSet;

use aizuchi_core::memory::{Fact, Query, Recalled, SearchOptions, house};
use rusqlite::{Connection, OptionalExtension as _, params};

use super::facts::{place, place_word, scope};
use super::signs;
use super::table::{SqliteMemoryTable, decode, quoted};
use crate::memory::search::{self, FactIndex, FactWords, IndexPart, readable_places};
use crate::memory::table::StoreResult;

pub fn recall(connection: &Connection, query: &Query, manner: SearchOptions) -> StoreResult<Vec<Recalled>> {
    // Everything is read as of one moment: counts from different moments would be inconsistent.
    let _snapshot = connection.unchecked_transaction()?;
    search::recall(&SqliteFactIndex::new(connection, query, manner), query, manner)
}

struct SqliteFactIndex<'a> {
    connection: &'a Connection,
    /// The room, and its server if the reader may search there too.
    places: Vec<i64>,
    /// The suffixes of the words of the room, and of those of its server.
    scopes: Vec<String>,
}

impl<'a> SqliteFactIndex<'a> {
    fn new(connection: &'a Connection, query: &Query, manner: SearchOptions) -> SqliteFactIndex<'a> {
        let places = readable_places(&query.reader, manner.across_rooms);
        // What was said in public in the room is indexed under its server, also for readers who may not search further.
        let house = house(&query.reader.room).map(|house| place(&format!("house {house}")));
        let scopes = [places[0]].into_iter().chain(house).map(scope).collect();
        SqliteFactIndex { connection, places, scopes }
    }

    /// The newest facts that have one of these words in a column.
    fn newest_with(&self, column: &str, words: &[String], count: usize) -> StoreResult<Vec<i64>> {
        let scoped = |word: &String| self.scopes.iter().map(|scope| quoted(word, scope)).collect::<Vec<_>>();
        let words = words.iter().flat_map(scoped).collect::<Vec<_>>().join(" OR ");
        let asked = format!("{column} : ({words})");
        // Everything with the server's scope is in one of the two places.
        match self.places.len() {
            1 => self.newest_of(&self.in_places(&asked), count),
            _ => self.newest_of(&asked, count),
        }
    }

    fn in_places(&self, asked: &str) -> String {
        let places: Vec<String> = self.places.iter().map(|place| place_word(*place)).collect();
        format!("place : ({}) AND {asked}", places.join(" OR "))
    }

    /// The newest facts that match.
    fn newest_of(&self, asked: &str, count: usize) -> StoreResult<Vec<i64>> {
        let query = "SELECT rowid FROM memory_index WHERE memory_index MATCH ?1 ORDER BY rowid DESC LIMIT ?2";
        let mut statement = self.connection.prepare_cached(query)?;
        let rows = statement.query_map(params![asked, count as i64], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

impl FactIndex for SqliteFactIndex<'_> {
    fn texts(&self) -> StoreResult<f64> {
        // The highest number is a sufficient estimate, and counting would take longer than the search.
        let mut all = self.connection.prepare_cached("SELECT coalesce(max(id), 0) FROM memory_fact")?;
        Ok(all.query_row([], |row| row.get(0))?)
    }

    fn counts(&self, words: &[&str]) -> StoreResult<Vec<f64>> {
        let mut count = self.connection.prepare_cached("SELECT facts FROM memory_word WHERE word = ?1")?;
        let mut counts = Vec::with_capacity(words.len());
        for word in words {
            counts.push(count.query_row([word], |row| row.get(0)).optional()?.unwrap_or_default());
        }
        Ok(counts)
    }

    fn words_beginning(&self, with: &str) -> StoreResult<Vec<(String, f64)>> {
        let query = "SELECT word, facts FROM memory_word WHERE word >= ?1 AND word < ?1 || char(0x10ffff)";
        let mut statement = self.connection.prepare_cached(query)?;
        let rows = statement.query_map([with], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn newest(&self, part: IndexPart, words: &[String], count: usize) -> StoreResult<Vec<i64>> {
        match part {
            IndexPart::Words => self.newest_with("words", words, count),
            IndexPart::Beside => self.newest_with("beside", words, count),
            IndexPart::Day => self.newest_of(&self.in_places(&format!("day : ({})", words.join(" OR "))), count),
        }
    }

    fn nearest(&self, model: &str, vector: &[f32], count: usize) -> StoreResult<Vec<i64>> {
        signs::nearest(self.connection, &self.places, model, vector, count)
    }

    fn words_of(&self, facts: &BTreeSet<i64>, model: Option<&str>) -> StoreResult<Vec<FactWords>> {
        let table = SqliteMemoryTable(self.connection);
        let mut read = self.connection.prepare_cached("SELECT terms FROM memory_fact WHERE id = ?1")?;
        let mut found = Vec::new();
        for id in facts {
            let Some(terms) = read.query_row([id], |row| row.get(0)).optional()? else { continue };
            let vector = match model {
                Some(model) => table.vector(*id)?.filter(|(of, _)| of == model).map(|(_, vector)| vector),
                None => None,
            };
            found.push(FactWords { id: *id, terms, vector });
        }
        Ok(found)
    }

    fn facts(&self, ids: &[i64]) -> StoreResult<Vec<Fact>> {
        let mut read = self.connection.prepare_cached("SELECT body FROM memory_fact WHERE id = ?1")?;
        let mut facts = Vec::with_capacity(ids.len());
        for id in ids {
            let mut rows = read.query([id])?;
            if let Some(row) = rows.next()? {
                facts.push(decode(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?)?);
            }
        }
        Ok(facts)
    }
}
