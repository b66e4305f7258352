//! One connection, used from a thread that may block.
//!
//! The adapter is written as plain functions over a connection, like SQLite's: a transaction reads, decides and writes
//! without anything else in between. So each connection has a small runtime of its own, which runs only while its thread
//! waits for a response. Statements are prepared once, and independent ones are sent together ([`PgConnection::pipeline`]):
//! they cost one round trip.
//!
//! A group of writes is first tried in a hurry ([`PgConnection::set_hurried`]): no savepoints, and a statement whose result nobody
//! needs before the commit ([`PgConnection::execute_later`], [`PgConnection::query_later`]) leaves with the next one that is waited
//! for. So a group of nothing else, such as records of the journal, is one round trip from BEGIN to COMMIT. If anything in it is refused, nobody can tell
//! by whose fault, so the writer rolls the group back and runs it again without hurry, where each write fails alone.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, OnceLock};

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row, SimpleQueryMessage, Statement};

use super::error::{PgError, PgResult};
use super::target::PgTarget;
use crate::stores::StoreError;

pub type Value<'a> = &'a (dyn ToSql + Sync);

/// A value of a statement that is sent later.
pub type OwnedValue = Box<dyn ToSql + Sync + Send>;

/// A statement that leaves with the next one that is waited for.
enum Deferred {
    Batch(String),
    Execute(Statement, Vec<OwnedValue>),
    Query(Statement, Vec<OwnedValue>, LaterRows),
}

/// The rows of a statement that was sent later; there once the transaction was committed.
pub type LaterRows = Arc<OnceLock<Vec<Row>>>;

pub struct PgConnection {
    /// Only `None` during drop.
    runtime: Option<Runtime>,
    client: Client,
    /// The server, for display.
    server: Arc<str>,
    statements: RefCell<HashMap<String, Statement>>,
    is_hurried: Cell<bool>,
    /// Whether something was refused that a savepoint would have kept from the rest.
    was_refused: Cell<bool>,
    deferred: RefCell<Vec<Deferred>>,
}

impl PgConnection {
    /// Must be called on a thread that may block.
    pub fn connect(target: &PgTarget, purpose: &str) -> PgResult<PgConnection> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| PgError::Final(StoreError::Failed(error.to_string())))?;
        let connected = runtime.block_on(target.connect(purpose));
        let (client, driver) = match connected {
            Ok(connected) => connected,
            Err(error) => {
                runtime.shutdown_background();
                return Err(error);
            }
        };
        runtime.spawn(driver);
        let connection = PgConnection {
            runtime: Some(runtime),
            client,
            server: target.display_name().into(),
            statements: RefCell::default(),
            is_hurried: Cell::default(),
            was_refused: Cell::default(),
            deferred: RefCell::default(),
        };
        // What an operator set for people at a terminal is not meant for us, but for the limit on the time of a statement.
        connection
            .batch("SET standard_conforming_strings = on; SET default_transaction_isolation = 'read committed'")?;
        Ok(connection)
    }

    pub fn server(&self) -> &str {
        &self.server
    }

    pub fn wait<F: Future>(&self, work: F) -> F::Output {
        self.runtime.as_ref().expect("it lives as long as the connection").block_on(work)
    }

    fn statement(&self, query: &str) -> PgResult<Statement> {
        if let Some(known) = self.statements.borrow().get(query) {
            return Ok(known.clone());
        }
        let prepared = self.wait(self.client.prepare(query))?;
        self.statements.borrow_mut().insert(query.to_owned(), prepared.clone());
        Ok(prepared)
    }

    pub fn query(&self, query: &str, values: &[Value<'_>]) -> PgResult<Vec<Row>> {
        let statement = self.statement(query)?;
        self.after_deferred(async || self.client.query(&statement, values).await)
    }

    /// The first row.
    pub fn first(&self, query: &str, values: &[Value<'_>]) -> PgResult<Option<Row>> {
        Ok(self.query(query, values)?.into_iter().next())
    }

    /// The only row of a query that always has one.
    pub fn one(&self, query: &str, values: &[Value<'_>]) -> PgResult<Row> {
        let none = || PgError::Final(StoreError::Failed(format!("no row for {query}")));
        self.first(query, values)?.ok_or_else(none)
    }

    pub fn execute(&self, query: &str, values: &[Value<'_>]) -> PgResult<u64> {
        let statement = self.statement(query)?;
        self.after_deferred(async || self.client.execute(&statement, values).await)
    }

    /// A statement whose result nobody needs; in a hurry it is sent with the next one that is waited for.
    pub fn execute_later(&self, query: &str, values: Vec<OwnedValue>) -> PgResult<()> {
        if self.is_hurried.get() {
            let statement = self.statement(query)?;
            self.deferred.borrow_mut().push(Deferred::Execute(statement, values));
            return Ok(());
        }
        let values: Vec<Value<'_>> = values.iter().map(|value| &**value as Value<'_>).collect();
        self.execute(query, &values).map(drop)
    }

    /// A statement whose rows nobody needs before the transaction was committed.
    pub fn query_later(&self, query: &str, values: Vec<OwnedValue>) -> PgResult<LaterRows> {
        let rows = LaterRows::default();
        if self.is_hurried.get() {
            let statement = self.statement(query)?;
            self.deferred.borrow_mut().push(Deferred::Query(statement, values, rows.clone()));
            return Ok(rows);
        }
        let values: Vec<Value<'_>> = values.iter().map(|value| &**value as Value<'_>).collect();
        // It is new.
        let _ = rows.set(self.query(query, &values)?);
        Ok(rows)
    }

    /// The same of statements without values.
    pub fn batch_later(&self, statements: &str) -> PgResult<()> {
        if self.is_hurried.get() {
            self.deferred.borrow_mut().push(Deferred::Batch(statements.to_owned()));
            return Ok(());
        }
        self.batch(statements)
    }

    /// Whether what follows is tried without savepoints. What was deferred before is dropped.
    pub fn set_hurried(&self, hurried: bool) {
        self.is_hurried.set(hurried);
        self.was_refused.set(false);
        self.drop_deferred();
    }

    /// What was not sent yet never is.
    pub fn drop_deferred(&self) {
        self.deferred.borrow_mut().clear();
    }

    /// Whether the group that is tried in a hurry has to be run again without.
    pub fn was_refused(&self) -> bool {
        self.was_refused.get()
    }

    /// Sends what was deferred, and this, in one round trip.
    fn after_deferred<T>(&self, last: impl AsyncFnOnce() -> Result<T, tokio_postgres::Error>) -> PgResult<T> {
        let deferred = self.deferred.take();
        if deferred.is_empty() {
            return Ok(self.wait(last())?);
        }
        let before = deferred.iter().map(async |deferred| match deferred {
            Deferred::Batch(statements) => self.client.batch_execute(statements).await,
            Deferred::Execute(statement, values) => {
                let values: Vec<Value<'_>> = values.iter().map(|value| &**value as Value<'_>).collect();
                self.client.execute(statement, &values).await.map(drop)
            }
            Deferred::Query(statement, values, rows) => {
                let values: Vec<Value<'_>> = values.iter().map(|value| &**value as Value<'_>).collect();
                let _ = rows.set(self.client.query(statement, &values).await?);
                Ok(())
            }
        });
        // They are sent in the order in which they are polled for the first time, which is this one.
        let (before, last) = self.wait(futures_util::future::join(futures_util::future::join_all(before), last()));
        before.into_iter().collect::<Result<(), _>>()?;
        Ok(last?)
    }

    /// The types of the columns of a query.
    pub fn column_types(&self, query: &str) -> PgResult<Vec<Type>> {
        Ok(self.statement(query)?.columns().iter().map(|column| column.type_().clone()).collect())
    }

    /// Several independent statements, in this order and in one round trip.
    pub fn pipeline(&self, steps: &[(&str, &[Value<'_>])]) -> PgResult<Vec<Vec<Row>>> {
        let mut statements = Vec::with_capacity(steps.len());
        for (query, _) in steps {
            statements.push(self.statement(query)?);
        }
        self.after_deferred(async || {
            let steps = steps.iter().zip(&statements);
            let sent = steps.map(|((_, values), statement)| self.client.query(statement, values));
            futures_util::future::join_all(sent).await.into_iter().collect()
        })
    }

    /// Sends rows by COPY. `copy` names the table and these columns.
    pub fn copy_in(&self, copy: &str, types: &[Type], rows: &[Vec<OwnedValue>]) -> PgResult<u64> {
        self.after_deferred(async || {
            let sink = self.client.copy_in(copy).await?;
            let mut writer = pin!(BinaryCopyInWriter::new(sink, types));
            for row in rows {
                writer.as_mut().write_raw(row.iter().map(|value| &**value as Value<'_>)).await?;
            }
            writer.finish().await
        })
    }

    /// Statements without values.
    pub fn batch(&self, statements: &str) -> PgResult<()> {
        self.after_deferred(async || self.client.batch_execute(statements).await)
    }

    /// The first column of the first row as text, by the simple protocol, which prepares nothing.
    pub fn simple(&self, query: &str) -> PgResult<Option<String>> {
        let answered = self.wait(self.client.simple_query(query))?;
        Ok(answered.iter().find_map(|message| {
            let SimpleQueryMessage::Row(row) = message else { return None };
            row.get(0).map(str::to_owned)
        }))
    }

    /// A part of a transaction that fails alone, unless the whole is tried in a hurry. Nested ones need different names.
    pub fn savepoint<T>(&self, name: &str, work: impl FnOnce() -> PgResult<T>) -> PgResult<T> {
        if self.is_hurried.get() {
            let is_refused = |error: &PgError| self.was_refused.set(self.was_refused.get() || !error.is_passing());
            return work().inspect_err(is_refused);
        }
        self.batch(&format!("SAVEPOINT {name}"))?;
        match work() {
            Ok(done) => self.batch(&format!("RELEASE {name}")).map(|()| done),
            Err(error) if error.is_passing() => Err(error),
            Err(error) => {
                self.batch(&format!("ROLLBACK TO {name}; RELEASE {name}"))?;
                Err(error)
            }
        }
    }

    /// Everything read within is as of one instant.
    pub fn snapshot<T>(&self, work: impl FnOnce() -> PgResult<T>) -> PgResult<T> {
        self.batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")?;
        let done = work();
        self.batch("ROLLBACK")?;
        done
    }

    pub fn is_closed(&self) -> bool {
        self.client.is_closed()
    }
}

impl Drop for PgConnection {
    fn drop(&mut self) {
        // It may be dropped on a thread that must not block.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
