//! Everything of the file, row by row.

use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, Row, Transaction, params_from_iter};

use super::memory::SqliteMemoryTable;
use super::{Database, StoreError};
use crate::memory::table::MemoryTable as _;
use crate::ports::{BoxFuture, COPYING_TABLE, Cell, CopyRow, CopyScope, CopySource, CopyStore, CopyTable};
use crate::stores::copy::{decode_fact, decode_vector};

/// A connection that sees the file as of the moment it was opened.
struct SqliteSource(Connection);

impl CopySource for SqliteSource {
    fn count(&mut self, table: &CopyTable) -> Result<u64, StoreError> {
        let query = format!("SELECT count(*) FROM {}", from(&self.0, table)?);
        Ok(self.0.query_row(&query, [], |row| row.get::<_, i64>(0))?.cast_unsigned())
    }

    fn rows(&mut self, table: &CopyTable, after: Option<&[Cell]>, at_most: usize) -> Result<Vec<CopyRow>, StoreError> {
        let CopyTable { columns, key, .. } = table;
        let mut query = format!("SELECT {} FROM {}", selected(table), from(&self.0, table)?);
        let names = columns[..*key].join(", ");
        if let Some(after) = after {
            let marks: Vec<String> = (1..=after.len()).map(|number| format!("?{number}")).collect();
            query += &format!(" WHERE ({names}) > ({})", marks.join(", "));
        }
        if *key > 0 {
            query += &format!(" ORDER BY {names}");
        }
        query += &format!(" LIMIT {at_most}");
        let values = after.unwrap_or_default().iter().map(to_value);
        let mut statement = self.0.prepare_cached(&query)?;
        let rows = statement.query_map(params_from_iter(values), |row| read(row, columns.len()))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }
}

/// An older version had no name for its journal: the copy gets one.
fn from(connection: &Connection, table: &CopyTable) -> rusqlite::Result<&'static str> {
    let is_missing = table.name == "journal_id" && !connection.table_exists(None, table.name)?;
    Ok(if is_missing { "(SELECT lower(hex(randomblob(16))) AS id)" } else { table.name })
}

/// What older versions left out is as a newer one would have written it.
fn selected(table: &CopyTable) -> String {
    let column = |name: &&str| match (table.name, *name) {
        ("trace", "author") => "coalesce(author, '')".to_owned(),
        ("trace", "worded") => "coalesce(worded, 0)".to_owned(),
        (_, name) => name.to_owned(),
    };
    table.columns.iter().map(column).collect::<Vec<_>>().join(", ")
}

fn read(row: &Row<'_>, columns: usize) -> rusqlite::Result<CopyRow> {
    (0..columns)
        .map(|column| {
            Ok(match row.get_ref(column)? {
                ValueRef::Null => Cell::Null,
                ValueRef::Integer(number) => Cell::Integer(number),
                ValueRef::Real(number) => Cell::Integer(number as i64),
                ValueRef::Text(text) => Cell::Text(String::from_utf8_lossy(text).into_owned()),
                ValueRef::Blob(bytes) => Cell::Bytes(bytes.to_vec()),
            })
        })
        .collect()
}

fn to_value(cell: &Cell) -> Value {
    match cell {
        Cell::Null => Value::Null,
        Cell::Integer(number) => Value::Integer(*number),
        Cell::Text(text) => Value::Text(text.clone()),
        Cell::Bytes(bytes) => Value::Blob(bytes.clone()),
    }
}

/// What belongs to facts and vectors, and is made anew from them.
const DERIVED: [&str; 7] = [
    "memory_fact_person",
    "memory_fact_message",
    "memory_fact_context",
    "memory_sketch",
    "memory_word",
    "memory_signs",
    "memory_index",
];

impl CopyStore for Database {
    fn source(&self) -> BoxFuture<'_, Result<Box<dyn CopySource>, StoreError>> {
        Box::pin(async move {
            let connection = super::connect::open_for_reading(self.path())?;
            // A transaction sees the file as of its first read.
            connection.execute_batch("BEGIN; SELECT count(*) FROM sqlite_master")?;
            Ok(Box::new(SqliteSource(connection)) as Box<dyn CopySource>)
        })
    }

    fn put<'a>(&'a self, table: &'static CopyTable, rows: Vec<CopyRow>) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(self.apply_behind(move |transaction| match table.name {
            "memory_fact" => rows.iter().try_for_each(|row| put_fact(transaction, row)),
            "memory_vector" => rows.iter().try_for_each(|row| put_vector(transaction, row)),
            _ => Ok(put(transaction, table, &rows)?),
        }))
    }

    fn clear(&self, scope: CopyScope) -> BoxFuture<'_, Result<(), StoreError>> {
        // Nothing of it is read: it may be damaged.
        Box::pin(self.apply_behind(move |transaction| {
            for name in scope.cleared().map(|table| table.name).chain(DERIVED) {
                transaction.execute(&format!("DELETE FROM {name}"), [])?;
            }
            Ok(())
        }))
    }

    fn set_partial(&self, partial: bool) -> BoxFuture<'_, Result<(), StoreError>> {
        let change = match partial {
            true => format!("CREATE TABLE IF NOT EXISTS {COPYING_TABLE} (copying INTEGER)"),
            false => format!("DROP TABLE IF EXISTS {COPYING_TABLE}"),
        };
        Box::pin(self.apply_behind(move |transaction| Ok(transaction.execute_batch(&change)?)))
    }
}

fn put(transaction: &Transaction<'_>, table: &CopyTable, rows: &[CopyRow]) -> rusqlite::Result<()> {
    let CopyTable { name, columns, key } = table;
    let marks: Vec<String> = (1..=columns.len()).map(|number| format!("?{number}")).collect();
    let write = match key {
        0 => format!("UPDATE {name} SET {} = ?1", columns[0]),
        _ => format!("INSERT OR REPLACE INTO {name} ({}) VALUES ({})", columns.join(", "), marks.join(", ")),
    };
    let mut statement = transaction.prepare_cached(&write)?;
    let is_trace = *name == "trace";
    for row in rows {
        let mut values: Vec<Value> = row.iter().map(to_value).collect();
        // A decision without words of a model has NULL there, and is not in the index.
        if let Some(worded) = values.last_mut().filter(|worded| is_trace && **worded == Value::Integer(0)) {
            *worded = Value::Null;
        }
        statement.execute(params_from_iter(values))?;
    }
    Ok(())
}

fn put_fact(transaction: &Transaction<'_>, row: &CopyRow) -> Result<(), StoreError> {
    SqliteMemoryTable(transaction).put_fact(&decode_fact(row)?)
}

fn put_vector(transaction: &Transaction<'_>, row: &CopyRow) -> Result<(), StoreError> {
    let (mut memory, (fact, model, vector)) = (SqliteMemoryTable(transaction), decode_vector(row)?);
    memory.fact(fact)?.map_or(Ok(()), |fact| memory.put_vector(&fact, model, &vector))
}
