//! Browsers that have shown the token once. Each has an id of its own; it is stored as a hash keyed with the token, so that
//! nobody who reads the file can log in, and a new token ends every session.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aizuchi_core::types::{Span, Time};
use ring::hmac;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::time::Instant;

use super::ids;
use crate::ports::{WebSession, WebSessions};
use crate::runtime::Clock;
use crate::stores::StoreError;

/// How long a browser need not show the token again.
pub const KEPT_FOR: Span = Span::minutes(90 * 24 * 60);
/// The maximum number of sessions; the oldest is dropped.
const SESSIONS_MAX: usize = 10_000;
/// Between two questions to the store whether other processes have begun what is not known here: anybody can send cookies.
const ASKS_EVERY: Duration = Duration::from_secs(1);
/// Unknown ones that are asked for together; more are refused.
const UNKNOWN_MAX: usize = 1000;

type SessionHash = [u8; 32];

pub struct Sessions {
    key: hmac::Key,
    begun: Mutex<HashMap<SessionHash, Time>>,
    /// Not known here, and not asked for yet.
    unknown: Mutex<HashSet<SessionHash>>,
    /// When the store may be asked again. The request that holds this asks for all.
    next_question: tokio::sync::Mutex<Instant>,
    store: Arc<dyn WebSessions>,
    clock: Clock,
}

impl Sessions {
    /// Sessions from before the last stop stay valid.
    pub async fn open(token: &SecretString, store: Arc<dyn WebSessions>, clock: Clock) -> Result<Sessions, StoreError> {
        let kept = store.all(clock.now() - KEPT_FOR, SESSIONS_MAX).await?;
        let begun = Mutex::new(kept.into_iter().map(|session| (session.hash, session.begun)).collect());
        let key = hmac::Key::new(hmac::HMAC_SHA256, token.expose_secret().as_bytes());
        let (unknown, next_question) = (Mutex::default(), tokio::sync::Mutex::new(Instant::now()));
        Ok(Sessions { key, begun, unknown, next_question, store, clock })
    }

    pub async fn knows(&self, id: &str) -> bool {
        let hash = self.hash(id);
        let begun = match self.begun_at(&hash) {
            None if self.store.has_others() => self.begun_elsewhere(hash).await,
            begun => begun,
        };
        begun.is_some_and(|at| at + KEPT_FOR > self.clock.now())
    }

    /// When another process began it. One question to the store is for all that wait for it.
    async fn begun_elsewhere(&self, hash: SessionHash) -> Option<Time> {
        {
            let mut unknown = self.unknown();
            if unknown.len() >= UNKNOWN_MAX {
                return None;
            }
            unknown.insert(hash);
        }
        let mut next_question = self.next_question.lock().await;
        if !self.unknown().contains(&hash) {
            return self.begun_at(&hash);
        }
        tokio::time::sleep_until(*next_question).await;
        let asked = self.unknown().clone();
        let found = self.store.find(asked.iter().copied().collect()).await;
        *next_question = Instant::now() + ASKS_EVERY;
        match found {
            Ok(found) => self.keep(found),
            Err(error) => tracing::warn!(%error, "cannot read web sessions"),
        }
        self.unknown().retain(|unknown| !asked.contains(unknown));
        self.begun_at(&hash)
    }

    /// Starts a session; returns its id.
    pub async fn begin(&self) -> Result<String, StoreError> {
        let (id, at) = (ids::session(), self.clock.now());
        let hash = self.hash(&id);
        self.store.begin(WebSession { hash, begun: at }, at - KEPT_FOR, SESSIONS_MAX).await?;
        self.keep([WebSession { hash, begun: at }]);
        Ok(id)
    }

    fn keep(&self, sessions: impl IntoIterator<Item = WebSession>) {
        let mut begun = self.begun();
        begun.extend(sessions.into_iter().map(|session| (session.hash, session.begun)));
        while begun.len() > SESSIONS_MAX {
            let oldest = begun.iter().min_by_key(|(_, at)| **at).map(|(hash, _)| *hash);
            oldest.map(|hash| begun.remove(&hash));
        }
    }

    fn hash(&self, id: &str) -> SessionHash {
        hmac::sign(&self.key, id.as_bytes()).as_ref().try_into().expect("SHA-256 has 32 bytes")
    }

    fn begun_at(&self, hash: &SessionHash) -> Option<Time> {
        self.begun().get(hash).copied()
    }

    fn begun(&self) -> MutexGuard<'_, HashMap<SessionHash, Time>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unknown(&self) -> MutexGuard<'_, HashSet<SessionHash>> {
        self.unknown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::ports::BoxFuture;

    /// A store that several processes have.
    #[derive(Default)]
    struct SharedStore {
        sessions: Mutex<Vec<WebSession>>,
        questions: AtomicUsize,
    }

    impl WebSessions for SharedStore {
        fn all(&self, _: Time, _: usize) -> BoxFuture<'_, Result<Vec<WebSession>, StoreError>> {
            Box::pin(async { Ok(self.sessions.lock().unwrap().clone()) })
        }

        fn begin(&self, session: WebSession, _: Time, _: usize) -> BoxFuture<'_, Result<(), StoreError>> {
            self.sessions.lock().unwrap().push(session);
            Box::pin(async { Ok(()) })
        }

        fn has_others(&self) -> bool {
            true
        }

        fn find(&self, hashes: Vec<SessionHash>) -> BoxFuture<'_, Result<Vec<WebSession>, StoreError>> {
            self.questions.fetch_add(1, Ordering::Relaxed);
            let found = self.sessions.lock().unwrap().clone().into_iter().filter(|known| hashes.contains(&known.hash));
            let found = found.collect();
            Box::pin(async { Ok(found) })
        }
    }

    async fn open(store: &Arc<SharedStore>, token: &str) -> Sessions {
        Sessions::open(&token.into(), store.clone(), Clock::Wall).await.unwrap()
    }

    /// With two gateways behind a balancer, a browser was refused by the one that it had not shown the token to.
    #[tokio::test(start_paused = true)]
    async fn a_session_that_another_process_began_is_known() {
        let store = Arc::<SharedStore>::default();
        let (first, second, other) =
            (open(&store, "secret").await, open(&store, "secret").await, open(&store, "another").await);
        let id = first.begin().await.unwrap();
        assert!(first.knows(&id).await && second.knows(&id).await);
        assert!(!other.knows(&id).await, "another token has other sessions");
        let asked = store.questions.load(Ordering::Relaxed);
        assert!(second.knows(&id).await);
        assert_eq!(store.questions.load(Ordering::Relaxed), asked, "it is known from then on");
    }

    #[tokio::test(start_paused = true)]
    async fn ids_that_nobody_has_begun_are_asked_for_together_and_once_a_second() {
        let store = Arc::<SharedStore>::default();
        let (first, second) = (open(&store, "secret").await, open(&store, "secret").await);
        let (id, before) = (first.begin().await.unwrap(), Instant::now());
        for round in 0..10 {
            let made_up = (0..3 * UNKNOWN_MAX).map(|number| format!("{round} {number}")).collect::<Vec<_>>();
            let known = futures_util::future::join_all(made_up.iter().map(|id| second.knows(id))).await;
            assert!(known.iter().all(|known| !known));
        }
        assert!(second.knows(&id).await, "others do not keep it out");
        let questions = store.questions.load(Ordering::Relaxed);
        assert_eq!(questions as u64, before.elapsed().as_secs() + 1);
        assert!(questions <= 15, "{questions}");
    }
}
