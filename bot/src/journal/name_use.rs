//! What talk shows about a person's names: since when they have had them where, and whether others call them so.

use std::collections::BTreeSet;
use std::sync::Arc;

use aizuchi_core::memory::home;
use aizuchi_core::memory::words::{NameFinder, bare_name};
use aizuchi_core::types::{PersonId, RoomId, Time};
use aizuchi_core::{Input, Message};

use super::read::look_up;
use super::write::Journal;
use crate::ports::{Platform, Selection, TalkOf};
use crate::stores::StoreError;

/// How a person's names are used.
#[derive(Debug, Default)]
pub struct NameUse {
    /// The rooms in which they spoke.
    pub rooms: BTreeSet<RoomId>,
    /// By which names others called them, in a message that answers or mentions them.
    tied: BTreeSet<Box<str>>,
    /// When they first had each name, as names are compared, on each server.
    since: Vec<FirstUse>,
}

#[derive(Debug)]
struct FirstUse {
    home: Box<str>,
    name: String,
    at: Time,
}

impl NameUse {
    /// Whether somebody else called them by this name.
    pub fn is_tied(&self, name: &str) -> bool {
        self.tied.contains(name)
    }

    /// Since when they have had this name, or one that contains it, on a server. `None` if never.
    pub fn since(&self, name: &str, home: &str) -> Option<Time> {
        let name = bare_name(name);
        self.since.iter().filter(|used| *used.home == *home && used.name.contains(&name)).map(|used| used.at).min()
    }

    /// A profile that is older than the talk: what they were called then, they were called from the beginning.
    pub fn add_profile(&mut self, names: &[Box<str>], rooms: &[RoomId], first_seen: Time) {
        let earliest = self.since.iter().map(|used| used.at).min();
        let is_earliest = |name: &str| {
            let known = self.since.iter().filter(|used| used.name == name).map(|used| used.at).min();
            known.is_none_or(|known| Some(known) == earliest)
        };
        let old: Vec<String> = names.iter().map(|name| bare_name(name)).filter(|name| is_earliest(name)).collect();
        for room in rooms {
            old.iter().for_each(|name| self.note(room, name, first_seen));
        }
        self.rooms.extend(rooms.iter().cloned());
    }

    fn note(&mut self, room: &RoomId, name: &str, at: Time) {
        let name = bare_name(name);
        match self.since.iter_mut().find(|used| *used.home == *home(room) && used.name == name) {
            Some(used) => used.at = used.at.min(at),
            None => self.since.push(FirstUse { home: home(room).into(), name, at }),
        }
    }
}

impl Journal {
    /// How these names of a person are used.
    pub async fn name_use(
        &self,
        ids: &[PersonId],
        names: &[Box<str>],
        platforms: &[Arc<dyn Platform>],
    ) -> Result<NameUse, StoreError> {
        let mut found = NameUse::default();
        let looked: Vec<(&Box<str>, NameFinder)> = names.iter().map(|name| (name, NameFinder::new([name]))).collect();
        look_up(&*self.stores.index, &Selection::People(ids.to_vec()), |record| {
            let Input::Said(message) = record.input else { return };
            if ids.contains(&message.author.id) {
                found.rooms.insert(message.place.room.clone());
                found.note(&message.place.room, &message.author.name, message.at);
            } else if is_for(&message, ids) {
                let called = looked.iter().filter(|(_, finder)| finder.are_in(&message.text));
                found.tied.extend(called.map(|(name, _)| (*name).clone()));
            }
        })
        .await?;
        for talk in platforms.iter().filter_map(|platform| platform.own_talk()) {
            for said in talk.utterances(TalkOf::People(ids)).await? {
                found.rooms.insert(said.room.clone());
                found.note(&said.room, &said.name, said.at);
            }
        }
        Ok(found)
    }
}

/// Whether a message answers or mentions one of these people.
fn is_for(message: &Message, ids: &[PersonId]) -> bool {
    let answered = message.reply.as_ref().and_then(|reply| reply.to_person.as_ref());
    message.mentions.iter().chain(answered).any(|person| ids.contains(person))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_as_old_as_its_first_use_on_a_server() {
        let mut used = NameUse::default();
        let (lobby, guild) = (RoomId::new("web:lobby"), RoomId::new("discord:1/2"));
        used.note(&lobby, "Rina Sato", Time(5));
        used.note(&RoomId::new("web:garden"), "rina sato", Time(3));
        used.note(&guild, "Invoice", Time(9));
        assert_eq!(used.since("Rina", "web"), Some(Time(3)), "a part of a name is as old as the name");
        assert_eq!((used.since("Rina", "discord:1"), used.since("Invoice", "web")), (None, None));
        used.add_profile(&["Rina Sato".into(), "Invoice".into()], &[lobby], Time(1));
        assert_eq!(used.since("Rina Sato", "web"), Some(Time(1)));
        assert_eq!(used.since("Invoice", "discord:1"), Some(Time(9)), "they had another name before");
        assert_eq!(used.since("Invoice", "web"), None);
    }
}
