//! A file that is no sound database, and how another takes its place.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::connect::BUSY_FOR;
use super::files::complaints;
use super::migrations::{self, VERSION};

/// A file at the place of a database that SQLite cannot read, or not all of it.
#[derive(Debug)]
pub struct DamagedFile {
    path: PathBuf,
    why: String,
}

impl std::fmt::Display for DamagedFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is damaged ({})", self.path.display(), self.why)
    }
}

/// What SQLite puts beside a file, by the ends of the names. The file itself is last: its log is never left alone beside another.
const PARTS: [&str; 3] = ["-wal", "-shm", ""];

impl DamagedFile {
    /// `None` where there is no file, or a sound one, or one that cannot be judged. Nothing is left open.
    pub fn at(path: &Path) -> Option<DamagedFile> {
        if !path.is_file() {
            return None;
        }
        let why = match check(path) {
            Ok(found) => Some(found.join("; ")).filter(|found| !found.is_empty()),
            Err(error) => match error.sqlite_error_code() {
                Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Some(error.to_string()),
                Some(_) | None => None,
            },
        };
        Some(DamagedFile { path: path.to_owned(), why: why?.replace('\n', "; ") })
    }

    /// Renames it, with what belongs to it, so that nothing is overwritten. Returns its new name.
    pub fn set_aside(&self) -> std::io::Result<PathBuf> {
        let is_free = |name: &PathBuf| PARTS.iter().all(|part| with(name, part).symlink_metadata().is_err());
        let first = std::iter::once(with(&self.path, ".damaged"));
        let mut names = first.chain((2_u64..).map(|number| with(&self.path, &format!(".damaged-{number}"))));
        let new = names.find(is_free).expect("some number is free");
        for part in PARTS {
            match std::fs::rename(with(&self.path, part), with(&new, part)) {
                Err(error) if error.kind() == ErrorKind::NotFound && !part.is_empty() => (),
                renamed => renamed?,
            }
        }
        Ok(new)
    }
}

/// What is wrong with its pages. A file of a newer version is not ours to judge.
fn check(path: &Path) -> rusqlite::Result<Vec<String>> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(BUSY_FOR)?;
    if migrations::version(&connection)? > VERSION { Ok(Vec::new()) } else { complaints(&connection) }
}

fn with(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(end);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stores::scratch;

    #[tokio::test]
    async fn a_sound_file_and_none_are_not_damaged() {
        let (folder, database) = scratch("not-damaged");
        assert!(DamagedFile::at(&folder.join("aizuchi.db")).is_none());
        assert!(DamagedFile::at(&folder.join("other.db")).is_none());
        drop(database);
    }

    #[test]
    fn nothing_is_overwritten_by_what_is_set_aside() {
        let folder = aizuchi_test_servers::folder::Scratch::new("set-aside");
        let path = folder.join("aizuchi.db");
        let put = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let damaged = || DamagedFile::at(&path).expect("it is no database");
        put("aizuchi.db", &"first ".repeat(1000));
        assert_eq!(damaged().set_aside().unwrap(), folder.join("aizuchi.db.damaged"));
        put("aizuchi.db", &"second ".repeat(1000));
        let second = damaged();
        put("aizuchi.db-wal", "log");
        // The file of this name is gone, and its log is still there.
        std::fs::rename(folder.join("aizuchi.db.damaged"), folder.join("mine")).unwrap();
        put("aizuchi.db.damaged-wal", "mine");
        assert_eq!(second.set_aside().unwrap(), folder.join("aizuchi.db.damaged-2"));
        assert!(read("mine").starts_with("first") && read("aizuchi.db.damaged-2").starts_with("second"));
        assert_eq!((&*read("aizuchi.db.damaged-wal"), &*read("aizuchi.db.damaged-2-wal")), ("mine", "log"));
        assert!(!path.exists() && !folder.join("aizuchi.db-wal").exists());
    }
}
