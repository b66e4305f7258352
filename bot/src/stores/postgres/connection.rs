//! One connection, used from a thread that may block.
//!
//! The adapter is written as plain functions over a connection, like SQLite's: a transaction reads, decides and writes
//! without anything else in between. So each connection has a small runtime of its own, which runs only while its thread
//! waits for a response. Statements are prepared once, and independent ones are sent together ([`PgConnection::pipeline`]):
//! they cost one round trip.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use tokio::runtime::{Builder, Runtime};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row, SimpleQueryMessage, Statement};

use super::error::{PgError, PgResult};
use super::target::PgTarget;
use crate::stores::StoreError;

pub type Value<'a> = &'a (dyn ToSql + Sync);

pub struct PgConnection {
    /// Only `None` during drop.
    runtime: Option<Runtime>,
    client: Client,
    /// The server, for display.
    server: Arc<str>,
    statements: RefCell<HashMap<String, Statement>>,
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
            server: target.shown().into(),
            statements: RefCell::default(),
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
        Ok(self.wait(self.client.query(&statement, values))?)
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
        Ok(self.wait(self.client.execute(&statement, values))?)
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
        let sent = steps.iter().zip(&statements).map(|((_, values), statement)| self.client.query(statement, values));
        let answered = self.wait(futures_util::future::join_all(sent));
        Ok(answered.into_iter().collect::<Result<_, _>>()?)
    }

    /// Statements without values.
    pub fn batch(&self, statements: &str) -> PgResult<()> {
        Ok(self.wait(self.client.batch_execute(statements))?)
    }

    /// The first column of the first row as text, by the simple protocol, which prepares nothing.
    pub fn simple(&self, query: &str) -> PgResult<Option<String>> {
        let answered = self.wait(self.client.simple_query(query))?;
        Ok(answered.iter().find_map(|message| {
            let SimpleQueryMessage::Row(row) = message else { return None };
            row.get(0).map(str::to_owned)
        }))
    }

    /// A part of a transaction that fails alone. Nested ones need different names.
    pub fn savepoint<T>(&self, name: &str, work: impl FnOnce() -> PgResult<T>) -> PgResult<T> {
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
