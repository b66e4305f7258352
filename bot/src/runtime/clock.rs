//! The time: that of the machine, or one that a test lets run.

use std::time::{Duration, SystemTime};

use aizuchi_core::Time;
use tokio::time::Instant;

#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// The machine's.
    Wall,
    /// Runs with tokio's clock, which a test can pause.
    Since { start: Time, at: Instant },
}

/// A machine may sleep, and its clock may be set: nobody waits longer than this without looking again.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

impl Clock {
    pub fn starting_at(start: Time) -> Clock {
        Clock::Since { start, at: Instant::now() }
    }

    pub fn now(&self) -> Time {
        match self {
            Clock::Wall => {
                let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
                Time(since.map_or(0, |since| since.as_millis() as u64))
            }
            Clock::Since { start, at } => Time(start.0 + at.elapsed().as_millis() as u64),
        }
    }

    /// Returns at this time or a little earlier; never without one.
    pub async fn sleep_until(&self, due: Option<Time>) {
        let Some(due) = due else { return std::future::pending().await };
        let left = Duration::from_millis(due.0.saturating_sub(self.now().0));
        let most = if matches!(self, Clock::Wall) { LOOK_AGAIN } else { left };
        tokio::time::sleep(left.min(most)).await;
    }
}
