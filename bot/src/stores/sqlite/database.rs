//! One SQLite file in WAL mode: one writer task that commits in groups, and up to four readers beside it.
//!
//! - **Group commit.** A write is a closure in a queue. The writer takes all that wait (up to 1,024), runs them in one
//!   transaction and syncs once, so a write under load costs a fraction of an fsync. Its caller is answered after the commit:
//!   `Ok` means durable, also after a power failure (`synchronous = FULL`).
//! - **Savepoints.** Each closure runs in its own savepoint: an error undoes that write alone. On a full disk SQLite rolls back
//!   the whole transaction instead; then every write of the group fails (`still_open`), so that none is reported as kept.
//! - **Write-behind.** What nobody waits for goes through a second queue, a few with each group, and syncs with the next
//!   group: the log is ordered, so it is durable before whatever is written later.
//! - Copies of deleted rows are removed (`gaps.rs`) and the log is emptied between transactions (`Work::Alone`); the log is copied
//!   into the file beside the writer (`checkpoint.rs`). Writing blocks a thread, never the async runtime.
//! - The file is checked before each commit: what is written into a deleted or replaced file would be lost.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::{Semaphore, mpsc, oneshot};

use super::checkpoint::{Checkpointer, copy_log};
use super::connect::{BUSY_FOR, open_for_reading, open_for_writing};
use super::gaps::zero_gaps;
use super::migrations::VERSION;
use super::opened_file::OpenedFile;
use crate::ports::FileCleanup;
use crate::stores::StoreError;

/// A write, whose caller is notified when it is durable; or work that must not run in a transaction.
enum Work {
    Write(Write),
    Alone(Box<dyn FnOnce(&Connection) + Send>),
}
type Write = Box<dyn FnOnce(Result<&Transaction<'_>, StoreError>) -> WriteCallback + Send>;
type WriteCallback = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// Cheap to clone.
#[derive(Clone)]
pub struct Database {
    work: mpsc::Sender<Work>,
    /// Writes that may be done later.
    behind: mpsc::Sender<Work>,
    path: Arc<Path>,
    readers: Arc<Mutex<Vec<Connection>>>,
    /// Limits concurrent reads: each has a thread, and a connection with a cache of its own.
    reading: Arc<Semaphore>,
    /// Whether the last write failed.
    refuses: Arc<AtomicBool>,
    file: Arc<OpenedFile>,
}

/// How many writes may wait for the disk; beyond that callers wait.
const WAITING_MAX: usize = 4096;
/// How many writes are committed together.
const TOGETHER_MAX: usize = 1024;
/// How many of these may be deferred writes, or a quarter if more wait: a caller that waits for the disk does not wait for
/// many of them, and they do not pile up.
const BEHIND_TOGETHER: usize = 4;
/// The maximum number of concurrent reads.
const READERS_MAX: usize = 4;
/// Pauses between attempts to empty the log: our own readers are quick, others may take longer.
const SETTLE_PAUSES_MS: [u64; 7] = [10, 20, 50, 100, 300, 700, 1500];

impl Database {
    /// Opens the file, creates it if it is missing, and migrates it. Must be called inside a tokio runtime.
    pub fn open(path: &Path) -> Result<Database, StoreError> {
        let told = |error: StoreError| {
            let StoreError::Failed(what) = error else { return error };
            StoreError::Failed(format!("cannot open {}: {what}", path.display()))
        };
        // Writing would change it, if only by emptying the log beside it.
        if let Err(newer @ StoreError::Newer { .. }) = open_for_reading(path) {
            return Err(newer);
        }
        let mut connection = open_for_writing(path).map_err(told)?;
        let checkpoints = Checkpointer::new(path, &mut connection)?;
        let ((work, queue), (behind, later)) = (mpsc::channel(WAITING_MAX), mpsc::channel(WAITING_MAX));
        let (refuses, file) = (Arc::default(), Arc::new(OpenedFile::at(path)));
        tokio::spawn(write_all(connection, checkpoints, queue, later, Arc::clone(&refuses), file.clone()));
        let reading = Arc::new(Semaphore::new(READERS_MAX));
        Ok(Database { work, behind, path: path.into(), readers: Arc::default(), reading, refuses, file })
    }

    /// Opens a file that another program may be writing, read-only: every write is refused as if it were closed.
    pub fn open_to_read(path: &Path) -> Result<Database, StoreError> {
        let connection = open_for_reading(path)?;
        let ((work, _), (behind, _)) = (mpsc::channel(1), mpsc::channel(1));
        Ok(Database {
            work,
            behind,
            path: path.into(),
            readers: Arc::new(Mutex::new(vec![connection])),
            reading: Arc::new(Semaphore::new(READERS_MAX)),
            refuses: Arc::default(),
            file: Arc::new(OpenedFile::at(path)),
        })
    }

    /// Writes, together with other waiting writes, and returns when it is durable. Fails alone.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        write_to(&self.work, work).await
    }

    /// The same for writes that nobody waits for: other writes go first, with a few of these in each group. Returns when it
    /// is written; it is durable before whatever is written after it.
    pub async fn write_behind<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        write_to(&self.behind, work).await
    }

    /// The same for work that returns store errors.
    pub(super) async fn apply_behind<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        write_to(&self.behind, work).await
    }

    /// Copies everything written so far into the file itself and empties the log beside it, so that deleted data is in
    /// neither. Active readers prevent that: it is retried for a while, and then reported.
    pub async fn settle(&self) -> Result<FileCleanup, StoreError> {
        for pause in SETTLE_PAUSES_MS {
            if self.try_to_settle().await? == FileCleanup::Done {
                return Ok(FileCleanup::Done);
            }
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
        self.try_to_settle().await
    }

    /// The same, tried once.
    pub async fn try_to_settle(&self) -> Result<FileCleanup, StoreError> {
        self.alone(settle).await
    }

    /// Removes copies of deleted rows from the file, which remain where SQLite moved rows between pages as they filled. If
    /// single pages cannot be written, the whole file is rewritten. All other writes wait.
    pub async fn remove_copies(&self) -> Result<(), StoreError> {
        self.alone(|connection| if zero_gaps(connection)? { Ok(()) } else { Ok(connection.execute_batch("VACUUM")?) })
            .await
    }

    /// Runs work outside any transaction.
    async fn alone<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (tell, told) = oneshot::channel();
        // The caller may no longer wait.
        let work = Box::new(move |connection: &Connection| drop(tell.send(work(connection))));
        self.work.send(Work::Alone(work)).await.map_err(|_| StoreError::Closed)?;
        told.await.map_err(|_| StoreError::Closed)?
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it can be written, as far as is known: if the last attempt failed, another one is made.
    pub async fn check(&self) -> Result<(), StoreError> {
        self.file.check()?;
        if self.refuses.load(Ordering::Relaxed) {
            self.write(|transaction| transaction.pragma_update(None, "user_version", VERSION)).await?;
        }
        Ok(())
    }

    /// Reads what is durable, concurrently with writes.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        self.try_read(move |connection| Ok(work(connection)?)).await
    }

    /// The same for work that returns store errors.
    pub(super) async fn try_read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (path, readers) = (self.path.clone(), self.readers.clone());
        let turn = self.reading.clone().acquire_owned().await.expect("it is never closed");
        let read = move || {
            let started = Instant::now();
            let idle = readers.lock().expect("readers are never held over a panic").pop();
            let read = idle.map_or_else(|| open_for_reading(&path), Ok).and_then(|connection| {
                let done = work(&connection)?;
                readers.lock().expect("readers are never held over a panic").push(connection);
                Ok(done)
            });
            metrics::histogram!("aizuchi_store_seconds", "store" => "sqlite", "kind" => "read")
                .record(started.elapsed());
            let done = read.inspect_err(|_| count_error())?;
            // The caller may be gone already; the thread was busy nevertheless.
            drop(turn);
            Ok(done)
        };
        tokio::task::spawn_blocking(read).await.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The program is shutting down.
            Err(_) => Err(StoreError::Closed),
        })
    }
}

async fn write_to<T: Send + 'static, E: From<rusqlite::Error> + Into<StoreError> + Send + 'static>(
    queue: &mpsc::Sender<Work>,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, E> + Send + 'static,
) -> Result<T, StoreError> {
    let (tell, told) = oneshot::channel();
    let work: Write = Box::new(move |transaction| {
        let done = transaction.and_then(|transaction| within_savepoint(transaction, "one", work).map_err(Into::into));
        Box::new(move |committed| {
            // The caller may no longer wait; the write is done nevertheless.
            let _ = tell.send(done.and_then(|done| committed.map(|()| done)));
        })
    });
    queue.send(Work::Write(work)).await.map_err(|_| StoreError::Closed)?;
    told.await.map_err(|_| StoreError::Closed)?
}

/// A part of a transaction that fails alone. Nested ones need different names.
pub fn within_savepoint<T, E: From<rusqlite::Error>>(
    transaction: &Transaction<'_>,
    name: &str,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let order = |order: &str| transaction.prepare_cached(&format!("{order} {name}"))?.execute([]).map(drop);
    order("SAVEPOINT")?;
    match work(transaction) {
        Ok(done) => Ok(order("RELEASE").map(|()| done)?),
        Err(error) => {
            // On a full disk SQLite has rolled back the whole transaction, and the savepoint with it.
            let _ = order("ROLLBACK TO").and_then(|()| order("RELEASE"));
            Err(error)
        }
    }
}

async fn write_all(
    mut connection: Connection,
    mut checkpoints: Checkpointer,
    mut queue: mpsc::Receiver<Work>,
    mut later: mpsc::Receiver<Work>,
    refuses: Arc<AtomicBool>,
    file: Arc<OpenedFile>,
) {
    let mut together = Vec::new();
    let (mut open, mut later_open) = (true, true);
    while open || later_open {
        let mut sync = Durability::AtOnce;
        tokio::select! {
            biased;
            count = queue.recv_many(&mut together, TOGETHER_MAX), if open => open = count > 0,
            work = later.recv(), if later_open => {
                later_open = work.is_some();
                together.extend(work);
                sync = Durability::WithTheNext;
            }
        }
        for _ in 0..BEHIND_TOGETHER.max(later.len() / 4) {
            together.extend(later.try_recv().ok());
        }
        let works = std::mem::take(&mut together);
        // On a thread for blocking work, since the disk may be slow.
        let (refuses, file) = (refuses.clone(), file.clone());
        let copy_rest = checkpoints.advance().await;
        let write = move || {
            commit(&mut connection, works, sync, &refuses, &file);
            if copy_rest && let Err(error) = copy_log(&connection) {
                tracing::warn!(%error, "checkpoint failed; the write-ahead log grows until one succeeds");
            }
            connection
        };
        connection = match tokio::task::spawn_blocking(write).await {
            Ok(connection) => connection,
            // The program is shutting down, and nobody waits for it any more.
            Err(error) if error.is_cancelled() => return,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        };
    }
    checkpoints.finish().await;
}

/// When a commit is made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Durability {
    AtOnce,
    /// The log is written in order, so this is durable together with whatever is synced later. Nobody waits for the disk.
    WithTheNext,
}

impl Durability {
    fn prepare(self, connection: &Connection) -> rusqlite::Result<()> {
        let setting = match self {
            Durability::AtOnce => "PRAGMA synchronous = FULL",
            Durability::WithTheNext => "PRAGMA synchronous = NORMAL",
        };
        connection.prepare_cached(setting)?.execute([]).map(drop)
    }
}

fn commit(connection: &mut Connection, works: Vec<Work>, sync: Durability, refuses: &AtomicBool, file: &OpenedFile) {
    let mut alone = Vec::new();
    let mut writes = Vec::new();
    for work in works {
        match work {
            Work::Write(write) => writes.push(write),
            Work::Alone(work) => alone.push(work),
        }
    }
    if !writes.is_empty() {
        let started = Instant::now();
        // Begins as a write transaction: one that reads first and writes later would fail where it could have waited.
        let transaction = sync
            .prepare(connection)
            .and_then(|()| connection.transaction_with_behavior(TransactionBehavior::Immediate))
            .map_err(StoreError::from);
        let within = |write: Write| write(transaction.as_ref().map_err(StoreError::clone).and_then(still_open));
        let told: Vec<WriteCallback> = writes.into_iter().map(within).collect();
        // Data written into a file that nobody can open any more would be lost.
        let committed = transaction.and_then(|transaction| {
            still_open(&transaction)?;
            file.check()?;
            Ok(transaction.commit()?)
        });
        refuses.store(committed.is_err(), Ordering::Relaxed);
        metrics::histogram!("aizuchi_store_seconds", "store" => "sqlite", "kind" => "write").record(started.elapsed());
        if committed.is_err() {
            count_error();
        }
        told.into_iter().for_each(|tell| tell(committed.clone()));
    }
    alone.into_iter().for_each(|work| work(connection));
}

fn count_error() {
    metrics::counter!("aizuchi_store_errors_total", "store" => "sqlite").increment(1);
}

/// If the disk refuses a part of a transaction, SQLite rolls back all of it: what was written before is gone, and what is
/// written afterwards would be committed by itself. Then nothing of it may be.
fn still_open<'a, 'b>(transaction: &'a Transaction<'b>) -> Result<&'a Transaction<'b>, StoreError> {
    match transaction.is_autocommit() {
        true => Err(StoreError::Failed("another write of the same commit failed".into())),
        false => Ok(transaction),
    }
}

/// Does not wait for readers, because all writers would wait along.
fn settle(connection: &Connection) -> Result<FileCleanup, StoreError> {
    connection.busy_timeout(Duration::ZERO)?;
    let checkpoint = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, bool>(0));
    connection.busy_timeout(BUSY_FOR)?;
    match checkpoint {
        Ok(false) => Ok(FileCleanup::Done),
        Ok(true) => Ok(FileCleanup::StillRead),
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {
            Ok(FileCleanup::StillRead)
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use aizuchi_test_servers::folder::Scratch;

    use super::*;

    /// The file of a database, in a folder of its own.
    fn file(name: &str) -> (Scratch, PathBuf) {
        let folder = Scratch::new(name);
        let path = folder.join("aizuchi.db");
        (folder, path)
    }

    fn open_room(name: &'static str) -> impl FnOnce(&Transaction<'_>) -> rusqlite::Result<usize> + Send + 'static {
        move |transaction| transaction.execute("INSERT INTO web_room (name, opened) VALUES (?1, 0)", [name])
    }

    #[tokio::test]
    async fn what_was_deleted_makes_the_file_smaller() {
        let (_folder, path) = file("smaller");
        let database = Database::open(&path).unwrap();
        let fill = |transaction: &Transaction<'_>| {
            let bodies = "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 2000)
                INSERT INTO journal (shard, at, body, sum) SELECT 0, n, hex(zeroblob(500)), 0 FROM number";
            transaction.execute(bodies, []).map(drop)
        };
        database.write(fill).await.unwrap();
        assert_eq!(database.settle().await, Ok(FileCleanup::Done));
        let size = || std::fs::metadata(&path).unwrap().len();
        let filled = size();
        crate::ports::JournalStore::prune(&database, 2000, aizuchi_core::Time(0)).await.unwrap();
        assert_eq!(database.settle().await, Ok(FileCleanup::Done));
        assert!(size() < filled / 2, "{} of {filled} bytes", size());
    }

    #[tokio::test]
    async fn what_fails_fails_alone() {
        let (_folder, path) = file("alone");
        let database = Database::open(&path).unwrap();
        let (first, again, other) = tokio::join!(
            database.write(open_room("lobby")),
            database.write(open_room("lobby")),
            database.write(open_room("garden"))
        );
        assert_eq!((first, other), (Ok(1), Ok(1)));
        assert!(matches!(again, Err(StoreError::Failed(_))), "{again:?}");
        let count = |connection: &Connection| {
            connection.query_row("SELECT count(*) FROM web_room", [], |row| row.get::<_, i64>(0))
        };
        assert_eq!(database.read(count).await, Ok(2));
    }

    #[tokio::test]
    async fn a_log_that_begins_anew_and_grows_is_not_taken_for_another() {
        let (_folder, path) = file("rounds");
        let database = Database::open(&path).unwrap();
        // After a thousand pages the log begins anew; the longer rounds go over the end of those before.
        for size in (1..1_000_usize).map(|number| number * 7_919 % 90_001) {
            let write = move |transaction: &Transaction<'_>| {
                transaction.execute("UPDATE web_counter SET seq = seq + 1", [])?;
                let name = "x".repeat(size);
                transaction.execute("INSERT OR REPLACE INTO web_room (name, opened) VALUES (?1, 0)", [name])
            };
            assert_eq!(database.write(write).await, Ok(1), "{size}");
        }
    }

    #[tokio::test]
    async fn a_log_that_is_read_is_not_taken_for_empty() {
        let (_folder, path) = file("settled");
        let database = Database::open(&path).unwrap();
        database.write(open_room("quokkas")).await.unwrap();
        let reader = open_for_reading(&path).unwrap();
        reader.execute_batch("BEGIN").unwrap();
        reader.query_row("SELECT count(*) FROM web_room", [], |row| row.get::<_, i64>(0)).unwrap();
        database.write(|transaction| transaction.execute("DELETE FROM web_room", [])).await.unwrap();
        let holds = || {
            let files = [path.clone(), path.with_extension("db-wal")].map(|path| std::fs::read(path).unwrap());
            files.iter().any(|bytes| bytes.windows(7).any(|part| part == b"quokkas"))
        };
        assert_eq!(database.settle().await, Ok(FileCleanup::StillRead));
        assert!(holds(), "it is still there");
        drop(reader);
        assert_eq!(database.settle().await, Ok(FileCleanup::Done));
        assert!(!holds(), "it is gone");
    }

    #[tokio::test]
    async fn a_newer_file_is_refused_and_left_as_it_is() {
        let (_folder, path) = file("newer");
        drop(Database::open(&path).unwrap());
        let connection = Connection::open(&path).unwrap();
        connection.pragma_update(None, "user_version", VERSION + 1).unwrap();
        drop(connection);
        let refused = Database::open(&path).err();
        assert_eq!(refused, Some(StoreError::Newer { found: VERSION + 1, newest: VERSION }));
        assert_eq!(open_for_reading(&path).err(), Some(StoreError::Newer { found: VERSION + 1, newest: VERSION }));
    }

    /// What is there was not refused, and what was refused is not there.
    #[tokio::test]
    async fn what_is_written_together_is_all_there_or_nothing_is() {
        let (_folder, path) = file("together");
        let mut connection = open_for_writing(&path).unwrap();
        let pages: u32 = connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        connection.pragma_update(None, "max_page_count", pages).unwrap();
        let (queue, mut waiting) = mpsc::channel(3);
        let large = |transaction: &Transaction<'_>| {
            transaction.execute("INSERT INTO web_room (name, opened) VALUES (?1, 0)", ["x".repeat(100_000)])
        };
        let together = async {
            let mut works = Vec::new();
            while works.len() < 3 {
                works.push(waiting.recv().await.unwrap());
            }
            commit(&mut connection, works, Durability::AtOnce, &AtomicBool::new(false), &OpenedFile::at(&path));
        };
        let (before, refused, after, ()) = tokio::join!(
            write_to(&queue, open_room("lobby")),
            write_to(&queue, large),
            write_to(&queue, open_room("garden")),
            together
        );
        assert!(matches!(refused, Err(StoreError::Full(_))), "{refused:?}");
        let is_there = |room: &str| {
            let mut statement = connection.prepare("SELECT 1 FROM web_room WHERE name = ?1").unwrap();
            statement.exists([room]).unwrap()
        };
        assert_eq!((before.is_ok(), after.is_ok()), (is_there("lobby"), is_there("garden")), "{before:?} {after:?}");
    }

    #[tokio::test]
    async fn a_full_disk_is_told_and_passes() {
        let (_folder, path) = file("full");
        let mut connection = open_for_writing(&path).unwrap();
        let pages: u32 = connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
        connection.pragma_update(None, "max_page_count", pages).unwrap();
        let fill = |connection: &mut Connection| {
            let transaction = connection.transaction().unwrap();
            let done = within_savepoint(&transaction, "one", |transaction| {
                transaction.execute("INSERT INTO web_room (name, opened) VALUES (?1, 0)", ["x".repeat(100_000)])
            });
            done.map_err(StoreError::from).and_then(|rows| Ok(transaction.commit().map(|()| rows)?))
        };
        assert!(matches!(fill(&mut connection), Err(StoreError::Full(_))));
        connection.pragma_update(None, "max_page_count", pages + 1000).unwrap();
        assert_eq!(fill(&mut connection), Ok(1));
    }
}
