//! Forgets a person everywhere, and keeps out of memory whoever wants that.

use std::sync::Arc;

use aizuchi_core::memory::{About, Change};
use aizuchi_core::types::PersonId;

use super::Keeper;
use crate::journal::Footprints;
use crate::ports::Platform;
use crate::runtime::{Ears, Gone};
use crate::stores::StoreError;

/// Why somebody was not forgotten, or not everywhere: to be ordered again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotForgotten {
    #[error("aizuchi is stopping")]
    Gone,
    #[error("{0}")]
    Store(#[from] StoreError),
}

impl From<Gone> for NotForgotten {
    fn from(_: Gone) -> NotForgotten {
        NotForgotten::Gone
    }
}

impl Keeper {
    /// Platforms first, so that nothing of them is heard again; then engines and journal, then memory, then the pages of the
    /// file that held it all. Ordered again after a failure, it goes on where there is something left.
    pub async fn forget(
        &self,
        person: &PersonId,
        ears: &Ears,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<(), NotForgotten> {
        let known = self.memory.people(Some(person)).await?;
        let rooms = known.iter().flat_map(|person| person.rooms.iter().cloned()).collect();
        let names = known.iter().flat_map(|person| person.names.iter().cloned()).collect();
        for platform in platforms {
            platform.forget(person).await?;
        }
        // Nothing is counted of them while their records go.
        let counted = self.counted.lock().await;
        let Footprints { rooms, names, .. } = ears.forget(person, Footprints::known(rooms, names)).await??;
        let forgotten = Change::PersonForgotten { person: person.clone(), names, rooms };
        self.memory.apply(vec![forgotten], &self.policies()).await?;
        drop(counted);
        self.database.settle().await?;
        Ok(())
    }

    /// Everything that is remembered of a person, up to what they said last.
    pub async fn about(&self, person: &PersonId) -> Result<About, StoreError> {
        self.catch_up().await?;
        self.memory.about(person).await
    }

    /// From now on they are remembered, or not; what was known of them goes at once.
    pub async fn opt_out(&self, person: &PersonId, out: bool) -> Result<(), StoreError> {
        self.memory.apply(vec![Change::OptedOut { person: person.clone(), out }], &self.policies()).await
    }
}
