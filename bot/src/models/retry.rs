//! Retries when a provider is busy or broken: with growing pauses, never earlier than the provider asks, and not forever.

use std::time::Duration;

use aizuchi_core::settings::Settings;
use backon::{ExponentialBuilder, Retryable as _};

use crate::ports::ModelError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryLimits {
    pub retries_max: u32,
    /// The limit for one attempt.
    pub timeout: Duration,
    /// The limit for all attempts, including the pauses.
    pub total: Duration,
}

/// An answer that took longer than this many attempts is no longer an answer to what was said.
const ATTEMPTS_WORTH: u32 = 3;

impl RetryLimits {
    pub fn of(settings: &Settings) -> RetryLimits {
        let timeout = Duration::from_secs(settings.models.timeout_seconds.into());
        RetryLimits { retries_max: settings.models.retries_max, timeout, total: timeout * ATTEMPTS_WORTH }
    }
}

const PAUSE_MIN: Duration = Duration::from_millis(500);
const PAUSE_MAX: Duration = Duration::from_secs(20);

/// Runs `attempt` (with its number, from 1) until it succeeds, is refused, or the limits are reached. The pauses differ by
/// `seed`, so that calls that failed together are not retried together.
pub async fn with_retries<T, F>(
    limits: RetryLimits,
    seed: u64,
    mut attempt: impl FnMut(u32) -> F,
) -> Result<T, ModelError>
where
    F: Future<Output = Result<T, ModelError>>,
{
    let mut number = 0;
    let begun = tokio::time::Instant::now();
    let pauses = ExponentialBuilder::new()
        .with_min_delay(PAUSE_MIN)
        .with_max_delay(PAUSE_MAX)
        .with_max_times(limits.retries_max as usize)
        .with_jitter()
        .with_jitter_seed(seed);
    let tried = (|| {
        number += 1;
        attempt(number)
    })
    .retry(pauses)
    .sleep(tokio::time::sleep)
    .when(|error| matches!(error, ModelError::TryLater { .. }))
    .notify(|error, pause| tracing::debug!(%error, pause_ms = pause.as_millis() as u64, "retrying"))
    .adjust(|error, pause| {
        let told = if let ModelError::TryLater { after, .. } = error { *after } else { None };
        // A little later than the provider asked, since others got the same time.
        let pause = pause.map(|pause| told.map_or(pause, |told| told + pause / 10))?;
        (begun.elapsed() + pause < limits.total).then_some(pause)
    });
    match tokio::time::timeout(limits.total, tried).await {
        Ok(result) => result,
        Err(_) => Err(too_slow(limits.total)),
    }
}

/// One attempt with a timeout.
pub async fn in_time<T>(
    timeout: Duration,
    attempt: impl Future<Output = Result<T, ModelError>>,
) -> Result<T, ModelError> {
    match tokio::time::timeout(timeout, attempt).await {
        Ok(result) => result,
        Err(_) => Err(too_slow(timeout)),
    }
}

fn too_slow(limit: Duration) -> ModelError {
    ModelError::TryLater { after: None, what: format!("no answer within {} s", limit.as_secs_f64()) }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use tokio::time::Instant;

    use super::*;

    const LIMITS: RetryLimits =
        RetryLimits { retries_max: 3, timeout: Duration::from_secs(60), total: Duration::from_secs(180) };

    fn busy(after: Option<u64>) -> Result<(), ModelError> {
        Err(ModelError::TryLater { after: after.map(Duration::from_secs), what: "busy".into() })
    }

    /// When each attempt was made, in milliseconds, and what came of it.
    async fn attempts(
        limits: RetryLimits,
        seed: u64,
        answer: impl Fn(u32) -> Result<(), ModelError>,
    ) -> (Vec<u128>, Result<(), ModelError>) {
        let begun = Instant::now();
        let made = RefCell::new(Vec::new());
        let result = with_retries(limits, seed, |number| {
            made.borrow_mut().push(begun.elapsed().as_millis());
            std::future::ready(answer(number))
        })
        .await;
        (made.into_inner(), result)
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_grow_and_end() {
        let (made, result) = attempts(LIMITS, 1, |_| busy(None)).await;
        assert_eq!((made.len(), result), (4, busy(None)));
        let pauses: Vec<u128> = made.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!((500..=1002).contains(&pauses[0]) && (1000..=2002).contains(&pauses[1]), "{pauses:?}");
        assert_ne!(attempts(LIMITS, 2, |_| busy(None)).await.0, made, "another call, other pauses");
    }

    #[tokio::test(start_paused = true)]
    async fn it_never_comes_back_before_it_was_told_to() {
        let (made, result) = attempts(LIMITS, 1, |number| if number == 1 { busy(Some(30)) } else { Ok(()) }).await;
        assert_eq!(result, Ok(()));
        assert!((30_000..31_000).contains(&made[1]), "{made:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_wait_that_is_too_long_is_not_begun() {
        let (made, result) = attempts(LIMITS, 1, |_| busy(Some(3600))).await;
        assert_eq!((made, result), (vec![0], busy(Some(3600))));
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_is_final() {
        let refused = || Err(ModelError::GiveUp { what: "no".into() });
        assert_eq!(attempts(LIMITS, 1, |_| refused()).await, (vec![0], refused()));
    }

    #[tokio::test(start_paused = true)]
    async fn what_never_answers_is_given_up() {
        let begun = Instant::now();
        let never = || in_time(LIMITS.timeout, std::future::pending::<Result<(), ModelError>>());
        let result = with_retries(LIMITS, 1, |_| never()).await;
        assert!(matches!(result, Err(ModelError::TryLater { .. })));
        assert!(begun.elapsed() <= LIMITS.total);
    }
}
