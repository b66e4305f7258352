//! Facts by what they mean: turned into vectors in the background, so that no answer waits for it.

use std::time::Duration;

use aizuchi_core::memory::{Change, Filter};

use super::Keeper;
use crate::stores::StoreError;

/// Facts turned into vectors at once.
const TOGETHER: usize = 64;
/// An answer is written without meaning rather than later than this.
const ASKED_WITHIN: Duration = Duration::from_secs(3);

impl Keeper {
    /// Gives vectors to facts that have none yet. A model that does not answer is asked again the next time.
    pub(super) async fn give_meaning(&self) -> Result<(), StoreError> {
        let Some(embedder) = &self.embedder else { return Ok(()) };
        loop {
            let model = embedder.model();
            let filter = Filter { without_vector: Some(model.into()), count: TOGETHER, ..Filter::default() };
            let facts = self.memory.facts(filter).await?;
            let texts: Vec<String> = facts.iter().map(|fact| fact.content.to_string()).collect();
            if texts.is_empty() {
                return Ok(());
            }
            let vectors = match embedder.embed(&texts).await {
                Ok(vectors) => vectors,
                Err(error) => {
                    tracing::warn!(%error, "facts are found by their words alone for now");
                    return Ok(());
                }
            };
            let embedded = |(fact, vector): (&aizuchi_core::memory::Fact, Vec<f32>)| Change::Embedded {
                fact: fact.id,
                content: fact.content.clone(),
                model: model.into(),
                vector,
            };
            let changes = facts.iter().zip(vectors).map(embedded).collect();
            self.memory.apply(changes, &self.policies()).await?;
        }
    }

    /// What a question means, if there is somebody to ask and they answer in time.
    pub(super) async fn meaning_of(&self, text: &str) -> Option<(Box<str>, Vec<f32>)> {
        let embedder = self.embedder.as_ref()?;
        let texts = [text.to_owned()];
        match tokio::time::timeout(ASKED_WITHIN, embedder.embed(&texts)).await {
            Ok(Ok(vectors)) => vectors.into_iter().next().map(|vector| (embedder.model().into(), vector)),
            Ok(Err(error)) => {
                tracing::warn!(%error, "looks by words alone");
                None
            }
            Err(_) => {
                tracing::warn!("looks by words alone: nobody said in time what the question means");
                None
            }
        }
    }
}
