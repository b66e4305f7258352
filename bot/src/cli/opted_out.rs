//! Skips the words of people who opted out wherever the journal is read, so that they are neither replayed nor exported.

use std::collections::BTreeSet;

use aizuchi_core::Input;
use aizuchi_core::types::{MessageId, PersonId, RoomId};

use super::store::OpenStore;
use crate::keeper::opted_out_people;
use crate::memory::StoredLayers;
use crate::stores::StoreError;

/// Recognises the records of people who opted out, in journal order.
#[derive(Debug, Default)]
pub struct OptedOutFilter {
    people: Vec<PersonId>,
    messages: BTreeSet<(RoomId, MessageId)>,
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
}
