//! Memory in its tables.

mod facts;
mod index;
mod table;
mod vector_index;
#[cfg(test)]
mod vector_tests;
mod vectors;

use aizuchi_core::Policies;
use aizuchi_core::memory::words::search_words;
use aizuchi_core::memory::{
    ChannelMemory, Fact, FactId, Filter, Marks, MemoryChange, Person, PersonExport, Query, Recalled, SearchOptions, Tie,
};
use aizuchi_core::types::{PersonId, RoomId};

use super::PostgresDatabase;
use super::connection::PgConnection;
use super::error::PgResult;
use super::text::{from_stored, to_stored};
use crate::memory::StoredLayers;
use crate::memory::apply::apply;
use crate::memory::search;
use crate::memory::table::{MemoryTable as _, OptOutMark};
use crate::ports::{BoxFuture, Memory, MemoryCatalog};
use crate::stores::StoreError;
use facts::own_token;
use index::PgFactIndex;

pub use table::PgMemoryTable;
pub use vector_index::{INDEXED_FROM, Until, VectorIndexer, drop_indexes, give_tables_back, take_tables};
pub use vectors::{PgVector, advice, compares_on_server, prepare, to_bytes};

/// Cheap to clone.
#[derive(Clone)]
pub struct PostgresMemory {
    kept: StoredLayers,
    database: PostgresDatabase,
}

impl PostgresMemory {
    pub fn new(database: PostgresDatabase, kept: StoredLayers) -> PostgresMemory {
        PostgresMemory { kept, database }
    }
}

impl Memory for PostgresMemory {
    fn apply<'a>(
        &'a self,
        changes: Vec<MemoryChange>,
        policies: &'a Policies,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let (kept, policies) = (self.kept, policies.clone());
        Box::pin(self.database.write_behind(move |connection| {
            let mut table = PgMemoryTable(connection);
            for change in changes.iter().cloned() {
                apply(&mut table, kept, change, &policies)?;
            }
            Ok(())
        }))
    }

    fn channel<'a>(&'a self, room: &'a RoomId) -> BoxFuture<'a, Result<(Option<ChannelMemory>, Marks), StoreError>> {
        let room = room.clone();
        Box::pin(self.database.read(move |connection| {
            let table = PgMemoryTable(connection);
            Ok((table.channel(&room)?, table.marks(&room)?))
        }))
    }

    fn recall<'a>(&'a self, query: Query, policies: &'a Policies) -> BoxFuture<'a, Result<Vec<Recalled>, StoreError>> {
        let manner: SearchOptions = (&policies.for_room(query.reader.room.as_str()).settings.memory).into();
        Box::pin(self.database.read(move |connection| {
            // Counts from different moments would be inconsistent.
            connection.snapshot(|| {
                let places = search::readable_places(&query.reader, manner.across_rooms);
                Ok(search::recall(&PgFactIndex { connection, places }, &query, manner)?)
            })
        }))
    }

    fn facts<'a>(&'a self, filter: Filter) -> BoxFuture<'a, Result<Vec<Fact>, StoreError>> {
        Box::pin(self.database.read(move |connection| facts(connection, &filter)))
    }

    fn people<'a>(&'a self, who: Option<&'a PersonId>) -> BoxFuture<'a, Result<Vec<Person>, StoreError>> {
        let who = who.cloned();
        Box::pin(self.database.read(move |connection| people(connection, who.as_ref())))
    }

    fn ties<'a>(
        &'a self,
        room: Option<&'a RoomId>,
        person: Option<&'a PersonId>,
    ) -> BoxFuture<'a, Result<Vec<Tie>, StoreError>> {
        let (room, person) = (room.cloned(), person.cloned());
        Box::pin(
            self.database.read(move |connection| Ok(PgMemoryTable(connection).ties(room.as_ref(), person.as_ref())?)),
        )
    }

    fn set_back_marks(&self, last: u64) -> BoxFuture<'_, Result<usize, StoreError>> {
        let update = "UPDATE memory_marks
            SET summarized = least(summarized, $1), reflected = least(reflected, $1), heard = least(heard, $1)
            WHERE greatest(summarized, reflected, heard) > $1";
        Box::pin(self.database.write(move |connection| {
            let rooms = connection.execute(update, &[&last.cast_signed()])?;
            Ok(usize::try_from(rooms).unwrap_or(usize::MAX))
        }))
    }

    fn about<'a>(&'a self, person: &'a PersonId) -> BoxFuture<'a, Result<PersonExport, StoreError>> {
        let person = person.clone();
        Box::pin(self.database.read(move |connection| {
            let table = PgMemoryTable(connection);
            let mut channels = table.channels()?;
            channels.retain(|channel| channel.active.iter().any(|(id, _)| *id == person));
            let (facts, known) = (table.facts_of_person(&person)?, people(connection, Some(&person))?.pop());
            Ok(PersonExport::new(&person, known, facts, channels))
        }))
    }
}

impl MemoryCatalog for PostgresMemory {
    fn fact(&self, id: FactId) -> BoxFuture<'_, Result<Option<Fact>, StoreError>> {
        Box::pin(self.database.read(move |connection| Ok(PgMemoryTable(connection).fact(id)?)))
    }

    fn channels(&self) -> BoxFuture<'_, Result<Vec<ChannelMemory>, StoreError>> {
        Box::pin(self.database.read(|connection| Ok(PgMemoryTable(connection).channels()?)))
    }

    fn rooms(&self) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>> {
        let query = "SELECT room FROM memory_marks UNION SELECT room FROM memory_channel
            UNION SELECT room FROM memory_fact UNION SELECT room FROM memory_tie ORDER BY 1";
        Box::pin(self.database.read(move |connection| {
            Ok(connection.query(query, &[])?.iter().map(|row| RoomId::new(from_stored(row.get(0)))).collect())
        }))
    }
}

fn facts(connection: &PgConnection, filter: &Filter) -> PgResult<Vec<Fact>> {
    let words = filter.text.as_deref().map(search_words).unwrap_or_default();
    let tokens: Option<Vec<String>> = (!words.is_empty()).then(|| words.iter().map(|word| own_token(word)).collect());
    let order = if filter.without_vector.is_some() { "ASC" } else { "DESC" };
    let query = format!(
        "SELECT body FROM memory_fact AS f WHERE ($1::text IS NULL OR room = $1)
        AND ($2::text IS NULL OR id IN (SELECT fact FROM memory_fact_person WHERE person = $2))
        AND ($3::text[] IS NULL OR tokens @> $3)
        AND ($4::text IS NULL OR NOT EXISTS (SELECT 1 FROM memory_vector AS v WHERE v.fact = f.id AND model = $4))
        ORDER BY id {order} LIMIT $5"
    );
    let room = filter.room.as_ref().map(|room| to_stored(room.as_str()));
    let person = filter.person.as_ref().map(|person| to_stored(person.as_str()));
    let model = filter.without_vector.as_deref().map(to_stored);
    let count = (filter.count > 0).then(|| i64::try_from(filter.count).unwrap_or(i64::MAX));
    Ok(table::read_all(connection, &query, &[&room, &person, &tokens, &model, &count])?)
}

fn people(connection: &PgConnection, who: Option<&PersonId>) -> PgResult<Vec<Person>> {
    let table = PgMemoryTable(connection);
    let Some(id) = who else { return Ok(table.people()?) };
    match table.person(id)? {
        None if table.is_out(OptOutMark::from(id))? => Ok(vec![Person::opted_out(id.clone())]),
        known => Ok(known.into_iter().collect()),
    }
}
