//! What rooms of one kind are like, over all workers. Each worker counts for itself, and adds its counts to those of all now and then:
//! no message waits for that.

use std::sync::{Mutex, MutexGuard, PoisonError};

use aizuchi_core::siblings::Siblings;
use aizuchi_core::types::RoomId;
use aizuchi_core::{Engine, Input, Trace};

use crate::ports::ClusterStore;
use crate::stores::StoreError;

#[derive(Default)]
pub struct SharedSiblings(Mutex<SiblingCounts>);

#[derive(Default)]
struct SiblingCounts {
    /// What all workers have seen, as far as this one knows.
    all: Siblings,
    /// The part of it that the others do not know yet.
    unshared: Siblings,
}

impl SharedSiblings {
    fn counts(&self) -> MutexGuard<'_, SiblingCounts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A message was rated.
    pub fn note(&self, engine: &Engine, trace: &Trace) {
        let mut counts = self.counts();
        counts.all.note(engine, trace);
        counts.unshared.note(engine, trace);
    }

    /// The input that this room should get now, if any.
    pub fn introduce(&self, engine: &Engine, room: &RoomId) -> Option<Input> {
        self.counts().all.introduce(engine, room)
    }

    /// Adds what this worker has seen since the last time to what all have seen, and learns what the others have.
    pub async fn share(&self, store: &dyn ClusterStore) -> Result<(), StoreError> {
        let unshared = std::mem::take(&mut self.counts().unshared);
        match store.share_siblings(unshared.clone()).await {
            Ok(mut all) => {
                let mut counts = self.counts();
                all.add(&counts.unshared);
                counts.all = all;
                Ok(())
            }
            Err(error) => {
                self.counts().unshared.add(&unshared);
                Err(error)
            }
        }
    }
}
