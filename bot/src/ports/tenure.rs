//! The right to hand on what is heard, where another process may have it next. It is lost for ever, also without this process noticing:
//! one that was stopped goes on in the middle of what it did. So it ends by itself unless it is extended in time.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Cheap to clone. All clones end together.
#[derive(Clone, Debug)]
pub struct Tenure {
    over: CancellationToken,
    until: Arc<Mutex<Instant>>,
}

impl Tenure {
    pub fn new(until: Instant) -> Tenure {
        Tenure { over: CancellationToken::new(), until: Arc::new(Mutex::new(until)) }
    }

    /// `false` if it is over already.
    pub fn extend(&self, until: Instant) -> bool {
        let holds = self.holds();
        if holds {
            *self.until.lock().unwrap_or_else(PoisonError::into_inner) = until;
        }
        holds
    }

    pub fn end(&self) {
        self.over.cancel();
    }

    /// Once it is over, it stays so.
    pub fn holds(&self) -> bool {
        if *self.until.lock().unwrap_or_else(PoisonError::into_inner) <= Instant::now() {
            self.end();
        }
        !self.over.is_cancelled()
    }

    /// Resolves when it was ended, or somebody found it over.
    pub async fn ended(&self) {
        self.over.cancelled().await;
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn what_was_not_extended_in_time_is_over_for_ever() {
        let tenure = Tenure::new(Instant::now() + Duration::from_secs(3));
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(tenure.extend(Instant::now() + Duration::from_secs(3)));
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(tenure.holds());
        tokio::time::advance(Duration::from_secs(2)).await;
        assert!(!tenure.extend(Instant::now() + Duration::from_secs(3)) && !tenure.clone().holds());
        tenure.ended().await;
    }
}
