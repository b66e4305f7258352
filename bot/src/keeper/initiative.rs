//! Something to tell of its own accord: a fact that may be shared, is about what was just said, and was never told there.

use aizuchi_core::Time;
use aizuchi_core::effect::{Ask, Brief, Recall};
use aizuchi_core::memory::{FactId, Memories, MemoryChange, Origin, Query, Recalled};
use aizuchi_core::types::{MessageId, Place};

use super::Keeper;
use crate::meter::Meter;
use crate::stores::StoreError;

/// Facts looked at; most of what fits may not be told.
const LOOKS_AT: usize = 10;

impl Keeper {
    /// What fits best. Finding nothing is the rule, and so is a store that fails.
    pub async fn find_to_tell(&self, recall: &Recall, seq: u64, meter: &Meter) -> Option<FactId> {
        let found = self.fitting(recall, seq, meter).await;
        match found {
            Ok(found) => found.map(|recalled| recalled.fact.id),
            Err(error) => {
                tracing::warn!(%error, room = %recall.place.room, "cannot read facts for a remark of its own");
                None
            }
        }
    }

    async fn fitting(&self, recall: &Recall, seq: u64, meter: &Meter) -> Result<Option<Recalled>, StoreError> {
        let found = self.what_fits(&recall.place, &recall.message, recall.at, seq, meter).await?;
        let room = &recall.place.room;
        Ok(found.into_iter().find(|recalled| {
            let fact = &recalled.fact;
            fact.shareable && !fact.told_in.contains(room) && !fact.messages.contains(&recall.message)
        }))
    }

    async fn what_fits(
        &self,
        place: &Place,
        message: &MessageId,
        at: Time,
        seq: u64,
        meter: &Meter,
    ) -> Result<Vec<Recalled>, StoreError> {
        let talk = self.latest_talk(&place.room, seq).await?;
        let Some(said) = talk.into_iter().find(|said| said.id == *message) else { return Ok(Vec::new()) };
        let reader = Origin { room: place.room.clone(), visibility: said.visibility };
        let (text, speaker) = (said.text.to_string(), Some(said.person));
        let vector = self.meaning_of(&text, meter).await;
        self.memory
            .recall(Query { text, speaker, reader, at, count: LOOKS_AT, vector, close: Vec::new() }, &self.policies())
            .await
    }

    /// For the judge: the one thing it is about to tell. `false` if that may not be told any more.
    pub async fn remind_judge(&self, ask: &mut Ask, seq: u64, meter: &Meter) -> bool {
        let Some(fact) = ask.telling else { return true };
        let room = ask.call.room.clone();
        let last = ask.transcript.lines.iter().last().map(|line| MessageId::new(line.id));
        let Some(last) = last else { return false };
        let place = Place { room, thread: None };
        match self.told(fact, &place, &last, (ask.at, seq), meter).await {
            Some(memories) => ask.memories = memories,
            None => return false,
        }
        true
    }

    /// For the writer, beside everything else it remembers.
    pub async fn remind_writer(&self, brief: &mut Brief, seq: u64, meter: &Meter) -> bool {
        let Some(fact) = brief.telling else { return true };
        let Some(answering) = brief.answering.last().cloned() else { return false };
        match self.told(fact, &brief.place.clone(), &answering, (brief.at, seq), meter).await {
            Some(memories) => brief.memories = memories,
            None => return false,
        }
        true
    }

    /// Asked for through the walls once more: between finding and telling, anything may have been forgotten.
    async fn told(
        &self,
        fact: FactId,
        place: &Place,
        message: &MessageId,
        (at, seq): (Time, u64),
        meter: &Meter,
    ) -> Option<Memories> {
        let found = self.what_fits(place, message, at, seq, meter).await;
        let facts: Vec<Recalled> = found.ok()?.into_iter().filter(|recalled| recalled.fact.id == fact).collect();
        (!facts.is_empty()).then(|| Memories { facts, ..Memories::default() })
    }

    /// It was told there: never again.
    pub async fn was_told(&self, fact: FactId, place: &Place, at: Time) {
        let told = MemoryChange::Told { fact, room: place.room.clone(), at };
        if let Err(error) = self.memory.apply(vec![told], &self.policies()).await {
            tracing::warn!(%error, %fact, "cannot store that a fact was mentioned");
        }
    }
}
