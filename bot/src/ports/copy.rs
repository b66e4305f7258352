//! Everything of a store, row by row, to be taken along into another. The tables that follow from others are not among it: the
//! store that is written to makes them anew.

use super::BoxFuture;
use crate::stores::StoreError;

/// A table as every store has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyTable {
    pub name: &'static str,
    /// The key first.
    pub columns: &'static [&'static str],
    /// How many of the columns are the key. None where there is one row only.
    pub key: usize,
}

impl CopyTable {
    /// Whether who wishes not to be remembered is in it: nobody is taken out of it by a copy of memory.
    pub fn has_opt_outs(&self) -> bool {
        self.name == "memory_out"
    }
}

/// What is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyScope {
    Everything,
    /// What is remembered, and nothing else.
    Memory,
}

impl CopyScope {
    pub fn tables(self) -> impl Iterator<Item = &'static CopyTable> {
        COPY_TABLES.iter().filter(move |table| match self {
            CopyScope::Everything => true,
            CopyScope::Memory => table.name.starts_with("memory_"),
        })
    }

    /// Those of which a destination is emptied.
    pub fn cleared(self) -> impl Iterator<Item = &'static CopyTable> {
        self.tables().filter(move |table| table.key > 0 && !self.merges(table))
    }

    /// Whether the rows of this table are added to those that are there.
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

/// The order matters: what is written later may rest on what was written before.
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

/// A store as it was at one moment, however long it takes to read it. Blocks.
pub trait CopySource: Send {
    fn count(&mut self, table: &CopyTable) -> Result<u64, StoreError>;

    /// The first rows in the order of their keys, after the row with this key.
    fn rows(&mut self, table: &CopyTable, after: Option<&[Cell]>, at_most: usize) -> Result<Vec<CopyRow>, StoreError>;
}

/// What stores can do to be taken along.
pub trait CopyStore: Send + Sync {
    fn source(&self) -> BoxFuture<'_, Result<Box<dyn CopySource>, StoreError>>;

    /// Writes rows in place of those with the same key, all in one commit, with everything that follows from them.
    fn put<'a>(&'a self, table: &'static CopyTable, rows: Vec<CopyRow>) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Why this row can never be written here, if it cannot.
    fn refuses(&self, _: &CopyTable, _: &CopyRow) -> Option<String> {
        None
    }

    /// Empties the tables of this scope.
    fn clear(&self, scope: CopyScope) -> BoxFuture<'_, Result<(), StoreError>>;
}
