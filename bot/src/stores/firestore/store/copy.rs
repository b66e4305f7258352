//! Memory in Firestore, row by row, in the form of the other stores' tables.
//!
//! Names of documents are hashes, so a collection is read completely and its rows are sorted here. Whole documents are
//! written, so that writing them twice does no harm.

use std::collections::BTreeMap;
use std::sync::Arc;

use aizuchi_core::memory::{Fact, Marks, Person, Tie};
use aizuchi_core::types::RoomId;
use serde::de::DeserializeOwned;
use tokio::runtime::Handle;

use super::FirestoreMemory;
use super::client::{DocumentClient, ReadMoment};
use super::commit::{CommitParts, send};
use super::document::{Collection, DocumentFields, DocumentFilter, DocumentKey, DocumentLimit};
use super::facts::{StoredVector, to_fields, vector_of};
use super::memory::retrying;
use super::read::{body, get};
use super::scope::MessageScope;
use super::session::too_large;
use super::table::{
    LastFact, StoredMarks, channel_fields, channel_key, marks_key, person_fields, person_key, person_messages,
    tie_fields, tie_key,
};
use crate::memory::table::OptOutMark;
use crate::ports::{BoxFuture, Cell, CopyRow, CopyScope, CopySource, CopyStore, CopyTable, JournalId};
use crate::stores::StoreError;
use crate::stores::copy::{decode_fact, decode_vector};

/// A person says what it has.
const DERIVED: &str = "memory_person_message";

type TableRows = BTreeMap<&'static str, Vec<CopyRow>>;

/// Each collection as of the moment it was first read.
struct FirestoreSource {
    client: Arc<DocumentClient>,
    handle: Handle,
    read: TableRows,
}

/// The collection of a table. The journal and everything else that is not memory has none.
fn collection_of(table: &CopyTable) -> Option<Collection> {
    match table.name {
        "memory_marks" => Some(Collection::Marks),
        "memory_channel" => Some(Collection::Channels),
        "memory_person" | DERIVED => Some(Collection::People),
        "memory_tie" => Some(Collection::Ties),
        "memory_out" => Some(Collection::OptOuts),
        "memory_fact" | "memory_vector" => Some(Collection::Facts),
        _ => None,
    }
}

async fn whole(client: &DocumentClient, collection: Collection) -> Result<Vec<(String, DocumentFields)>, StoreError> {
    let all = || async move {
        Ok(client.select(collection, &DocumentFilter::All, DocumentLimit::None, ReadMoment::Now).await?.found)
    };
    retrying(client, all).await
}

async fn read_documents(
    client: &DocumentClient,
    keys: &[DocumentKey],
) -> Result<Vec<(DocumentKey, Option<DocumentFields>)>, StoreError> {
    retrying(client, || get(client, keys)).await
}

impl FirestoreSource {
    fn table(&mut self, table: &CopyTable) -> Result<&[CopyRow], StoreError> {
        let Some(collection) = collection_of(table) else { return Ok(&[]) };
        if !self.read.contains_key(table.name) {
            for (name, fields) in self.handle.block_on(whole(&self.client, collection))? {
                for (of, row) in rows_of(&self.client.scope, collection, &name, &fields)? {
                    self.read.entry(of).or_default().push(row);
                }
            }
            // All its tables are read now, including empty ones.
            for of in CopyScope::Memory.tables().filter(|of| collection_of(of) == Some(collection)) {
                self.read.entry(of.name).or_default();
            }
            self.read.values_mut().for_each(|rows| rows.sort_unstable());
        }
        Ok(&self.read[table.name])
    }
}

impl CopySource for FirestoreSource {
    fn count(&mut self, table: &CopyTable) -> Result<u64, StoreError> {
        Ok(self.table(table)?.len() as u64)
    }

    fn rows(&mut self, table: &CopyTable, after: Option<&[Cell]>, at_most: usize) -> Result<Vec<CopyRow>, StoreError> {
        let rows = self.table(table)?;
        let start = after.map_or(0, |after| rows.partition_point(|row| row[..table.key] <= *after));
        Ok(rows[start..].iter().take(at_most).cloned().collect())
    }
}

fn text_cell(text: &str) -> Cell {
    Cell::Text(text.to_owned())
}

fn integer_cell(number: u64) -> Cell {
    Cell::Integer(number.cast_signed())
}

/// The rows of a document, each with its table.
fn rows_of(
    scope: &MessageScope,
    collection: Collection,
    name: &str,
    fields: &DocumentFields,
) -> Result<Vec<(&'static str, CopyRow)>, StoreError> {
    let json = || text_cell(fields.json().unwrap_or_default());
    Ok(match collection {
        Collection::Marks => {
            let StoredMarks { journal, room, marks } = fields.body()?;
            let marks = [marks.summarized, marks.reflected, marks.heard].map(integer_cell);
            let row = |room: &str| vec![("memory_marks", [vec![text_cell(room)], marks.to_vec()].concat())];
            match scope.journal() {
                None => row(&format!("{} {room}", journal.0)),
                Some(own) if *own == journal => row(room.as_str()),
                // A position in another journal means nothing in this one.
                Some(_) => Vec::new(),
            }
        }
        Collection::Channels => {
            let origin: aizuchi_core::memory::Origin = fields.body()?;
            vec![("memory_channel", vec![text_cell(origin.room.as_str()), json()])]
        }
        Collection::People => {
            let person: Person = fields.body()?;
            let id = || text_cell(person.id.as_str());
            let message = |(room, message): (&RoomId, &aizuchi_core::types::MessageId)| {
                (DERIVED, vec![text_cell(room.as_str()), text_cell(message.as_str()), id()])
            };
            let mut rows: Vec<_> = person_messages(&person).into_iter().map(message).collect();
            rows.push(("memory_person", vec![id(), integer_cell(person.last_seen.0), json()]));
            rows
        }
        Collection::Ties => {
            let tie: Tie = fields.body()?;
            let key = [tie.origin.room.as_str(), tie.from.as_str(), tie.to.as_str()].map(text_cell);
            vec![("memory_tie", [key.to_vec(), vec![json()]].concat())]
        }
        Collection::OptOuts => {
            let mark = u64::from_str_radix(name, 16).map_err(|_| unreadable("the number of an opt-out"))?;
            vec![("memory_out", vec![integer_cell(mark)])]
        }
        Collection::Facts => {
            let (fact, vector): (Fact, _) = (fields.body()?, vector_of(fields));
            let mut rows = vec![("memory_fact", vec![integer_cell(fact.id.0), json()])];
            if !vector.model.is_empty() {
                rows.push((
                    "memory_vector",
                    vec![integer_cell(fact.id.0), text_cell(&vector.model), Cell::Bytes(vector.bytes())],
                ));
            }
            rows
        }
        Collection::Counters => Vec::new(),
    })
}

fn unreadable(what: &str) -> StoreError {
    StoreError::Failed(format!("cannot read {what}"))
}

/// Decodes the last column.
fn decode<T: DeserializeOwned>(row: &CopyRow) -> Result<(T, &str), StoreError> {
    let Some(Cell::Text(json)) = row.last() else { return Err(unreadable("a row")) };
    let decoded = serde_json::from_str(json).map_err(|error| StoreError::Failed(format!("cannot read a row: {error}")));
    Ok((decoded?, json))
}

/// The document that a row is, where it is one whole.
fn document_of(
    scope: &MessageScope,
    table: &CopyTable,
    row: &CopyRow,
) -> Result<Option<(DocumentKey, DocumentFields)>, StoreError> {
    Ok(match (table.name, &row[..]) {
        (
            "memory_marks",
            [Cell::Text(room), Cell::Integer(summarized), Cell::Integer(reflected), Cell::Integer(heard)],
        ) => {
            let [summarized, reflected, heard] = [*summarized, *reflected, *heard].map(i64::cast_unsigned);
            let (journal, room) = match scope.journal() {
                Some(own) => (own.clone(), room.as_str()),
                None => {
                    let (journal, room) = room.split_once(' ').ok_or_else(|| unreadable("marks"))?;
                    (JournalId(journal.to_owned()), room)
                }
            };
            let (room, marks) = (RoomId::new(room), Marks { summarized, reflected, heard });
            Some((marks_key(&journal, &room), DocumentFields::of(&StoredMarks { journal, room, marks })))
        }
        ("memory_channel", _) => {
            let (channel, json) = decode(row)?;
            let fields = channel_fields(&channel);
            Some((channel_key(&channel.origin.room), fields.with_body(json)))
        }
        ("memory_person", _) => {
            let (person, json) = decode::<Person>(row)?;
            Some((person_key(&person.id), person_fields(scope, &person).with_body(json)))
        }
        ("memory_tie", _) => {
            let (tie, json) = decode::<Tie>(row)?;
            Some((tie_key(&tie.origin.room, &tie.from, &tie.to), tie_fields(scope, &tie).with_body(json)))
        }
        ("memory_out", [Cell::Integer(mark)]) => {
            Some((DocumentKey::of_opt_out(OptOutMark(*mark)), DocumentFields::default()))
        }
        (DERIVED, _) => None,
        _ => return Err(unreadable(table.name)),
    })
}

impl FirestoreMemory {
    async fn send_all(
        &self,
        documents: impl IntoIterator<Item = (DocumentKey, Option<DocumentFields>)>,
    ) -> Result<(), StoreError> {
        let mut parts = CommitParts::default();
        for (key, fields) in documents {
            parts.add(self.client().write(&key, fields));
        }
        for part in parts.0 {
            send(self.client(), &part.writes).await?;
        }
        Ok(())
    }

    async fn put_facts(&self, rows: &[CopyRow]) -> Result<(), StoreError> {
        let facts = rows.iter().map(|row| decode_fact(row)).collect::<Result<Vec<Fact>, _>>()?;
        let mut keys: Vec<DocumentKey> = facts.iter().map(|fact| DocumentKey::of_fact(fact.id.0)).collect();
        keys.push(DocumentKey::of_last_fact());
        let there = read_documents(self.client(), &keys).await?;
        let LastFact { last } = body(&there, &DocumentKey::of_last_fact())?.unwrap_or_default();
        let last = facts.iter().map(|fact| fact.id.0).fold(last, u64::max);
        // The counter is written first: no number may be used twice.
        let mut documents = vec![(DocumentKey::of_last_fact(), Some(DocumentFields::of(&LastFact { last })))];
        for (fact, row) in facts.iter().zip(rows) {
            let key = DocumentKey::of_fact(fact.id.0);
            let before = there.iter().find(|(of, _)| *of == key).and_then(|(_, fields)| fields.as_ref());
            let fields = to_fields(&self.client().scope, fact, &before.map(vector_of).unwrap_or_default());
            documents.push((key, Some(fields.with_body(decode::<Fact>(row)?.1))));
        }
        self.send_all(documents).await
    }

    async fn put_vectors(&self, rows: &[CopyRow]) -> Result<(), StoreError> {
        let vectors = rows.iter().map(|row| decode_vector(row)).collect::<Result<Vec<_>, _>>()?;
        let keys: Vec<DocumentKey> = vectors.iter().map(|(fact, ..)| DocumentKey::of_fact(fact.0)).collect();
        let there = read_documents(self.client(), &keys).await?;
        let mut documents = Vec::new();
        for (key, (_, model, vector)) in keys.into_iter().zip(vectors) {
            let Some(before) = there.iter().find(|(of, _)| *of == key).and_then(|(_, fields)| fields.as_ref()) else {
                continue;
            };
            let fields =
                to_fields(&self.client().scope, &before.body()?, &StoredVector { model: model.to_owned(), vector });
            documents.push((key, Some(fields.with_body(before.json().unwrap_or_default()))));
        }
        self.send_all(documents).await
    }
}

impl CopyStore for FirestoreMemory {
    fn source(&self) -> BoxFuture<'_, Result<Box<dyn CopySource>, StoreError>> {
        let source =
            FirestoreSource { client: self.client().clone(), handle: Handle::current(), read: TableRows::default() };
        Box::pin(std::future::ready(Ok(Box::new(source) as Box<dyn CopySource>)))
    }

    fn put<'a>(&'a self, table: &'static CopyTable, rows: Vec<CopyRow>) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            match table.name {
                "memory_fact" => self.put_facts(&rows).await,
                "memory_vector" => self.put_vectors(&rows).await,
                _ => {
                    let scope = &self.client().scope;
                    let documents =
                        rows.iter().map(|row| document_of(scope, table, row)).collect::<Result<Vec<_>, _>>()?;
                    self.send_all(documents.into_iter().flatten().map(|(key, fields)| (key, Some(fields)))).await
                }
            }
        })
    }

    fn refuses(&self, table: &CopyTable, row: &CopyRow) -> Option<String> {
        let (client, scope) = (self.client(), &self.client().scope);
        let (what, document) = match table.name {
            "memory_fact" => {
                let fact = decode_fact(row).ok()?;
                let fields = to_fields(scope, &fact, &StoredVector::default());
                (format!("fact {}", fact.id), Some((DocumentKey::of_fact(fact.id.0), fields)))
            }
            "memory_channel" | "memory_person" | "memory_tie" => {
                let Some(Cell::Text(name)) = row.first() else { return None };
                (name.clone(), document_of(scope, table, row).ok()?)
            }
            _ => return None,
        };
        let (key, fields) = document?;
        too_large(client, &key, &fields).map(|why| format!("{what}: {why}"))
    }

    fn derives(&self, table: &CopyTable) -> bool {
        table.name == DERIVED
    }

    fn clear(&self, scope: CopyScope) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            for collection in scope.cleared().filter_map(collection_of) {
                let all = whole(self.client(), collection).await?;
                let documents = all.into_iter().map(|(id, _)| (DocumentKey { collection, id }, None));
                self.send_all(documents).await?;
            }
            Ok(())
        })
    }

    fn set_partial(&self, _partial: bool) -> BoxFuture<'_, Result<(), StoreError>> {
        // Only memory is copied here, and a part of it can be used.
        Box::pin(std::future::ready(Ok(())))
    }
}
