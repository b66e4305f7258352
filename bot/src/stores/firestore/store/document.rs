//! Documents: their names and their fields.
//!
//! Every document has all fields of its collection, and one write replaces it completely. Names of documents are hashes:
//! the id of a room, a person or a message may have any length and contain any character, and a name may not.

use std::borrow::Cow;
use std::collections::HashMap;

use firestore::gcloud_sdk::google::firestore::v1::value::ValueType;
use firestore::gcloud_sdk::google::firestore::v1::{ArrayValue, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::memory::table::{OptOutMark, StoreResult};
use crate::stores::StoreError;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Collection {
    Marks,
    Channels,
    People,
    Ties,
    Facts,
    OptOuts,
    Counters,
}

impl Collection {
    pub fn name(self) -> &'static str {
        match self {
            Collection::Marks => "marks",
            Collection::Channels => "channels",
            Collection::People => "people",
            Collection::Ties => "ties",
            Collection::Facts => "facts",
            Collection::OptOuts => "optouts",
            Collection::Counters => "counters",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DocumentKey {
    pub collection: Collection,
    pub id: String,
}

impl DocumentKey {
    /// The key of what these ids identify together.
    pub fn of(collection: Collection, ids: &[&str]) -> DocumentKey {
        DocumentKey { collection, id: hash(ids) }
    }

    /// The newest fact has the first name, so that the index that every collection has lists the newest first.
    pub fn of_fact(number: u64) -> DocumentKey {
        DocumentKey { collection: Collection::Facts, id: format!("{:016x}", u64::MAX - number) }
    }

    pub fn of_opt_out(mark: OptOutMark) -> DocumentKey {
        DocumentKey { collection: Collection::OptOuts, id: format!("{:016x}", mark.0.cast_unsigned()) }
    }

    /// A document that is written to test whether that is possible.
    pub fn of_trial(name: &str) -> DocumentKey {
        DocumentKey { collection: Collection::Counters, id: format!("trial-{name}") }
    }

    /// The counter that holds the number of the latest fact.
    pub fn of_last_fact() -> DocumentKey {
        DocumentKey { collection: Collection::Counters, id: "facts".to_owned() }
    }
}

/// The length of a hash in names and index values.
const HASH_BYTES: usize = 16;

/// The same for the same ids, and collision-resistant.
pub fn hash(ids: &[&str]) -> String {
    let mut context = ring::digest::Context::new(&ring::digest::SHA256);
    for id in ids {
        context.update(&(id.len() as u64).to_le_bytes());
        context.update(id.as_bytes());
    }
    context.finish().as_ref()[..HASH_BYTES].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The room in which it was said.
pub const ROOM: &str = "room";
/// The people it concerns.
pub const PEOPLE: &str = "people";
/// The messages it rests on.
pub const MESSAGES: &str = "messages";
/// The content, as JSON.
const BODY: &str = "body";
/// The commit that wrote it.
const COMMIT: &str = "commit";

#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentFields(pub HashMap<String, Value>);

impl DocumentFields {
    pub fn of(body: &impl Serialize) -> DocumentFields {
        DocumentFields::default().with_body(serde_json::to_string(body).expect("what is remembered is plain data"))
    }

    pub fn with_body(self, json: impl Into<String>) -> DocumentFields {
        self.with_text(BODY, json)
    }

    /// With what is kept changed, if there is anything.
    pub fn map_body(self, map: impl Fn(&str) -> Cow<'_, str>) -> DocumentFields {
        let changed = match self.json().map(map) {
            Some(Cow::Owned(json)) => json,
            Some(Cow::Borrowed(_)) | None => return self,
        };
        self.with_body(changed)
    }

    /// What is kept, as it is stored.
    pub fn json(&self) -> Option<&str> {
        self.text(BODY)
    }

    pub fn with_text(self, name: &str, text: impl Into<String>) -> DocumentFields {
        self.with(name, ValueType::StringValue(text.into()))
    }

    pub fn with_texts(self, name: &str, texts: impl IntoIterator<Item = String>) -> DocumentFields {
        let value = |text| Value { value_type: Some(ValueType::StringValue(text)) };
        self.with(name, ValueType::ArrayValue(ArrayValue { values: texts.into_iter().map(value).collect() }))
    }

    pub fn with_bytes(self, name: &str, bytes: Vec<u8>) -> DocumentFields {
        self.with(name, ValueType::BytesValue(bytes))
    }

    pub fn with_commit(self, commit: &str) -> DocumentFields {
        self.with_text(COMMIT, commit)
    }

    fn with(mut self, name: &str, value: ValueType) -> DocumentFields {
        self.0.insert(name.to_owned(), Value { value_type: Some(value) });
        self
    }

    pub fn body<T: DeserializeOwned>(&self) -> StoreResult<T> {
        let unreadable = |what: String| StoreError::Failed(format!("cannot read what is remembered: {what}"));
        let body = self.json().ok_or_else(|| unreadable("a document has no body".to_owned()))?;
        serde_json::from_str(body).map_err(|error| unreadable(error.to_string()))
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        match &self.0.get(name)?.value_type {
            Some(ValueType::StringValue(text)) => Some(text),
            _ => None,
        }
    }

    pub fn bytes(&self, name: &str) -> &[u8] {
        match self.0.get(name).and_then(|value| value.value_type.as_ref()) {
            Some(ValueType::BytesValue(bytes)) => bytes,
            _ => &[],
        }
    }

    pub fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        let values = match self.0.get(name).and_then(|value| value.value_type.as_ref()) {
            Some(ValueType::ArrayValue(array)) => &array.values[..],
            _ => &[],
        };
        values.iter().filter_map(|value| match &value.value_type {
            Some(ValueType::StringValue(text)) => Some(text.as_str()),
            _ => None,
        })
    }

    /// Removes and returns the commit that wrote it.
    pub fn take_commit(&mut self) -> Option<String> {
        match self.0.remove(COMMIT)?.value_type {
            Some(ValueType::StringValue(commit)) => Some(commit),
            _ => None,
        }
    }
}

/// Which documents of a collection.
#[derive(Clone, Debug)]
pub enum DocumentFilter {
    All,
    Is(&'static str, String),
    IsNot(&'static str, String),
    /// The array contains one of these; Firestore accepts at most thirty.
    HasAny(&'static str, Vec<String>),
}

/// How many of them, ordered by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentLimit {
    None,
    First(usize),
    Last(usize),
}

/// How many values one query may look for in an array.
pub const ANY_MAX: usize = 30;

impl DocumentFilter {
    pub fn has(name: &'static str, value: String) -> DocumentFilter {
        DocumentFilter::HasAny(name, vec![value])
    }

    pub fn holds(&self, fields: &DocumentFields) -> bool {
        match self {
            DocumentFilter::All => true,
            DocumentFilter::Is(name, value) => fields.text(name) == Some(value.as_str()),
            DocumentFilter::IsNot(name, value) => fields.text(name).is_some_and(|text| text != value),
            DocumentFilter::HasAny(name, values) => {
                fields.texts(name).any(|text| values.iter().any(|value| value == text))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_any_kind_have_names_of_their_own() {
        let long = "x".repeat(5_000);
        let ids = ["", ".", "..", "a/b", "__x__", "名前", "\0", "a\nb", &long];
        let mut names: Vec<String> = ids.iter().map(|id| hash(&[id])).collect();
        names.extend([hash(&["a", "b"]), hash(&["ab", ""]), hash(&["", "ab"]), hash(&["ab"])]);
        assert!(names.iter().all(|name| name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit())));
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn the_newest_fact_comes_first() {
        assert!(
            DocumentKey::of_fact(2).id < DocumentKey::of_fact(1).id
                && DocumentKey::of_fact(u64::MAX).id == "0".repeat(16)
        );
    }
}
