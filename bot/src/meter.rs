//! Counts the cost of model calls, including those that fail, are retried or are abandoned: whatever may have been paid
//! counts.

use std::sync::{Arc, Mutex, PoisonError};

use aizuchi_core::effect::{Failure, Usage};
use aizuchi_core::input::Answer;
use aizuchi_core::settings::{CacheTokens, Price};

/// Cheap to clone; all clones count together.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    price: Price,
    sum: Arc<Mutex<Usage>>,
}

impl Meter {
    /// For a model with this price.
    pub fn at(price: Price) -> Meter {
        Meter { price, sum: Arc::default() }
    }

    /// Everything that was counted so far.
    pub fn usage(&self) -> Usage {
        *self.sum.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call is sent. Unless more becomes known, it counts with its maximum cost.
    pub fn begin(&self, tokens_in: u64, tokens_out_max: u64) -> Attempt {
        Attempt { meter: self.clone(), tokens: Some((tokens_in, tokens_out_max)) }
    }

    /// The result of a call, with what was counted here added.
    pub fn added_to(&self, result: Result<Answer, Failure>) -> Result<Answer, Failure> {
        let more = self.usage();
        match result {
            // An answer took at least one call of its own.
            Ok(Answer { text, usage }) => {
                let usage = Usage { calls: usage.calls.max(1), ..usage };
                Ok(Answer { text, usage: usage + more })
            }
            Err(Failure { what, usage }) => Err(Failure { what, usage: usage.map(|usage| usage + more) }),
        }
    }

    /// The sum with what another meter counted.
    pub fn usage_with(&self, usage: Usage) -> Usage {
        usage + self.usage()
    }

    fn add(&self, tokens_in: u64, cache: CacheTokens, tokens_out: u64) {
        let micros = self.price.micros_with_cache(tokens_in, cache, tokens_out);
        let mut sum = self.sum.lock().unwrap_or_else(PoisonError::into_inner);
        *sum = *sum + Usage { calls: 1, prompt_chars: 0, tokens_in, tokens_out, micros };
    }
}

/// The tokens of a call, as its provider counts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenCount {
    /// `None` if the provider does not report them.
    pub tokens_in: Option<u64>,
    pub cache: CacheTokens,
    pub tokens_out: u64,
}

/// One call in flight.
#[derive(Debug)]
pub struct Attempt {
    meter: Meter,
    /// What it counts as if no result arrives; `None` once that is settled.
    tokens: Option<(u64, u64)>,
}

impl Attempt {
    pub fn answered(mut self, count: TokenCount) {
        if let Some((estimate, _)) = self.tokens.take() {
            self.meter.add(count.tokens_in.unwrap_or(estimate), count.cache, count.tokens_out);
        }
    }

    /// It was refused, or never arrived, and costs nothing.
    pub fn refused(mut self) {
        self.tokens = None;
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if let Some((tokens_in, tokens_out)) = self.tokens.take() {
            self.meter.add(tokens_in, CacheTokens::default(), tokens_out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_been_paid_for_counts() {
        let meter = Meter::at(Price { input: 1.0, output: 2.0, cached: None });
        let count = |tokens_in| TokenCount { tokens_in, tokens_out: 5, ..TokenCount::default() };
        meter.begin(100, 50).answered(count(Some(10)));
        assert_eq!(meter.usage(), Usage { calls: 1, prompt_chars: 0, tokens_in: 10, tokens_out: 5, micros: 20 });
        meter.begin(100, 50).refused();
        assert_eq!(meter.usage().calls, 1);
        drop(meter.clone().begin(100, 50));
        meter.begin(100, 50).answered(count(None));
        assert_eq!(meter.usage(), Usage { calls: 3, prompt_chars: 0, tokens_in: 210, tokens_out: 60, micros: 330 });
        let failed = meter.added_to(Err(Failure::unpaid("gone"))).unwrap_err();
        assert_eq!(failed.usage, Some(meter.usage()));
        assert_eq!(meter.added_to(Err(Failure::new("lost"))).unwrap_err().usage, None, "as much as was set aside");
        let answer = Answer { text: "".into(), usage: Usage::default() };
        assert_eq!(meter.added_to(Ok(answer)).unwrap().usage.calls, 4);
    }

    #[test]
    fn tokens_that_were_at_hand_have_their_own_price() {
        let meter = Meter::at(Price { input: 1.0, output: 2.0, cached: Some(0.1) });
        let cache = CacheTokens { read: 600, written: 200 };
        meter.begin(100, 50).answered(TokenCount { tokens_in: Some(1000), cache, tokens_out: 5 });
        // 200 as they are, 600 at a tenth, 200 with a quarter more, and what came out.
        assert_eq!(meter.usage().micros, 200 + 60 + 250 + 10);
        assert_eq!(meter.usage().tokens_in, 1000);
    }
}
