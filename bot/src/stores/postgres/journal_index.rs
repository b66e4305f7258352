//! Finds records by person and by what they are about.

use std::collections::BTreeSet;

use aizuchi_core::types::PersonId;

use super::PostgresDatabase;
use super::connection::{PgConnection, Value};
use super::error::PgResult;
use super::record::{self, COLUMNS};
use super::text::{from_stored, to_stored};
use crate::ports::{BoxFuture, JournalIndex, PersonName, Record, Selection, Unreadable};
use crate::stores::StoreError;

/// How many records are read in one round trip.
const TOGETHER: usize = 1_000;

impl JournalIndex for PostgresDatabase {
    fn select<'a>(&'a self, selection: &'a Selection) -> BoxFuture<'a, Result<Vec<i64>, StoreError>> {
        let selection = selection.clone();
        Box::pin(self.read(move |connection| select(connection, &selection)))
    }

    fn read<'a>(&'a self, seqs: &'a [i64]) -> BoxFuture<'a, Result<Vec<Result<Record, Unreadable>>, StoreError>> {
        let seqs = seqs.to_vec();
        let read = move |connection: &PgConnection| {
            let query = format!(
                "SELECT {COLUMNS} FROM unnest($1::bigint[]) WITH ORDINALITY AS asked (number, position)
                JOIN journal ON seq = number ORDER BY position"
            );
            let mut records = Vec::with_capacity(seqs.len());
            for part in seqs.chunks(TOGETHER) {
                records.extend(connection.query(&query, &[&part])?.iter().map(record::read));
            }
            Ok(records)
        };
        Box::pin(PostgresDatabase::read(self, read))
    }

    fn names(&self) -> BoxFuture<'_, Result<Vec<PersonName>, StoreError>> {
        // Skips from name to name, however many records are in between.
        let query = "WITH RECURSIVE known AS (
                (SELECT person, coalesce(name, '') AS name FROM journal WHERE person IS NOT NULL
                ORDER BY person, coalesce(name, '') LIMIT 1)
                UNION ALL
                SELECT next.person, next.name FROM known, LATERAL (
                    SELECT person, coalesce(name, '') AS name FROM journal
                    WHERE person IS NOT NULL AND (person, coalesce(name, '')) > (known.person, known.name)
                    ORDER BY person, coalesce(name, '') LIMIT 1
                ) AS next
            )
            SELECT person, name FROM known WHERE name <> ''";
        let read = move |connection: &PgConnection| {
            let rows = connection.query(query, &[])?;
            let name = |row: &tokio_postgres::Row| {
                (PersonId::new(from_stored(row.get(0))), from_stored(row.get(1)).into_boxed_str())
            };
            Ok(rows.iter().map(name).collect())
        };
        Box::pin(PostgresDatabase::read(self, read))
    }

    fn count(&self) -> BoxFuture<'_, Result<u64, StoreError>> {
        let count = |connection: &PgConnection| {
            Ok(connection.one("SELECT count(*) FROM journal", &[])?.get::<_, i64>(0).cast_unsigned())
        };
        Box::pin(PostgresDatabase::read(self, count))
    }
}

fn select(connection: &PgConnection, selection: &Selection) -> PgResult<Vec<i64>> {
    let mut seqs = BTreeSet::new();
    let mut add = |query: &str, values: &[Value<'_>]| -> PgResult<()> {
        seqs.extend(connection.query(query, values)?.iter().map(|row| row.get::<_, i64>(0)));
        Ok(())
    };
    match selection {
        Selection::People(people) => {
            let people: Vec<_> = people.iter().map(|person| to_stored(person.as_str())).collect();
            add("SELECT seq FROM journal WHERE person = ANY ($1)", &[&people])?;
            add("SELECT seq FROM journal_mention WHERE person = ANY ($1)", &[&people])?;
        }
        Selection::Messages(messages) => {
            let rooms: Vec<_> = messages.iter().map(|(room, _)| to_stored(room.as_str())).collect();
            let ids: Vec<_> = messages.iter().map(|(_, message)| to_stored(message.as_str())).collect();
            let query = "SELECT seq FROM unnest($1::text[], $2::text[]) AS asked (of, id)
                JOIN journal ON room = of AND message = id";
            add(query, &[&rooms, &ids])?;
        }
        Selection::Of(kind) => add("SELECT seq FROM journal WHERE kind = $1", &[&(*kind as i16)])?,
        Selection::At(instants) => {
            let rooms: Vec<_> = instants.iter().map(|(room, _)| to_stored(room.as_str())).collect();
            let times: Vec<i64> = instants.iter().map(|(_, at)| at.0 as i64).collect();
            let query = "SELECT seq FROM unnest($1::text[], $2::bigint[]) AS asked (of, instant)
                JOIN journal ON at = instant AND room = of";
            add(query, &[&rooms, &times])?;
        }
    }
    Ok(seqs.into_iter().collect())
}
