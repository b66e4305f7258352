//! Access limits: what was said in one room is not known in another whose people could not have read it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::types::{RoomId, Visibility};

/// Where something was said or will be read, and who can read there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    pub room: RoomId,
    pub visibility: Visibility,
}

impl Origin {
    pub fn new(room: impl AsRef<str>, visibility: Visibility) -> Origin {
        Origin { room: RoomId::new(room), visibility }
    }
}

/// Why something may be known in a room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Allowed {
    SameRoom,
    PublicInHouse,
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Allowed::SameRoom => "said in this room",
            Allowed::PublicInHouse => "said in a public room of the same house",
        })
    }
}

/// Whether what was said at `origin` may be known where `reader` is. In the room itself it may, unless somebody reads along
/// who could not then: a private thread is a private part of its room. Elsewhere only what was public, in rooms of the same
/// server, if `across_rooms` allows it. Nothing enters or leaves a conversation between two people.
pub fn allowed(origin: &Origin, reader: &Origin, across_rooms: bool) -> Option<Allowed> {
    if origin.room == reader.room {
        return (privacy(reader.visibility) >= privacy(origin.visibility)).then_some(Allowed::SameRoom);
    }
    let same_house = || house(&origin.room).is_some_and(|of| house(&reader.room) == Some(of));
    let open = origin.visibility == Visibility::Public && reader.visibility != Visibility::Direct;
    (across_rooms && open && same_house()).then_some(Allowed::PublicInHouse)
}

/// The server of a room, that is the guild, workspace or platform whose people it belongs to: `discord:1` of `discord:1/2`,
/// `web` of `web:lobby`. `None` if the name does not contain it.
pub fn house(room: &RoomId) -> Option<&str> {
    let name = room.as_str();
    match name.rsplit_once('/') {
        Some((house, _)) => Some(house),
        None => name.split_once(':').filter(|(_, own)| !own.contains(':')).map(|(platform, _)| platform),
    }
}

/// Where a name means the same person: the server of a room, or the room itself if it belongs to none. A conversation between
/// two people is of no server.
pub fn home(room: &RoomId) -> &str {
    house(room).filter(|house| !house.ends_with(DIRECT)).unwrap_or(room.as_str())
}

/// How the "server" of conversations between two people ends where they belong to none.
const DIRECT: &str = ":@me";

/// The narrower of two audiences.
pub fn narrower(a: Visibility, b: Visibility) -> Visibility {
    if privacy(a) >= privacy(b) { a } else { b }
}

fn privacy(visibility: Visibility) -> u8 {
    match visibility {
        Visibility::Public => 0,
        Visibility::Private => 1,
        Visibility::Direct => 2,
    }
}

#[cfg(test)]
mod tests {
    use Visibility::{Direct, Private, Public};

    use super::*;

    fn may(from: (&str, Visibility), to: (&str, Visibility)) -> Option<Allowed> {
        allowed(&Origin::new(from.0, from.1), &Origin::new(to.0, to.1), true)
    }

    #[test]
    fn public_talk_flows_within_a_house_and_no_further() {
        let here = ("discord:1/2", Public);
        assert_eq!(may(here, here), Some(Allowed::SameRoom));
        assert_eq!(may(here, ("discord:1/3", Public)), Some(Allowed::PublicInHouse));
        assert_eq!(may(here, ("discord:1/4", Private)), Some(Allowed::PublicInHouse));
        for elsewhere in ["discord:2/2", "slack:1/2", "web:2", "2"] {
            assert_eq!(may(here, (elsewhere, Public)), None, "{elsewhere}");
        }
        assert_eq!(may(("web:lobby", Public), ("web:garden", Public)), Some(Allowed::PublicInHouse));
        assert_eq!(may(("c1", Public), ("c2", Public)), None);
        let (a, b) = (Origin::new("discord:1/2", Public), Origin::new("discord:1/3", Public));
        assert_eq!(allowed(&a, &b, false), None);
    }

    #[test]
    fn a_name_is_at_home_on_a_server() {
        let home_of = |room: &str| home(&RoomId::new(room)).to_owned();
        assert_eq!(
            [home_of("discord:1/2"), home_of("web:lobby"), home_of("slack:T/C")],
            ["discord:1", "web", "slack:T"]
        );
        assert_eq!([home_of("discord:@me/8"), home_of("room")], ["discord:@me/8", "room"], "nobody else is there");
    }

    #[test]
    fn private_talk_stays_where_it_was() {
        let private = ("discord:1/2", Private);
        assert_eq!(may(private, private), Some(Allowed::SameRoom));
        assert_eq!(may(private, ("discord:1/3", Private)), None);
        assert_eq!(may(private, ("discord:1/2", Public)), None, "a private thread in a public channel");
        let direct = ("discord:@me/8", Direct);
        assert_eq!(may(direct, direct), Some(Allowed::SameRoom));
        assert_eq!(may(direct, ("discord:@me/9", Direct)), None);
        assert_eq!(may(("slack:T/C", Public), ("slack:T/D", Direct)), None);
    }
}
