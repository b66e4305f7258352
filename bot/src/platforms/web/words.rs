//! What the web room says by itself.

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

/// What `/close-room` would do, and how to say that it is meant.
pub fn sure_to_close(room: &str, language: Language) -> String {
    say!(language, "command-close-room.sure", room = room)
}

/// Why a page is not given what it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trouble {
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

impl Trouble {
    /// Whether the same may well be taken a little later.
    pub fn passes(self) -> bool {
        match self {
            Trouble::Store | Trouble::Stopping | Trouble::TooManyPeople | Trouble::TooManyConnections => true,
            Trouble::NotUnderstood
            | Trouble::NotEntered
            | Trouble::BadName
            | Trouble::NameTaken
            | Trouble::BadRoom
            | Trouble::TooManyRooms
            | Trouble::TooManyRoomsOpened
            | Trouble::OtherRoom
            | Trouble::RoomOfSettings
            | Trouble::Empty
            | Trouble::TooLong { .. }
            | Trouble::TooBig { .. }
            | Trouble::BadKey
            | Trouble::BadEmoji
            | Trouble::NoSuchSample
            | Trouble::TooManySamples => false,
        }
    }

    pub fn say(self, language: Language) -> String {
        self.message().say(language)
    }

    fn message(self) -> LocalizedMessage {
        match self {
            Trouble::TooLong { chars_max } => message!("trouble-too-long", most = chars_max),
            Trouble::TooBig { bytes_max } => message!("trouble-too-big", most = bytes_max),
            Trouble::NotUnderstood => message!("trouble-not-understood"),
            Trouble::NotEntered => message!("trouble-not-entered"),
            Trouble::BadName => message!("trouble-bad-name"),
            Trouble::NameTaken => message!("trouble-name-taken"),
            Trouble::BadRoom => message!("trouble-bad-room"),
            Trouble::TooManyRooms => message!("trouble-too-many-rooms"),
            Trouble::TooManyRoomsOpened => message!("trouble-too-many-rooms-opened"),
            Trouble::TooManyPeople => message!("trouble-too-many-people"),
            Trouble::TooManyConnections => message!("trouble-too-many-connections"),
            Trouble::OtherRoom => message!("trouble-other-room"),
            Trouble::RoomOfSettings => message!("trouble-room-of-settings"),
            Trouble::Empty => message!("trouble-empty"),
            Trouble::BadKey => message!("trouble-bad-key"),
            Trouble::BadEmoji => message!("trouble-bad-emoji"),
            Trouble::NoSuchSample => message!("trouble-no-such-sample", languages = Language::listed()),
            Trouble::TooManySamples => message!("trouble-too-many-samples"),
            Trouble::Store => message!("trouble-store"),
            Trouble::Stopping => message!("command-stopping"),
        }
    }
}
