//! Notices that the file it writes to is no longer the one that its path names.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::StoreError;

/// The file as it was opened.
#[derive(Debug)]
pub struct OpenedFile {
    path: PathBuf,
    identity: Option<Identity>,
    /// Whether it was reported that it is gone.
    reported: AtomicBool,
}

#[cfg(unix)]
type Identity = (u64, u64);
#[cfg(not(unix))]
type Identity = ();

impl OpenedFile {
    pub fn at(path: &Path) -> OpenedFile {
        OpenedFile { path: path.to_owned(), identity: identity(path), reported: AtomicBool::new(false) }
    }

    pub fn check(&self) -> Result<(), StoreError> {
        let is_there = identity(&self.path) == self.identity;
        if is_there {
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
