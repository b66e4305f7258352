//! A change of the talk together with its result for the caller. A store runs it in its transaction, perhaps more than
//! once; the last run counts.

use std::sync::{Arc, Mutex, PoisonError};

use crate::ports::{WebChange, WebDecision, WebQuery, WebQueryResult, WebTalk};
use crate::stores::StoreError;

pub struct TalkChange<T> {
    pub change: WebChange,
    outcome: Arc<Mutex<Option<T>>>,
}

impl<T: Send + 'static> TalkChange<T> {
    pub fn new(
        look: WebQuery,
        decide: impl Fn(&WebQueryResult) -> (T, WebDecision) + Send + Sync + 'static,
    ) -> TalkChange<T> {
        let outcome = Arc::new(Mutex::new(None));
        let out = outcome.clone();
        let decide = move |found: &WebQueryResult| {
            let (done, decision) = decide(found);
            *out.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
            decision
        };
        TalkChange { change: WebChange { query: look, decide: Arc::new(decide) }, outcome }
    }

    /// The result. Only available after the change was made.
    pub fn outcome(self) -> T {
        let done = self.outcome.lock().unwrap_or_else(PoisonError::into_inner).take();
        done.expect("what is durable was decided")
    }

    /// Makes the change in a commit of its own, without an input for the engine.
    pub async fn make(self, talk: &dyn WebTalk) -> Result<T, StoreError> {
        talk.change(&self.change).await?;
        Ok(self.outcome())
    }
}

impl<T: Send + 'static, E: Send + 'static> TalkChange<Result<T, E>> {
    /// Writes nothing if the change is refused.
    pub fn unless_refused(
        look: WebQuery,
        decide: impl Fn(&WebQueryResult) -> Result<(T, WebDecision), E> + Send + Sync + 'static,
    ) -> TalkChange<Result<T, E>> {
        TalkChange::new(look, move |found| match decide(found) {
            Ok((done, decision)) => (Ok(done), decision),
            Err(refused) => (Err(refused), WebDecision::default()),
        })
    }
}
