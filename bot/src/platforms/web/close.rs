//! Closing a room from a page: by its button, or by a command that has to name the room.

use tracing::warn;

use super::page::{JoinedRoom, Page, PageProblem};
use super::platform::Web;
use super::rooms;
use super::talk::room_id;
use super::words::{self, PageError};
use crate::commands::ArgumentValue;
use crate::ports::PageNotice;

impl Web {
    /// Without a token everybody here is on this machine, and may close rooms that people opened; otherwise only the person
    /// who opened it may. Rooms of the settings would exist again at the next start.
    pub(super) fn may_close(&self, room: &str, opened_by: Option<&str>, person: &str) -> bool {
        !self.is_of_settings(room) && (!self.wants_token() || opened_by == Some(person))
    }

    pub(super) fn is_of_settings(&self, room: &str) -> bool {
        self.first_room() == room || self.settings.rooms.iter().any(|own| own == room)
    }
}

impl Page {
    pub(super) async fn close(&self, room: &str) -> Result<(), PageProblem> {
        let web = &self.context.web;
        let JoinedRoom { room: here, person, .. } = self.entered()?;
        if here != room {
            return Err(PageError::OtherRoom.into());
        }
        if web.is_of_settings(room) {
            return Err(PageError::RoomOfSettings.into());
        }
        let anybody = !web.wants_token();
        let close = rooms::close(room.to_owned(), (!anybody).then(|| person.speaker.id.clone()));
        self.context.change_talk(room, web.clock.now(), false, close).await?;
        web.tell_others(PageNotice::RoomClosed { room: room.to_owned() });
        web.show_closed(room).await?;
        self.forget_room(room).await;
        tracing::info!(%room, "room closed");
        Ok(())
    }

    /// A person who opens a room of the same name later must not see what was said in this one. It goes on when the page no
    /// longer waits for a memory that does not answer.
    async fn forget_room(&self, room: &str) {
        let Some(keeper) = self.context.keeper.clone() else { return };
        let (deadline, engine, room) = (keeper.waiting(), self.context.engine.clone(), room.to_owned());
        let forgetting = self.context.tasks.spawn(async move {
            if let Err(error) = keeper.forget_room(room_id(&room), &engine).await {
                warn!(%room, %error, "cannot delete a closed room; retrying");
            }
        });
        let _ = deadline.within(forgetting).await;
    }

    /// Without the room's name it only explains what would happen.
    pub(super) async fn run_close(&self, room: &str, named: Option<ArgumentValue>) {
        if named.as_ref().and_then(ArgumentValue::word) != Some(room) {
            self.notice(&words::sure_to_close(room, self.language)).await;
        } else if let Err(why) = self.close(room).await {
            self.send(self.refusal(None, why)).await;
        }
    }
}
