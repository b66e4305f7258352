//! Changing the talk from a page: it is stored and heard by the engine in one commit, and then the pages are told.

use std::sync::{Arc, Mutex, PoisonError};

use aizuchi_core::types::Time;
use rusqlite::Transaction;

use super::page::Why;
use super::server::Desk;
use super::talk::{self, Changed, Refusal, Saying, Stored, room_id};

impl Desk {
    pub(super) async fn say(&self, saying: Saying) -> Result<Result<Stored, Refusal>, Why> {
        let (room, at, names) = (saying.room.clone(), saying.at, self.web.names());
        let here = if talk::may_mention(&saying.text) { self.web.presence.in_room(&room) } else { Vec::new() };
        let addressed = saying.reply_to.is_some() || names.iter().any(|name| saying.text.contains(name.as_str()));
        let say = move |transaction: &Transaction<'_>| talk::say(transaction, saying.clone(), &names, &here);
        self.change_talk(&room, at, addressed, say).await
    }

    /// Returns when the change is durable and the engine is about to handle it. `change` may be called several times.
    pub(super) async fn change_talk(
        &self,
        room: &str,
        at: Time,
        addressed: bool,
        change: impl Fn(&Transaction<'_>) -> rusqlite::Result<Result<Changed, Refusal>> + Send + Sync + 'static,
    ) -> Result<Result<Stored, Refusal>, Why> {
        self.web.backlog.until_heard().await;
        let outcome = Arc::new(Mutex::new(None));
        let out = outcome.clone();
        let store = move |transaction: &Transaction<'_>| {
            let changed = change(transaction)?;
            let (done, input) = match changed {
                Ok(Changed { stored, input }) => (Ok(stored), input),
                Err(refusal) => (Err(refusal), None),
            };
            *out.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
            Ok(input)
        };
        self.ears.store(room_id(room), at, addressed, store).await??;
        self.web.hub.wake();
        let done = outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(done.expect("what is durable was done"))
    }
}
