//! Skips the words of people who opted out wherever the journal is read, so that they are neither replayed nor exported.

use std::collections::{BTreeMap, BTreeSet};

use aizuchi_core::memory::words::Phrases;
use aizuchi_core::types::{MessageId, PersonId, RoomId, Voice};
use aizuchi_core::{Input, Message};

use super::store::OpenStore;
use crate::keeper::opted_out_people;
use crate::memory::StoredLayers;
use crate::stores::StoreError;

/// Recognises the records of people who opted out, in journal order.
#[derive(Debug, Default)]
pub struct OptedOutFilter {
    people: Vec<PersonId>,
    messages: BTreeSet<(RoomId, MessageId)>,
    /// What they said in each room and nobody else, and what others said.
    said: BTreeMap<RoomId, (Phrases, Phrases)>,
    /// How many messages were skipped.
    pub skipped: u64,
}

impl OptedOutFilter {
    pub async fn read(opened: &OpenStore) -> Result<OptedOutFilter, StoreError> {
        // Stores of earlier versions have no list of people who opted out.
        if !opened.backend.condition().await?.has_memory {
            return Ok(OptedOutFilter::default());
        }
        // The main store always has this list, wherever the layers are.
        let memory = opened.backend.memory(StoredLayers::ALL);
        let people = opted_out_people(&*memory, &*opened.stores.index).await?;
        Ok(OptedOutFilter { people, ..OptedOutFilter::default() })
    }

    /// Whether this record is skipped.
    pub fn skips(&mut self, input: &Input) -> bool {
        if let Input::Said(message) = input {
            let skips = self.people.contains(&message.author.id);
            self.note(message, skips);
            if skips {
                self.messages.insert((message.place.room.clone(), message.id.clone()));
                self.skipped += 1;
            }
            return skips;
        }
        if let Input::Changed(change) = input {
            return self.messages.contains(&(change.place.room.clone(), change.id.clone()));
        }
        matches!(input, Input::Reacted(reaction) if self.people.contains(&reaction.by))
    }

    /// The rooms in which messages were skipped.
    pub fn rooms(&self) -> BTreeSet<RoomId> {
        self.messages.iter().map(|(room, _)| room.clone()).collect()
    }

    /// Whether the bot answered them with this, or repeated what only they said.
    pub fn repeats(&self, input: &Input) -> bool {
        let Input::Said(message) = input else { return false };
        if message.author.voice != Voice::Me {
            return false;
        }
        let room = &message.place.room;
        let answered = message.reply.as_ref().and_then(|reply| reply.to.clone());
        answered.is_some_and(|to| self.messages.contains(&(room.clone(), to)))
            || self.said.get(room).is_some_and(|(theirs, _)| theirs.are_in(&message.text))
    }

    fn note(&mut self, message: &Message, is_theirs: bool) {
        if self.people.is_empty() || message.author.voice == Voice::Me {
            return;
        }
        let (theirs, others) = self.said.entry(message.place.room.clone()).or_default();
        if is_theirs {
            theirs.add(&message.text);
            theirs.remove_all(others);
        } else {
            others.add(&message.text);
            theirs.remove(&message.text);
        }
    }
}
