//! Messages of the web room itself.

use super::talk::Refusal;
use crate::language::{Language, LocalizedMessage, message, say};

impl Refusal {
    pub fn say(self, language: Language) -> String {
        language.text(match self {
            Refusal::NoSuchMessage => "refusal-no-such-message",
            Refusal::NoSuchThread => "refusal-no-such-thread",
            Refusal::NotYours => "refusal-not-yours",
            Refusal::Deleted => "refusal-deleted",
            Refusal::RoomClosed => "refusal-room-closed",
            Refusal::NotYourRoom => "refusal-not-your-room",
            Refusal::TooManyReactions => "refusal-too-many-reactions",
        })
    }
}

/// What `/close-room` would do, and how to confirm it.
pub fn sure_to_close(room: &str, language: Language) -> String {
    say!(language, "command-close-room.sure", room = room)
}

/// Why a page's request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageError {
    NotUnderstood,
    NotEntered,
    BadName,
    NameTaken,
    BadRoom,
    TooManyRooms,
    TooManyRoomsOpened,
    TooManyPeople,
    TooManyConnections,
    OtherRoom,
    RoomOfSettings,
    Empty,
    TooLong { chars_max: u32 },
    TooBig { bytes_max: usize },
    BadKey,
    BadEmoji,
    NoSuchSample,
    TooManySamples,
    Store,
    Stopping,
}

impl PageError {
    /// Whether the same request may succeed a little later.
    pub fn passes(self) -> bool {
        match self {
            PageError::Store | PageError::Stopping | PageError::TooManyPeople | PageError::TooManyConnections => true,
            PageError::NotUnderstood
            | PageError::NotEntered
            | PageError::BadName
            | PageError::NameTaken
            | PageError::BadRoom
            | PageError::TooManyRooms
            | PageError::TooManyRoomsOpened
            | PageError::OtherRoom
            | PageError::RoomOfSettings
            | PageError::Empty
            | PageError::TooLong { .. }
            | PageError::TooBig { .. }
            | PageError::BadKey
            | PageError::BadEmoji
            | PageError::NoSuchSample
            | PageError::TooManySamples => false,
        }
    }

    pub fn say(self, language: Language) -> String {
        self.message().say(language)
    }

    fn message(self) -> LocalizedMessage {
        match self {
            PageError::TooLong { chars_max } => message!("trouble-too-long", most = chars_max),
            PageError::TooBig { bytes_max } => message!("trouble-too-big", most = bytes_max),
            PageError::NotUnderstood => message!("trouble-not-understood"),
            PageError::NotEntered => message!("trouble-not-entered"),
            PageError::BadName => message!("trouble-bad-name"),
            PageError::NameTaken => message!("trouble-name-taken"),
            PageError::BadRoom => message!("trouble-bad-room"),
            PageError::TooManyRooms => message!("trouble-too-many-rooms"),
            PageError::TooManyRoomsOpened => message!("trouble-too-many-rooms-opened"),
            PageError::TooManyPeople => message!("trouble-too-many-people"),
            PageError::TooManyConnections => message!("trouble-too-many-connections"),
            PageError::OtherRoom => message!("trouble-other-room"),
            PageError::RoomOfSettings => message!("trouble-room-of-settings"),
            PageError::Empty => message!("trouble-empty"),
            PageError::BadKey => message!("trouble-bad-key"),
            PageError::BadEmoji => message!("trouble-bad-emoji"),
            PageError::NoSuchSample => message!("trouble-no-such-sample", languages = Language::listed()),
            PageError::TooManySamples => message!("trouble-too-many-samples"),
            PageError::Store => message!("trouble-store"),
            PageError::Stopping => message!("command-stopping"),
        }
    }
}
