//! Looks for facts in the file: candidates by words, time and signs, then ranked as everywhere.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use aizuchi_core::memory::rank::{
    Corpus, DayRange, Document, SearchQuestion, cosine, is_relative, root, scores, terms,
};
use aizuchi_core::memory::words::alike;
use aizuchi_core::memory::{Candidate, Fact, Query, Recalled, SearchOptions, house, recall as rank};
use aizuchi_core::settings::Ranking;
use aizuchi_core::types::Visibility;
use rusqlite::{Connection, OptionalExtension as _, params};

use super::facts::{MONTH_DAYS, day_word, month_word, place, place_word, scope};
use super::signs;
use super::table::{SqliteMemoryTable, decode, quoted};
use crate::memory::table::StoreResult;

/// Candidates that are looked at closely, by words, by time and by meaning.
const BY_WORDS: usize = 120;
const BY_TIME: usize = 50;
const BY_MEANING: usize = 80;
/// Of all candidates, how many are read whole, at least.
const READ_WHOLE: usize = 50;
/// The newest facts that have a word, and that have it around them.
const OF_A_WORD: usize = 300;
/// A word that more facts have says little: it is looked for only where there are not enough candidates.
const COMMON: f64 = 500.0;
/// What a word around a fact counts beside one of its own, for choosing candidates.
const BESIDE: f64 = 0.4;
/// Other forms of a word that are looked for, the most frequent first.
const RELATIVES_MAX: usize = 8;
/// A longer time is looked for by months.
const DAYS_MAX: i64 = 60;

pub fn recall(connection: &Connection, query: &Query, manner: SearchOptions) -> StoreResult<Vec<Recalled>> {
    // Everything is read as of one moment: counts that do not fit together would say nothing.
    let _snapshot = connection.unchecked_transaction()?;
    let question = SearchQuestion::new(&query.text);
    let places = places(query, manner);
    let corpus = StoredCorpus::new(connection)?;
    let index = Index::new(connection, query, &places);
    let by_time: BTreeSet<i64> = match DayRange::named_in(&query.text, query.at) {
        Some(days) => index.by_time(days.told())?.into_iter().collect(),
        None => BTreeSet::new(),
    };
    let mut ids: BTreeSet<i64> = index.by_words(&question, &corpus)?;
    ids.extend(&by_time);
    if let Some((model, vector)) = &query.vector {
        ids.extend(signs::nearest(connection, &places, model, vector, BY_MEANING)?);
    }
    let mut found = StoredWords::read(connection, &ids, query)?;
    let of_that_time: Vec<StoredWords> = found.extract_if(.., |words| by_time.contains(&words.id)).collect();
    let mut read = connection.prepare_cached("SELECT body FROM memory_fact WHERE id = ?1")?;
    let mut candidates = Vec::new();
    for words in closest(found, &question, query, manner, &corpus).into_iter().chain(of_that_time) {
        let mut rows = read.query([words.id])?;
        let Some(row) = rows.next()? else { continue };
        let fact: Fact = decode(row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?)?;
        let terms = if words.terms.is_empty() { terms(&fact) } else { words.terms };
        candidates.push(Candidate {
            fact: Cow::Owned(fact),
            terms: terms.into(),
            vector: words.vector.map(Cow::Owned),
        });
    }
    Ok(rank(candidates, Some(&corpus), query, manner))
}

/// What a fact is ranked by, without the fact.
struct StoredWords {
    id: i64,
    /// Empty for a fact of an earlier version.
    terms: String,
    vector: Option<Vec<f32>>,
}

impl StoredWords {
    fn read(connection: &Connection, ids: &BTreeSet<i64>, query: &Query) -> StoreResult<Vec<StoredWords>> {
        let table = SqliteMemoryTable(connection);
        let mut read = connection.prepare_cached("SELECT terms FROM memory_fact WHERE id = ?1")?;
        let mut found = Vec::new();
        for id in ids {
            let Some(terms) = read.query_row([id], |row| row.get(0)).optional()? else { continue };
            let vector = match &query.vector {
                Some((model, _)) => table.vector(*id)?.filter(|(of, _)| **of == **model).map(|(_, vector)| vector),
                None => None,
            };
            found.push(StoredWords { id: *id, terms, vector });
        }
        Ok(found)
    }
}

/// Those that are worth reading whole: the best by words and meaning alone, many more than are asked for.
fn closest(
    mut found: Vec<StoredWords>,
    question: &SearchQuestion,
    query: &Query,
    manner: SearchOptions,
    corpus: &dyn Corpus,
) -> Vec<StoredWords> {
    let enough = READ_WHOLE.max(4 * query.count);
    if found.len() <= enough || manner.ranking == Ranking::Sphene {
        return found;
    }
    let documents: Vec<Document<'_>> = found.iter().map(|words| Document::new(&words.terms)).collect();
    let by_words = scores(&documents, question, manner.ranking, Some(corpus));
    let best = by_words.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let score = |(words, fit): (&StoredWords, f64)| match (&query.vector, &words.vector) {
        _ if words.terms.is_empty() => f64::INFINITY,
        (Some((_, asked)), Some(vector)) => fit / best + cosine(asked, vector),
        _ => fit / best,
    };
    let scored: Vec<f64> = found.iter().zip(by_words).map(score).collect();
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by(|a, b| scored[*b].total_cmp(&scored[*a]).then(b.cmp(a)));
    let kept: BTreeSet<usize> = order.into_iter().take(enough).collect();
    let mut at = 0..;
    found.retain(|_| at.next().is_some_and(|at| kept.contains(&at)));
    found
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

/// The index of words, as far as the reader may look.
struct Index<'a> {
    connection: &'a Connection,
    /// The room, and its house where the reader may look there too.
    places: Vec<String>,
    /// What follows the words of the room, and those of its house.
    scopes: Vec<String>,
}

impl<'a> Index<'a> {
    fn new(connection: &'a Connection, query: &Query, places: &[i64]) -> Index<'a> {
        // What was said in public in the room is under its house, also for those who may not look further.
        let house = house(&query.reader.room).map(|house| place(&format!("house {house}")));
        let scopes = [places[0]].into_iter().chain(house).map(scope).collect();
        Index { connection, places: places.iter().map(|place| place_word(*place)).collect(), scopes }
    }

    /// The newest facts that have one of these words in a column.
    fn newest_with(&self, column: &str, words: &[String], count: usize) -> StoreResult<Vec<i64>> {
        let scoped = |word: &String| self.scopes.iter().map(|scope| quoted(word, scope)).collect::<Vec<_>>();
        let words = words.iter().flat_map(scoped).collect::<Vec<_>>().join(" OR ");
        let asked = format!("{column} : ({words})");
        // Whatever has the scope of the house is in one of the two places.
        match self.places.len() {
            1 => self.newest(&self.in_places(&asked), count),
            _ => self.newest(&asked, count),
        }
    }

    fn in_places(&self, asked: &str) -> String {
        format!("place : ({}) AND {asked}", self.places.join(" OR "))
    }

    /// The newest facts of which this holds.
    fn newest(&self, asked: &str, count: usize) -> StoreResult<Vec<i64>> {
        let query = "SELECT rowid FROM memory_index WHERE memory_index MATCH ?1 ORDER BY rowid DESC LIMIT ?2";
        let mut statement = self.connection.prepare_cached(query)?;
        let rows = statement.query_map(params![asked, count as i64], |row| row.get(0))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    /// Those that have the rarest words, or other forms of them, themselves or around them.
    fn by_words(&self, question: &SearchQuestion, corpus: &StoredCorpus<'_>) -> StoreResult<BTreeSet<i64>> {
        let mut weights: BTreeMap<i64, f64> = BTreeMap::new();
        let mut words: Vec<&String> = question.words().iter().collect();
        words.sort_by(|a, b| corpus.holding(a).total_cmp(&corpus.holding(b)));
        for word in words {
            let is_common = corpus.holding(word) > COMMON;
            if is_common && weights.len() >= BY_WORDS {
                break;
            }
            let mut forms: Vec<String> = vec![word.clone()];
            forms.extend(alike(word).iter().cloned());
            forms.extend(corpus.relatives(word)?);
            let weight = corpus.rarity(word);
            let columns = [("words", weight), ("beside", weight * BESIDE)];
            for (column, weight) in columns.into_iter().take(if is_common { 1 } else { 2 }) {
                let found = self.newest_with(column, &forms, OF_A_WORD)?;
                for fact in found {
                    *weights.entry(fact).or_default() += weight;
                }
            }
        }
        let mut best: Vec<(f64, i64)> = weights.into_iter().map(|(fact, weight)| (weight, fact)).collect();
        best.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        Ok(best.into_iter().take(BY_WORDS).map(|(_, fact)| fact).collect())
    }

    fn by_time(&self, days: DayRange) -> StoreResult<Vec<i64>> {
        let words: Vec<String> = match days.to - days.from <= DAYS_MAX {
            true => (days.from..=days.to).map(day_word).collect(),
            false => {
                let months = days.from.div_euclid(MONTH_DAYS)..=days.to.div_euclid(MONTH_DAYS);
                months.map(|month| month_word(month * MONTH_DAYS)).collect()
            }
        };
        self.newest(&self.in_places(&format!("day : ({})", words.join(" OR "))), BY_TIME)
    }
}

/// What is known of all facts together.
struct StoredCorpus<'a> {
    connection: &'a Connection,
    texts: f64,
    counted: RefCell<BTreeMap<String, f64>>,
}

impl<'a> StoredCorpus<'a> {
    fn new(connection: &'a Connection) -> StoreResult<StoredCorpus<'a>> {
        // The last number is near enough, and counting would take longer than looking.
        let mut all = connection.prepare_cached("SELECT coalesce(max(id), 0) FROM memory_fact")?;
        let texts = all.query_row([], |row| row.get(0))?;
        Ok(StoredCorpus { connection, texts, counted: RefCell::default() })
    }

    fn rarity(&self, word: &str) -> f64 {
        (1.0 + self.texts / (1.0 + self.holding(word))).ln()
    }

    fn count(&self, word: &str) -> StoreResult<f64> {
        let mut count = self.connection.prepare_cached("SELECT facts FROM memory_word WHERE word = ?1")?;
        Ok(count.query_row([word], |row| row.get(0)).optional()?.unwrap_or_default())
    }

    /// Other forms of a word that there are.
    fn relatives(&self, word: &str) -> StoreResult<Vec<String>> {
        let Some(root) = root(word) else { return Ok(Vec::new()) };
        let query = "SELECT word, facts FROM memory_word WHERE word >= ?1 AND word < ?1 || char(0x10ffff)";
        let mut statement = self.connection.prepare_cached(query)?;
        let mut rows = statement.query([root])?;
        let mut found: Vec<(f64, String)> = Vec::new();
        while let Some(row) = rows.next()? {
            let other = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
            if is_relative(word, other) {
                found.push((row.get(1)?, other.to_owned()));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0));
        Ok(found.into_iter().take(RELATIVES_MAX).map(|(_, word)| word).collect())
    }
}

impl Corpus for StoredCorpus<'_> {
    fn texts(&self) -> f64 {
        self.texts
    }

    fn holding(&self, word: &str) -> f64 {
        if let Some(known) = self.counted.borrow().get(word) {
            return *known;
        }
        // A word that cannot be counted is taken for rare.
        let counted = self.count(word).unwrap_or_default();
        self.counted.borrow_mut().insert(word.to_owned(), counted);
        counted
    }
}
