//! Browsers that have shown the token once. Each has an id of its own; it is stored as a hash keyed with the token, so that
//! nobody who reads the file can log in, and a new token ends every session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use aizuchi_core::types::{Span, Time};
use ring::hmac;
use secrecy::{ExposeSecret as _, SecretString};

use super::ids;
use crate::ports::{WebSession, WebSessions};
use crate::runtime::Clock;
use crate::stores::StoreError;

/// How long a browser need not show the token again.
pub const KEPT_FOR: Span = Span::minutes(90 * 24 * 60);
/// The maximum number of sessions; the oldest is dropped.
const SESSIONS_MAX: usize = 10_000;

type SessionHash = [u8; 32];

pub struct Sessions {
    key: hmac::Key,
    begun: Mutex<HashMap<SessionHash, Time>>,
    store: Arc<dyn WebSessions>,
    clock: Clock,
}

impl Sessions {
    /// Sessions from before the last stop stay valid.
    pub async fn open(token: &SecretString, store: Arc<dyn WebSessions>, clock: Clock) -> Result<Sessions, StoreError> {
        let kept = store.all(clock.now() - KEPT_FOR, SESSIONS_MAX).await?;
        let begun = Mutex::new(kept.into_iter().map(|session| (session.hash, session.begun)).collect());
        Ok(Sessions { key: hmac::Key::new(hmac::HMAC_SHA256, token.expose_secret().as_bytes()), begun, store, clock })
    }

    pub fn knows(&self, id: &str) -> bool {
        let begun = self.begun().get(&self.hash(id)).copied();
        begun.is_some_and(|at| at + KEPT_FOR > self.clock.now())
    }

    /// Starts a session; returns its id.
    pub async fn begin(&self) -> Result<String, StoreError> {
        let (id, at) = (ids::session(), self.clock.now());
        let hash = self.hash(&id);
        self.store.begin(WebSession { hash, begun: at }, at - KEPT_FOR, SESSIONS_MAX).await?;
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
