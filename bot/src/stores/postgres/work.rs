//! What is to be written: it waits for the writer, which runs it until it is committed and tells its callers.

use tokio::sync::{mpsc, oneshot};
use tokio_postgres::Row;

use super::connection::{LaterRows, OwnedValue, PgConnection};
use super::error::PgResult;
use crate::stores::StoreError;

/// Something to be written, perhaps several times until it is committed.
pub trait PgWork: Send {
    /// `Err` where the whole transaction has to be tried again.
    fn attempt(&mut self, connection: &PgConnection) -> PgResult<()>;

    /// Whether it alone was refused because the disk is full, which may well be true of the next ones.
    fn found_disk_full(&self) -> bool;

    fn finish(self: Box<Self>, committed: Result<(), StoreError>);
}

pub enum WriteRequest {
    Write(Box<dyn PgWork>),
    /// What no transaction may hold.
    Alone(AloneWork),
}

type AloneWork = Box<dyn FnOnce(PgResult<&PgConnection>) + Send>;

struct PendingWrite<T, F> {
    work: F,
    done: Option<Result<T, StoreError>>,
    tell: oneshot::Sender<Result<T, StoreError>>,
}

impl<T: Send, F: FnMut(&PgConnection) -> PgResult<T> + Send> PgWork for PendingWrite<T, F> {
    fn attempt(&mut self, connection: &PgConnection) -> PgResult<()> {
        let work = &mut self.work;
        match connection.savepoint("one", || work(connection)) {
            Err(error) if error.is_passing() => Err(error),
            done => {
                self.done = Some(done.map_err(StoreError::from));
                Ok(())
            }
        }
    }

    fn found_disk_full(&self) -> bool {
        matches!(self.done, Some(Err(StoreError::Full(_))))
    }

    fn finish(self: Box<Self>, committed: Result<(), StoreError>) {
        let PendingWrite { done, tell, .. } = *self;
        // Nobody may be waiting any more: what was to be written is written nevertheless.
        let _ = tell.send(committed.and_then(|()| done.unwrap_or(Err(StoreError::Closed))));
    }
}

/// A write that is one statement. It leaves together with the rest of its group.
pub struct StatementWrite<V, R> {
    pub statement: &'static str,
    pub values: V,
    /// What its rows say.
    pub read: R,
}

struct PendingStatement<T, V, R> {
    write: StatementWrite<V, R>,
    sent: Option<Result<LaterRows, StoreError>>,
    tell: oneshot::Sender<Result<T, StoreError>>,
}

impl<T: Send, V: Fn() -> Vec<OwnedValue> + Send, R: Fn(&[Row]) -> T + Send> PgWork for PendingStatement<T, V, R> {
    fn attempt(&mut self, connection: &PgConnection) -> PgResult<()> {
        let StatementWrite { statement, values, .. } = &self.write;
        match connection.savepoint("one", || connection.query_later(statement, values())) {
            Err(error) if error.is_passing() => Err(error),
            sent => {
                self.sent = Some(sent.map_err(StoreError::from));
                Ok(())
            }
        }
    }

    fn found_disk_full(&self) -> bool {
        matches!(self.sent, Some(Err(StoreError::Full(_))))
    }

    fn finish(self: Box<Self>, committed: Result<(), StoreError>) {
        let PendingStatement { write, sent, tell } = *self;
        let sent = committed.and_then(|()| sent.unwrap_or(Err(StoreError::Closed)));
        let rows = sent.and_then(|later| later.get().map(|rows| (write.read)(rows)).ok_or(StoreError::Closed));
        // Nobody may be waiting any more.
        let _ = tell.send(rows);
    }
}

pub async fn write_statement_to<T: Send + 'static>(
    queue: &mpsc::Sender<WriteRequest>,
    write: StatementWrite<impl Fn() -> Vec<OwnedValue> + Send + 'static, impl Fn(&[Row]) -> T + Send + 'static>,
) -> Result<T, StoreError> {
    let (tell, told) = oneshot::channel();
    let pending = PendingStatement { write, sent: None, tell };
    queue.send(WriteRequest::Write(Box::new(pending))).await.map_err(|_| StoreError::Closed)?;
    told.await.map_err(|_| StoreError::Closed)?
}

pub async fn write_to<T: Send + 'static>(
    queue: &mpsc::Sender<WriteRequest>,
    work: impl FnMut(&PgConnection) -> PgResult<T> + Send + 'static,
) -> Result<T, StoreError> {
    let (tell, told) = oneshot::channel();
    let pending = PendingWrite { work, done: None, tell };
    queue.send(WriteRequest::Write(Box::new(pending))).await.map_err(|_| StoreError::Closed)?;
    told.await.map_err(|_| StoreError::Closed)?
}
