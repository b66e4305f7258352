//! What is stored about one person, counted for that person.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aizuchi_core::types::{MessageId, PersonId, Place, RoomId};
use aizuchi_core::{Input, Time};

use super::read::look_up;
use super::traces::{Traces, each};
use crate::ports::{DecisionPart, Platform, Selection, TalkOf};
use crate::stores::StoreError;

/// What is stored of a person's messages and reactions on one platform.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredAboutPerson {
    /// How many of their messages are stored in each room of the platform.
    pub rooms: BTreeMap<RoomId, usize>,
    /// The time of the oldest of these messages.
    pub since: Option<Time>,
    pub reactions: usize,
    /// Decisions about their messages.
    pub decisions: usize,
}

impl StoredAboutPerson {
    pub fn messages(&self) -> usize {
        self.rooms.values().sum()
    }
}

/// A person's messages, collected from several sources without duplicates.
#[derive(Default)]
struct MessagesByRoom {
    rooms: BTreeMap<RoomId, BTreeSet<MessageId>>,
    since: Option<Time>,
}

impl MessagesByRoom {
    fn note(&mut self, room: RoomId, message: MessageId, at: Time) {
        self.rooms.entry(room).or_default().insert(message);
        self.since = Some(self.since.map_or(at, |since| since.min(at)));
    }
}

impl Traces {
    /// What is stored about a person on the platform of this place.
    pub async fn find_about(
        &self,
        person: &PersonId,
        place: &Place,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<StoredAboutPerson, StoreError> {
        let platform = platform_of(&place.room);
        let own = platforms.iter().find(|known| known.name() == platform).and_then(|known| known.own_talk());
        let (mut met, mut reactions) = (MessagesByRoom::default(), 0);
        let one = std::slice::from_ref(person);
        look_up(&*self.stores.index, &Selection::People(one.to_vec()), |record| {
            if record.input.room().is_none_or(|room| platform_of(room) != platform) {
                return;
            }
            if let Input::Said(message) = record.input {
                if message.author.id == *person {
                    met.note(message.place.room, message.id, message.at);
                }
            } else if let Input::Reacted(reaction) = record.input {
                reactions += usize::from(reaction.by == *person);
            }
        })
        .await?;
        if let Some(own) = own {
            let said = own.utterances(TalkOf::People(one)).await?;
            said.into_iter().filter(|said| !said.deleted).for_each(|said| met.note(said.room, said.id, said.at));
        }
        let rooms = met.rooms.into_iter().map(|(room, messages)| (room, messages.len())).collect();
        let mut decisions = 0;
        each(&*self.stores.decisions, DecisionPart::By(person), |decided| {
            decisions += usize::from(platform_of(&decided.room) == platform);
        })
        .await?;
        Ok(StoredAboutPerson { rooms, since: met.since, reactions, decisions })
    }
}

/// Rooms are named `platform:room`.
fn platform_of(room: &RoomId) -> &str {
    room.as_str().split_once(':').map_or("", |(platform, _)| platform)
}
