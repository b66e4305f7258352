//! Who is let in: everybody on this machine, or those who show the token. The token may change while the program runs.

use std::sync::{Arc, PoisonError, RwLock};

use secrecy::{ExposeSecret as _, SecretString};
use tokio_util::sync::CancellationToken;

use super::guard::addresses;
use super::platform::Web;
use super::session::Sessions;
use crate::stores::StoreError;

/// As long as one token holds.
pub struct WebAccess {
    pub token: Option<SecretString>,
    /// Set if there is a token.
    pub sessions: Option<Arc<Sessions>>,
    /// Cancelled when the server stops, or when another token holds: pages that were let in by this one are closed.
    pub over: CancellationToken,
}

/// The access that holds now. Cheap to clone.
#[derive(Clone)]
pub struct CurrentAccess {
    access: Arc<RwLock<Arc<WebAccess>>>,
    /// Of the server.
    stop: CancellationToken,
}

impl CurrentAccess {
    pub fn new(access: WebAccess, stop: CancellationToken) -> CurrentAccess {
        CurrentAccess { access: Arc::new(RwLock::new(Arc::new(access))), stop }
    }

    pub fn get(&self) -> Arc<WebAccess> {
        self.access.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn replace(&self, access: WebAccess) {
        let mut held = self.access.write().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *held, Arc::new(access)).over.cancel();
    }
}

impl Web {
    /// Sessions that were begun with this token before are known.
    pub(super) async fn open_access(
        &self,
        token: Option<&SecretString>,
        stop: &CancellationToken,
    ) -> Result<WebAccess, StoreError> {
        let sessions = match token {
            Some(token) => Some(Arc::new(Sessions::open(token, self.stores.web_sessions.clone(), self.clock).await?)),
            None => None,
        };
        Ok(WebAccess { token: token.cloned(), sessions, over: stop.child_token() })
    }

    /// Whether somebody who comes in has to show a token.
    pub(super) fn wants_token(&self) -> bool {
        self.access.get().map_or(self.settings.token().is_some(), |access| access.get().token.is_some())
    }

    /// From now on this token opens the web room, and everybody who was let in by another one has to show it. Returns whether it is another
    /// one; nothing happens while the room is not open. `Err` says why it cannot hold.
    pub async fn set_token(&self, token: Option<&SecretString>) -> Result<bool, String> {
        let Some(access) = self.access.get() else { return Ok(false) };
        let exposed = |token: Option<&SecretString>| token.map(|token| token.expose_secret().to_owned());
        if exposed(access.get().token.as_ref()) == exposed(token) {
            return Ok(false);
        }
        addresses(&self.settings.address, token)?;
        let next = self.open_access(token, &access.stop).await;
        access.replace(next.map_err(|error| format!("cannot read the sessions of the web room: {error}"))?);
        Ok(true)
    }
}
