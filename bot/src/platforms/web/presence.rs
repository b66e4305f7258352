//! Who is in which room now: they can be mentioned there, and are not removed.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::ports::Speaker;

/// One entry for each page; there are no more pages than connections.
#[derive(Debug, Default)]
pub struct Presence(Mutex<HashMap<String, Vec<Speaker>>>);

/// A person's page in a room, until it is dropped.
pub struct PresenceGuard {
    presence: Arc<Presence>,
    room: String,
    speaker: Speaker,
}

impl Presence {
    pub fn come(self: &Arc<Presence>, room: &str, speaker: &Speaker) -> PresenceGuard {
        self.rooms().entry(room.to_owned()).or_default().push(speaker.clone());
        PresenceGuard { presence: self.clone(), room: room.to_owned(), speaker: speaker.clone() }
    }

    pub fn in_room(&self, room: &str) -> Vec<Speaker> {
        self.rooms().get(room).cloned().unwrap_or_default()
    }

    /// The ids of everybody present.
    pub fn everybody(&self) -> HashSet<String> {
        self.rooms().values().flatten().map(|speaker| speaker.id.clone()).collect()
    }

    fn rooms(&self) -> MutexGuard<'_, HashMap<String, Vec<Speaker>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for PresenceGuard {
    fn drop(&mut self) {
        let mut rooms = self.presence.rooms();
        let Some(here) = rooms.get_mut(&self.room) else { return };
        if let Some(index) = here.iter().position(|speaker| *speaker == self.speaker) {
            here.swap_remove(index);
        }
        if here.is_empty() {
            rooms.remove(&self.room);
        }
    }
}
