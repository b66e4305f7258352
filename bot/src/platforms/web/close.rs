//! Closing a room from a page: by its button, or by a command that has to name the room.

use tracing::warn;

use super::page::{JoinedRoom, Page, PageProblem};
use super::platform::Web;
use super::rooms;
use super::talk::room_id;
use super::wire::FromServer;
use super::words::{self, PageError};
use crate::commands::ArgumentValue;

impl Web {
    /// Without a token everybody here is on this machine, and may close rooms that people opened; otherwise only the person
    /// who opened it may. Rooms of the settings would exist again at the next start.
    pub(super) fn may_close(&self, room: &str, opened_by: Option<&str>, person: &str) -> bool {
        !self.is_of_settings(room) && (self.settings.token().is_none() || opened_by == Some(person))
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
        let anybody = web.settings.token().is_none();
        let close = rooms::close(room.to_owned(), (!anybody).then(|| person.speaker.id.clone()));
        self.context.change_talk(room, web.clock.now(), false, close).await?;
        web.hub.broadcast(room, 0, 0, || FromServer::Closed { room: room.to_owned() });
        let rooms = web.in_order(rooms::all(&*web.stores.web).await?);
        web.hub.broadcast_all(&FromServer::Rooms { rooms });
        self.forget_room(room).await;
        tracing::info!(%room, "room closed");
        Ok(())
    }

    /// A person who opens a room of the same name later must not see what was said in this one.
    async fn forget_room(&self, room: &str) {
        let Some(keeper) = &self.context.keeper else { return };
        if let Err(error) = keeper.forget_room(room_id(room), &self.context.engine).await {
            warn!(%room, %error, "cannot delete a closed room; retrying");
        }
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
