//! The session that writes: it holds the lock, and what keeps it from holding one is told.

use std::time::{Duration, Instant};

use super::connection::PgConnection;
use super::error::{PgError, PgResult};
use super::target::PgTarget;
use crate::stores::StoreError;

/// Held by the program that runs on this database.
const RUNNING_LOCK: i64 = 0x6169_7a75_6368_6931;
/// How long a program that has just ended may still hold the lock: the server notices it a moment later.
const FREED_WITHIN: Duration = Duration::from_secs(3);
/// How long the session that was lost may take to end.
const ENDS_WITHIN: Duration = Duration::from_secs(20);
const LOCK_AGAIN: Duration = Duration::from_millis(100);

/// A session of the server's.
#[derive(Clone, Debug)]
pub struct SessionId {
    process: i32,
    /// Process ids are given again.
    began: String,
}

pub struct Session {
    connection: PgConnection,
    id: SessionId,
}

/// Who may write at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriterScope {
    /// The program that runs on this database.
    Alone,
    /// One process of a cluster, by a number that no other has.
    #[cfg(feature = "cluster")]
    Among(i64),
}

impl WriterScope {
    /// Statements that each take a lock or say that somebody else has it.
    fn locks(self) -> Vec<String> {
        match self {
            WriterScope::Alone => vec![format!("SELECT pg_try_advisory_lock({RUNNING_LOCK})")],
            // The own number is what tells whether the session before has ended.
            #[cfg(feature = "cluster")]
            WriterScope::Among(process) => vec![
                format!("SELECT pg_try_advisory_lock_shared({RUNNING_LOCK})"),
                format!("SELECT pg_try_advisory_lock({process})"),
            ],
        }
    }
}

impl Session {
    /// Takes the lock for a program that starts. Refused where another one runs.
    pub fn lock(&self, target: &PgTarget, scope: WriterScope) -> PgResult<()> {
        let give_up = Instant::now() + FREED_WITHIN;
        while !self.takes_lock(scope)? {
            if Instant::now() > give_up {
                return Err(in_use(target));
            }
            std::thread::sleep(LOCK_AGAIN);
        }
        Ok(())
    }

    /// Opens it again after the connection was lost. The old session holds the lock until the server has noticed; it is ended.
    pub fn resume(target: &PgTarget, scope: WriterScope, before: Option<&SessionId>) -> PgResult<Session> {
        let session = Session::connect(target)?;
        let give_up = Instant::now() + ENDS_WITHIN;
        while !session.takes_lock(scope)? {
            let Some(SessionId { process, began }) = before else { return Err(in_use(target)) };
            let end =
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start::text = $2";
            let is_ending = session.connection.first(end, &[process, began])?.is_some();
            if !is_ending && Instant::now() > give_up {
                return Err(in_use(target));
            }
            std::thread::sleep(LOCK_AGAIN);
        }
        Ok(session)
    }

    /// Without the lock.
    pub fn connect(target: &PgTarget) -> PgResult<Session> {
        let connection = PgConnection::connect(target, "aizuchi writer")?;
        // A standby takes connections, and no writes.
        if connection.simple("SELECT pg_is_in_recovery()")?.as_deref() == Some("t") {
            return Err(PgError::Lost(format!("{} is a standby that cannot be written to", target.shown())));
        }
        let process = connection.simple("SELECT pg_backend_pid()")?;
        let began = "SELECT backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()";
        let (process, began) = (process.and_then(|id| id.parse().ok()).unwrap_or_default(), connection.simple(began)?);
        Ok(Session { connection, id: SessionId { process, began: began.unwrap_or_default() } })
    }

    /// One that it holds already counts, also if it is taken again.
    fn takes_lock(&self, scope: WriterScope) -> PgResult<bool> {
        for lock in scope.locks() {
            if self.connection.simple(&lock)?.as_deref() != Some("t") {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub fn connection(&self) -> &PgConnection {
        &self.connection
    }

    pub fn id(&self) -> SessionId {
        self.id.clone()
    }
}

fn in_use(target: &PgTarget) -> PgError {
    PgError::Final(StoreError::Failed(format!(
        "another aizuchi is using the database {}; stop it, or name another one in store.url",
        target.shown()
    )))
}

/// Whether a program runs on this database.
pub fn is_running(connection: &PgConnection) -> PgResult<bool> {
    let query = format!(
        "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 1
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND classid::bigint = {} AND objid::bigint = {})",
        RUNNING_LOCK >> 32,
        RUNNING_LOCK & 0xffff_ffff
    );
    Ok(connection.simple(&query)?.as_deref() == Some("t"))
}

/// Text of every language needs UTF-8.
pub fn check_encoding(connection: &PgConnection, target: &PgTarget) -> PgResult<()> {
    match connection.simple("SHOW server_encoding")?.as_deref() {
        Some("UTF8") => Ok(()),
        found => Err(PgError::Final(StoreError::Failed(format!(
            "the database {} has the encoding {}, which cannot hold every language: create it with ENCODING 'UTF8' \
             TEMPLATE template0",
            target.shown(),
            found.unwrap_or("unknown")
        )))),
    }
}

/// A pooler that gives a session away between two transactions would give the lock away with it. One session whose process is
/// another's, or changes while another one has a transaction open, is not a session of the server's.
pub fn check_pooler(writer: &PgConnection, reader: &PgConnection) -> PgResult<()> {
    let process = |connection: &PgConnection| connection.simple("SELECT pg_backend_pid()");
    let before = process(writer)?;
    let (other, after) = match reader.batch("BEGIN") {
        Ok(()) => (process(reader)?, process(writer)?),
        // One that gives a session away after each statement allows no transactions.
        Err(PgError::Lost(what)) if what.contains("pooling mode") => return Err(pooled()),
        Err(error) => return Err(error),
    };
    reader.batch("ROLLBACK")?;
    if other == before || after != before { Err(pooled()) } else { Ok(()) }
}

fn pooled() -> PgError {
    PgError::Final(StoreError::Failed(
        "store.url leads to a connection pooler in transaction mode, such as PgBouncer, where no lock can be held: \
         connect to PostgreSQL itself, or set pool_mode = session"
            .into(),
    ))
}

/// Tables can be written anew, as forgetting does, only by who owns them.
pub fn check_owner(connection: &PgConnection, target: &PgTarget) -> PgResult<()> {
    let query = "SELECT c.relname FROM pg_class AS c WHERE c.relkind = 'r' AND NOT pg_has_role(c.relowner, 'USAGE')
        AND c.relname IN ('journal', 'trace', 'memory_fact', 'web_message')
        AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('journal')) LIMIT 1";
    let Some(table) = connection.simple(query)? else { return Ok(()) };
    let role = connection.simple("SELECT current_user")?.unwrap_or_default();
    Err(PgError::Final(StoreError::Failed(format!(
        "the role {role} does not own the table {table} of {}: make it the owner of all tables (ALTER TABLE {table} OWNER TO {role})",
        target.shown()
    ))))
}
