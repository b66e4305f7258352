//! Browsers that showed the token once. Each has an id of its own; what is stored of it is a keyed hash under the token,
//! so that nobody who reads the file can come in, and another token ends every session.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use aizuchi_core::types::{Span, Time};
use aws_lc_rs::hmac;
use rusqlite::{Connection, Transaction, params};
use secrecy::{ExposeSecret as _, SecretString};

use super::ids;
use crate::runtime::Clock;
use crate::stores::{Database, StoreError};

/// How long a browser need not show the token again.
pub const KEPT_FOR: Span = Span::minutes(90 * 24 * 60);
/// Sessions at the same time; the oldest makes way.
const SESSIONS_MAX: usize = 10_000;

type SessionHash = [u8; 32];

pub struct Sessions {
    key: hmac::Key,
    begun: Mutex<HashMap<SessionHash, Time>>,
    database: Database,
    clock: Clock,
}

impl Sessions {
    /// Those that were begun before the last stop go on.
    pub async fn open(token: &SecretString, database: Database, clock: Clock) -> Result<Sessions, StoreError> {
        let before = clock.now() - KEPT_FOR;
        database.write(move |transaction| let_go(transaction, before)).await?;
        let begun = Mutex::new(database.read(all).await?);
        Ok(Sessions {
            key: hmac::Key::new(hmac::HMAC_SHA256, token.expose_secret().as_bytes()),
            begun,
            database,
            clock,
        })
    }

    pub fn knows(&self, id: &str) -> bool {
        let begun = self.begun().get(&self.hash(id)).copied();
        begun.is_some_and(|at| at + KEPT_FOR > self.clock.now())
    }

    /// A new one; its id.
    pub async fn begin(&self) -> Result<String, StoreError> {
        let (id, at) = (ids::session(), self.clock.now());
        let hash = self.hash(&id);
        let insert = move |transaction: &Transaction<'_>| {
            transaction.execute("INSERT INTO web_session (hash, begun) VALUES (?1, ?2)", params![hash, at.0 as i64])?;
            let_go(transaction, at - KEPT_FOR)
        };
        self.database.write(insert).await?;
        let mut begun = self.begun();
        begun.insert(hash, at);
        while begun.len() > SESSIONS_MAX {
            let oldest = begun.iter().min_by_key(|(_, at)| **at).map(|(hash, _)| *hash);
            oldest.map(|hash| begun.remove(&hash));
        }
        Ok(id)
    }

    fn hash(&self, id: &str) -> SessionHash {
        hmac::sign(&self.key, id.as_bytes()).as_ref().try_into().expect("SHA-256 has 32 bytes")
    }

    fn begun(&self) -> MutexGuard<'_, HashMap<SessionHash, Time>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn all(connection: &Connection) -> rusqlite::Result<HashMap<SessionHash, Time>> {
    let mut statement = connection.prepare("SELECT hash, begun FROM web_session")?;
    let rows = statement.query_map([], |row| Ok((row.get(0)?, Time(row.get::<_, i64>(1)? as u64))))?;
    rows.collect()
}

/// Of what is over, and of the oldest if there are too many.
fn let_go(transaction: &Transaction<'_>, before: Time) -> rusqlite::Result<()> {
    transaction.execute("DELETE FROM web_session WHERE begun < ?1", [before.0 as i64])?;
    let beyond = "DELETE FROM web_session WHERE hash IN \
                  (SELECT hash FROM web_session ORDER BY begun DESC LIMIT -1 OFFSET ?1)";
    transaction.execute(beyond, [SESSIONS_MAX as i64]).map(drop)
}
