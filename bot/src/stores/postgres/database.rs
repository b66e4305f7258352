//! A PostgreSQL database: one connection that writes and commits in groups, and up to eight that read.
//!
//! - **One writer.** Records get their numbers in the order in which they are committed, so one connection writes everything. It
//!   holds an advisory lock: a second program on the same database is refused.
//! - **Group commit.** The writer takes all that waits and runs it in one transaction, in one round trip where no part has to wait for
//!   an answer of the server. If anything is refused, each part runs again in a savepoint of its own, so that an error undoes that
//!   part alone. `Ok` means committed, and durable as far as the server's `synchronous_commit` says.
//! - **Lost connections.** Each group writes its own number (`store_writer`). If the connection is lost during a commit, nobody
//!   knows whether it took place; the writer connects again, waits until the old session has ended, and reads that number.
//!   Then the group is done, or it is run again. So a failover neither loses a record nor stores it twice. A server whose last
//!   group is neither the one in doubt nor the one before it is not the one that was written to, and is not used.
//! - **Outages.** A write or a read waits a few seconds, and then fails because the store is unavailable. Only a group
//!   that may have been committed waits for as long as it takes.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio_postgres::Row;

use super::connection::{OwnedValue, PgConnection};
use super::error::{PgError, PgResult};
use super::memory::{INDEXED_FROM, VectorIndexer};
use super::migrations::{self, VERSION};
use super::session::{Session, WriterScope, check_encoding, check_owner, check_pooler, find_newest};
use super::target::PgTarget;
use super::work::{StatementWrite, WriteRequest, write_statement_to, write_to};
use super::writer::{PgWriter, write_all};
use crate::stores::StoreError;

/// Cheap to clone.
#[derive(Clone)]
pub struct PostgresDatabase {
    work: mpsc::Sender<WriteRequest>,
    /// What may be written later.
    behind: mpsc::Sender<WriteRequest>,
    target: PgTarget,
    /// The server of the writer. Others may accept reads, and know less.
    server: Arc<Mutex<PgTarget>>,
    /// Beside which the shell puts small notes of its own.
    notes: Arc<Path>,
    readers: Arc<Mutex<Vec<PgConnection>>>,
    reading: Arc<Semaphore>,
    /// `None` where nothing is written.
    indexer: Option<VectorIndexer>,
    scope: WriterScope,
    /// Whether what was to be written last could not be, and whether that is being tried again.
    refuses: Arc<AtomicBool>,
    probing: Arc<AtomicBool>,
}

/// Writes that may wait; beyond that callers wait.
const WAITING_MAX: usize = 4096;
/// Reads at the same time.
const READERS_MAX: usize = 8;
/// How long a caller waits for a server that does not answer.
pub const OUTAGE_WAITED: Duration = Duration::from_secs(3);
pub const CONNECT_AGAIN: Duration = Duration::from_millis(200);

impl PostgresDatabase {
    /// Connects, brings the tables up to date, and takes the lock. `notes` is beside which the shell may put small notes. Must be
    /// called inside a tokio runtime.
    pub async fn open(target: PgTarget, notes: PathBuf) -> Result<PostgresDatabase, StoreError> {
        PostgresDatabase::open_as(WriterScope::Alone, target, notes, INDEXED_FROM).await
    }

    /// The same where places get an index of vectors sooner or later than usual.
    #[cfg(test)]
    pub async fn open_indexing_from(
        indexed_from: u32,
        target: PgTarget,
        notes: PathBuf,
    ) -> Result<PostgresDatabase, StoreError> {
        PostgresDatabase::open_as(WriterScope::Alone, target, notes, indexed_from).await
    }

    /// The same for one process of a cluster: others may write at the same time, and a program that runs alone may not.
    #[cfg(feature = "cluster")]
    pub async fn open_among_others(target: PgTarget, notes: PathBuf) -> Result<PostgresDatabase, StoreError> {
        let mut number = [0; 8];
        let random = ring::rand::SystemRandom::new();
        ring::rand::SecureRandom::fill(&random, &mut number)
            .map_err(|_| StoreError::Failed("the system has no random numbers".into()))?;
        let scope = WriterScope::Among(i64::from_le_bytes(number));
        PostgresDatabase::open_as(scope, target, notes, INDEXED_FROM).await
    }

    async fn open_as(
        scope: WriterScope,
        target: PgTarget,
        notes: PathBuf,
        indexed_from: u32,
    ) -> Result<PostgresDatabase, StoreError> {
        let wanted = target.clone();
        let open = move || {
            let session = Session::connect(&wanted)?;
            check_encoding(session.connection(), &wanted)?;
            let reader = PgConnection::connect(session.server(), "aizuchi reader")?;
            // Before it is locked: a pooler would keep the lock.
            check_pooler(session.connection(), &reader)?;
            check_owner(session.connection(), &wanted)?;
            session.lock(scope)?;
            migrations::migrate(session.connection())?;
            #[cfg(feature = "cluster")]
            if scope != WriterScope::Alone {
                super::cluster::prepare(session.connection())?;
            }
            let last_batch = session.last_batch(scope)?;
            Ok::<_, PgError>((session, reader, last_batch))
        };
        let (session, reader, last_batch) = on_a_thread(open).await??;
        let ((work, queue), (behind, later)) = (mpsc::channel(WAITING_MAX), mpsc::channel(WAITING_MAX));
        let refuses = Arc::<AtomicBool>::default();
        let server = Arc::new(Mutex::new(session.server().clone()));
        let writer = PgWriter {
            target: target.clone(),
            scope,
            session: Some(session),
            server: server.clone(),
            last_batch,
            refuses: refuses.clone(),
            stale_logged: false,
        };
        tokio::spawn(write_all(writer, queue, later));
        let indexer = VectorIndexer::start(server.clone(), indexed_from);
        Ok(PostgresDatabase {
            work,
            behind,
            target,
            server,
            indexer: Some(indexer),
            notes: notes.into(),
            readers: Arc::new(Mutex::new(vec![reader])),
            reading: Arc::new(Semaphore::new(READERS_MAX)),
            scope,
            refuses,
            probing: Arc::default(),
        })
    }

    /// To look into a database that another program may be writing: whatever is written is refused as if it were closed.
    pub async fn open_to_read(target: PgTarget, notes: PathBuf) -> Result<PostgresDatabase, StoreError> {
        let wanted = target.clone();
        let open = move || {
            let server = find_newest(&wanted)?;
            let reader = PgConnection::connect(&server, "aizuchi reader")?;
            check_encoding(&reader, &server)?;
            match migrations::version(&reader)? {
                found if found > VERSION => Err(PgError::Final(StoreError::Newer { found, newest: VERSION })),
                _ => Ok((server, reader)),
            }
        };
        let (server, reader) = on_a_thread(open).await??;
        let ((work, _), (behind, _)) = (mpsc::channel(1), mpsc::channel(1));
        Ok(PostgresDatabase {
            work,
            behind,
            server: Arc::new(Mutex::new(server)),
            target,
            notes: notes.into(),
            readers: Arc::new(Mutex::new(vec![reader])),
            reading: Arc::new(Semaphore::new(READERS_MAX)),
            indexer: None,
            scope: WriterScope::Alone,
            refuses: Arc::default(),
            probing: Arc::default(),
        })
    }

    /// Where it is, without a password.
    pub fn display_name(&self) -> &str {
        self.target.display_name()
    }

    /// The server that is written to.
    pub fn server(&self) -> PgTarget {
        self.server.lock().expect("it is only assigned").clone()
    }

    /// Whether the states of rooms are kept elsewhere, so that no start needs a record.
    pub fn is_shared(&self) -> bool {
        self.scope != WriterScope::Alone
    }

    /// Has what could not be indexed meanwhile indexed now.
    pub fn index_again(&self) {
        if let Some(indexer) = &self.indexer {
            indexer.wake();
        }
    }

    pub fn notes(&self) -> &Path {
        &self.notes
    }

    /// Writes, together with whatever else wants to be written now, and returns when it is committed. Fails alone. What is given
    /// may run several times, until one time is committed.
    pub async fn write<T: Send + 'static>(
        &self,
        work: impl FnMut(&PgConnection) -> PgResult<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        write_to(&self.work, work).await
    }

    /// The same for one statement, which costs no round trip of its own.
    pub async fn write_statement<T: Send + 'static>(
        &self,
        write: StatementWrite<impl Fn() -> Vec<OwnedValue> + Send + 'static, impl Fn(&[Row]) -> T + Send + 'static>,
    ) -> Result<T, StoreError> {
        write_statement_to(&self.work, write).await
    }

    /// The same for what nobody is kept waiting by.
    pub async fn write_behind<T: Send + 'static>(
        &self,
        work: impl FnMut(&PgConnection) -> PgResult<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        write_to(&self.behind, work).await
    }

    /// What no transaction may hold. Whatever else is to be written waits.
    pub async fn alone<T: Send + 'static>(
        &self,
        work: impl FnOnce(&PgConnection) -> PgResult<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (tell, told) = oneshot::channel();
        let work = Box::new(move |connection: PgResult<&PgConnection>| {
            // Nobody may be waiting any more.
            let _ = tell.send(connection.and_then(work).map_err(StoreError::from));
        });
        self.work.send(WriteRequest::Alone(work)).await.map_err(|_| StoreError::Closed)?;
        told.await.map_err(|_| StoreError::Closed)?
    }

    /// Reads what is committed, beside whatever is being written. What is given may run several times.
    pub async fn read<T: Send + 'static>(
        &self,
        work: impl Fn(&PgConnection) -> PgResult<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (server, readers) = (self.server.clone(), self.readers.clone());
        let turn = self.reading.clone().acquire_owned().await.expect("it is never closed");
        let read = move || {
            let started = Instant::now();
            let done = read_until_done(&server, &readers, &work);
            metrics::histogram!("aizuchi_store_seconds", "store" => "postgres", "kind" => "read")
                .record(started.elapsed().as_secs_f64());
            // The caller may be gone by now; the thread was busy nevertheless.
            drop(turn);
            done
        };
        on_a_thread(read).await?
    }

    /// Whether it can be written, as far as is known: where the last attempt failed, there is another one.
    pub async fn check(&self) -> Result<(), StoreError> {
        let used = READERS_MAX - self.reading.available_permits();
        metrics::gauge!("aizuchi_store_readers_in_use", "store" => "postgres").set(used as f64);
        if !self.refuses.load(Ordering::Relaxed) {
            return Ok(());
        }
        // The caller wants to know at once; whether it can be written again is found out meanwhile.
        if !self.probing.swap(true, Ordering::Relaxed) {
            let database = self.clone();
            tokio::spawn(async move {
                // A row of a table that grows finds a full disk; that it is gone again is part of the same commit.
                let probe = |connection: &PgConnection| {
                    connection.batch(
                        "INSERT INTO journal (seq, shard, at, body, sum) VALUES (-1, 0, 0, '', 0); DELETE FROM journal WHERE seq = -1",
                    )
                };
                let _ = database.write(probe).await;
                database.probing.store(false, Ordering::Relaxed);
            });
        }
        Err(StoreError::Unavailable(format!("{} could not be written to last", self.display_name())))
    }
}

/// Runs what blocks. The program may be ending.
pub async fn on_a_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work).await.or_else(|error| match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(_) => Err(StoreError::Closed),
    })
}

fn read_until_done<T>(
    server: &Mutex<PgTarget>,
    readers: &Mutex<Vec<PgConnection>>,
    work: &dyn Fn(&PgConnection) -> PgResult<T>,
) -> Result<T, StoreError> {
    let give_up = Instant::now() + OUTAGE_WAITED;
    loop {
        let server = server.lock().expect("it is only assigned").clone();
        let idle = readers.lock().expect("readers are never held over a panic").pop();
        let connection = idle.filter(|idle| !idle.is_closed() && idle.server() == server.display_name());
        let connection = connection.map_or_else(|| PgConnection::connect(&server, "aizuchi reader"), Ok);
        let done = connection.and_then(|connection| {
            let done = work(&connection);
            if !matches!(done, Err(PgError::Lost(_))) {
                readers.lock().expect("readers are never held over a panic").push(connection);
            }
            done
        });
        match done {
            Err(error) if error.is_passing() && Instant::now() < give_up => {
                metrics::counter!("aizuchi_store_retries_total", "store" => "postgres", "kind" => "read").increment(1);
                std::thread::sleep(CONNECT_AGAIN);
            }
            done => return done.map_err(StoreError::from),
        }
    }
}
