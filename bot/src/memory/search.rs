//! Searches facts through an index: candidates by words, by time and by meaning, which are then ranked as everywhere.
//!
//! An index answers narrow queries ([`FactIndex`]): the newest facts with one of these words, the words of these facts.
//! Which queries are made, and how the results are used, is the same for every store, so that all find the same facts.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use aizuchi_core::memory::rank::{
    Corpus, DayRange, Document, SearchQuestion, cosine, is_relative, root, scores, terms,
};
use aizuchi_core::memory::words::alike;
use aizuchi_core::memory::{Candidate, Fact, Origin, Query, Recalled, SearchOptions, house, recall as rank};
use aizuchi_core::settings::Ranking;
use aizuchi_core::types::{Visibility, stable_hash};

use super::table::StoreResult;

/// How many candidates are considered, by words, by time and by meaning.
const BY_WORDS: usize = 120;
const BY_TIME: usize = 50;
const BY_MEANING: usize = 80;
/// The minimum number of candidates that are loaded completely.
const READ_WHOLE: usize = 50;
/// How many of the newest facts that have a word, and of those that have it around them.
const OF_A_WORD: usize = 300;
/// A word that more facts have says little: it is used only if there are not enough candidates.
const COMMON: f64 = 500.0;
/// The weight of a word around a fact relative to one in it, for choosing candidates.
const BESIDE: f64 = 0.4;
/// How many other forms of a word are looked for, most frequent first.
const RELATIVES_MAX: usize = 8;
/// A longer range is searched by months.
const DAYS_MAX: i64 = 60;
pub const MONTH_DAYS: i64 = 30;

/// What can be searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexPart {
    /// A word of the fact itself.
    Words,
    /// A word of what was said around it.
    Beside,
    /// When it was said: days and months, as [`day_word`] and [`month_word`] write them.
    Day,
}

/// What a search needs from a store. All results are from one snapshot, and limited to what the reader may know.
pub trait FactIndex {
    /// The approximate number of facts.
    fn texts(&self) -> StoreResult<f64>;

    /// How many facts have each of these words.
    fn counts(&self, words: &[&str]) -> StoreResult<Vec<f64>>;

    /// Words with this prefix, and how many facts have each.
    fn words_beginning(&self, with: &str) -> StoreResult<Vec<(String, f64)>>;

    /// The newest facts that have one of these.
    fn newest(&self, part: IndexPart, words: &[String], count: usize) -> StoreResult<Vec<i64>>;

    /// The facts whose vectors of this model are the closest.
    fn nearest(&self, model: &str, vector: &[f32], count: usize) -> StoreResult<Vec<i64>>;

    /// What these facts are ranked by.
    fn words_of(&self, facts: &BTreeSet<i64>, model: Option<&str>) -> StoreResult<Vec<FactWords>>;

    /// These facts, in their order.
    fn facts(&self, ids: &[i64]) -> StoreResult<Vec<Fact>>;
}

/// What a fact is ranked by, without the fact.
pub struct FactWords {
    pub id: i64,
    pub terms: String,
    /// From the requested model.
    pub vector: Option<Vec<f32>>,
}

pub fn day_word(day: i64) -> String {
    format!("d{day}")
}

/// The period of thirty days that contains a day.
pub fn month_word(day: i64) -> String {
    format!("m{}", day.div_euclid(MONTH_DAYS))
}

/// The number that stands for a room.
pub fn room_place(room: &str) -> i64 {
    place(&format!("room {room}"))
}

fn place(name: &str) -> i64 {
    stable_hash(1, name).cast_signed()
}

/// The places under which a fact is found: its room, and its server if it was said in public.
pub fn places_of(origin: &Origin) -> Vec<i64> {
    let house = house(&origin.room).filter(|_| origin.visibility == Visibility::Public);
    let mut places = vec![room_place(origin.room.as_str())];
    places.extend(house.map(|house| place(&format!("house {house}"))));
    places
}

/// Where a reader may search: the room, and whatever is public on the same server.
pub fn readable_places(reader: &Origin, across_rooms: bool) -> Vec<i64> {
    let mut places = vec![room_place(reader.room.as_str())];
    if across_rooms && reader.visibility != Visibility::Direct {
        places.extend(house(&reader.room).map(|house| place(&format!("house {house}"))));
    }
    places
}

pub fn recall(index: &dyn FactIndex, query: &Query, manner: SearchOptions) -> StoreResult<Vec<Recalled>> {
    let question = SearchQuestion::new(&query.text);
    let corpus = IndexCorpus::new(index)?;
    let by_time: BTreeSet<i64> = match DayRange::named_in(&query.text, query.at) {
        Some(days) => by_time(index, days.widen())?.into_iter().collect(),
        None => BTreeSet::new(),
    };
    let mut ids = by_words(index, &question, &corpus)?;
    ids.extend(&by_time);
    let model = query.vector.as_ref().map(|(model, _)| &**model);
    if let Some((model, vector)) = &query.vector {
        ids.extend(index.nearest(model, vector, BY_MEANING)?);
    }
    let mut found = index.words_of(&ids, model)?;
    let of_that_time: Vec<FactWords> = found.extract_if(.., |words| by_time.contains(&words.id)).collect();
    let mut chosen = closest(found, &question, query, manner, &corpus);
    chosen.extend(of_that_time);
    let facts = index.facts(&chosen.iter().map(|words| words.id).collect::<Vec<_>>())?;
    let mut words: BTreeMap<i64, FactWords> = chosen.into_iter().map(|words| (words.id, words)).collect();
    let candidate = |fact: Fact| {
        let words = words.remove(&fact.id.0.cast_signed())?;
        let terms = if words.terms.is_empty() { terms(&fact) } else { words.terms };
        Some(Candidate { fact: Cow::Owned(fact), terms: terms.into(), vector: words.vector.map(Cow::Owned) })
    };
    Ok(rank(facts.into_iter().filter_map(candidate).collect(), Some(&corpus), query, manner))
}

/// The candidates worth loading completely: the best by words and meaning alone, many more than are requested.
fn closest(
    mut found: Vec<FactWords>,
    question: &SearchQuestion,
    query: &Query,
    manner: SearchOptions,
    corpus: &dyn Corpus,
) -> Vec<FactWords> {
    let enough = READ_WHOLE.max(4 * query.count);
    if found.len() <= enough || manner.ranking == Ranking::Sphene {
        return found;
    }
    let documents: Vec<Document<'_>> = found.iter().map(|words| Document::new(&words.terms)).collect();
    let by_words = scores(&documents, question, manner.ranking, Some(corpus));
    let best = by_words.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
    let score = |(words, fit): (&FactWords, f64)| match (&query.vector, &words.vector) {
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

/// Facts that have the rarest words, or other forms of them, in the text or around it.
fn by_words(index: &dyn FactIndex, question: &SearchQuestion, corpus: &IndexCorpus<'_>) -> StoreResult<BTreeSet<i64>> {
    let mut weights: BTreeMap<i64, f64> = BTreeMap::new();
    let mut words: Vec<&String> = question.words().iter().collect();
    corpus.count_all(&words)?;
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
        let parts = [(IndexPart::Words, weight), (IndexPart::Beside, weight * BESIDE)];
        for (part, weight) in parts.into_iter().take(if is_common { 1 } else { 2 }) {
            for fact in index.newest(part, &forms, OF_A_WORD)? {
                *weights.entry(fact).or_default() += weight;
            }
        }
    }
    let mut best: Vec<(f64, i64)> = weights.into_iter().map(|(fact, weight)| (weight, fact)).collect();
    best.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    Ok(best.into_iter().take(BY_WORDS).map(|(_, fact)| fact).collect())
}

fn by_time(index: &dyn FactIndex, days: DayRange) -> StoreResult<Vec<i64>> {
    let words: Vec<String> = match days.to - days.from <= DAYS_MAX {
        true => (days.from..=days.to).map(day_word).collect(),
        false => {
            let months = days.from.div_euclid(MONTH_DAYS)..=days.to.div_euclid(MONTH_DAYS);
            months.map(|month| month_word(month * MONTH_DAYS)).collect()
        }
    };
    index.newest(IndexPart::Day, &words, BY_TIME)
}

/// Statistics of all facts.
struct IndexCorpus<'a> {
    index: &'a dyn FactIndex,
    texts: f64,
    counted: RefCell<BTreeMap<String, f64>>,
}

impl<'a> IndexCorpus<'a> {
    fn new(index: &'a dyn FactIndex) -> StoreResult<IndexCorpus<'a>> {
        Ok(IndexCorpus { index, texts: index.texts()?, counted: RefCell::default() })
    }

    fn rarity(&self, word: &str) -> f64 {
        (1.0 + self.texts / (1.0 + self.holding(word))).ln()
    }

    fn count_all(&self, words: &[&String]) -> StoreResult<()> {
        let words: Vec<&str> = words.iter().map(|word| word.as_str()).collect();
        let counts = self.index.counts(&words)?;
        self.counted.borrow_mut().extend(words.into_iter().map(str::to_owned).zip(counts));
        Ok(())
    }

    /// Other forms of a word that occur in the index.
    fn relatives(&self, word: &str) -> StoreResult<Vec<String>> {
        let Some(root) = root(word) else { return Ok(Vec::new()) };
        let mut found = self.index.words_beginning(root)?;
        found.retain(|(other, _)| is_relative(word, other));
        found.sort_by(|a, b| b.1.total_cmp(&a.1));
        Ok(found.into_iter().take(RELATIVES_MAX).map(|(word, _)| word).collect())
    }
}

impl Corpus for IndexCorpus<'_> {
    fn texts(&self) -> f64 {
        self.texts
    }

    fn holding(&self, word: &str) -> f64 {
        if let Some(known) = self.counted.borrow().get(word) {
            return *known;
        }
        // A word whose count is unavailable is treated as rare.
        let counted = self.index.counts(&[word]).ok().and_then(|counts| counts.first().copied()).unwrap_or_default();
        self.counted.borrow_mut().insert(word.to_owned(), counted);
        counted
    }
}
