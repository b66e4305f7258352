//! What is heard live in a channel whose gap is being filled waits until the gap is filled: a room hears what was said in its order.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use tokio::time::Instant;

use super::listener::ChannelEvent;
use super::marks::MarkTracker;

/// How long something waits at most: Discord may take long to give what was missed, and somebody may wait for an answer.
const WAITS_MAX: Duration = Duration::from_secs(10);
/// How much waits at most, in all channels together.
const HELD_MAX: usize = 1000;

#[derive(Default)]
pub struct HeldEvents {
    channels: HashMap<u64, HeldChannel>,
    count: usize,
    /// Channels that have waited for long enough.
    passed: HashSet<u64>,
}

struct HeldChannel {
    since: Instant,
    events: Vec<ChannelEvent>,
}

impl HeldEvents {
    /// Returns it if it need not wait.
    pub fn hold(&mut self, channel: u64, event: ChannelEvent, marks: &MarkTracker) -> Option<ChannelEvent> {
        if !self.channels.contains_key(&channel) {
            if !marks.is_filling(channel) {
                self.passed.remove(&channel);
                return Some(event);
            }
            if self.passed.contains(&channel) || self.count >= HELD_MAX {
                return Some(event);
            }
        }
        let held = self.channels.entry(channel);
        held.or_insert_with(|| HeldChannel { since: Instant::now(), events: Vec::new() }).events.push(event);
        self.count += 1;
        None
    }

    /// What need not wait any more, in order.
    pub fn take_ready(&mut self, marks: &MarkTracker) -> Vec<ChannelEvent> {
        let (now, is_full) = (Instant::now(), self.count > HELD_MAX);
        let mut ready = Vec::new();
        self.channels.retain(|channel, held| {
            let is_filling = marks.is_filling(*channel);
            if is_filling && !is_full && held.since + WAITS_MAX > now {
                return true;
            }
            if is_filling {
                self.passed.insert(*channel);
            }
            ready.append(&mut held.events);
            false
        });
        self.count -= ready.len();
        ready
    }

    /// When something has waited for long enough.
    pub fn due(&self) -> Option<Instant> {
        self.channels.values().map(|held| held.since + WAITS_MAX).min()
    }
}
