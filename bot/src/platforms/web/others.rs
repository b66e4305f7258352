//! Pages that are open at other processes: they hear at once of rooms that open and close, and of who is typing.

use super::platform::Web;
use super::rooms;
use super::wire::FromServer;
use crate::ports::PageNotice;
use crate::stores::StoreError;

impl Web {
    /// Has pages elsewhere show what those of this process see already.
    pub(super) fn tell_others(&self, notice: PageNotice) {
        if let Some(others) = self.others.get() {
            others.tell(notice);
        }
    }

    /// Has every page of this process list the rooms that there are now.
    pub async fn show_rooms(&self) -> Result<(), StoreError> {
        let rooms = self.in_order(rooms::all(&*self.stores.web).await?);
        self.hub.broadcast_all(&FromServer::Rooms { rooms });
        Ok(())
    }

    /// Shows somebody typing to the pages in a room. `from` is the page it came from; 0 if it came from none.
    pub(super) fn show_typing(&self, room: &str, from: u64, name: String, thread: Option<String>) {
        self.hub.broadcast(room, 0, from, || FromServer::Typing { name, thread });
    }

    pub(super) async fn show_closed(&self, room: &str) -> Result<(), StoreError> {
        self.hub.broadcast(room, 0, 0, || FromServer::Closed { room: room.to_owned() });
        self.show_rooms().await
    }
}

#[cfg(feature = "cluster")]
impl Web {
    /// From now on other processes hear of what pages of this one see.
    pub fn share(&self, others: std::sync::Arc<dyn crate::ports::PageNotices>) {
        let _ = self.others.set(others);
    }

    /// Another process stored something: pages are shown what is new.
    pub fn wake(&self) {
        self.hub.wake();
    }

    /// Shows what another process told.
    pub async fn show_notice(&self, notice: PageNotice) -> Result<(), StoreError> {
        match notice {
            PageNotice::RoomOpened => self.show_rooms().await?,
            PageNotice::RoomClosed { room } => self.show_closed(&room).await?,
            PageNotice::Typing { room, name, thread } => self.show_typing(&room, 0, name, thread),
        }
        Ok(())
    }
}
