//! Changing the talk from a page: it is stored with the engine's input in one commit, and then sent to the pages.

use aizuchi_core::types::Time;

use super::change::TalkChange;
use super::page::PageProblem;
use super::server::WebContext;
use super::talk::{self, Refusal, SayRequest, StoredChange, room_id};
use crate::ports::TalkWrite;

impl WebContext {
    pub(super) async fn say(&self, request: SayRequest) -> Result<StoredChange, PageProblem> {
        let (room, at, names) = (request.room.clone(), request.at, self.web.names());
        let here = if talk::may_mention(&request.text) { self.web.presence.in_room(&room) } else { Vec::new() };
        let addressed = request.reply_to.is_some() || self.web.is_addressed_in(&request.text);
        let say = TalkChange::unless_refused(talk::look_for_saying(&request), move |found| {
            talk::say(found, request.clone(), &names, &here)
        });
        self.change_talk(&room, at, addressed, say).await
    }

    /// Returns when the change is durable and the engine is about to handle it.
    pub(super) async fn change_talk(
        &self,
        room: &str,
        at: Time,
        addressed: bool,
        change: TalkChange<Result<StoredChange, Refusal>>,
    ) -> Result<StoredChange, PageProblem> {
        self.web.backlog.until_heard().await;
        self.engine.store(room_id(room), at, addressed, TalkWrite::new(change.change.clone())).await?;
        self.web.hub.wake();
        Ok(change.outcome()?)
    }
}
