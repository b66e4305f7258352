//! Changing the talk from a page: it is stored and heard by the engine in one commit, and then the pages are told.

use aizuchi_core::types::Time;

use super::change::TalkChange;
use super::page::Why;
use super::server::Desk;
use super::talk::{self, Refusal, Saying, Stored, room_id};
use crate::ports::TalkWrite;

impl Desk {
    pub(super) async fn say(&self, saying: Saying) -> Result<Stored, Why> {
        let (room, at, names) = (saying.room.clone(), saying.at, self.web.names());
        let here = if talk::may_mention(&saying.text) { self.web.presence.in_room(&room) } else { Vec::new() };
        let addressed = saying.reply_to.is_some() || names.iter().any(|name| saying.text.contains(name.as_str()));
        let say = TalkChange::unless_refused(talk::look_for_saying(&saying), move |found| {
            talk::say(found, saying.clone(), &names, &here)
        });
        self.change_talk(&room, at, addressed, say).await
    }

    /// Returns when the change is durable and the engine is about to handle it.
    pub(super) async fn change_talk(
        &self,
        room: &str,
        at: Time,
        addressed: bool,
        change: TalkChange<Result<Stored, Refusal>>,
    ) -> Result<Stored, Why> {
        self.web.backlog.until_heard().await;
        self.ears.store(room_id(room), at, addressed, TalkWrite::new(change.change.clone())).await?;
        self.web.hub.wake();
        Ok(change.outcome()?)
    }
}
