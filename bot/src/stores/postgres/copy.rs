//! Everything of the database, row by row.

use std::collections::BTreeMap;

use aizuchi_core::memory::FactId;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::connection::{OwnedValue, PgConnection, Value};
use super::error::{PgError, PgResult};
use super::memory::{self, PgMemoryTable, PgVector, Until};
use super::text::{from_stored, to_stored};
use super::{PostgresDatabase, database, of_cluster};
use crate::memory::table::MemoryTable as _;
use crate::ports::{BoxFuture, COPYING_TABLE, Cell, CopyRow, CopyScope, CopySource, CopyStore, CopyTable, WebBody};
use crate::stores::StoreError;
use crate::stores::copy::{decode_fact, decode_vector};

/// A connection within a transaction that sees the database as of its beginning.
struct PgSource(PgConnection);

impl CopySource for PgSource {
    fn count(&mut self, table: &CopyTable) -> Result<u64, StoreError> {
        let count: i64 = self.0.one(&format!("SELECT count(*) FROM {}", table.name), &[])?.get(0);
        Ok(count.cast_unsigned())
    }

    fn rows(&mut self, table: &CopyTable, after: Option<&[Cell]>, at_most: usize) -> Result<Vec<CopyRow>, StoreError> {
        let CopyTable { name, columns, key } = table;
        let mut query = format!("SELECT {} FROM {name}", columns.join(", "));
        let names = columns[..*key].join(", ");
        if let Some(after) = after {
            let marks: Vec<String> = (1..=after.len()).map(|number| format!("${number}")).collect();
            query += &format!(" WHERE ({names}) > ({})", marks.join(", "));
        }
        if *key > 0 {
            query += &format!(" ORDER BY {names}");
        }
        query += &format!(" LIMIT {at_most}");
        let types = column_types(&self.0, table)?;
        let values: Vec<OwnedValue> =
            after.unwrap_or_default().iter().zip(&types).map(|(cell, kind)| to_value(cell, kind)).collect();
        let values: Vec<Value<'_>> = values.iter().map(|value| &**value as Value<'_>).collect();
        Ok(self.0.query(&query, &values)?.iter().map(read).collect())
    }
}

/// The types of the columns on the server.
fn column_types(connection: &PgConnection, table: &CopyTable) -> PgResult<Vec<Type>> {
    let query = format!("SELECT {} FROM {} LIMIT 0", table.columns.join(", "), table.name);
    connection.column_types(&query)
}

fn read(row: &Row) -> CopyRow {
    let cell = |column: usize| match *row.columns()[column].type_() {
        Type::BOOL => row.get::<_, Option<bool>>(column).map(|flag| Cell::Integer(flag.into())),
        Type::INT2 => row.get::<_, Option<i16>>(column).map(|number| Cell::Integer(number.into())),
        Type::INT4 => row.get::<_, Option<i32>>(column).map(|number| Cell::Integer(number.into())),
        Type::INT8 => row.get::<_, Option<i64>>(column).map(Cell::Integer),
        Type::BYTEA => row.get::<_, Option<Vec<u8>>>(column).map(Cell::Bytes),
        _ => row.get::<_, Option<String>>(column).map(|text| Cell::Text(from_stored(text))),
    };
    (0..row.len()).map(|column| cell(column).unwrap_or(Cell::Null)).collect()
}

/// A value of the column's type.
fn to_value(cell: &Cell, kind: &Type) -> OwnedValue {
    let (number, text, bytes) = match cell {
        Cell::Null => (None, None, None),
        Cell::Integer(number) => (Some(*number), None, None),
        Cell::Text(text) => (None, Some(to_stored(text).into_owned()), None),
        Cell::Bytes(bytes) => (None, None, Some(bytes.clone())),
    };
    match *kind {
        Type::BOOL => Box::new(number.map(|number| number != 0)),
        Type::INT2 => Box::new(number.map(|number| number as i16)),
        Type::INT4 => Box::new(number.map(|number| number as i32)),
        Type::INT8 => Box::new(number),
        Type::BYTEA => Box::new(bytes),
        _ => Box::new(text),
    }
}

impl CopyStore for PostgresDatabase {
    fn source(&self) -> BoxFuture<'_, Result<Box<dyn CopySource>, StoreError>> {
        let server = self.server();
        Box::pin(async move {
            let connect = move || {
                let connection = PgConnection::connect(&server, "aizuchi copy")?;
                connection
                    .batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT count(*) FROM store_version")?;
                Ok::<_, PgError>(connection)
            };
            let connection = database::on_a_thread(connect).await??;
            Ok(Box::new(PgSource(connection)) as Box<dyn CopySource>)
        })
    }

    fn put<'a>(&'a self, table: &'static CopyTable, rows: Vec<CopyRow>) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.write(move |connection| match table.name {
            "memory_fact" => put_facts(connection, &rows),
            "memory_vector" => put_vectors(connection, &rows),
            _ => put(connection, table, &rows),
        }))
    }

    fn clear(&self, scope: CopyScope) -> BoxFuture<'_, Result<(), StoreError>> {
        let derived = ["memory_fact_person", "memory_fact_message", "memory_word", "memory_sketch"];
        let names = scope.cleared().map(|table| table.name).chain(derived);
        let names: Vec<String> = names.map(str::to_owned).collect();
        Box::pin(self.write(move |connection| {
            // Rooms of a cluster would not be those of the journal.
            let of_cluster = match scope {
                CopyScope::Everything => of_cluster::tables(connection)?,
                CopyScope::Memory => Vec::new(),
            };
            memory::take_tables(connection, Until::Transaction)?;
            let all: Vec<&str> = names.iter().chain(&of_cluster).map(String::as_str).collect();
            connection.batch(&format!("TRUNCATE {}", all.join(", ")))
        }))
    }

    fn set_partial(&self, partial: bool) -> BoxFuture<'_, Result<(), StoreError>> {
        let change = match partial {
            true => format!("CREATE TABLE IF NOT EXISTS {COPYING_TABLE} (copying BOOLEAN)"),
            false => format!("DROP TABLE IF EXISTS {COPYING_TABLE}"),
        };
        Box::pin(self.write(move |connection| connection.batch(&change)))
    }
}

fn put(connection: &PgConnection, table: &CopyTable, rows: &[CopyRow]) -> PgResult<()> {
    let CopyTable { name, columns, key } = table;
    let (mut columns, mut types) = (columns.to_vec(), column_types(connection, table)?);
    // Values that are copied out of the body for lookups.
    let is_talk = *name == "web_message";
    if is_talk {
        columns.extend(["author", "own"]);
        types.extend([Type::TEXT, Type::BOOL]);
    }
    let rows: Vec<Vec<OwnedValue>> = rows
        .iter()
        .map(|row| {
            let mut cells = row.clone();
            if is_talk {
                cells.extend(found_by(row));
            }
            cells.iter().zip(&types).map(|(cell, kind)| to_value(cell, kind)).collect()
        })
        .collect();
    if *key == 0 {
        let update = format!("UPDATE {name} SET {} = $1", columns[0]);
        return rows.into_iter().try_for_each(|row| connection.execute_later(&update, row));
    }
    copy_rows(connection, CopiedRows { table: name, columns: &columns, types: &types, key: *key, rows: &rows })?;
    if let ("inbox" | "forgetting", Some(column)) = (*name, columns.first()) {
        let set =
            format!("SELECT setval(pg_get_serial_sequence('{name}', '{column}'), (SELECT max({column}) FROM {name}))");
        connection.query(&set, &[])?;
    }
    Ok(())
}

/// Rows for a table, of which those with the same key are replaced.
struct CopiedRows<'a> {
    table: &'a str,
    /// The key first.
    columns: &'a [&'a str],
    types: &'a [Type],
    key: usize,
    rows: &'a [Vec<OwnedValue>],
}

/// Through a temporary table: COPY itself replaces nothing. That is three times as fast as statements for each row.
fn copy_rows(connection: &PgConnection, rows: CopiedRows<'_>) -> PgResult<()> {
    let CopiedRows { table, columns, types, key, rows } = rows;
    let (keys, all) = (columns[..key].join(", "), columns.join(", "));
    let sets: Vec<String> = columns[key..].iter().map(|name| format!("{name} = excluded.{name}")).collect();
    let otherwise = if sets.is_empty() { "NOTHING".into() } else { format!("UPDATE SET {}", sets.join(", ")) };
    let overriding = if table == "forgetting" { "OVERRIDING SYSTEM VALUE" } else { "" };
    // It is empty after each commit, and goes with the connection.
    connection.batch(&format!(
        "CREATE TEMPORARY TABLE IF NOT EXISTS copied_{table} ON COMMIT DELETE ROWS AS SELECT {all} FROM {table} LIMIT 0"
    ))?;
    connection.copy_in(&format!("COPY copied_{table} ({all}) FROM STDIN (FORMAT binary)"), types, rows)?;
    let insert = format!(
        "INSERT INTO {table} ({all}) {overriding} SELECT {all} FROM copied_{table} ON CONFLICT ({keys}) DO {otherwise}"
    );
    connection.execute(&insert, &[]).map(drop)
}

/// The author of a message of the web room, and whether it is the bot.
fn found_by(row: &[Cell]) -> [Cell; 2] {
    let body = match row.last() {
        Some(Cell::Text(body)) => serde_json::from_str::<WebBody>(body).ok(),
        _ => None,
    };
    let (author, own) =
        body.map_or_else(Default::default, |body| (body.by.id, body.voice == aizuchi_core::types::Voice::Me));
    [Cell::Text(author), Cell::Integer(own.into())]
}

fn put_facts(connection: &PgConnection, rows: &[CopyRow]) -> PgResult<()> {
    let mut memory = PgMemoryTable(connection);
    for row in rows {
        memory.put_fact(&decode_fact(row)?)?;
    }
    // Numbers that were given stay used, also where the facts are gone.
    let set = "SELECT setval('memory_fact_number',
        greatest((SELECT max(id) FROM memory_fact), (SELECT last_value FROM memory_fact_number)))";
    connection.query(set, &[]).map(drop)
}

fn put_vectors(connection: &PgConnection, rows: &[CopyRow]) -> PgResult<()> {
    let vectors: Vec<(FactId, &str, Vec<f32>)> = rows.iter().map(|row| decode_vector(row)).collect::<Result<_, _>>()?;
    let facts: Vec<i64> = vectors.iter().map(|(fact, ..)| fact.0.cast_signed()).collect();
    let query = "SELECT id, places FROM memory_fact WHERE id = ANY ($1)";
    let places: BTreeMap<i64, Vec<i64>> =
        connection.query(query, &[&facts])?.iter().map(|row| (row.get(0), row.get(1))).collect();
    let mut columns = vec!["fact", "model", "numbers", "vector", "places"];
    let is_on_server = memory::compares_on_server(connection)?;
    if is_on_server {
        columns.push("embedding");
    }
    let row = |(fact, model, vector): (FactId, &str, Vec<f32>)| {
        let (id, numbers) = (fact.0.cast_signed(), vector.len() as i32);
        let places = places.get(&id)?.clone();
        let (model, bytes) = (to_stored(model).into_owned(), memory::to_bytes(&vector));
        let mut row: Vec<OwnedValue> =
            vec![Box::new(id), Box::new(model), Box::new(numbers), Box::new(bytes), Box::new(places)];
        if is_on_server {
            row.push(Box::new(PgVector(vector)));
        }
        Some(row)
    };
    let rows: Vec<Vec<OwnedValue>> = vectors.into_iter().filter_map(row).collect();
    let types = connection.column_types(&format!("SELECT {} FROM memory_vector LIMIT 0", columns.join(", ")))?;
    copy_rows(connection, CopiedRows { table: "memory_vector", columns: &columns, types: &types, key: 1, rows: &rows })
}
