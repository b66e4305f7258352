//! How far the journal reached and until when the program ran, noted in two small files beside the database.
//!
//! A database whose log (`aizuchi.db-wal`) is gone or truncated opens as if nothing were missing, only older. This file
//! reveals that: it names a record that was durable. It is written after each commit and never synced: a killed program
//! leaves it intact, and after a power failure it may name an older record, never one that did not exist.
//!
//! The other file (`aizuchi.running`) names the last record and its time. A start compares the clock with it: in a quiet
//! room the last record alone is too old to show that the clock was set back in between.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use aizuchi_core::Time;
use xxhash_rust::xxh3::xxh3_64;

/// The progress file, open for writing.
#[derive(Debug)]
pub struct ProgressFile {
    path: PathBuf,
    state: Mutex<(u64, Option<File>)>,
}

impl ProgressFile {
    /// Beside this database.
    pub fn beside(database: &Path) -> ProgressFile {
        ProgressFile { path: path_beside(database), state: Mutex::default() }
    }

    /// Notes that this record is durable. A failure is not worth stopping for.
    pub fn note(&self, seq: u64) {
        let mut state = self.state.lock().expect("nothing panics while holding it");
        let (reached, file) = &mut *state;
        if seq <= *reached {
            return;
        }
        *reached = seq;
        if let Err(error) = write(&self.path, file, seq) {
            tracing::debug!(%error, "cannot store the journal position");
        }
    }
}

fn path_beside(database: &Path) -> PathBuf {
    database.with_extension("reached")
}

/// Always the same number of bytes, so that a shorter number leaves nothing of a longer one.
fn line(seq: u64) -> String {
    let number = format!("{seq:020}");
    let sum = xxh3_64(number.as_bytes());
    format!("{number} {sum:016x}\n")
}

fn write(path: &Path, file: &mut Option<File>, seq: u64) -> std::io::Result<()> {
    if file.is_none() {
        *file = Some(OpenOptions::new().create(true).truncate(false).write(true).open(path)?);
    }
    let file = file.as_mut().expect("it was just opened");
    file.seek(SeekFrom::Start(0))?;
    file.write_all(line(seq).as_bytes())
}

/// The last record that was noted beside this database; `None` if there is no readable note.
pub fn read(database: &Path) -> Option<u64> {
    let mut text = String::new();
    File::open(path_beside(database)).ok()?.take(64).read_to_string(&mut text).ok()?;
    let seq = text.get(..20)?.parse().ok()?;
    (text == line(seq)).then_some(seq)
}

/// Replaces the note, whatever it said before.
pub fn replace(database: &Path, seq: u64) -> std::io::Result<()> {
    std::fs::write(path_beside(database), line(seq))
}

fn running_path(database: &Path) -> PathBuf {
    database.with_extension("running")
}

fn running_line(seq: u64, at: Time) -> String {
    let numbers = format!("{seq:020} {:020}", at.0);
    let sum = xxh3_64(numbers.as_bytes());
    format!("{numbers} {sum:016x}\n")
}

/// Notes that the program runs at this time, and the last record.
pub fn note_running(database: &Path, seq: u64, at: Time) -> std::io::Result<()> {
    std::fs::write(running_path(database), running_line(seq, at))
}

/// When the program was last known to run, if nothing was recorded since: a later record is more reliable, because the
/// clock may have been set before it.
pub fn ran_until(database: &Path, last_seq: u64) -> Option<Time> {
    let text = std::fs::read_to_string(running_path(database)).ok()?;
    let at = Time(text.get(21..41)?.parse().ok()?);
    (text == running_line(last_seq, at)).then_some(at)
}

/// Durable records are missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LostRecords {
    /// The database itself.
    File { path: PathBuf, empty: bool },
    /// The records in this range, both ends included.
    Records { from: u64, to: u64 },
}

impl std::fmt::Display for LostRecords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LostRecords::File { path, empty } => {
                let what = if *empty { "is empty" } else { "is missing" };
                write!(f, "{} {what}, although records were written to it", path.display())
            }
            LostRecords::Records { from, to } => write!(
                f,
                "records {from} to {to} of the journal are missing: they were durable, but this store does not have them. Either \
                 aizuchi.db-wal beside a database file was removed or damaged, or this is an older copy, an old server, or a \
                 standby that had not received them"
            ),
        }
    }
}

impl LostRecords {
    /// What to do about it.
    pub const ADVICE: &'static str = "put the file back, connect to the server that has them, or restore a backup (`aizuchi backup`); to continue without what is \
        missing, start once with `aizuchi run --accept-loss`";

    /// How to fix a database that cannot be read.
    pub const DAMAGED_ADVICE: &'static str = "restore a file of `aizuchi backup` with `aizuchi restore FILE --replace`, or move aizuchi.db, aizuchi.db-wal \
        and aizuchi.db-shm away and start with an empty store: `aizuchi run --accept-loss`";

    /// Checks the files of a store that is not open yet.
    pub fn of_file(database: &Path) -> Option<LostRecords> {
        read(database).filter(|seq| *seq > 0)?;
        let bytes = std::fs::metadata(database).map(|metadata| metadata.len());
        match bytes {
            Ok(0) => Some(LostRecords::File { path: database.to_owned(), empty: true }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Some(LostRecords::File { path: database.to_owned(), empty: false })
            }
            Ok(_) | Err(_) => None,
        }
    }

    /// Compares the last record in the store with the last one noted.
    pub fn of_records(database: &Path, last: u64) -> Option<LostRecords> {
        let noted = read(database)?;
        (noted > last).then_some(LostRecords::Records { from: last + 1, to: noted })
    }
}

#[cfg(test)]
mod tests {
    use aizuchi_test_servers::folder::Scratch;

    use super::*;

    #[test]
    fn a_note_is_read_back_and_a_damaged_one_is_none() {
        let folder = Scratch::new("reached");
        let database = folder.join("aizuchi.db");
        assert_eq!((read(&database), LostRecords::of_file(&database)), (None, None), "nothing was ever recorded here");
        let note = ProgressFile::beside(&database);
        note.note(1200);
        note.note(900);
        assert_eq!(read(&database), Some(1200), "it only grows");
        assert_eq!(LostRecords::of_file(&database), Some(LostRecords::File { path: database.clone(), empty: false }));
        assert_eq!(LostRecords::of_records(&database, 1200), None);
        assert_eq!(LostRecords::of_records(&database, 1000), Some(LostRecords::Records { from: 1001, to: 1200 }));
        replace(&database, 7).unwrap();
        assert_eq!(read(&database), Some(7));
        std::fs::write(path_beside(&database), "00000000000000001200 0000000000000000\n").unwrap();
        assert_eq!(read(&database), None);
    }

    #[test]
    fn until_when_it_ran_is_told_unless_something_was_recorded_since() {
        let folder = Scratch::new("running");
        let database = folder.join("aizuchi.db");
        assert_eq!(ran_until(&database, 0), None);
        note_running(&database, 7, Time(1_700_000_000_000)).unwrap();
        assert_eq!((ran_until(&database, 7), ran_until(&database, 8)), (Some(Time(1_700_000_000_000)), None));
        note_running(&database, 7, Time(9)).unwrap();
        assert_eq!(ran_until(&database, 7), Some(Time(9)), "a clock may be set back while it runs");
        std::fs::write(running_path(&database), "damaged").unwrap();
        assert_eq!(ran_until(&database, 7), None);
    }
}
