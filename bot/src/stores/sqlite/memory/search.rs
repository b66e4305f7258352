//! Looks for facts in the file: candidates by words and by signs, then ranked as everywhere.

use std::collections::{BTreeMap, BTreeSet};

use aizuchi_core::memory::rank::{Corpus, SearchQuestion, root};
use aizuchi_core::memory::words::alike;
use aizuchi_core::memory::{Candidate, FactId, Query, Recalled, SearchOptions, house, recall as rank};
use aizuchi_core::types::Visibility;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::table::{SqliteMemoryTable, place, place_word, signs};
use crate::memory::table::{MemoryTable as _, StoreResult};

/// Candidates that are looked at closely, by words and by meaning.
const BY_WORDS: usize = 150;
const BY_MEANING: usize = 100;

pub fn recall(connection: &Connection, query: &Query, manner: SearchOptions) -> StoreResult<Vec<Recalled>> {
    let question = SearchQuestion::new(&query.text);
    let places = places(query, manner);
    let corpus = CorpusStatistics::read(connection, &question)?;
    let mut ids = by_words(connection, &question, &corpus, &places)?;
    if let Some((model, vector)) = &query.vector {
        ids.extend(by_meaning(connection, &places, model, vector)?);
    }
    let table = SqliteMemoryTable(connection);
    let mut candidates = Vec::new();
    for id in ids {
        let Some(fact) = table.fact(FactId(id.cast_unsigned()))? else { continue };
        let vector = match &query.vector {
            Some((model, _)) => table.vector(id)?.filter(|(of, _)| **of == **model).map(|(_, vector)| vector),
            None => None,
        };
        candidates.push(Candidate { fact, vector });
    }
    Ok(rank(candidates, Some(&corpus), query, manner))
}

/// Where the reader may look: the room, and whatever is public in its house.
fn places(query: &Query, manner: SearchOptions) -> Vec<i64> {
    let reader = &query.reader;
    let mut places = vec![place(&format!("room {}", reader.room))];
    if manner.across_rooms && reader.visibility != Visibility::Direct {
        places.extend(house(&reader.room).map(|house| place(&format!("house {house}"))));
    }
    places
}

/// The rarest words first, each with those of like meaning, until there are enough; the newest facts of each.
fn by_words(
    connection: &Connection,
    question: &SearchQuestion,
    corpus: &CorpusStatistics,
    places: &[i64],
) -> StoreResult<BTreeSet<i64>> {
    let places: Vec<String> = places.iter().map(|place| place_word(*place)).collect();
    let quoted = |word: &str| format!("\"{}\"", word.replace('"', "\"\""));
    let query = "SELECT rowid FROM memory_words WHERE memory_words MATCH ?1 ORDER BY rowid DESC LIMIT ?2";
    let mut statement = connection.prepare_cached(query)?;
    let mut words: Vec<&String> = question.words().iter().collect();
    // A word that no fact has says little: it may be there in another form.
    words.sort_by(|a, b| {
        let rarity = |word: &str| (corpus.holding(word) == 0.0, corpus.holding(word));
        rarity(a).partial_cmp(&rarity(b)).expect("counts are numbers")
    });
    let mut found = BTreeSet::new();
    for word in words {
        let mut forms: Vec<String> = alike(word).iter().map(|other| quoted(other)).collect();
        match corpus.holding(word) == 0.0 {
            true => forms.extend(root(word).map(|root| format!("{}*", quoted(root)))),
            false => forms.push(quoted(word)),
        }
        if !forms.is_empty() && found.len() < BY_WORDS {
            let asked = format!("place : ({}) AND words : ({})", places.join(" OR "), forms.join(" OR "));
            let more = i64::try_from(BY_WORDS - found.len()).unwrap_or(i64::MAX);
            let rows = statement.query_map(params![asked, more], |row| row.get::<_, i64>(0))?;
            found.extend(rows.collect::<rusqlite::Result<Vec<_>>>()?);
        }
    }
    Ok(found)
}

/// Those whose signs differ least.
fn by_meaning(connection: &Connection, places: &[i64], model: &str, vector: &[f32]) -> StoreResult<Vec<i64>> {
    let (asked, model) = (signs(vector), place(model));
    let mut found: Vec<(u32, i64)> = Vec::new();
    let mut statement = connection.prepare_cached("SELECT fact, model, signs FROM memory_sign WHERE place = ?1")?;
    for place in places {
        let mut rows = statement.query([place])?;
        while let Some(row) = rows.next()? {
            let signs = row.get_ref(2)?.as_blob().map_err(rusqlite::Error::from)?;
            if row.get::<_, i64>(1)? == model && signs.len() == asked.len() {
                found.push((difference(signs, &asked), row.get(0)?));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    Ok(found.into_iter().take(BY_MEANING).map(|(_, fact)| fact).collect())
}

fn difference(a: &[u8], b: &[u8]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// What is known of all facts together, for the words of one question.
struct CorpusStatistics {
    texts: f64,
    holding: BTreeMap<String, f64>,
}

/// Words in a fact, about.
const LENGTH: f64 = 12.0;

impl CorpusStatistics {
    fn read(connection: &Connection, question: &SearchQuestion) -> StoreResult<CorpusStatistics> {
        let mut holding = BTreeMap::new();
        let mut count = connection.prepare_cached("SELECT facts FROM memory_word WHERE word = ?1")?;
        for word in question.words() {
            let facts: Option<f64> = count.query_row([word], |row| row.get(0)).optional()?;
            holding.insert(word.clone(), facts.unwrap_or_default());
        }
        // The last number is near enough, and counting would take longer than looking.
        let mut all = connection.prepare_cached("SELECT coalesce(max(id), 0) FROM memory_fact")?;
        Ok(CorpusStatistics { texts: all.query_row([], |row| row.get(0))?, holding })
    }
}

impl Corpus for CorpusStatistics {
    fn texts(&self) -> f64 {
        self.texts
    }

    fn holding(&self, word: &str) -> f64 {
        self.holding.get(word).copied().unwrap_or_default()
    }

    fn length(&self) -> f64 {
        LENGTH
    }
}
