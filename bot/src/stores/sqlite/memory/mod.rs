//! Memory in its tables.

#[cfg(test)]
mod earlier;
mod facts;
mod search;
mod signs;
mod table;

#[cfg(test)]
pub use earlier::leave_facts_of_an_earlier_version;

use std::path::Path;
use std::sync::Arc;

use aizuchi_core::Policies;
use aizuchi_core::memory::words::search_words;
use aizuchi_core::memory::{
    ChannelMemory, Fact, FactId, Filter, Marks, MemoryChange, Person, PersonExport, Query, Recalled, Tie,
};
use aizuchi_core::settings::Layers;
use aizuchi_core::types::{PersonId, RoomId};
use rusqlite::{Connection, params};

use super::Database;
use super::connect::try_file;
use crate::memory::apply::apply;
use crate::memory::table::{MemoryTable as _, OptOutMark, StoreResult};
use crate::memory::{MemoryContext, MemoryStoreSpec, StoredLayers, nothing_missing};
use crate::ports::{BoxFuture, FileCleanup, Memory, MemoryCatalog, MemoryStore, StoreKind};
use crate::stores::{DataFolder, StoreError, StoreSettings};
pub use table::SqliteMemoryTable;
use table::{matching, read_all};

/// In the data folder, wherever the main store is.
pub const MEMORY: MemoryStoreSpec = MemoryStoreSpec {
    name: "sqlite",
    same_as: Some(StoreKind::Sqlite),
    missing: nothing_missing,
    try_out: |layers| Box::pin(try_out(layers)),
    open: |context, kept| Box::pin(open(context, kept)),
};

fn settings(layers: &Layers) -> Result<StoreSettings, String> {
    layers.section().map_err(|_| "the section [store] is wrong".to_owned())
}

/// Where the main store is a database on a server, the file is a store of its own.
async fn try_out(layers: &Layers) -> Result<Option<String>, String> {
    let settings = settings(layers)?;
    let path = DataFolder::database_in(Path::new(&settings.folder));
    // A start makes the file.
    if !settings.has_database() || !path.exists() {
        return Ok(None);
    }
    let shown = path.display().to_string();
    let tried = tokio::task::spawn_blocking(move || try_file(&path)).await;
    let tried = tried.map_err(|error| error.to_string())?;
    tried.map_err(|error| format!("cannot use {shown}: {error}"))?;
    Ok(Some(format!("{shown} was written to and read")))
}

async fn open(context: MemoryContext<'_>, kept: StoredLayers) -> Result<Arc<dyn MemoryStore>, String> {
    let path = DataFolder::database_in(Path::new(&settings(context.layers)?.folder));
    let database = Database::open(&path).map_err(|error| error.to_string())?;
    Ok(Arc::new(SqliteMemory { is_beside: true, ..SqliteMemory::new(database, kept) }))
}

/// Cheap to clone.
#[derive(Clone)]
pub struct SqliteMemory {
    kept: StoredLayers,
    database: Database,
    /// The main store is another one: nobody else cleans up this file.
    is_beside: bool,
}

impl SqliteMemory {
    pub fn new(database: Database, kept: StoredLayers) -> SqliteMemory {
        SqliteMemory { kept, database, is_beside: false }
    }
}

impl Memory for SqliteMemory {
    fn apply<'a>(
        &'a self,
        changes: Vec<MemoryChange>,
        policies: &'a Policies,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        let (kept, policies) = (self.kept, policies.clone());
        let forgets = changes.iter().any(MemoryChange::forgets);
        Box::pin(async move {
            let write = self.database.apply_behind(move |transaction| {
                let mut table = SqliteMemoryTable(transaction);
                changes.into_iter().try_for_each(|change| apply(&mut table, kept, change, &policies))
            });
            write.await?;
            if forgets {
                // A caller that has to be sure settles again and checks the result.
                let _ = self.database.try_to_settle().await?;
            }
            Ok(())
        })
    }

    fn channel<'a>(&'a self, room: &'a RoomId) -> BoxFuture<'a, Result<(Option<ChannelMemory>, Marks), StoreError>> {
        let room = room.clone();
        Box::pin(self.database.try_read(move |connection| MemoryTables(connection).channel(&room)))
    }

    fn recall<'a>(&'a self, query: Query, policies: &'a Policies) -> BoxFuture<'a, Result<Vec<Recalled>, StoreError>> {
        let manner = (&policies.for_room(query.reader.room.as_str()).settings.memory).into();
        Box::pin(self.database.try_read(move |connection| search::recall(connection, &query, manner)))
    }

    fn facts<'a>(&'a self, filter: Filter) -> BoxFuture<'a, Result<Vec<Fact>, StoreError>> {
        Box::pin(self.database.try_read(move |connection| MemoryTables(connection).facts(&filter)))
    }

    fn people<'a>(&'a self, who: Option<&'a PersonId>) -> BoxFuture<'a, Result<Vec<Person>, StoreError>> {
        let who = who.cloned();
        Box::pin(self.database.try_read(move |connection| MemoryTables(connection).people(who.as_ref())))
    }

    fn ties<'a>(
        &'a self,
        room: Option<&'a RoomId>,
        person: Option<&'a PersonId>,
    ) -> BoxFuture<'a, Result<Vec<Tie>, StoreError>> {
        let (room, person) = (room.cloned(), person.cloned());
        let read = move |connection: &Connection| SqliteMemoryTable(connection).ties(room.as_ref(), person.as_ref());
        Box::pin(self.database.try_read(read))
    }

    fn set_back_marks(&self, last: u64) -> BoxFuture<'_, Result<usize, StoreError>> {
        let update = "UPDATE memory_marks
            SET summarized = min(summarized, ?1), reflected = min(reflected, ?1), heard = min(heard, ?1)
            WHERE max(summarized, reflected, heard) > ?1";
        Box::pin(self.database.write(move |transaction| transaction.execute(update, [last.cast_signed()])))
    }

    fn remove_copies(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { if self.is_beside { self.database.remove_copies().await } else { Ok(()) } })
    }

    fn settle(&self) -> BoxFuture<'_, Result<FileCleanup, StoreError>> {
        Box::pin(async { if self.is_beside { self.database.settle().await } else { Ok(FileCleanup::Done) } })
    }

    fn about<'a>(&'a self, person: &'a PersonId) -> BoxFuture<'a, Result<PersonExport, StoreError>> {
        let person = person.clone();
        Box::pin(self.database.try_read(move |connection| MemoryTables(connection).about(&person)))
    }
}

impl MemoryCatalog for SqliteMemory {
    fn fact(&self, id: FactId) -> BoxFuture<'_, Result<Option<Fact>, StoreError>> {
        Box::pin(self.database.try_read(move |connection| SqliteMemoryTable(connection).fact(id)))
    }

    fn channels(&self) -> BoxFuture<'_, Result<Vec<ChannelMemory>, StoreError>> {
        Box::pin(self.database.try_read(|connection| SqliteMemoryTable(connection).channels()))
    }

    fn rooms(&self) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>> {
        let query =
            "SELECT room FROM memory_marks UNION SELECT room FROM memory_channel UNION SELECT room FROM memory_fact
            UNION SELECT room FROM memory_tie";
        let read = move |connection: &Connection| {
            let mut statement = connection.prepare_cached(query)?;
            statement.query_map([], |row| Ok(RoomId::new(row.get::<_, String>(0)?)))?.collect()
        };
        Box::pin(self.database.read(read))
    }
}

/// Queries on the tables.
struct MemoryTables<'a>(pub &'a Connection);

impl MemoryTables<'_> {
    fn channel(&self, room: &RoomId) -> StoreResult<(Option<ChannelMemory>, Marks)> {
        let table = SqliteMemoryTable(self.0);
        Ok((table.channel(room)?, table.marks(room)?))
    }

    fn facts(&self, filter: &Filter) -> StoreResult<Vec<Fact>> {
        let words = filter.text.as_deref().map(search_words).unwrap_or_default();
        let asked = filter.text.is_some() && !words.is_empty();
        let order = if filter.without_vector.is_some() { "ASC" } else { "DESC" };
        let query = format!(
            "SELECT body FROM memory_fact WHERE (?1 IS NULL OR room = ?1)
            AND (?2 IS NULL OR id IN (SELECT fact FROM memory_fact_person WHERE person = ?2))
            AND (NOT ?3 OR id IN (SELECT rowid FROM memory_index WHERE memory_index MATCH ?4))
            AND (?5 IS NULL OR id NOT IN (SELECT fact FROM memory_vector WHERE model = ?5))
            ORDER BY id {order} LIMIT ?6"
        );
        let count = if filter.count == 0 { -1 } else { i64::try_from(filter.count).unwrap_or(i64::MAX) };
        let values = params![
            filter.room.as_ref().map(RoomId::as_str),
            filter.person.as_ref().map(PersonId::as_str),
            asked,
            if asked { matching(&words) } else { "\"x\"".to_owned() },
            filter.without_vector,
            count
        ];
        read_all(self.0, &query, values)
    }

    fn people(&self, who: Option<&PersonId>) -> StoreResult<Vec<Person>> {
        let table = SqliteMemoryTable(self.0);
        let Some(id) = who else { return table.people() };
        match table.person(id)? {
            None if table.is_out(OptOutMark::from(id))? => Ok(vec![Person::opted_out(id.clone())]),
            known => Ok(known.into_iter().collect()),
        }
    }

    fn about(&self, person: &PersonId) -> StoreResult<PersonExport> {
        let table = SqliteMemoryTable(self.0);
        let mut channels = table.channels()?;
        channels.retain(|channel| channel.active.iter().any(|(id, _)| id == person));
        let facts = table.facts_of_person(person)?;
        Ok(PersonExport::new(person, self.people(Some(person))?.pop(), facts, channels))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stores::scratch;

    /// It says that it is done only when its own file is clean, where the main store is another one.
    #[tokio::test]
    async fn a_file_beside_the_main_store_is_settled_for_itself() {
        let (_folder, database) = scratch("memory-beside");
        let memory = SqliteMemory { is_beside: true, ..SqliteMemory::new(database.clone(), StoredLayers::ALL) };
        database.write(|_| Ok(())).await.unwrap();
        let reader = Connection::open(database.path()).unwrap();
        reader.execute_batch("BEGIN; SELECT count(*) FROM memory_fact;").unwrap();
        database.write(|transaction| transaction.execute("DELETE FROM memory_marks", [])).await.unwrap();
        database
            .write(|transaction| transaction.execute("INSERT INTO memory_out (person) VALUES (1)", []))
            .await
            .unwrap();
        assert_eq!(memory.settle().await, Ok(FileCleanup::StillRead));
        let main = SqliteMemory::new(database.clone(), StoredLayers::ALL);
        assert_eq!(main.settle().await, Ok(FileCleanup::Done), "the main store does that");
        drop(reader);
        assert_eq!(memory.settle().await, Ok(FileCleanup::Done));
    }
}
