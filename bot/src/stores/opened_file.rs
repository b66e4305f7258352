//! Notices that the file it writes to is no longer the one that its path names, or no longer holds what was written to it.
//!
//! Nobody else writes to the database while the program runs: others only read. So the file and the log beside it are, when
//! the next transaction begins, as they were when the last one ended. An older copy written over the file has another time
//! and other contents; a log that was cut is shorter, or has a hole where the last page was.

use std::fs::{File, Metadata};
use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::SystemTime;

use super::StoreError;

/// The file as it was opened.
#[derive(Debug)]
pub struct OpenedFile {
    path: PathBuf,
    identity: Option<Identity>,
    /// Never closed: closing any handle of the file would end SQLite's own locks.
    file: ManuallyDrop<Option<File>>,
    /// The log beside it, once there is one.
    log_path: PathBuf,
    log: OnceLock<Identity>,
    /// How both were when something was last written.
    written: Mutex<Written>,
    /// Whether they were found to be otherwise.
    is_overwritten: AtomicBool,
    /// Whether it was reported that it is gone.
    reported: AtomicBool,
}

#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = ();

#[derive(Debug, Default)]
struct Written {
    stamp: Option<Stamp>,
    fingerprint: Option<u64>,
    log: Log,
}

/// The log beside the database, as far as is needed to tell whether it was cut.
#[derive(Debug, Default)]
struct Log {
    length: u64,
    /// What every new round of it begins with; empty where there is none.
    header: Vec<u8>,
    /// Where the last page of this round begins, and the head of that page; none where it may be written over.
    last: Option<(u64, Vec<u8>)>,
}

type Stamp = (u64, SystemTime);

/// What became of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Committed,
    Failed,
}

/// Read at each end of the file where its time has changed. An older copy differs there: the first page counts the others.
const FINGERPRINT_BYTES: u64 = 64 * 1024;
const LOG_HEADER_BYTES: usize = 32;
const PAGE_HEADER_BYTES: usize = 24;
/// What a log begins with, apart from its last bit.
const LOG_MAGIC: u32 = 0x377f_0682;

impl OpenedFile {
    pub fn at(path: &Path) -> OpenedFile {
        let mut log_path = path.as_os_str().to_owned();
        log_path.push("-wal");
        let opened = OpenedFile {
            path: path.to_owned(),
            identity: identity(path),
            file: ManuallyDrop::new(File::open(path).ok()),
            log_path: log_path.into(),
            log: OnceLock::new(),
            written: Mutex::default(),
            is_overwritten: AtomicBool::new(false),
            reported: AtomicBool::new(false),
        };
        opened.note_written(Outcome::Committed);
        opened
    }

    /// Whether the paths still name the files that are open, and somebody has not emptied the database.
    fn is_there(&self) -> bool {
        let log = identity(&self.log_path);
        if let (Some(log), None) = (log, self.log.get()) {
            let _ = self.log.set(log);
        }
        let emptied = std::fs::metadata(&self.path).is_ok_and(|metadata| metadata.len() == 0);
        identity(&self.path) == self.identity && log == self.log.get().copied() && !emptied
    }

    pub fn check(&self) -> Result<(), StoreError> {
        if self.is_there() && !self.is_overwritten.load(Ordering::Relaxed) {
            if self.reported.swap(false, Ordering::Relaxed) {
                tracing::info!(path = %self.path.display(), "the database is back");
            }
            return Ok(());
        }
        let gone = StoreError::Gone(self.path.display().to_string());
        if !self.reported.swap(true, Ordering::Relaxed) {
            tracing::error!("{gone}");
        }
        Err(gone)
    }

    /// The same, and whether both files hold what was written last. Only for whoever writes, and before they do.
    pub fn check_contents(&self) -> Result<(), StoreError> {
        self.is_overwritten.store(!self.is_as_written(), Ordering::Relaxed);
        self.check()
    }

    fn is_as_written(&self) -> bool {
        let mut written = self.written();
        let is_new_round = written.log.header.is_empty();
        if !written.log.goes_on(&self.log_path, is_new_round) {
            return false;
        }
        let stamp = self.stamp();
        if stamp != written.stamp {
            if self.fingerprint() != written.fingerprint {
                return false;
            }
            // Somebody only touched it.
            written.stamp = stamp;
        }
        true
    }

    /// Whether what was just written went on from what the log held before. A new round of it begins when all is in the
    /// database itself.
    pub fn check_written(&self) -> Result<(), StoreError> {
        self.is_overwritten.store(!self.written().log.goes_on(&self.log_path, true), Ordering::Relaxed);
        self.check()
    }

    /// Something was written, or could not be: this is how the files are now.
    pub fn note_written(&self, outcome: Outcome) {
        if !self.is_there() {
            return;
        }
        let mut written = self.written();
        let stamp = self.stamp();
        if stamp != written.stamp {
            (written.stamp, written.fingerprint) = (stamp, self.fingerprint());
        }
        written.log = Log::read(&self.log_path).unwrap_or_default();
        if outcome == Outcome::Failed {
            // What was written before it failed is written over by the next transaction.
            written.log.last = None;
        }
    }

    fn stamp(&self) -> Option<Stamp> {
        let metadata: Metadata = self.file.as_ref()?.metadata().ok()?;
        Some((metadata.len(), metadata.modified().ok()?))
    }

    fn fingerprint(&self) -> Option<u64> {
        let file = self.file.as_ref()?;
        let length = file.metadata().ok()?.len();
        let mut bytes = length.to_le_bytes().to_vec();
        for from in [0, length.saturating_sub(FINGERPRINT_BYTES)] {
            bytes.extend(bytes_at(file, from, length.min(FINGERPRINT_BYTES) as usize)?);
        }
        Some(xxhash_rust::xxh3::xxh3_64(&bytes))
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    /// SQLite holds no locks on it, so it can be opened and closed.
    fn read(path: &Path) -> Option<Log> {
        let file = File::open(path).ok()?;
        let length = file.metadata().ok()?.len();
        let header = bytes_at(&file, 0, LOG_HEADER_BYTES).unwrap_or_default();
        let last = last_page(&file, &header, length);
        Some(Log { length, header, last })
    }

    /// Whether all of it is still there.
    fn goes_on(&self, path: &Path, may_begin_anew: bool) -> bool {
        let Ok(file) = File::open(path) else { return self.length == 0 };
        let header = bytes_at(&file, 0, LOG_HEADER_BYTES).unwrap_or_default();
        if header != self.header {
            return may_begin_anew && number(&header, 0).is_some_and(|magic| magic & !1 == LOG_MAGIC);
        }
        let is_long_enough = file.metadata().is_ok_and(|metadata| metadata.len() >= self.length);
        let is_last = |(at, head): &(u64, Vec<u8>)| bytes_at(&file, *at, head.len()).as_ref() == Some(head);
        is_long_enough && self.last.as_ref().is_none_or(is_last)
    }
}

/// The last page of the round that the header began, if a transaction ends there. A file that has begun anew stays as long as
/// it was: behind that page are those of earlier rounds, which this one writes over as it grows.
fn last_page(file: &File, header: &[u8], length: u64) -> Option<(u64, Vec<u8>)> {
    let (page, round) = (u64::from(number(header, 8)?) + PAGE_HEADER_BYTES as u64, header.get(16..24)?);
    let start = |index: u64| LOG_HEADER_BYTES as u64 + index * page;
    let head = |index: u64| bytes_at(file, start(index), PAGE_HEADER_BYTES);
    let is_of_round = |index: u64| head(index).is_some_and(|head| head[8..16] == *round);
    let (mut of_round, mut after) = (0, length.checked_sub(LOG_HEADER_BYTES as u64)? / page);
    while of_round < after {
        let middle = of_round + (after - of_round) / 2;
        if is_of_round(middle) {
            of_round = middle + 1;
        } else {
            after = middle;
        }
    }
    let last = of_round.checked_sub(1)?;
    // How large the database is then; only the last page of a transaction says so.
    let head = head(last).filter(|head| number(head, 4) != Some(0))?;
    Some((start(last), head))
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_be_bytes)
}

fn bytes_at(file: &File, from: u64, count: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; count];
    read_at(file, &mut bytes, from).ok().map(|()| bytes)
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], from: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, from)
}

/// Nothing is compared where a file cannot be read at a place.
#[cfg(not(unix))]
fn read_at(_: &File, _: &mut [u8], _: u64) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(path).ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<Identity> {
    std::fs::metadata(path).ok().map(drop)
}
