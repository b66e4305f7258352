//! Detects that the open file is no longer the one at its path.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::stores::StoreError;

/// The file as it was opened.
#[derive(Debug)]
pub struct OpenedFile {
    path: PathBuf,
    identity: Option<Identity>,
    /// The log beside it, once there is one.
    log_path: PathBuf,
    log: OnceLock<Identity>,
    /// Whether it was reported as gone.
    reported: AtomicBool,
}

#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = ();

impl OpenedFile {
    pub fn at(path: &Path) -> OpenedFile {
        let mut log_path = path.as_os_str().to_owned();
        log_path.push("-wal");
        OpenedFile {
            path: path.to_owned(),
            identity: identity(path),
            log_path: log_path.into(),
            log: OnceLock::new(),
            reported: AtomicBool::new(false),
        }
    }

    /// Whether the paths still name the open files, and the database was not emptied.
    fn is_there(&self) -> bool {
        let log = identity(&self.log_path);
        if let (Some(log), None) = (log, self.log.get()) {
            let _ = self.log.set(log);
        }
        let emptied = std::fs::metadata(&self.path).is_ok_and(|metadata| metadata.len() == 0);
        identity(&self.path) == self.identity && log == self.log.get().copied() && !emptied
    }

    pub fn check(&self) -> Result<(), StoreError> {
        if self.is_there() {
            if self.reported.swap(false, Ordering::Relaxed) {
                tracing::info!(path = %self.path.display(), "the database is available again");
            }
            return Ok(());
        }
        let gone = StoreError::Gone(self.path.display().to_string());
        if !self.reported.swap(true, Ordering::Relaxed) {
            tracing::error!("{gone}");
        }
        Err(gone)
    }
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
