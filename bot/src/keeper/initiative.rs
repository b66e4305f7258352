//! Finds a fact to mention unasked: one that may be shared, fits what was just said, and was never mentioned there.

use aizuchi_core::Time;
use aizuchi_core::effect::{Ask, Brief, Recall};
use aizuchi_core::memory::{FactId, Memories, MemoryChange, Origin, Query, Recalled};
use aizuchi_core::types::{MessageId, Place};

use super::Keeper;
use crate::meter::Meter;
use crate::stores::StoreError;

/// How many facts are considered; most that fit may not be mentioned.
const LOOKS_AT: usize = 10;

impl Keeper {
    /// The best fit. Usually there is none; a store that fails also gives none.
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

    /// For the judge: the one fact that the bot is about to mention. `false` if it may no longer be mentioned.
    pub async fn remind_judge(&self, ask: &mut Ask, seq: u64, meter: &Meter) -> bool {
        let Some(fact) = ask.telling else { return true };
        let room = ask.call.room.clone();
        let last = ask.transcript.lines.iter().last().map(|line| MessageId::new(line.id));
        let Some(last) = last else { return false };
        let place = Place { room, thread: None };
        let told = self.in_time(async { Ok(self.check_fact(fact, &place, &last, (ask.at, seq), meter).await) }).await;
        match told.ok().flatten() {
            Some(memories) => ask.memories = memories,
            None => return false,
        }
        true
    }

    /// For the writer, beside everything else it remembers.
    pub(super) async fn remind_writer(&self, brief: &mut Brief, seq: u64, meter: &Meter) -> bool {
        let Some(fact) = brief.telling else { return true };
        let Some(answering) = brief.answering.last().cloned() else { return false };
        match self.check_fact(fact, &brief.place.clone(), &answering, (brief.at, seq), meter).await {
            Some(memories) => brief.memories = memories,
            None => return false,
        }
        true
    }

    /// Checks once more that the fact may be mentioned there: it may have been forgotten since it was found.
    async fn check_fact(
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

    /// Notes that the fact was mentioned there, so that it is not mentioned again.
    pub async fn was_told(&self, fact: FactId, place: &Place, at: Time) {
        let told = MemoryChange::Told { fact, room: place.room.clone(), at };
        if let Err(error) = self.memory.apply(vec![told], &self.policies()).await {
            tracing::warn!(%error, %fact, "cannot store that a fact was mentioned");
        }
    }
}
