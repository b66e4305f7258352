//! The connection that writes: it commits in groups, and finds out what became of a commit whose answer was lost.
//!
//! [`write_all`] takes everything that waits, and commits it in one transaction; each piece has a savepoint, so that one that fails does not
//! take the others along. What may be written later has a queue of its own, of which each group gets a few.
//!
//! Every group has a number, which its transaction writes too. If the connection is lost during the commit, nobody knows whether it
//! took place: the writer connects again and reads the number under the lock (`was_committed`). If it is there, the group is done;
//! if not, it is run again, so work must give the same result when it is repeated. After an outage of `OUTAGE_WAITED` the group fails.
//! A server that lacks the last number is not written to: it has lost what was acknowledged ([`PgError::Stale`]).

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;

use super::connection::PgConnection;
use super::database::{CONNECT_AGAIN, OUTAGE_WAITED};
use super::error::{PgError, PgResult};
use super::session::{Session, SessionId, WriterScope};
use super::target::PgTarget;
use super::work::{PgWork, WriteRequest};
use crate::stores::StoreError;

/// Writes committed together.
const TOGETHER_MAX: usize = 1024;
/// Of these, so many that may be written later, or a quarter of them where more wait.
const BEHIND_TOGETHER: usize = 4;
/// Attempts at a transaction that others were in the way of.
const ATTEMPTS_MAX: u32 = 20;

pub async fn write_all(
    mut writer: PgWriter,
    mut queue: mpsc::Receiver<WriteRequest>,
    mut later: mpsc::Receiver<WriteRequest>,
) {
    let mut together = Vec::new();
    let (mut open, mut later_open) = (true, true);
    while open || later_open {
        tokio::select! {
            biased;
            count = queue.recv_many(&mut together, TOGETHER_MAX), if open => open = count > 0,
            order = later.recv(), if later_open => {
                later_open = order.is_some();
                together.extend(order);
            }
        }
        for _ in 0..BEHIND_TOGETHER.max(later.len() / 4) {
            together.extend(later.try_recv().ok());
        }
        let orders = std::mem::take(&mut together);
        let write = move || {
            writer.carry_out(orders);
            writer
        };
        writer = match tokio::task::spawn_blocking(write).await {
            Ok(writer) => writer,
            // The program is ending, and nobody waits for it any more.
            Err(error) if error.is_cancelled() => return,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        };
    }
}

pub struct PgWriter {
    pub target: PgTarget,
    pub scope: WriterScope,
    /// `None` while there is no connection.
    pub session: Option<Session>,
    /// The server of the session, from which is read too.
    pub server: Arc<Mutex<PgTarget>>,
    /// The number of the group that was committed last.
    pub last_batch: u64,
    /// Whether what was to be written last could not be.
    pub refuses: Arc<AtomicBool>,
    /// Whether it was logged that there is only a server without what was committed.
    pub stale_logged: bool,
}

/// Whether a group was committed, where that cannot be known before there is a connection again.
enum GroupError {
    /// It was not.
    Before(PgError),
    InDoubt(PgError),
}

impl PgWriter {
    fn carry_out(&mut self, orders: Vec<WriteRequest>) {
        let (mut alone, mut works) = (Vec::new(), Vec::new());
        for order in orders {
            match order {
                WriteRequest::Write(work) => works.push(work),
                WriteRequest::Alone(work) => alone.push(work),
            }
        }
        if !works.is_empty() {
            let started = Instant::now();
            let committed = self.commit(&mut works);
            metrics::histogram!("aizuchi_store_seconds", "store" => "postgres", "kind" => "write")
                .record(started.elapsed().as_secs_f64());
            let is_full = works.iter().any(|work| work.found_disk_full());
            self.refuses.store(committed.is_err() || is_full, Ordering::Relaxed);
            works.into_iter().for_each(|work| work.finish(committed.clone()));
        }
        for work in alone {
            work(self.connected(Instant::now() + OUTAGE_WAITED).map(Session::connection));
        }
    }

    /// Runs all of it until it is committed.
    fn commit(&mut self, works: &mut [Box<dyn PgWork>]) -> Result<(), StoreError> {
        let give_up = Instant::now() + OUTAGE_WAITED;
        let (batch, scope) = (next_batch(self.last_batch), self.scope);
        for attempt in 1.. {
            let error = match self.connected(give_up).map(Session::connection) {
                Ok(connection) => match run_group(connection, works, batch, scope) {
                    Ok(()) => {
                        self.last_batch = batch;
                        return Ok(());
                    }
                    Err(GroupError::InDoubt(error)) => {
                        if self.was_committed(batch, &error)? {
                            return Ok(());
                        }
                        error
                    }
                    Err(GroupError::Before(error)) => error,
                },
                Err(error) => error,
            };
            self.refuses.store(true, Ordering::Relaxed);
            metrics::counter!("aizuchi_store_retries_total", "store" => "postgres", "kind" => "write").increment(1);
            let may_again = match &error {
                PgError::Final(_) => false,
                PgError::Lost(_) | PgError::Stale(_) => Instant::now() < give_up,
                PgError::Again(_) => attempt < ATTEMPTS_MAX,
            };
            if !may_again {
                metrics::counter!("aizuchi_store_errors_total", "store" => "postgres").increment(1);
                return Err(error.into());
            }
            std::thread::sleep(Duration::from_millis(u64::from(attempt.min(20)) * 10));
        }
        unreachable!("it is tried until it is done")
    }

    /// The session, after connecting again where that is needed.
    fn connected(&mut self, give_up: Instant) -> PgResult<&Session> {
        self.connected_after(&[self.last_batch], give_up)
    }

    /// The same where one of these groups may be the last that was committed.
    fn connected_after(&mut self, last_batches: &[u64], give_up: Instant) -> PgResult<&Session> {
        if self.session.as_ref().is_none_or(|session| session.connection().is_closed()) {
            let before = self.session.take().map(|session| session.id());
            self.session = Some(self.connect_again(before, last_batches, give_up)?);
        }
        Ok(self.session.as_ref().expect("it was just opened"))
    }

    fn connect_again(
        &mut self,
        before: Option<SessionId>,
        last_batches: &[u64],
        give_up: Instant,
    ) -> PgResult<Session> {
        self.refuses.store(true, Ordering::Relaxed);
        loop {
            let error = match Session::resume(&self.target, self.scope, before.as_ref(), last_batches) {
                Ok(session) => {
                    tracing::info!(server = session.server().display_name(), "connected to PostgreSQL again");
                    self.stale_logged = false;
                    *self.server.lock().expect("it is only assigned") = session.server().clone();
                    return Ok(session);
                }
                Err(error) => error,
            };
            if let PgError::Stale(what) = &error
                && !std::mem::replace(&mut self.stale_logged, true)
            {
                tracing::error!(error = %what, "the server is missing committed data; nothing is stored until one that has it is back");
            }
            if !error.is_passing() || Instant::now() >= give_up {
                return Err(error);
            }
            std::thread::sleep(CONNECT_AGAIN);
        }
    }

    /// Whether the group of this number was committed, found out however long it takes: otherwise the caller would store it
    /// twice.
    fn was_committed(&mut self, batch: u64, cause: &PgError) -> Result<bool, StoreError> {
        let told = StoreError::from(cause.clone());
        tracing::warn!(error = %told, "the connection was lost during a commit; finding out whether it took place");
        loop {
            let (last_batches, scope) = ([self.last_batch, batch], self.scope);
            let session = self.connected_after(&last_batches, Instant::now());
            match session.and_then(|session| session.last_batch(scope)) {
                Ok(last) => {
                    self.last_batch = last;
                    return Ok(last == batch);
                }
                Err(error) if error.is_passing() => std::thread::sleep(CONNECT_AGAIN),
                // Somebody else holds the lock now: nothing can be known any more, and nothing may be written.
                Err(error) => {
                    let error = StoreError::from(error);
                    tracing::error!(%error, "cannot find out whether a commit took place");
                    return Err(StoreError::Closed);
                }
            }
        }
    }
}

/// A number that no other group has, also of another program. It is later than that of the last one whatever the clock says:
/// the server with the latest has everything.
fn next_batch(last: u64) -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    let micros = jiff::Timestamp::now().as_microsecond().cast_unsigned();
    LAST.fetch_max(micros.max(last), Ordering::Relaxed);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

/// In a hurry first, where everything that nobody waits for leaves with the COMMIT: what is refused then is found out by running it again, each write with a savepoint.
fn run_group(
    connection: &PgConnection,
    works: &mut [Box<dyn PgWork>],
    batch: u64,
    scope: WriterScope,
) -> Result<(), GroupError> {
    connection.set_hurried(true);
    let hurried = try_group(connection, works, batch, scope);
    let was_refused = connection.was_refused() || matches!(&hurried, Err(GroupError::Before(PgError::Final(_))));
    connection.set_hurried(false);
    if was_refused { try_group(connection, works, batch, scope) } else { hurried }
}

fn try_group(
    connection: &PgConnection,
    works: &mut [Box<dyn PgWork>],
    batch: u64,
    scope: WriterScope,
) -> Result<(), GroupError> {
    let run = |works: &mut [Box<dyn PgWork>]| {
        connection.batch_later(begin(scope))?;
        works.iter_mut().try_for_each(|work| work.attempt(connection))?;
        connection.execute_later(&note_batch(scope), vec![Box::new(batch.cast_signed())])
    };
    let refused = run(works).err().or_else(|| connection.was_refused().then(refused_in_a_hurry));
    if let Some(error) = refused {
        roll_back(connection);
        return Err(GroupError::Before(error));
    }
    match connection.batch("COMMIT") {
        Ok(()) => Ok(()),
        Err(error @ PgError::Lost(_)) => Err(GroupError::InDoubt(error)),
        // The server said that it did not commit.
        Err(error) => {
            roll_back(connection);
            Err(GroupError::Before(error))
        }
    }
}

fn refused_in_a_hurry() -> PgError {
    PgError::Final(StoreError::Failed("something in the group was refused".into()))
}

/// Where the connection is gone, so is the transaction.
fn roll_back(connection: &PgConnection) {
    connection.drop_deferred();
    let _ = connection.batch("ROLLBACK");
}

/// Records get their numbers in the order in which they are committed, also where several processes write.
fn begin(scope: WriterScope) -> &'static str {
    match scope {
        WriterScope::Alone => "BEGIN",
        #[cfg(feature = "cluster")]
        WriterScope::Among(_) => {
            "BEGIN; SET LOCAL idle_in_transaction_session_timeout = '5s'; SELECT pg_advisory_xact_lock(7019276138831178035)"
        }
    }
}

fn note_batch(scope: WriterScope) -> String {
    match scope {
        WriterScope::Alone => "UPDATE store_writer SET batch = $1".into(),
        #[cfg(feature = "cluster")]
        WriterScope::Among(process) => format!(
            "INSERT INTO cluster_writer (process, batch) VALUES ({process}, $1)
            ON CONFLICT (process) DO UPDATE SET batch = excluded.batch, began = excluded.began"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_set_back_does_not_make_a_later_group_look_earlier() {
        let by_a_clock_ahead = u64::MAX >> 2;
        assert!(next_batch(by_a_clock_ahead) > by_a_clock_ahead);
        assert!(next_batch(0) > 0);
    }
}
