//! Somebody on Discord and somebody on Slack who ask, wait for the whole answer, and ask again.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use crate::crowd::Wish;
use crate::posts::{Ground, check, is_whole};

const ASKS_AGAIN_AFTER: Duration = Duration::from_millis(400);
const LOOKS_EVERY: Duration = Duration::from_millis(20);
/// Longer than anything is away.
pub const WAITS_MAX: Duration = Duration::from_secs(150);

/// What somebody asked, and how long the longest answer took.
#[derive(Default)]
pub struct Asked {
    calls: Vec<(String, String, usize)>,
    pub longest_wait: Duration,
    /// The id of a call that nobody answered, and when it was said. They asked no more then.
    pub unanswered: Option<(String, Duration)>,
}

/// Until they are to finish.
pub async fn ask(ground: &impl Ground, wish: watch::Receiver<Wish>) -> Asked {
    let (mut asked, start) = (Asked::default(), Instant::now());
    while *wish.borrow() == Wish::Talk {
        let (number, before) = (asked.calls.len(), ground.parts().len());
        let words = format!("what about plan number {number}, and why so?");
        let (id, began) = (ground.call(&words), Instant::now());
        loop {
            let parts = ground.parts();
            if parts.len() > before && is_whole(&parts) {
                break;
            }
            if began.elapsed() > WAITS_MAX {
                asked.unanswered = Some((id, began - start));
                return asked;
            }
            sleep(LOOKS_EVERY).await;
        }
        asked.longest_wait = asked.longest_wait.max(began.elapsed());
        asked.calls.push((id, words, before));
        sleep(ASKS_AGAIN_AFTER).await;
    }
    asked
}

impl Asked {
    /// Each call has one answer, and there is nothing else. How many calls there were.
    pub fn check<G: Ground>(&self, ground: &G) -> usize {
        check::<G>(&self.calls, &ground.parts());
        self.calls.len()
    }
}
