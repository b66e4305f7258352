//! Everything in a store, row by row, for copying it into another. Derived tables are not included: the destination builds
//! them anew.

use super::BoxFuture;
use crate::stores::StoreError;

/// A table that every store has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyTable {
    pub name: &'static str,
    /// The key first.
    pub columns: &'static [&'static str],
    /// How many of the columns are the key; 0 if the table has only one row.
    pub key: usize,
}

impl CopyTable {
    /// Whether it contains the people who opted out: a copy of memory never removes anybody from it.
    pub fn has_opt_outs(&self) -> bool {
        self.name == "memory_out"
    }
}

/// What is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyScope {
    Everything,
    /// Only memory.
    Memory,
}

impl CopyScope {
    pub fn tables(self) -> impl Iterator<Item = &'static CopyTable> {
        COPY_TABLES.iter().filter(move |table| match self {
            CopyScope::Everything => true,
            CopyScope::Memory => table.name.starts_with("memory_"),
        })
    }

    /// The tables that are emptied in a destination.
    pub fn cleared(self) -> impl Iterator<Item = &'static CopyTable> {
        self.tables().filter(move |table| table.key > 0 && !self.merges(table))
    }

    /// Whether the rows of this table are added to the existing ones.
    pub fn merges(self, table: &CopyTable) -> bool {
        self == CopyScope::Memory && table.has_opt_outs()
    }
}

/// In the order in which rows are sorted by their keys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cell {
    Null,
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
}

pub type CopyRow = Vec<Cell>;

/// The order matters: later tables may depend on earlier ones.
pub const COPY_TABLES: &[CopyTable] = &[
    table("journal_id", &["id"], 0),
    table("journal", &["seq", "shard", "at", "room", "body", "sum", "kind", "person", "name", "message"], 1),
    table("journal_mention", &["person", "seq"], 2),
    table("journal_rewritten", &["count"], 0),
    table("snapshot", &["shard", "shards", "seq", "at", "policies", "body", "sum"], 1),
    table("base", &["shard", "shards", "seq", "policies", "body", "sum"], 1),
    table("trace", &["room", "message", "at", "body", "author", "worded"], 2),
    table("keeper", &["seq"], 0),
    table("keeper_left", &["room", "at"], 1),
    table("forgetting", &["id", "body"], 1),
    table("inbox", &["seq", "platform", "key", "at", "thread", "body"], 1),
    table("post", &["platform", "key", "begun", "id"], 2),
    table("channel_mark", &["platform", "channel", "server", "heard"], 2),
    table("web_counter", &["seq"], 0),
    table("web_room", &["name", "opened", "opened_by"], 1),
    table("web_message", &["id", "room", "seq", "first_seq", "key", "body"], 1),
    table("web_person", &["secret", "id", "name", "seen", "spoke"], 1),
    table("web_member", &["room", "person", "name", "spoke"], 2),
    table("web_session", &["hash", "begun"], 1),
    table("memory_marks", &["room", "summarized", "reflected", "heard"], 1),
    table("memory_channel", &["room", "body"], 1),
    table("memory_person", &["id", "seen", "body"], 1),
    table("memory_person_message", &["room", "message", "person"], 3),
    table("memory_tie", &["room", "answering", "answered", "body"], 3),
    table("memory_out", &["person"], 1),
    table("memory_fact", &["id", "body"], 1),
    table("memory_vector", &["fact", "model", "vector"], 1),
];

const fn table(name: &'static str, columns: &'static [&'static str], key: usize) -> CopyTable {
    CopyTable { name, columns, key }
}

/// A store as of one moment, however long it takes to read it. Blocks.
pub trait CopySource: Send {
    fn count(&mut self, table: &CopyTable) -> Result<u64, StoreError>;

    /// The first rows ordered by key, after the row with this key.
    fn rows(&mut self, table: &CopyTable, after: Option<&[Cell]>, at_most: usize) -> Result<Vec<CopyRow>, StoreError>;
}

/// A table that is there from the beginning of a copy of everything until it is complete.
pub const COPYING_TABLE: &str = "store_copying";

/// What stores can do to be taken along.
pub trait CopyStore: Send + Sync {
    fn source(&self) -> BoxFuture<'_, Result<Box<dyn CopySource>, StoreError>>;

    /// Writes rows, replacing those with the same key, all in one commit, with everything derived from them.
    fn put<'a>(&'a self, table: &'static CopyTable, rows: Vec<CopyRow>) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Why this row can never be written here, if it cannot.
    fn refuses(&self, _: &CopyTable, _: &CopyRow) -> Option<String> {
        None
    }

    /// Whether the rows of this table come by themselves, with those of another. Of a copy that was interrupted, any of them may
    /// be there.
    fn derives(&self, _: &CopyTable) -> bool {
        false
    }

    /// Empties the tables of this scope.
    fn clear(&self, scope: CopyScope) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Notes in the store itself that a copy of everything into it has begun, or that it is complete. No program runs on a part.
    fn set_partial(&self, partial: bool) -> BoxFuture<'_, Result<(), StoreError>>;
}
