//! What the pages of other processes should show: nothing of it is stored, or a page would find it by itself.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PageNotice {
    /// There is one room more.
    RoomOpened,
    RoomClosed {
        room: String,
    },
    Typing {
        room: String,
        name: String,
        thread: Option<String>,
    },
}

pub trait PageNotices: Send + Sync {
    /// Tells all other processes that run now.
    fn tell(&self, notice: PageNotice);
}
