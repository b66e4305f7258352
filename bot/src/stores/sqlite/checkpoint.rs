//! Copies the write-ahead log into the database while the writer goes on.
//!
//! SQLite appends each commit to a log. By default it copies the log into the database within the commit that made it long,
//! and everybody who wants to write waits. Here a second connection copies most of it in the background; the writer then
//! copies the few pages that were added meanwhile, after a commit was acknowledged, and its next commit restarts the log
//! from the beginning. A log that is still read cannot be restarted: it grows until the reader is done.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rusqlite::Connection;
use tokio::task::JoinHandle;

/// How many pages the log has before they are copied.
const PAGES: u32 = 1_000;

pub struct Checkpointer {
    path: PathBuf,
    /// The number of pages in the log after the last commit.
    pages: Arc<AtomicU32>,
    background: Background,
}

enum Background {
    Idle(Option<Connection>),
    Copying(JoinHandle<rusqlite::Result<Connection>>),
}

impl Checkpointer {
    /// From now on this connection copies the log only on request.
    pub fn new(path: &Path, writer: &mut Connection) -> rusqlite::Result<Checkpointer> {
        let pages = Arc::new(AtomicU32::new(0));
        let count = pages.clone();
        writer.wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages| {
            count.store(u32::try_from(pages).unwrap_or_default(), Ordering::Relaxed);
            Ok(())
        }))?;
        Ok(Checkpointer { path: path.to_owned(), pages, background: Background::Idle(None) })
    }

    /// Waits for the background copy: no connection outlives the writer's.
    pub async fn finish(self) {
        if let Background::Copying(copying) = self.background {
            drop(copying.await);
        }
    }

    /// Starts a background copy if the log is long. `true` once that is done: the writer is to copy the rest.
    pub async fn advance(&mut self) -> bool {
        match &mut self.background {
            Background::Copying(copying) if !copying.is_finished() => false,
            Background::Copying(copying) => {
                // If it could not be opened or the copy failed, it is opened again the next time.
                let connection = copying.await.ok().and_then(Result::ok);
                self.background = Background::Idle(connection);
                true
            }
            Background::Idle(connection) => {
                if self.pages.load(Ordering::Relaxed) >= PAGES {
                    let (path, connection) = (self.path.clone(), connection.take());
                    let copy = move || {
                        let connection = connection.map_or_else(|| Connection::open(path), Ok)?;
                        copy_log(&connection)?;
                        Ok(connection)
                    };
                    self.background = Background::Copying(tokio::task::spawn_blocking(copy));
                }
                false
            }
        }
    }
}

/// Copies as much as possible without waiting.
pub fn copy_log(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}
