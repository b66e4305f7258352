//! Reads the journal in order, page by page, also while another process writes it.

use std::collections::VecDeque;
use std::fmt;

use aizuchi_core::types::RoomId;

use crate::ports::{JournalIndex, JournalStore, Position, Range, Record, RecordKind, Selection, Unreadable};
use crate::stores::StoreError;

/// A record that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DamagedRecord {
    /// The last record: cut off while it was being written.
    Torn { seq: i64, what: String },
    /// A record that others follow: damaged by the disk, or by a manual change.
    Within { seq: i64, what: String },
    /// Records that are missing between others.
    Missing { from: i64, to: i64 },
}

impl DamagedRecord {
    /// The number of the record, or of the last one in the range.
    pub fn seq(&self) -> i64 {
        match self {
            DamagedRecord::Torn { seq, .. }
            | DamagedRecord::Within { seq, .. }
            | DamagedRecord::Missing { to: seq, .. } => *seq,
        }
    }
}

impl fmt::Display for DamagedRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DamagedRecord::Torn { seq, what } => {
                write!(f, "the last record of the journal, {seq}, is torn ({what}); dropped")
            }
            DamagedRecord::Missing { from, to } => {
                write!(f, "records {from} to {to} of the journal are missing; their effects are unknown")
            }
            DamagedRecord::Within { seq, what } => {
                write!(f, "record {seq} of the journal is damaged ({what}); skipped")
            }
        }
    }
}

/// Records of a range, in the order in which they were handled.
pub struct Records<'a> {
    store: &'a dyn JournalStore,
    page: VecDeque<Result<Record, Unreadable>>,
    range: Range,
    /// The last record of the journal: if it is unreadable, it may have been cut off.
    last: i64,
}

impl<'a> Records<'a> {
    /// All records that exist now; those written meanwhile are not read.
    pub async fn all(store: &'a dyn JournalStore) -> Result<Records<'a>, StoreError> {
        Records::after(store, i64::MIN).await
    }

    /// The records after `seq`.
    pub async fn after(store: &'a dyn JournalStore, seq: i64) -> Result<Records<'a>, StoreError> {
        let last = store.locate(Position::Last).await?.unwrap_or(0);
        let range = Range { room: None, kinds: &[], after: seq, up_to: last };
        Ok(Records { store, page: VecDeque::new(), range, last })
    }

    /// The last `count` records, or as many as there are.
    pub async fn last(store: &'a dyn JournalStore, count: u32) -> Result<Records<'a>, StoreError> {
        let before = store.locate(Position::BeforeLast(None, count)).await?;
        Records::after(store, before.unwrap_or(i64::MIN)).await
    }

    /// Only the records of a room.
    pub fn in_room(mut self, room: &RoomId) -> Records<'a> {
        self.range.room = Some(room.clone());
        self
    }

    /// From here on, only records of these kinds.
    pub fn only(&mut self, kinds: &'static [RecordKind]) {
        self.page.clear();
        self.range.kinds = kinds;
    }

    pub async fn next(&mut self) -> Result<Option<Result<Record, DamagedRecord>>, StoreError> {
        if self.page.is_empty() {
            self.page = self.store.page(&self.range).await?.into();
        }
        let Some(read) = self.page.pop_front() else { return Ok(None) };
        self.range.after = read.as_ref().map_or_else(|unreadable| unreadable.seq, |record| record.seq);
        Ok(Some(read.map_err(|Unreadable { seq, what }| match seq == self.last {
            true => DamagedRecord::Torn { seq, what },
            false => DamagedRecord::Within { seq, what },
        })))
    }

    /// The next readable record.
    pub async fn next_whole(&mut self) -> Result<Option<Record>, StoreError> {
        while let Some(read) = self.next().await? {
            if let Ok(record) = read {
                return Ok(Some(record));
            }
        }
        Ok(None)
    }

    pub async fn collect(mut self) -> Result<Vec<Result<Record, DamagedRecord>>, StoreError> {
        let mut records = Vec::new();
        while let Some(read) = self.next().await? {
            records.push(read);
        }
        Ok(records)
    }

    /// All readable records.
    pub async fn whole(mut self) -> Result<Vec<Record>, StoreError> {
        let mut records = Vec::new();
        while let Some(record) = self.next_whole().await? {
            records.push(record);
        }
        Ok(records)
    }
}

/// How many records are looked up at once.
const LOOKED_UP_TOGETHER: usize = 512;

/// Looks up records and passes the readable ones to `see`, in order. Returns the numbers of the others.
pub async fn look_up(
    index: &dyn JournalIndex,
    selection: &Selection,
    mut see: impl FnMut(Record),
) -> Result<Vec<i64>, StoreError> {
    let seqs = index.select(selection).await?;
    read_each(index, &seqs, &mut see).await
}

/// The same for records whose numbers are known.
pub async fn read_each(
    index: &dyn JournalIndex,
    seqs: &[i64],
    see: &mut impl FnMut(Record),
) -> Result<Vec<i64>, StoreError> {
    let mut unreadable = Vec::new();
    for some in seqs.chunks(LOOKED_UP_TOGETHER) {
        for read in index.read(some).await? {
            match read {
                Ok(record) => see(record),
                Err(Unreadable { seq, .. }) => unreadable.push(seq),
            }
        }
    }
    Ok(unreadable)
}
