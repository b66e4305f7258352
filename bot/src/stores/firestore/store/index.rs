//! The index of facts, limited to what a reader may know. The limits are part of each query.
//!
//! Every document that a query finds is billed, and every query waits for the network. So the words of a question are
//! looked for together before the search begins, each with all its forms; the results are kept until the search is over,
//! and values that are known to be complete are not queried again.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aizuchi_core::memory::Fact;
use aizuchi_core::memory::rank::{cosine, index_words};
use aizuchi_core::memory::words::alike;
use futures_util::future::try_join_all;
use tokio::runtime::Handle;

use super::client::{CallResult, DocumentClient, ReadMoment};
use super::document::{ANY_MAX, Collection, DocumentFields, DocumentFilter, DocumentLimit};
use super::facts::{FIND, StoredFact, counted_value, from_fields, model_value, part_value, stem_value};
use super::failure::CallFailure;
use crate::memory::search::{FactIndex, FactWords, IndexPart};
use crate::memory::table::StoreResult;

/// How many of the newest facts are read for words that are looked for together, or for one stem. A word that more facts
/// have is not looked for before the search needs it.
const OF_WORDS: usize = 300;
/// How many of the newest facts are compared by vector: there is no vector index.
const COMPARED_MAX: usize = 300;

pub struct FirestoreFactIndex {
    client: Arc<DocumentClient>,
    handle: Handle,
    /// Where the reader may search.
    places: Vec<i64>,
    /// Everything is read as of its beginning.
    transaction: RefCell<Vec<u8>>,
    texts: RefCell<Option<f64>>,
    found: RefCell<BTreeMap<i64, StoredFact>>,
    /// Values for which every fact was found.
    complete: RefCell<BTreeSet<String>>,
    counted: RefCell<BTreeMap<String, f64>>,
    failure: RefCell<Option<CallFailure>>,
}

impl FirestoreFactIndex {
    /// It blocks the thread that uses it, which must allow that.
    pub fn new(client: Arc<DocumentClient>, handle: Handle, places: Vec<i64>) -> FirestoreFactIndex {
        FirestoreFactIndex {
            client,
            handle,
            places,
            transaction: RefCell::default(),
            texts: RefCell::default(),
            found: RefCell::default(),
            complete: RefCell::default(),
            counted: RefCell::default(),
            failure: RefCell::default(),
        }
    }

    /// The call that failed, if any.
    pub fn into_failure(self) -> Option<CallFailure> {
        self.failure.into_inner()
    }

    /// Looks for the words of a question together.
    pub fn read_ahead(&self, words: &[String]) -> StoreResult<()> {
        self.texts()?;
        let texts: Vec<&str> = words.iter().map(String::as_str).collect();
        let counts = self.counts(&texts)?;
        let mut queries = PackedQueries::default();
        for (word, count) in texts.into_iter().zip(counts).filter(|(_, count)| *count < OF_WORDS as f64) {
            queries.add(self.values_of(word), count);
        }
        self.load(queries.0.into_iter().map(|(values, _)| values).collect(), OF_WORDS)
    }

    /// The values of facts that have this word, another form of it or a synonym, in the text or around it.
    fn values_of(&self, word: &str) -> Vec<String> {
        let mut values = Vec::new();
        for place in &self.places {
            let both = |word: &str| [IndexPart::Words, IndexPart::Beside].map(|part| part_value(*place, part, word));
            match stem_value(*place, word) {
                Some(stem) => values.push(stem),
                None => values.extend(both(word)),
            }
            values.extend(alike(word).iter().flat_map(|other| both(other)));
        }
        values
    }

    fn moment(&self) -> ReadMoment {
        let transaction = self.transaction.borrow();
        if transaction.is_empty() { ReadMoment::BeginReading } else { ReadMoment::Within(transaction.clone()) }
    }

    fn call<T>(&self, call: impl Future<Output = CallResult<T>>) -> StoreResult<T> {
        self.handle.block_on(call).map_err(|failure| {
            self.failure.replace(Some(failure.clone()));
            failure.into()
        })
    }

    /// Runs one query for each of these lists of values, concurrently.
    fn load(&self, lists: Vec<Vec<String>>, limit: usize) -> StoreResult<()> {
        let moment = self.moment();
        let select = |values: &Vec<String>| {
            let (filter, moment) = (DocumentFilter::HasAny(FIND, values.clone()), moment.clone());
            async move { self.client.select(Collection::Facts, &filter, DocumentLimit::First(limit), moment).await }
        };
        let answers = self.call(try_join_all(lists.iter().filter(|values| !values.is_empty()).map(select)))?;
        for (values, answer) in lists.into_iter().filter(|values| !values.is_empty()).zip(answers) {
            if answer.found.len() < limit {
                self.complete.borrow_mut().extend(values);
            }
            answer.found.iter().try_for_each(|(_, fields)| self.keep(fields))?;
        }
        Ok(())
    }

    fn keep(&self, fields: &DocumentFields) -> StoreResult<()> {
        let stored = from_fields(fields)?;
        self.found.borrow_mut().insert(stored.fact.id.0.cast_signed(), stored);
        Ok(())
    }

    fn is_complete(&self, value: &str) -> bool {
        self.complete.borrow().contains(value)
    }

    /// The newest facts that were found by one of these values.
    fn newest_of(&self, values: &BTreeSet<String>, count: usize) -> Vec<i64> {
        let found = self.found.borrow();
        let fits = |stored: &StoredFact| !stored.values.is_disjoint(values);
        found.iter().rev().filter(|(_, stored)| fits(stored)).map(|(id, _)| *id).take(count).collect()
    }
}

impl FactIndex for FirestoreFactIndex {
    fn texts(&self) -> StoreResult<f64> {
        if let Some(known) = *self.texts.borrow() {
            return Ok(known);
        }
        // The highest number is a sufficient estimate, as in every store.
        let newest = self.client.select(
            Collection::Facts,
            &DocumentFilter::All,
            DocumentLimit::First(1),
            ReadMoment::BeginReading,
        );
        let answer = self.call(newest)?;
        self.transaction.replace(answer.begun);
        let last = answer.found.first().map(|(_, fields)| fields.body::<Fact>()).transpose()?;
        let texts = last.map_or(0.0, |fact| fact.id.0 as f64);
        self.texts.replace(Some(texts));
        Ok(texts)
    }

    fn counts(&self, words: &[&str]) -> StoreResult<Vec<f64>> {
        let unknown: Vec<&str> =
            words.iter().copied().filter(|word| !self.counted.borrow().contains_key(*word)).collect();
        let moment = self.moment();
        let count = |word: &&str| {
            let (filter, moment) = (DocumentFilter::has(FIND, counted_value(word)), moment.clone());
            async move { self.client.count(Collection::Facts, &filter, moment).await }
        };
        let counts = self.call(try_join_all(unknown.iter().map(count)))?;
        let counts = counts.into_iter().map(|answer| answer.found as f64);
        self.counted.borrow_mut().extend(unknown.into_iter().map(str::to_owned).zip(counts));
        let counted = self.counted.borrow();
        Ok(words.iter().map(|word| counted.get(*word).copied().unwrap_or_default()).collect())
    }

    fn words_beginning(&self, with: &str) -> StoreResult<Vec<(String, f64)>> {
        let stems: Vec<String> = self.places.iter().filter_map(|place| stem_value(*place, with)).collect();
        let missing: Vec<String> = stems.iter().filter(|stem| !self.is_complete(stem)).cloned().collect();
        self.load(vec![missing], OF_WORDS)?;
        let mut words: BTreeSet<String> = BTreeSet::new();
        for stored in self.found.borrow().values() {
            let (own, beside) = index_words(&stored.terms);
            words.extend(own.into_iter().chain(beside).filter(|word| word.starts_with(with)).map(str::to_owned));
        }
        let counts = self.counts(&words.iter().map(String::as_str).collect::<Vec<_>>())?;
        // A word that only occurs around a fact is not counted as a word, as in every store.
        Ok(words.into_iter().zip(counts).filter(|(_, count)| *count > 0.0).collect())
    }

    fn newest(&self, part: IndexPart, words: &[String], count: usize) -> StoreResult<Vec<i64>> {
        let (mut values, mut missing) = (BTreeSet::new(), BTreeSet::new());
        for (word, place) in words.iter().flat_map(|word| self.places.iter().map(move |place| (word, *place))) {
            let value = part_value(place, part, word);
            let by_stem = || match part {
                IndexPart::Words | IndexPart::Beside => stem_value(place, word),
                IndexPart::Day => None,
            };
            if !self.is_complete(&value) && !by_stem().is_some_and(|stem| self.is_complete(&stem)) {
                missing.insert(value.clone());
            }
            values.insert(value);
        }
        let missing: Vec<String> = missing.into_iter().collect();
        self.load(missing.chunks(ANY_MAX).map(<[String]>::to_vec).collect(), count)?;
        Ok(self.newest_of(&values, count))
    }

    fn nearest(&self, model: &str, vector: &[f32], count: usize) -> StoreResult<Vec<i64>> {
        let values: Vec<String> = self.places.iter().map(|place| model_value(*place, model)).collect();
        self.load(vec![values.clone()], COMPARED_MAX)?;
        let found = self.found.borrow();
        let fits = |stored: &StoredFact| stored.vector.model == model && stored.vector.vector.len() == vector.len();
        let of_model = self.newest_of(&values.into_iter().collect(), COMPARED_MAX);
        let of_model = of_model.into_iter().filter_map(|id| found.get(&id).filter(|stored| fits(stored)));
        let mut close: Vec<(f64, i64)> =
            of_model.map(|stored| (cosine(vector, &stored.vector.vector), stored.fact.id.0.cast_signed())).collect();
        close.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        Ok(close.into_iter().take(count).map(|(_, fact)| fact).collect())
    }

    fn words_of(&self, facts: &BTreeSet<i64>, model: Option<&str>) -> StoreResult<Vec<FactWords>> {
        let found = self.found.borrow();
        let words = |id: &i64| {
            let stored = found.get(id)?;
            let vector = Some(&stored.vector).filter(|vector| model == Some(&*vector.model) && model != Some(""));
            let vector = vector.map(|vector| vector.vector.clone());
            Some(FactWords { id: *id, terms: stored.terms.clone(), vector })
        };
        Ok(facts.iter().filter_map(words).collect())
    }

    fn facts(&self, ids: &[i64]) -> StoreResult<Vec<Fact>> {
        let found = self.found.borrow();
        Ok(ids.iter().filter_map(|id| found.get(id)).map(|stored| stored.fact.clone()).collect())
    }
}

/// Values that are queried together: not too many for one query, and probably with no more facts than it returns.
#[derive(Default)]
struct PackedQueries(Vec<(Vec<String>, f64)>);

impl PackedQueries {
    fn add(&mut self, values: Vec<String>, facts: f64) {
        // A word with this many forms is looked for when the search needs it.
        if values.len() > ANY_MAX {
            return;
        }
        match self.0.last_mut() {
            Some((together, sum))
                if together.len() + values.len() <= ANY_MAX && *sum + facts <= OF_WORDS as f64 / 3.0 =>
            {
                together.extend(values);
                *sum += facts;
            }
            _ => self.0.push((values, facts)),
        }
    }
}
