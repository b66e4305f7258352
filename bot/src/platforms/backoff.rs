//! Pauses between connection attempts: they grow while attempts fail, are randomized, and are short again after success.

use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};

/// An endless sequence of growing pauses.
#[derive(Debug)]
pub struct Backoff {
    builder: ExponentialBuilder,
    pauses: ExponentialBackoff,
    longest: Duration,
}

impl Backoff {
    /// `first` and `longest` are upper bounds: the actual pause is a random value between half of it and all of it, so that
    /// many programs do not reconnect at the same instant.
    pub fn new(first: Duration, longest: Duration) -> Backoff {
        // `with_jitter` adds up to the same amount again.
        let builder = ExponentialBuilder::new()
            .with_min_delay(first / 2)
            .with_max_delay(longest / 2)
            .with_jitter()
            .without_max_times();
        Backoff { builder, pauses: builder.build(), longest }
    }

    pub fn next(&mut self) -> Duration {
        self.pauses.next().unwrap_or(self.longest)
    }

    pub fn reset(&mut self) {
        self.pauses = self.builder.build();
    }
}

/// Pauses between connections. The first connection that succeeds resets them; if connections succeed but end soon, the
/// pauses keep growing.
#[derive(Debug)]
pub struct ReconnectPauses {
    outage: Backoff,
    young: Backoff,
    good_after: Duration,
}

impl ReconnectPauses {
    /// A connection that lasted for `good_after` counts as good.
    pub fn new(first: Duration, longest: Duration, good_after: Duration) -> ReconnectPauses {
        let backoff = || Backoff::new(first, longest);
        ReconnectPauses { outage: backoff(), young: backoff(), good_after }
    }

    /// The pause after a connection that lasted this long, or never succeeded. It is drawn only then, because nobody knows
    /// earlier whether the connection was a good one.
    pub fn after(&mut self, lived: Option<Duration>) -> Duration {
        let Some(lived) = lived else { return self.outage.next() };
        self.outage.reset();
        if lived >= self.good_after {
            self.young.reset();
        }
        self.young.next()
    }
}

/// A random part of a duration.
pub fn share_of(whole: Duration) -> Duration {
    let luck = std::hash::BuildHasher::hash_one(&std::collections::hash_map::RandomState::new(), 0) % 1000;
    whole.mul_f64(luck as f64 / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Duration = Duration::from_millis(500);
    const LONGEST: Duration = Duration::from_secs(30);
    const GOOD: Duration = Duration::from_secs(20);

    fn bounds(number: u32) -> std::ops::RangeInclusive<Duration> {
        let most = (FIRST * 2_u32.pow(number)).min(LONGEST);
        most / 2..=most
    }

    #[test]
    fn pauses_grow_up_to_the_longest_and_are_short_again_after_a_good_connection() {
        let mut pauses = ReconnectPauses::new(FIRST, LONGEST, GOOD);
        for number in 0..12 {
            let pause = pauses.after(None);
            assert!(bounds(number).contains(&pause), "{number}: {pause:?}");
        }
        let pause = pauses.after(Some(GOOD));
        assert!(bounds(0).contains(&pause), "{pause:?}");
    }

    #[test]
    fn after_an_outage_the_first_tries_are_quick_and_connections_that_die_young_slow_it_down() {
        let mut pauses = ReconnectPauses::new(FIRST, LONGEST, GOOD);
        (0..20).for_each(|_| _ = pauses.after(None));
        for number in 0..8 {
            let pause = pauses.after(Some(GOOD / 2));
            assert!(bounds(number).contains(&pause), "{number}: {pause:?}");
        }
        let pause = pauses.after(None);
        assert!(bounds(0).contains(&pause), "the old outage is over: {pause:?}");
        let pause = pauses.after(Some(GOOD / 2));
        assert!(bounds(8).contains(&pause), "it still dies young: {pause:?}");
    }

    #[test]
    fn two_do_not_come_back_at_the_same_instant() {
        let drawn = || {
            let mut backoff = Backoff::new(FIRST, LONGEST);
            (0..8).map(|_| backoff.next()).collect::<Vec<_>>()
        };
        assert_ne!(drawn(), drawn());
    }
}
