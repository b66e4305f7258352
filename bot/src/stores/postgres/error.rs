//! PostgreSQL's errors, by what can be done about them.

use std::error::Error as _;

use tokio_postgres::error::SqlState;

use crate::stores::StoreError;

pub type PgResult<T> = Result<T, PgError>;

#[derive(Clone, Debug)]
pub enum PgError {
    /// The connection is lost, or the server is not ready: reconnect.
    Lost(String),
    /// This server lacks what was committed: a standby that had not received it, or an old primary. Another server may have it.
    Stale(String),
    /// The same transaction may succeed when it is tried again.
    Again(String),
    /// A retry changes nothing.
    Final(StoreError),
}

impl PgError {
    /// Whether the whole transaction has to be retried.
    pub fn is_passing(&self) -> bool {
        matches!(self, PgError::Lost(_) | PgError::Stale(_) | PgError::Again(_))
    }

    /// What to report of several servers that all failed: what may pass is waited for.
    pub fn or_else(self, earlier: Option<PgError>) -> PgError {
        match earlier {
            Some(earlier @ PgError::Stale(_)) => earlier,
            Some(earlier) if earlier.is_passing() && !matches!(self, PgError::Stale(_)) => earlier,
            _ => self,
        }
    }
}

impl From<PgError> for StoreError {
    fn from(error: PgError) -> StoreError {
        match error {
            PgError::Lost(what) | PgError::Stale(what) | PgError::Again(what) => StoreError::Unavailable(what),
            PgError::Final(error) => error,
        }
    }
}

impl From<StoreError> for PgError {
    fn from(error: StoreError) -> PgError {
        match error {
            StoreError::Unavailable(what) => PgError::Lost(what),
            error @ (StoreError::Full(_)
            | StoreError::Newer { .. }
            | StoreError::Gone(_)
            | StoreError::Closed
            | StoreError::Failed(_)) => PgError::Final(error),
        }
    }
}

impl From<tokio_postgres::Error> for PgError {
    fn from(error: tokio_postgres::Error) -> PgError {
        let Some(reported) = error.as_db_error() else { return without_state(&error) };
        let (state, told) = (reported.code(), reported.message().to_owned());
        // Of anything else the detail may be what was to be written: what somebody said.
        let detailed = || match reported.detail() {
            Some(detail) => format!("{told} ({detail})"),
            None => told.clone(),
        };
        match *state {
            SqlState::ADMIN_SHUTDOWN
            | SqlState::CRASH_SHUTDOWN
            | SqlState::CANNOT_CONNECT_NOW
            | SqlState::TOO_MANY_CONNECTIONS
            | SqlState::IDLE_SESSION_TIMEOUT
            // A standby that is not promoted yet.
            | SqlState::READ_ONLY_SQL_TRANSACTION => PgError::Lost(detailed()),
            SqlState::T_R_SERIALIZATION_FAILURE
            | SqlState::T_R_DEADLOCK_DETECTED
            | SqlState::LOCK_NOT_AVAILABLE
            | SqlState::QUERY_CANCELED
            | SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => PgError::Again(told),
            SqlState::DISK_FULL => PgError::Final(StoreError::Full(told)),
            _ if state.code().starts_with("08") => PgError::Lost(detailed()),
            _ => PgError::Final(StoreError::Failed(told)),
        }
    }
}

/// Errors of the connection rather than of the server. Of these, only values that do not fit their columns are our fault.
fn without_state(error: &tokio_postgres::Error) -> PgError {
    let mut told = error.to_string();
    let mut cause = error.source();
    let mut io = error.is_closed();
    while let Some(inner) = cause {
        if let Some(inner) = inner.downcast_ref::<std::io::Error>() {
            // An untrusted certificate will not become trusted.
            let is_untrusted = inner.get_ref().is_some_and(|cause| cause.is::<rustls::Error>());
            io |= !is_untrusted;
            if is_untrusted {
                told += ": the certificate of the server cannot be verified; sslrootcert must name the authority that signed \
                         it, and its name must be the host of the URL";
            }
        }
        told = format!("{told}: {inner}");
        cause = inner.source();
    }
    if io { PgError::Lost(told) } else { PgError::Final(StoreError::Failed(told)) }
}
