//! How long to wait for quiet: a fixed time with jitter, or in step with the room.

use crate::engine::turn::Turn;
use crate::types::{MessageId, Span, Time, stable_hash};

/// Pauses between messages that tell the pace of a room; an odd number, so that there is a middle one.
const PAUSES: u32 = 9;

impl Turn<'_> {
    /// The quiet that must follow this message.
    pub(super) fn wait_after(&self, message: &MessageId) -> Span {
        let response = &self.policy.settings.response;
        let shortest = Span::seconds(response.min_wait_seconds.into());
        let ratio = response.jitter_ratio.clamp(0.0, 1.0);
        let drawn = stable_hash(self.policy.settings.bot.seed, message.as_str());
        if !response.adaptive {
            let seconds = jittered(response.min_wait_seconds.into(), ratio, drawn);
            return Span::seconds(seconds);
        }
        let longest = Span::seconds(response.adaptive_max_seconds.into()).max(shortest);
        let paced = self.usual_pause().map_or(shortest, |pause| Span((pause.0 as f64 * response.pace) as u64));
        Span(jittered(paced.clamp(shortest, longest).0, ratio, drawn))
    }

    /// The middle one of the latest pauses: a burst or a long silence among them does not move it.
    fn usual_pause(&self) -> Option<Span> {
        let latest = self.place().newest(self.policy, self.now, PAUSES + 1);
        let mut pauses: Vec<Span> = latest.windows(2).map(|pair| pair[0].at.since(pair[1].at)).collect();
        pauses.sort_unstable();
        pauses.get(pauses.len() / 2).copied()
    }

    /// When the wait that began at `since` ends, if `wait` more is wanted now.
    pub(super) fn due_after(&self, wait: Span, since: Time) -> Time {
        let longest = self.policy.settings.response.max_wait_seconds;
        let due = self.now + wait;
        if longest == 0 { due } else { due.min((since + Span::seconds(longest.into())).max(self.now)) }
    }
}

/// A whole number drawn evenly from `wait` give or take `ratio` of it.
fn jittered(wait: u64, ratio: f64, drawn: u64) -> u64 {
    if ratio == 0.0 {
        return wait;
    }
    let (wait, spread) = (wait as f64, wait as f64 * ratio);
    let (low, high) = ((wait - spread).max(0.0) as u64, (wait + spread) as u64);
    low + drawn % (high - low + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_stays_within_its_share_and_reaches_both_ends() {
        let drawn: Vec<u64> =
            (0..5000).map(|message| jittered(300, 0.3, stable_hash(0, &message.to_string()))).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&210), Some(&390)));
        assert_eq!(jittered(300, 0.0, 77), 300);
        assert!((0..100).all(|draw| jittered(10, 1.0, draw) <= 20));
    }
}
