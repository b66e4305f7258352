//! Rate limits as Discord reports them: a bucket per route and channel, headers on every answer, 429 beyond.

use std::collections::HashMap;
use std::time::{Duration, Instant};

pub struct Buckets {
    pub limit: u32,
    pub window: Duration,
    used: HashMap<String, (Instant, u32)>,
}

impl Default for Buckets {
    fn default() -> Buckets {
        Buckets { limit: 50, window: Duration::from_secs(1), used: HashMap::new() }
    }
}

/// The state of a bucket after a request.
pub struct BucketState {
    pub bucket: String,
    pub limit: u32,
    pub remaining: u32,
    pub reset_after: Duration,
    pub exceeded: bool,
}

impl Buckets {
    pub fn take(&mut self, bucket: String) -> BucketState {
        let now = Instant::now();
        let (start, used) = self.used.entry(bucket.clone()).or_insert((now, 0));
        if now - *start >= self.window {
            (*start, *used) = (now, 0);
        }
        let exceeded = *used >= self.limit;
        *used += u32::from(!exceeded);
        let reset_after = self.window.saturating_sub(now - *start);
        BucketState { bucket, limit: self.limit, remaining: self.limit - *used, reset_after, exceeded }
    }
}
