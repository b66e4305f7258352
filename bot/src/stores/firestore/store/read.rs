//! Reads memory, outside of any change.

use std::collections::BTreeSet;

use aizuchi_core::memory::words::search_words;
use aizuchi_core::memory::{ChannelMemory, Fact, Filter, Person, PersonExport, Tie};
use aizuchi_core::types::{PersonId, RoomId};
use serde::de::DeserializeOwned;

use super::client::{DocumentClient, ReadMoment};
use super::document::{Collection, DocumentFields, DocumentFilter, DocumentKey, DocumentLimit};
use super::facts::{EMBEDDED, FIND, counted_value};
use super::failure::FirestoreFailure;
use super::table::{in_room, of_person, person_key, sort_people, sort_ties, ties_where};
use crate::memory::table::OptOutMark;
use crate::stores::StoreError;

/// Whether more people than this opted out is read from the list of all who did, which is billed by how many they are.
const OUT_BY_NAME_MAX: usize = 30;

pub async fn get(
    client: &DocumentClient,
    keys: &[DocumentKey],
) -> Result<Vec<(DocumentKey, Option<DocumentFields>)>, FirestoreFailure> {
    Ok(client.get(keys, ReadMoment::Now).await?.found)
}

pub fn body<T: DeserializeOwned>(
    found: &[(DocumentKey, Option<DocumentFields>)],
    key: &DocumentKey,
) -> Result<Option<T>, StoreError> {
    let fields = found.iter().find(|(of, _)| of == key).and_then(|(_, fields)| fields.as_ref());
    fields.map(DocumentFields::body).transpose()
}

pub async fn all<T: DeserializeOwned>(
    client: &DocumentClient,
    collection: Collection,
    filter: &DocumentFilter,
    limit: DocumentLimit,
) -> Result<Vec<T>, FirestoreFailure> {
    let found = client.select(collection, filter, limit, ReadMoment::Now).await?.found;
    Ok(found.iter().map(|(_, fields)| fields.body()).collect::<Result<_, _>>()?)
}

async fn person(client: &DocumentClient, id: &PersonId) -> Result<Option<Person>, FirestoreFailure> {
    let keys = [person_key(id), DocumentKey::of_opt_out(OptOutMark::from(id))];
    let found = get(client, &keys).await?;
    let is_out = found.iter().any(|(key, fields)| *key == keys[1] && fields.is_some());
    Ok(body(&found, &keys[0])?.or_else(|| is_out.then(|| Person::opted_out(id.clone()))))
}

pub async fn facts(client: &DocumentClient, filter: &Filter) -> Result<Vec<Fact>, FirestoreFailure> {
    let words = filter.text.as_deref().map(search_words).unwrap_or_default();
    let mut wanted: Vec<DocumentFilter> = Vec::new();
    wanted.extend(filter.without_vector.as_ref().map(|model| DocumentFilter::IsNot(EMBEDDED, model.to_string())));
    wanted.extend(filter.person.as_ref().map(of_person));
    wanted.extend(words.iter().map(|word| DocumentFilter::has(FIND, counted_value(word))));
    wanted.extend(filter.room.as_ref().map(in_room));
    // Firestore evaluates one condition and the others are checked here: together they would need a composite index.
    let limit = match filter.count {
        0 => DocumentLimit::None,
        count if wanted.len() <= 1 => DocumentLimit::First(count),
        _ => DocumentLimit::None,
    };
    let asked = wanted.first().cloned().unwrap_or(DocumentFilter::All);
    let mut found = match filter.without_vector {
        // The oldest facts without a vector come before those with one of another model.
        Some(_) if filter.count > 0 && wanted.len() == 1 => without_vector(client, &asked, filter.count).await?,
        _ => client.select(Collection::Facts, &asked, limit, ReadMoment::Now).await?.found,
    };
    found.retain(|(_, fields)| wanted.iter().all(|wanted| wanted.holds(fields)));
    found.sort_by(|a, b| a.0.cmp(&b.0));
    if filter.without_vector.is_some() {
        found.reverse();
    }
    found.truncate(if filter.count == 0 { usize::MAX } else { filter.count });
    Ok(found.iter().map(|(_, fields)| fields.body()).collect::<Result<_, _>>()?)
}

pub async fn people(client: &DocumentClient, who: Option<&PersonId>) -> Result<Vec<Person>, FirestoreFailure> {
    if let Some(id) = who {
        return Ok(Vec::from_iter(person(client, id).await?));
    }
    let mut people: Vec<Person> = all(client, Collection::People, &DocumentFilter::All, DocumentLimit::None).await?;
    sort_people(&mut people);
    Ok(people)
}

/// Those of these people who opted out.
pub async fn who_opted_out(client: &DocumentClient, people: &[PersonId]) -> Result<Vec<PersonId>, FirestoreFailure> {
    let key = |person: &PersonId| DocumentKey::of_opt_out(OptOutMark::from(person));
    let out: BTreeSet<String> = match people.len() {
        0 => return Ok(Vec::new()),
        1..=OUT_BY_NAME_MAX => {
            let keys: BTreeSet<DocumentKey> = people.iter().map(key).collect();
            let found = get(client, &Vec::from_iter(keys)).await?;
            found.into_iter().filter(|(_, fields)| fields.is_some()).map(|(key, _)| key.id).collect()
        }
        _ => {
            let all = DocumentFilter::All;
            let found = client.select(Collection::OptOuts, &all, DocumentLimit::None, ReadMoment::Now).await?.found;
            found.into_iter().map(|(id, _)| id).collect()
        }
    };
    Ok(people.iter().filter(|person| out.contains(&key(person).id)).cloned().collect())
}

pub async fn ties(
    client: &DocumentClient,
    room: Option<&RoomId>,
    person: Option<&PersonId>,
) -> Result<Vec<Tie>, FirestoreFailure> {
    let mut ties: Vec<Tie> = all(client, Collection::Ties, &ties_where(room, person), DocumentLimit::None).await?;
    ties.retain(|tie| person.is_none_or(|person| tie.is_of(person)));
    sort_ties(&mut ties);
    Ok(ties)
}

pub async fn about(client: &DocumentClient, id: &PersonId) -> Result<PersonExport, FirestoreFailure> {
    let mut channels: Vec<ChannelMemory> =
        all(client, Collection::Channels, &of_person(id), DocumentLimit::None).await?;
    channels.sort_by(|a, b| a.origin.room.cmp(&b.origin.room));
    let known = person(client, id).await?;
    let mut facts: Vec<Fact> = all(client, Collection::Facts, &of_person(id), DocumentLimit::None).await?;
    facts.reverse();
    Ok(PersonExport::new(id, known, facts, channels))
}

async fn without_vector(
    client: &DocumentClient,
    others: &DocumentFilter,
    count: usize,
) -> Result<Vec<(String, DocumentFields)>, FirestoreFailure> {
    let none = DocumentFilter::Is(EMBEDDED, String::new());
    let found = client.select(Collection::Facts, &none, DocumentLimit::Last(count), ReadMoment::Now).await?.found;
    if !found.is_empty() {
        return Ok(found);
    }
    Ok(client.select(Collection::Facts, others, DocumentLimit::First(count), ReadMoment::Now).await?.found)
}
