//! Passes entries that were left in the inbox to the engine at the start: in order within each room, and those that address
//! the bot first. They are what an older version stored and a crash left unhandled, and rooms that were closed while the
//! program did not run. What is said while it runs needs no inbox: it is stored and recorded for the engine in one commit.

use std::collections::BTreeSet;
use std::time::Duration;

use aizuchi_core::{Input, Time};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};

use super::platform::PLATFORM;
use crate::ports::{Inbox, PendingEntry};
use crate::redacted;
use crate::runtime::{EngineHandle, PriorityQueue, ShuttingDown};

/// How many are read at once.
const READ_MAX: usize = 256;
/// How many are read and not yet submitted.
const WAITING_MAX: usize = 1024;
/// How many are submitted and not yet durable, besides those that go first.
const UNDER_WAY_MAX: usize = 256;
const FIRST_MAX: usize = 32;
/// The pause after the store failed.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Backlog {
    /// Whether all of it was handled.
    heard: watch::Sender<bool>,
}

/// The progress of the delivery.
#[derive(Default)]
struct Progress {
    /// The last entry that was read from the inbox, and whether there may be more.
    read: u64,
    more: bool,
    waiting: PriorityQueue<(u64, Input)>,
    /// Entries that were read and not handled yet.
    unheard: BTreeSet<u64>,
}

impl Progress {
    /// Everything up to this entry has been handled.
    fn handled_up_to(&self) -> u64 {
        self.unheard.first().map_or(self.read, |first| first - 1)
    }

    fn is_done(&self) -> bool {
        !self.more && self.unheard.is_empty()
    }
}

impl Backlog {
    pub fn new() -> Backlog {
        Backlog { heard: watch::Sender::new(false) }
    }

    /// Returns when the engine has received everything that was left.
    pub async fn until_heard(&self) {
        let mut heard = self.heard.subscribe();
        heard.wait_for(|heard| *heard).await.expect("the sender lives as long as we do");
    }

    /// Delivers what was left and then waits until shutdown.
    pub async fn deliver(&self, inbox: &dyn Inbox, engine: &EngineHandle, now: Time, stop: &CancellationToken) {
        let _ = stop.run_until_cancelled(self.deliver_all(inbox, engine, now)).await;
        stop.cancelled().await;
    }

    async fn deliver_all(&self, inbox: &dyn Inbox, engine: &EngineHandle, now: Time) -> Result<(), ShuttingDown> {
        let mut progress = Progress { more: true, ..Progress::default() };
        let (mut under_way, mut noting) = (FuturesUnordered::new(), FuturesUnordered::new());
        let mut noted = 0;
        loop {
            while progress.more && progress.waiting.len() < WAITING_MAX {
                read_more(inbox, &mut progress).await;
            }
            let room = UNDER_WAY_MAX.saturating_sub(under_way.len());
            let room = if progress.waiting.is_urgent() { room.max(FIRST_MAX) } else { room };
            for (seq, input) in progress.waiting.take(room) {
                let promise = engine.enqueue(input).await?;
                under_way.push(async move { promise.durable().await.map(|()| seq) });
            }
            let heard = progress.handled_up_to();
            if heard > noted && noting.is_empty() {
                noted = heard;
                noting.push(note(inbox, heard));
            }
            if progress.is_done() {
                self.heard.send_replace(true);
                if noting.is_empty() {
                    break;
                }
            }
            tokio::select! {
                biased;
                Some(told) = under_way.next() => drop(progress.unheard.remove(&told?)),
                Some(()) = noting.next() => (),
            }
            // Collects whatever else is durable already.
            while let Some(Some(told)) = under_way.next().now_or_never() {
                progress.unheard.remove(&told?);
            }
        }
        // The web room itself detects messages that are sent twice.
        if let Err(failed) = inbox.sweep(PLATFORM, now).await {
            warn!(%failed, "cannot process the web room's inbox");
        }
        Ok(())
    }
}

async fn read_more(inbox: &dyn Inbox, progress: &mut Progress) {
    let pending = match inbox.pending(PLATFORM, progress.read, READ_MAX).await {
        Ok(pending) => pending,
        Err(failed) => {
            error!(%failed, "cannot read the web room's messages");
            return tokio::time::sleep(AGAIN_AFTER).await;
        }
    };
    progress.more = pending.len() == READ_MAX;
    for PendingEntry { seq, body } in pending {
        progress.read = seq;
        match serde_json::from_str::<Input>(&body) {
            Ok(input) => {
                progress.unheard.insert(seq);
                progress.waiting.push(input.room().cloned(), turns_to_it(&input), (seq, input));
            }
            Err(error) => warn!(seq, error = redacted::parse_error(&error), "skipped an unreadable record"),
        }
    }
}

/// Whether it is marked as addressed to the bot; the engine's own queue checks names too.
fn turns_to_it(input: &Input) -> bool {
    let Input::Said(message) = input else { return false };
    message.mentions_me || message.reply.as_ref().is_some_and(|reply| reply.to_me)
}

/// Notes that everything up to this entry is handled.
async fn note(inbox: &dyn Inbox, heard: u64) {
    // If this fails, the entry is delivered again at the next start and skipped there.
    if let Err(failed) = inbox.handled(PLATFORM, heard).await {
        warn!(%failed, "cannot store the web room position");
    }
}
