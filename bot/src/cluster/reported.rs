//! What this process has counted: an attempt of an invocation that comes again here decides the same, and is not to be counted twice.

use std::collections::{HashSet, VecDeque};
use std::sync::{Mutex, PoisonError};

use aizuchi_core::types::RoomId;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Invocations that are remembered. Restate tries one again within seconds.
const REPORTED_MAX: usize = 32_768;

#[derive(Default)]
pub struct Reported(Mutex<LatestReports>);

#[derive(Default)]
struct LatestReports {
    all: HashSet<u64>,
    /// The same, oldest first.
    order: VecDeque<u64>,
}

impl Reported {
    /// Whether this is the first time that these are counted: the records of a room after so many. What another process has counted
    /// before it died is gone with it.
    pub fn is_new(&self, room: &RoomId, after: u64) -> bool {
        let mut latest = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let number = xxh3_64_with_seed(room.as_str().as_bytes(), after);
        if !latest.all.insert(number) {
            return false;
        }
        latest.order.push_back(number);
        if latest.order.len() > REPORTED_MAX
            && let Some(oldest) = latest.order.pop_front()
        {
            latest.all.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_is_counted_once_and_only_the_latest_are_remembered() {
        let (reported, room) = (Reported::default(), RoomId::new("log:room"));
        assert!(
            reported.is_new(&room, 7) && reported.is_new(&room, 8) && reported.is_new(&RoomId::new("log:other"), 7)
        );
        assert!(!reported.is_new(&room, 7) && !reported.is_new(&room, 8));
        for after in 0..2 * REPORTED_MAX as u64 {
            reported.is_new(&RoomId::new("log:busy"), after);
        }
        assert_eq!(reported.0.lock().unwrap().all.len(), REPORTED_MAX);
    }
}
