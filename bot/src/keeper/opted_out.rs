//! People who opted out: their messages are read as part of the current talk, and stored no longer than that.

use aizuchi_core::types::{PersonId, Span};
use aizuchi_core::{Policies, Time};

use super::Keeper;
use crate::journal::Journal;
use crate::stores::StoreError;

impl Keeper {
    /// Deletes their messages from the journal once they have left the talk that the bot reads.
    pub async fn drop_opted_out(&self, journal: &Journal, now: Time, policies: &Policies) {
        match self.drop_words(journal, now, policies).await {
            Ok(0) => (),
            Ok(records) => tracing::info!(records, "removed messages of people who opted out from the journal"),
            Err(error) => {
                tracing::warn!(%error, "cannot remove messages of people who opted out from the journal");
            }
        }
    }

    async fn drop_words(&self, journal: &Journal, now: Time, policies: &Policies) -> Result<usize, StoreError> {
        let out = self.opted_out_people().await?;
        let before = now - Span::minutes(policies.general().settings.listen.buffer_minutes.into());
        let dropped = journal.drop_words_of(&out, before, policies).await?;
        if dropped > 0 {
            self.unfinished.notify_one();
        }
        Ok(dropped)
    }

    /// The people in the journal who opted out.
    async fn opted_out_people(&self) -> Result<Vec<PersonId>, StoreError> {
        opted_out_people(&*self.memory, &*self.stores.index).await
    }
}

/// The people in the journal who opted out. Memory keeps only a hash of each, so it is queried for everybody.
pub async fn opted_out_people(
    memory: &dyn crate::ports::Memory,
    index: &dyn crate::ports::JournalIndex,
) -> Result<Vec<PersonId>, StoreError> {
    let mut people: Vec<PersonId> = index.names().await?.into_iter().map(|(person, _)| person).collect();
    people.sort();
    people.dedup();
    let mut out = Vec::new();
    for person in people {
        if memory.people(Some(&person)).await?.iter().any(|known| known.opted_out) {
            out.push(person);
        }
    }
    Ok(out)
}
