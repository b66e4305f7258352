//! The index of facts, limited to what a reader may know. The limits are part of each query.

use std::collections::BTreeSet;

use aizuchi_core::memory::Fact;

use super::super::connection::PgConnection;
use super::super::text::{from_stored, to_stored};
use super::facts::{beside_token, own_token};
use super::table::read_all;
use super::vectors::{self, numbers};
use crate::memory::search::{FactIndex, FactWords, IndexPart};
use crate::memory::table::StoreResult;

pub struct PgFactIndex<'a> {
    pub connection: &'a PgConnection,
    /// Where the reader may search.
    pub places: Vec<i64>,
}

impl FactIndex for PgFactIndex<'_> {
    fn texts(&self) -> StoreResult<f64> {
        // The highest number is a sufficient estimate, and counting would take longer than the search.
        let last: i64 = self.connection.one("SELECT coalesce(max(id), 0) FROM memory_fact", &[])?.get(0);
        Ok(last as f64)
    }

    fn counts(&self, words: &[&str]) -> StoreResult<Vec<f64>> {
        let asked: Vec<_> = words.iter().map(|word| to_stored(word)).collect();
        let query = "SELECT coalesce(facts, 0) FROM unnest($1::text[]) WITH ORDINALITY AS asked (sought, position)
            LEFT JOIN memory_word ON word = sought ORDER BY position";
        Ok(self.connection.query(query, &[&asked])?.iter().map(|row| row.get::<_, i64>(0) as f64).collect())
    }

    fn words_beginning(&self, with: &str) -> StoreResult<Vec<(String, f64)>> {
        let after = format!("{with}\u{10ffff}");
        let query = "SELECT word, facts FROM memory_word WHERE word >= $1 AND word < $2 ORDER BY word";
        let found = self.connection.query(query, &[&to_stored(with), &to_stored(&after)])?;
        Ok(found.iter().map(|row| (from_stored(row.get(0)), row.get::<_, i64>(1) as f64)).collect())
    }

    fn newest(&self, part: IndexPart, words: &[String], count: usize) -> StoreResult<Vec<i64>> {
        let tokens: Vec<String> = match part {
            IndexPart::Words => words.iter().map(|word| own_token(word)).collect(),
            IndexPart::Beside => words.iter().map(|word| beside_token(word)).collect(),
            IndexPart::Day => words.to_vec(),
        };
        let query = "SELECT id FROM memory_fact WHERE tokens && $1 AND places && $2 ORDER BY id DESC LIMIT $3";
        let found = self.connection.query(query, &[&tokens, &self.places, &(count as i64)])?;
        Ok(found.iter().map(|row| row.get(0)).collect())
    }

    fn nearest(&self, model: &str, vector: &[f32], count: usize) -> StoreResult<Vec<i64>> {
        vectors::nearest(self.connection, &self.places, model, vector, count)
    }

    fn words_of(&self, facts: &BTreeSet<i64>, model: Option<&str>) -> StoreResult<Vec<FactWords>> {
        let ids: Vec<i64> = facts.iter().copied().collect();
        let model = model.map(to_stored);
        let query = "SELECT f.id, f.terms, v.vector FROM memory_fact AS f
            LEFT JOIN memory_vector AS v ON v.fact = f.id AND v.model = $2 WHERE f.id = ANY ($1) ORDER BY f.id";
        let words = |row: &tokio_postgres::Row| FactWords {
            id: row.get(0),
            terms: from_stored(row.get(1)),
            vector: row.get::<_, Option<&[u8]>>(2).map(numbers),
        };
        Ok(self.connection.query(query, &[&ids, &model])?.iter().map(words).collect())
    }

    fn facts(&self, ids: &[i64]) -> StoreResult<Vec<Fact>> {
        let query = "SELECT body FROM unnest($1::bigint[]) WITH ORDINALITY AS asked (number, position)
            JOIN memory_fact ON id = number ORDER BY position";
        read_all(self.connection, query, &[&ids])
    }
}
