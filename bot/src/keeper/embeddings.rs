//! Embeds facts in the background, so that no answer waits for it.

use std::time::Duration;

use aizuchi_core::effect::Usage;
use aizuchi_core::memory::{Fact, Filter, MemoryChange};
use aizuchi_core::types::RoomId;
use aizuchi_core::usage::tokens_of_bytes;

use super::Keeper;
use crate::meter::Meter;
use crate::ports::Embedder;
use crate::runtime::EngineHandle;
use crate::stores::StoreError;

/// How many facts are embedded at once, and how many are searched for rooms that can pay for it.
const TOGETHER: usize = 64;
const LOOKED_THROUGH: usize = 1024;
/// If embedding a question takes longer, the answer is written without search by meaning.
const ASKED_WITHIN: Duration = Duration::from_secs(3);

impl Keeper {
    /// Embeds facts that have no vector yet, room by room, as far as the budget of each allows. A model that does not
    /// answer is asked again the next time.
    pub async fn give_meaning(&self, engine: &EngineHandle) -> Result<(), StoreError> {
        let Some(embedder) = &self.embedder else { return Ok(()) };
        let mut out_of_money: Vec<RoomId> = Vec::new();
        loop {
            let without_vector = Some(embedder.model().into());
            let facts =
                self.memory.facts(Filter { without_vector, count: LOOKED_THROUGH, ..Filter::default() }).await?;
            let mut rooms = facts.iter().map(|fact| &fact.origin.room);
            let Some(room) = rooms.find(|room| !out_of_money.contains(room)).cloned() else { return Ok(()) };
            let of_room: Vec<&Fact> = facts.iter().filter(|fact| fact.origin.room == room).take(TOGETHER).collect();
            let texts: Vec<String> = of_room.iter().map(|fact| fact.meaning()).collect();
            if !self.pay_for(engine, &room, &texts).await {
                out_of_money.push(room);
                continue;
            }
            let Some(vectors) = self.vectors_for(&**embedder, engine, &room, &texts).await else { return Ok(()) };
            let embedded = |(fact, vector): (&&Fact, Vec<f32>)| MemoryChange::Embedded {
                fact: fact.id,
                content: fact.content.clone(),
                model: embedder.model().into(),
                vector,
            };
            let changes = of_room.iter().zip(vectors).map(embedded).collect();
            self.memory.apply(changes, &self.policies()).await?;
        }
    }

    /// Whether a room can pay for this. The payment is recorded before the call, so that it counts whatever happens.
    async fn pay_for(&self, engine: &EngineHandle, room: &RoomId, texts: &[String]) -> bool {
        match self.estimate(room, texts) {
            Some(usage) => engine.pay(room, usage).await.unwrap_or(false),
            None => true,
        }
    }

    /// The estimated cost of embedding these texts; `None` if no model is called for it.
    fn estimate(&self, room: &RoomId, texts: &[String]) -> Option<Usage> {
        let policies = self.policies();
        let policy = policies.for_room(room.as_str());
        let model = policy.settings.embedding_model()?;
        let tokens_in = texts.iter().map(|text| tokens_of_bytes(text.len())).sum();
        let micros = policy.price(&model).micros(tokens_in, 0);
        Some(Usage { calls: 1, tokens_in, micros, ..Usage::default() })
    }

    async fn vectors_for(
        &self,
        embedder: &dyn Embedder,
        engine: &EngineHandle,
        room: &RoomId,
        texts: &[String],
    ) -> Option<Vec<Vec<f32>>> {
        let meter = self.meter(room);
        let made = embedder.embed(texts, &meter).await;
        let (paid, cost) = (self.estimate(room, texts).unwrap_or_default(), meter.usage());
        // A retry costs again.
        let more = Usage {
            calls: cost.calls.saturating_sub(paid.calls),
            prompt_chars: 0,
            tokens_in: cost.tokens_in.saturating_sub(paid.tokens_in),
            tokens_out: cost.tokens_out,
            micros: cost.micros.saturating_sub(paid.micros),
        };
        if more != Usage::default() {
            let _ = engine.submit(aizuchi_core::Input::Billed(room.clone(), more)).await;
        }
        made.map_err(|error| tracing::warn!(%error, "embeddings are unavailable; searching facts by words only")).ok()
    }

    fn meter(&self, room: &RoomId) -> Meter {
        let policies = self.policies();
        let policy = policies.for_room(room.as_str());
        policy.settings.embedding_model().map(|model| Meter::at(policy.price(&model))).unwrap_or_default()
    }

    /// The embedding of a question, if there is an embedder and it answers in time.
    pub(super) async fn meaning_of(&self, text: &str, meter: &Meter) -> Option<(Box<str>, Vec<f32>)> {
        let embedder = self.embedder.as_ref()?;
        let texts = [text.to_owned()];
        match tokio::time::timeout(ASKED_WITHIN, embedder.embed(&texts, meter)).await {
            Ok(Ok(vectors)) => vectors.into_iter().next().map(|vector| (embedder.model().into(), vector)),
            Ok(Err(error)) => {
                tracing::warn!(%error, "embedding the question failed; searching by words only");
                None
            }
            Err(_) => {
                tracing::warn!("embedding the question took too long; searching by words only");
                None
            }
        }
    }
}
