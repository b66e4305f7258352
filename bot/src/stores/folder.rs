//! The data folder: created if it is missing, and held by one running program at a time.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::Context as _;

/// The data folder, locked until this is dropped.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    _lock: File,
    /// Held too, since somebody may delete the folder's lock file. It is not closed before the program ends, because
    /// closing any handle of the file would release SQLite's own locks.
    database_lock: OnceLock<File>,
}

impl DataFolder {
    /// Creates the folder if it is missing, and sees whether it can be written into. The error says why that failed.
    #[cfg(feature = "cluster")]
    pub fn make(path: &Path) -> anyhow::Result<()> {
        let trial = path.join(format!(".trial-{}", std::process::id()));
        DataFolder::create(path)?;
        let written = File::create(&trial).and_then(|_| std::fs::remove_file(&trial));
        written.with_context(|| cannot_write(path))
    }

    fn create(path: &Path) -> anyhow::Result<()> {
        private(&mut std::fs::DirBuilder::new())
            .recursive(true)
            .create(path)
            .with_context(|| format!("cannot create the data folder {} (setting store.folder)", path.display()))
    }

    /// Creates the folder and takes the lock. The error says why that failed.
    pub fn take(path: &Path) -> anyhow::Result<DataFolder> {
        DataFolder::create(path)?;
        let lock_path = path.join("lock");
        let lock = File::options().create(true).truncate(false).write(true).open(&lock_path);
        let lock = lock.with_context(|| cannot_write(path))?;
        match lock.try_lock() {
            Ok(()) => Ok(DataFolder { path: path.to_owned(), _lock: lock, database_lock: OnceLock::new() }),
            Err(TryLockError::WouldBlock) => Err(already_in_use(path)),
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("cannot lock {}", lock_path.display()))
            }
        }
    }

    /// Takes the lock of the database itself, which must exist.
    pub fn lock_database(&self) -> anyhow::Result<()> {
        let database = self.database();
        let file = File::open(&database).with_context(|| format!("cannot open {}", database.display()))?;
        match file.try_lock() {
            Ok(()) => {
                let _ = self.database_lock.set(file);
                Ok(())
            }
            Err(TryLockError::WouldBlock) => {
                // Closing it would release the locks of an open store.
                std::mem::forget(file);
                Err(already_in_use(&self.path))
            }
            Err(TryLockError::Error(error)) => {
                Err(error).with_context(|| format!("cannot lock {}", database.display()))
            }
        }
    }

    pub fn database(&self) -> PathBuf {
        DataFolder::database_in(&self.path)
    }

    /// The database file.
    pub fn database_in(path: &Path) -> PathBuf {
        path.join("aizuchi.db")
    }
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write into the data folder {} (setting store.folder)", path.display())
}

fn already_in_use(path: &Path) -> anyhow::Error {
    anyhow::anyhow!(
        "another aizuchi is using the data folder {}; stop it, or choose another folder with --set store.folder=…",
        path.display()
    )
}

/// Only the owner may read the folder: it contains what people said.
#[cfg(unix)]
fn private(builder: &mut std::fs::DirBuilder) -> &mut std::fs::DirBuilder {
    use std::os::unix::fs::DirBuilderExt as _;
    builder.mode(0o700)
}

#[cfg(not(unix))]
fn private(builder: &mut std::fs::DirBuilder) -> &mut std::fs::DirBuilder {
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_program_at_a_time() {
        let place = aizuchi_test_servers::folder::Scratch::new("folder");
        let first = DataFolder::take(&place).unwrap();
        let refused = DataFolder::take(&place).unwrap_err().to_string();
        assert!(refused.contains("another aizuchi is using"), "{refused}");
        drop(first);
        DataFolder::take(&place).unwrap();
    }

    #[cfg(all(unix, feature = "cluster"))]
    #[test]
    fn a_folder_is_made_for_its_owner_alone_and_not_taken() {
        use std::os::unix::fs::PermissionsExt as _;
        let place = aizuchi_test_servers::folder::Scratch::new("folder-made");
        let folder = place.join("new").join("data");
        DataFolder::make(&folder).unwrap();
        assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(folder.read_dir().unwrap().count(), 0);
        let _held = DataFolder::take(&folder).unwrap();
        DataFolder::make(&folder).unwrap();
        std::fs::write(place.join("file"), "").unwrap();
        let refused = DataFolder::make(&place.join("file")).unwrap_err().to_string();
        assert!(refused.contains("cannot create the data folder"), "{refused}");
    }
}
