//! A fact as a document: its content, and every value it is found by.
//!
//! In one query Firestore looks for at most thirty values in one array, and for nothing else besides. So each value
//! contains both where and what: a word in a room, a word on a server, a day in a room. A search in a room queries only
//! values of that room and of its server, and never sees a fact that the reader may not know. Values are hashes, short and
//! of one length.

use std::collections::BTreeSet;

use aizuchi_core::memory::rank::{day_of, index_words, terms};
use aizuchi_core::memory::{Fact, sketch};
use aizuchi_core::types::{MessageId, RoomId, stable_hash};

use super::document::{DocumentFields, MESSAGES, PEOPLE, ROOM, hash};
use super::scope::MessageScope;
use crate::memory::search::{IndexPart, day_word, month_word, places_of, room_place};
use crate::memory::table::StoreResult;

pub const SKETCH: &str = "sketch";
pub const FIND: &str = "find";
/// The model of its vector; empty if there is none.
pub const EMBEDDED: &str = "embedded";
const TERMS: &str = "terms";
const VECTOR: &str = "vector";

/// How many words of a fact, and words around it, are indexed: a document may have forty thousand index entries.
const WORDS_MAX: usize = 2_000;
/// The minimum length of a common prefix of related words.
pub const STEM_CHARS: usize = 4;
/// The number of facts with a word is counted over all rooms, as in every store.
const EVERYWHERE: i64 = 0;

fn value(place: i64, kind: &str, what: &str) -> String {
    format!("{:016x}", stable_hash(place.cast_unsigned(), &format!("{kind} {what}")))
}

/// The index value of a word or day in a place.
pub fn part_value(place: i64, part: IndexPart, word: &str) -> String {
    match part {
        IndexPart::Words => value(place, "word", word),
        IndexPart::Beside => value(place, "beside", word),
        IndexPart::Day => value(place, "day", word),
    }
}

/// The index value of the prefix of related words, in a fact or around it. `None` for a word that has no related ones.
pub fn stem_value(place: i64, word: &str) -> Option<String> {
    let stem = word.get(..STEM_CHARS)?;
    stem.bytes().all(|byte| byte.is_ascii_alphabetic()).then(|| value(place, "stem", stem))
}

pub fn model_value(place: i64, model: &str) -> String {
    value(place, "model", model)
}

/// The index value by which a word is counted.
pub fn counted_value(word: &str) -> String {
    part_value(EVERYWHERE, IndexPart::Words, word)
}

pub fn message_value(scope: &MessageScope, room: &RoomId, message: &MessageId) -> String {
    hash(&[room.as_str(), &scope.stored_id(message.as_str())])
}

pub fn sketch_value(room: &RoomId, word: u64) -> String {
    value(room_place(room.as_str()), "sketch", &format!("{word:x}"))
}

/// The embedding of a fact.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredVector {
    pub model: String,
    pub vector: Vec<f32>,
}

impl StoredVector {
    pub fn bytes(&self) -> Vec<u8> {
        self.vector.iter().flat_map(|number| number.to_le_bytes()).collect()
    }
}

pub fn to_fields(scope: &MessageScope, fact: &Fact, vector: &StoredVector) -> DocumentFields {
    let terms = terms(fact);
    let room = &fact.origin.room;
    let messages = fact.messages.iter().chain(fact.context.iter().map(|turn| &turn.message));
    let messages: BTreeSet<String> = messages.map(|message| message_value(scope, room, message)).collect();
    let people: BTreeSet<String> = fact.people.iter().map(|person| hash(&[person.as_str()])).collect();
    DocumentFields::of(fact)
        .with_text(ROOM, hash(&[room.as_str()]))
        .with_texts(PEOPLE, people)
        .with_texts(MESSAGES, messages)
        .with_texts(SKETCH, sketch(&fact.content).into_iter().map(|word| sketch_value(room, word)))
        .with_texts(FIND, found_by(fact, &terms, &vector.model))
        .with_text(TERMS, terms)
        .with_text(EMBEDDED, &*vector.model)
        .with_bytes(VECTOR, vector.bytes())
}

fn found_by(fact: &Fact, terms: &str, model: &str) -> BTreeSet<String> {
    let (own, beside) = index_words(terms);
    let (own, beside) = (&own[..own.len().min(WORDS_MAX)], &beside[..beside.len().min(WORDS_MAX)]);
    let day = day_of(fact.said_at());
    let mut values: BTreeSet<String> = own.iter().map(|word| counted_value(word)).collect();
    for place in places_of(&fact.origin) {
        values.extend([day_word(day), month_word(day)].map(|day| part_value(place, IndexPart::Day, &day)));
        values.extend(own.iter().map(|word| part_value(place, IndexPart::Words, word)));
        values.extend(beside.iter().map(|word| part_value(place, IndexPart::Beside, word)));
        values.extend(own.iter().chain(beside).filter_map(|word| stem_value(place, word)));
        if !model.is_empty() {
            values.insert(model_value(place, model));
        }
    }
    values
}

pub fn vector_of(fields: &DocumentFields) -> StoredVector {
    let numbers = fields.bytes(VECTOR).as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes));
    StoredVector { model: fields.text(EMBEDDED).unwrap_or_default().to_owned(), vector: numbers.collect() }
}

/// A fact with its index values and what it is ranked by.
pub struct StoredFact {
    pub fact: Fact,
    pub terms: String,
    pub vector: StoredVector,
    pub values: BTreeSet<String>,
}

pub fn from_fields(fields: &DocumentFields) -> StoreResult<StoredFact> {
    let fact: Fact = fields.body()?;
    let terms = fields.text(TERMS).map_or_else(|| terms(&fact), str::to_owned);
    let values = fields.texts(FIND).map(str::to_owned).collect();
    Ok(StoredFact { fact, terms, vector: vector_of(fields), values })
}

#[cfg(test)]
mod tests {
    use aizuchi_core::memory::rank::root;

    use super::*;

    #[test]
    fn words_that_may_be_related_share_a_stem() {
        for (word, other) in [("garden", "gardening"), ("music", "musicé"), ("teas", "teas")] {
            let root = root(word).unwrap();
            assert!(root.len() >= STEM_CHARS && other.starts_with(root));
            assert_eq!(stem_value(1, root), stem_value(1, other), "{other}");
        }
        assert_eq!(stem_value(1, "tea").or(stem_value(1, "散歩する")), None);
        assert_ne!(stem_value(1, "garden"), stem_value(2, "garden"), "each place has its own");
    }
}
