//! Finds records by person and by what they are about.

use std::collections::BTreeSet;

use aizuchi_core::types::PersonId;
use rusqlite::{Connection, Params};

use super::Database;
use super::migrations::version;
use super::record::{self, COLUMNS};
use crate::ports::{BoxFuture, JournalIndex, PersonName, Record, Selection, Unreadable};
use crate::stores::StoreError;

/// The first version that has the indexes.
const INDEXED: u32 = 12;

impl JournalIndex for Database {
    fn select<'a>(&'a self, selection: &'a Selection) -> BoxFuture<'a, Result<Vec<i64>, StoreError>> {
        let selection = selection.clone();
        Box::pin(self.read(move |connection| {
            // An older program may have written it, and nobody has opened it for writing since.
            if version(connection)? < INDEXED {
                select_by_reading(connection, &selection)
            } else {
                select(connection, &selection)
            }
        }))
    }

    fn read<'a>(&'a self, seqs: &'a [i64]) -> BoxFuture<'a, Result<Vec<Result<Record, Unreadable>>, StoreError>> {
        let seqs = seqs.to_vec();
        let read = move |connection: &Connection| {
            let query = format!("SELECT {COLUMNS} FROM journal WHERE seq = ?1");
            let mut statement = connection.prepare_cached(&query)?;
            let mut records = Vec::with_capacity(seqs.len());
            for seq in &seqs {
                let found = statement.query_map([seq], record::read)?;
                records.extend(found.collect::<rusqlite::Result<Vec<_>>>()?);
            }
            Ok(records)
        };
        Box::pin(Database::read(self, read))
    }

    fn names(&self) -> BoxFuture<'_, Result<Vec<PersonName>, StoreError>> {
        Box::pin(Database::read(self, names))
    }

    fn count(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        let count = |connection: &Connection| {
            connection.query_row("SELECT count(*) FROM journal", [], |row| row.get::<_, i64>(0))
        };
        Box::pin(async move { Ok(Database::read(self, count).await? as u64) })
    }
}

const BY_PERSON: &str = "SELECT seq FROM journal WHERE person = ?1";
const BY_MENTION: &str = "SELECT seq FROM journal_mention WHERE person = ?1";
const BY_MESSAGE: &str = "SELECT seq FROM journal WHERE room = ?1 AND message = ?2";
const BY_KIND: &str = "SELECT seq FROM journal WHERE kind = ?1";
// Records of one instant are few, those of a room many.
const BY_TIME: &str = "SELECT seq FROM journal WHERE at = ?2 AND +room = ?1";

fn select(connection: &Connection, selection: &Selection) -> rusqlite::Result<Vec<i64>> {
    let mut seqs = BTreeSet::new();
    match selection {
        Selection::People(people) => {
            for person in people {
                add(connection, BY_PERSON, [person.as_str()], &mut seqs)?;
                add(connection, BY_MENTION, [person.as_str()], &mut seqs)?;
            }
        }
        Selection::Messages(messages) => {
            for (room, message) in messages {
                add(connection, BY_MESSAGE, [room.as_str(), message.as_str()], &mut seqs)?;
            }
        }
        Selection::Of(kind) => add(connection, BY_KIND, [*kind as i64], &mut seqs)?,
        Selection::At(instants) => {
            for (room, at) in instants {
                add(connection, BY_TIME, (room.as_str(), at.0 as i64), &mut seqs)?;
            }
        }
    }
    Ok(seqs.into_iter().collect())
}

fn add(connection: &Connection, query: &str, values: impl Params, seqs: &mut BTreeSet<i64>) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(query)?;
    for seq in statement.query_map(values, |row| row.get(0))? {
        seqs.insert(seq?);
    }
    Ok(())
}

fn select_by_reading(connection: &Connection, selection: &Selection) -> rusqlite::Result<Vec<i64>> {
    let mut statement = connection.prepare(&format!("SELECT {COLUMNS} FROM journal ORDER BY seq"))?;
    let mut seqs = Vec::new();
    for record in statement.query_map([], record::read)? {
        seqs.extend(record?.ok().filter(|record| selection.has(record)).map(|record| record.seq));
    }
    Ok(seqs)
}

/// Skips from person to person and from name to name, however many records are in between.
fn names(connection: &Connection) -> rusqlite::Result<Vec<PersonName>> {
    let mut next_person = connection.prepare_cached("SELECT min(person) FROM journal WHERE person > ?1")?;
    let mut first_name = connection.prepare_cached("SELECT min(name) FROM journal WHERE person = ?1")?;
    let mut next_name = connection.prepare_cached("SELECT min(name) FROM journal WHERE person = ?1 AND name > ?2")?;
    let first = "SELECT min(person) FROM journal WHERE person >= ''";
    let mut person: Option<String> = connection.prepare_cached(first)?.query_row([], |row| row.get(0))?;
    let mut names = Vec::new();
    while let Some(id) = person {
        let mut name: Option<String> = first_name.query_row([&id], |row| row.get(0))?;
        while let Some(known) = name {
            name = next_name.query_row([&id, &known], |row| row.get(0))?;
            names.push((PersonId::new(&id), known.into()));
        }
        person = next_person.query_row([&id], |row| row.get(0))?;
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::super::migrations::before;
    use super::*;
    use crate::journal::record::encode;
    use crate::journal::tests::made_up::{Happened, keep, sample};
    use crate::ports::Stores;
    use crate::stores::{Database, scratch};

    /// Everything that is found by, in the journal and among the decisions.
    fn found_by(connection: &Connection) -> Vec<String> {
        let journal = "SELECT seq, kind, person, name, message, NULL FROM journal";
        let mentions = "SELECT seq, 0, person, NULL, NULL, NULL FROM journal_mention";
        let decisions = "SELECT at, worded, author, room, message, body FROM trace";
        let query = format!("{journal} UNION ALL {mentions} UNION ALL {decisions} ORDER BY 1, 2, 3, 4, 5");
        let mut statement = connection.prepare(&query).unwrap();
        let show = |row: &rusqlite::Row<'_>| -> rusqlite::Result<String> {
            Ok(format!("{:?}", (0..6).map(|at| row.get_ref(at).unwrap()).collect::<Vec<_>>()))
        };
        statement.query_map([], show).unwrap().collect::<rusqlite::Result<_>>().unwrap()
    }

    fn write_as_before(connection: &Connection, happened: &[Happened]) {
        for Happened { at, input, .. } in happened {
            let ((body, sum), room) = (encode(input), input.room().map(|room| room.as_str()));
            let insert = "INSERT INTO journal (shard, at, room, body, sum) VALUES (0, ?1, ?2, ?3, ?4)";
            connection.execute(insert, rusqlite::params![at.0 as i64, room, body, sum]).unwrap();
        }
        for trace in happened.iter().filter_map(|one| one.trace.as_ref()) {
            let body = serde_json::to_string(trace).unwrap();
            let row = rusqlite::params![trace.place.room.as_str(), trace.message.as_str(), trace.at.0 as i64, body];
            connection.execute("INSERT OR REPLACE INTO trace VALUES (?1, ?2, ?3, ?4)", row).unwrap();
        }
    }

    #[tokio::test]
    async fn what_an_earlier_version_wrote_is_found_as_if_it_were_written_now() {
        let happened = sample(400);
        let (folder, now) = scratch("index");
        let path = folder.join("before.db");
        let mut connection = Connection::open(&path).unwrap();
        before("ALTER TABLE journal ADD COLUMN kind", &mut connection);
        write_as_before(&connection, &happened);
        let damaged =
            "INSERT INTO journal (shard, at, room, body, sum) VALUES (0, 1, 'log:a', '{\"Said\":{\"id\":', 0)";
        connection.execute(damaged, []).unwrap();
        // Looked at before anything opened it to write.
        let older = Stores::from(Database::open_to_read(&path).unwrap());
        let people = Selection::People(vec![PersonId::new("mia")]);
        let found_before = older.index.select(&people).await.unwrap();
        drop(older);
        let migrated = Database::open(&path).unwrap();
        assert_eq!(JournalIndex::select(&migrated, &people).await.as_ref(), Ok(&found_before));
        assert!(found_before.len() > 20, "{}", found_before.len());
        keep(&Stores::from(&now), &happened).await;
        now.write(move |transaction| transaction.execute(damaged, [])).await.unwrap();
        let shown = |connection: &Connection| Ok(found_by(connection));
        assert_eq!(migrated.read(shown).await.unwrap(), now.read(shown).await.unwrap());
    }

    #[tokio::test]
    async fn nothing_is_looked_through_to_find_something() {
        let plans = |connection: &Connection| {
            let names = [
                "SELECT min(person) FROM journal WHERE person > ?1",
                "SELECT min(name) FROM journal WHERE person = ?1",
            ];
            let worded =
                "SELECT body FROM trace WHERE worded = 1 AND (room, message) > (?1, ?2) ORDER BY room, message";
            let by = "SELECT body FROM trace WHERE author = ?4 AND (room, message) > (?1, ?2) ORDER BY room, message";
            let changes = "SELECT seq FROM journal WHERE seq > ?1 AND seq <= ?2 AND kind IN (2) ORDER BY seq LIMIT ?3";
            let queries = [BY_PERSON, BY_MENTION, BY_MESSAGE, BY_KIND, BY_TIME, worded, by, changes];
            let mut plans = Vec::new();
            for query in queries.into_iter().chain(names) {
                let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {query}"))?;
                let unknown = vec![rusqlite::types::Null; statement.parameter_count()];
                let steps = statement.query_map(rusqlite::params_from_iter(unknown), |row| row.get::<_, String>(3))?;
                plans.push(format!("{query}: {}", steps.collect::<rusqlite::Result<Vec<_>>>()?.join("; ")));
            }
            Ok(plans)
        };
        let (_folder, database) = scratch("plans");
        for plan in database.read(plans).await.unwrap() {
            let index = [
                "journal_person",
                "journal_mention",
                "journal_message",
                "journal_kind",
                "journal_at",
                "trace_author",
                "trace_worded",
            ];
            let uses = index.iter().any(|index| plan.contains(&format!("INDEX {index} ")));
            assert!(!plan.contains("SCAN") && (uses || plan.contains("journal_mention USING PRIMARY KEY")), "{plan}");
        }
    }
}
