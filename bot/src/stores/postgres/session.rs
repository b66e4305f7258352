//! The session that writes: it holds the lock, and reports what keeps it from getting one.
//!
//! One program writes to a database, or the processes of one cluster. An advisory lock of the server keeps others out, as long as
//! the session lives: an exclusive one for a program alone, a shared one and one of its own number for a process of a cluster
//! ([`WriterScope`]).
//!
//! After a lost connection the server may still have the old session, with the lock. `Session::resume` connects, ends the old session by its
//! process id and the time it began, takes the lock, and only then reads the number of the last group: before that, the old session
//! might still commit. Of several servers it takes the one that can be written to and has the last group.

use std::time::{Duration, Instant};

use super::connection::PgConnection;
use super::error::{PgError, PgResult};
use super::of_cluster::is_of_cluster;
use super::target::PgTarget;
use crate::stores::{OF_CLUSTER, StoreError};

/// Held by the program that runs on this database.
const RUNNING_LOCK: i64 = 0x6169_7a75_6368_6931;
/// How long a program that has just ended may still hold the lock: the server notices it a moment later, and a busy one later still.
const FREED_WITHIN: Duration = Duration::from_secs(15);
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
    /// The server that it is connected to.
    server: PgTarget,
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

    fn last_batch(self) -> String {
        match self {
            WriterScope::Alone => "SELECT batch FROM store_writer".into(),
            #[cfg(feature = "cluster")]
            WriterScope::Among(process) => format!("SELECT batch FROM cluster_writer WHERE process = {process}"),
        }
    }
}

impl Session {
    /// Takes the lock for a program that starts. Refused where another one runs.
    pub fn lock(&self, scope: WriterScope) -> PgResult<()> {
        let give_up = Instant::now() + FREED_WITHIN;
        while !self.takes_lock(scope)? {
            if Instant::now() > give_up {
                let of_cluster = scope == WriterScope::Alone && is_of_cluster(&self.connection)?;
                return Err(if of_cluster { in_use_by_cluster(&self.server) } else { in_use(&self.server) });
            }
            std::thread::sleep(LOCK_AGAIN);
        }
        Ok(())
    }

    /// Opens it again after the connection was lost, on the server that has one of these groups as its last: after a failover
    /// several may accept writes, and only one has everything that was acknowledged.
    pub fn resume(
        target: &PgTarget,
        scope: WriterScope,
        before: Option<&SessionId>,
        last_batches: &[u64],
    ) -> PgResult<Session> {
        first_of(target, |server| Session::resume_at(server, scope, before, last_batches))
    }

    /// The old session holds the lock until the server has noticed that it was lost; it is ended.
    fn resume_at(
        server: PgTarget,
        scope: WriterScope,
        before: Option<&SessionId>,
        last_batches: &[u64],
    ) -> PgResult<Session> {
        let session = Session::connect_to(server)?;
        let give_up = Instant::now() + ENDS_WITHIN;
        while !session.takes_lock(scope)? {
            let Some(SessionId { process, began }) = before else { return Err(in_use(&session.server)) };
            let end =
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid = $1 AND backend_start::text = $2";
            let is_ending = session.connection.first(end, &[process, began])?.is_some();
            if !is_ending && Instant::now() > give_up {
                return Err(in_use(&session.server));
            }
            std::thread::sleep(LOCK_AGAIN);
        }
        // Read under the lock: the old session might still have committed.
        if !last_batches.contains(&session.last_batch(scope)?) {
            return Err(PgError::Stale(format!(
                "{} accepts writes, but does not have what was stored last: it is an old primary, or a standby that had not \
                 received everything, or another program has written to it",
                session.server.display_name()
            )));
        }
        Ok(session)
    }

    /// Without the lock, to the server that can be written to and has the latest.
    pub fn connect(target: &PgTarget) -> PgResult<Session> {
        Session::connect_to(find_newest(target)?)
    }

    fn connect_to(server: PgTarget) -> PgResult<Session> {
        let connection = PgConnection::connect(&server, "aizuchi writer")?;
        // A standby takes connections, and no writes.
        if connection.simple("SELECT pg_is_in_recovery()")?.as_deref() == Some("t") {
            return Err(PgError::Lost(format!("{} is a standby that cannot be written to", server.display_name())));
        }
        let process = connection.simple("SELECT pg_backend_pid()")?;
        let began = "SELECT backend_start::text FROM pg_stat_activity WHERE pid = pg_backend_pid()";
        let (process, began) = (process.and_then(|id| id.parse().ok()).unwrap_or_default(), connection.simple(began)?);
        Ok(Session { connection, id: SessionId { process, began: began.unwrap_or_default() }, server })
    }

    /// The number of the group that was committed last; 0 before the first.
    pub fn last_batch(&self, scope: WriterScope) -> PgResult<u64> {
        let row = self.connection.first(&scope.last_batch(), &[])?;
        Ok(row.map_or(0, |row| row.get::<_, i64>(0).cast_unsigned()))
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

    pub fn server(&self) -> &PgTarget {
        &self.server
    }
}

/// The first server with which it succeeds.
fn first_of(target: &PgTarget, open: impl Fn(PgTarget) -> PgResult<Session>) -> PgResult<Session> {
    let mut failed = None;
    for server in target.servers() {
        match open(server) {
            Ok(session) => return Ok(session),
            Err(error) => failed = Some(error.or_else(failed)),
        }
    }
    Err(failed.expect("there is at least one server"))
}

/// Of several servers that can be written to, the one that was written to last: an old primary may be back.
pub fn find_newest(target: &PgTarget) -> PgResult<PgTarget> {
    let (mut newest, mut failed): (Option<(u64, PgTarget)>, _) = (None, None);
    let mut servers: Vec<PgTarget> = target.servers().collect();
    if servers.len() == 1 {
        return Ok(servers.remove(0));
    }
    for server in servers {
        match batch_at(&server) {
            Ok(batch) if newest.as_ref().is_some_and(|(known, _)| *known >= batch) => (),
            Ok(batch) => newest = Some((batch, server)),
            Err(error) => failed = Some(error.or_else(failed)),
        }
    }
    newest.map(|(_, server)| server).ok_or_else(|| failed.expect("there is at least one server"))
}

/// The number of the group that was committed last, by any process; it grows with time. 0 where there are no tables yet.
fn batch_at(server: &PgTarget) -> PgResult<u64> {
    let connection = PgConnection::connect(server, "aizuchi")?;
    let mut last = 0;
    for table in ["store_writer", "cluster_writer"] {
        if connection.simple(&format!("SELECT to_regclass('{table}')"))?.is_some() {
            let batch = connection.simple(&format!("SELECT max(batch) FROM {table}"))?;
            last = last.max(batch.and_then(|batch| batch.parse().ok()).unwrap_or(0));
        }
    }
    Ok(last)
}

fn in_use(target: &PgTarget) -> PgError {
    PgError::Final(StoreError::Failed(format!(
        "another aizuchi is using the database {}; stop it, or name another one in store.url",
        target.display_name()
    )))
}

fn in_use_by_cluster(target: &PgTarget) -> PgError {
    PgError::Final(StoreError::Failed(format!(
        "another aizuchi is using the database {}: {OF_CLUSTER}",
        target.display_name()
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
            target.display_name(),
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
        target.display_name()
    ))))
}
