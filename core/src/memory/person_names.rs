//! The names by which a person is recognised, and where: on the servers on which they have spoken, and nowhere else.
//!
//! Somebody who calls themselves by a word decides nothing about what is said by that word among people they never met.

use serde::{Deserialize, Serialize};

use super::words::NameFinder;
use super::{Origin, home};
use crate::types::{RoomId, Visibility};

/// Names of a person, and where they count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonNames {
    /// Names that mean only them.
    pub certain: Vec<Box<str>>,
    /// Names that they confirmed: found also where it is unclear whether it is a word of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confirmed: Vec<Box<str>>,
    pub scope: NameScope,
}

/// Where a person has spoken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NameScope {
    pub rooms: Vec<RoomId>,
    /// Servers in which their names count, besides those of the rooms. One that ends with a colon is a whole platform.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub homes: Vec<Box<str>>,
}

impl NameScope {
    /// Whether their names count for what the bot said in this room.
    pub fn has_room(&self, room: &RoomId) -> bool {
        let home_of_room = home(room);
        let has = |known: &str| {
            known == home_of_room
                || known.strip_suffix(':').is_some_and(|platform| {
                    home_of_room.strip_prefix(platform).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
                })
        };
        self.rooms.iter().any(|known| has(home(known))) || self.homes.iter().any(|known| has(known))
    }

    /// Whether their names count for what was said there. Between two people they count only for themselves.
    pub fn has(&self, origin: &Origin) -> bool {
        let is_apart = origin.visibility == Visibility::Direct;
        self.rooms.contains(&origin.room) || (!is_apart && self.has_room(&origin.room))
    }

    /// The servers, without saying which rooms.
    pub fn all_homes(&self) -> Vec<Box<str>> {
        let mut homes: Vec<Box<str>> =
            self.rooms.iter().map(|room| home(room).into()).chain(self.homes.iter().cloned()).collect();
        homes.sort();
        homes.dedup();
        homes
    }

    pub fn extend(&mut self, rooms: impl IntoIterator<Item = RoomId>) {
        self.rooms.extend(rooms);
        self.rooms.sort();
        self.rooms.dedup();
    }
}

/// Finds a person's names where they count.
#[derive(Clone, Debug)]
pub(super) struct ScopedNames {
    certain: NameFinder,
    confirmed: NameFinder,
    scope: NameScope,
}

impl ScopedNames {
    pub(super) fn new(names: &PersonNames) -> ScopedNames {
        let (certain, confirmed) = (NameFinder::new(&names.certain), NameFinder::new(&names.confirmed));
        ScopedNames { certain, confirmed, scope: names.scope.clone() }
    }

    pub(super) fn are_in(&self, text: &str, origin: &Origin) -> bool {
        self.scope.has(origin) && self.are_anywhere_in(text)
    }

    /// The same for what the bot said in a room.
    pub(super) fn are_in_own(&self, text: &str, room: &RoomId) -> bool {
        self.scope.has_room(room) && self.are_anywhere_in(text)
    }

    fn are_anywhere_in(&self, text: &str) -> bool {
        self.certain.are_in(text) || self.confirmed.may_be_in(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_count_where_somebody_has_spoken() {
        let rooms = ["discord:1/2", "discord:@me/8"].map(RoomId::new).to_vec();
        let scope = NameScope { rooms, homes: vec!["web".into(), "slack:".into()] };
        let has = |room: &str, visibility| scope.has(&Origin::new(room, visibility));
        for room in ["discord:1/2", "discord:1/3", "discord:@me/8", "web:lobby", "slack:T/C"] {
            assert!(has(room, Visibility::Public) && has(room, Visibility::Private), "{room}");
        }
        for room in ["discord:2/2", "discord:@me/9", "webhook:1", "slackware:1"] {
            assert!(!has(room, Visibility::Public), "{room}");
        }
        assert!(has("discord:@me/8", Visibility::Direct) && !has("slack:T/D", Visibility::Direct));
        assert_eq!(scope.all_homes(), ["discord:1", "discord:@me/8", "slack:", "web"].map(Into::into));
    }
}
