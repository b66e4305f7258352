//! Keeps one connection to the gateway alive: heartbeats and resuming are twilight's, patience is ours.

use std::time::Duration;

use futures_util::StreamExt as _;
use serde::Deserialize;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};
use twilight_gateway::queue::InMemoryQueue;
use twilight_gateway::{CloseFrame, Message, Shard, ShardState};

use super::hear::Listener;
use super::interaction::Counter;
use super::platform::State;
use super::trouble::farewell;

/// Events that may wait to be heard; beyond that the connection waits, and is resumed when Discord loses patience.
const WAITING_MAX: usize = 4096;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// A connection that lived so long was a good one.
const GOOD_AFTER: Duration = Duration::from_secs(60);

/// Longer and longer pauses, none of them quite like another.
#[derive(Debug, Default)]
pub struct Backoff {
    failures: u32,
}

impl Backoff {
    pub fn next(&mut self) -> Duration {
        let pause = FIRST_PAUSE.saturating_mul(1 << self.failures.min(20)).min(LONGEST_PAUSE);
        self.failures += 1;
        // Half of it by luck, so that many do not come back at the same instant.
        let luck = std::hash::BuildHasher::hash_one(&std::collections::hash_map::RandomState::new(), 0) % 1000;
        pause.mul_f64(0.5 + luck as f64 / 2000.0)
    }
}

/// Twilight comes back at once after a connection that stood: how long we wait first.
#[derive(Debug, Default)]
struct Patience {
    backoff: Backoff,
    /// Since the last connection.
    paused: bool,
}

impl Patience {
    /// Whether to go on.
    async fn after_close(&mut self, since: Option<Instant>, stop: &CancellationToken) -> bool {
        self.paused = true;
        if since.is_some_and(|since| since.elapsed() >= GOOD_AFTER) {
            self.backoff = Backoff::default();
        }
        tokio::select! {
            () = tokio::time::sleep(self.backoff.next()) => true,
            () = stop.cancelled() => false,
        }
    }

    /// A line that is cut without a word is opened again without our knowing: then we wait before we introduce ourselves.
    async fn before_introduction(&mut self, since: Option<Instant>, stop: &CancellationToken) -> bool {
        let go_on = self.paused || self.after_close(since, stop).await;
        self.paused = false;
        go_on
    }
}

#[derive(Deserialize)]
struct Operation {
    op: u64,
}

const HELLO: u64 = 10;
const HELLO_BYTES_MAX: usize = 1000;

fn is_hello(text: &str) -> bool {
    let operation = || serde_json::from_str::<Operation>(text);
    text.len() <= HELLO_BYTES_MAX && operation().is_ok_and(|operation| operation.op == HELLO)
}

/// `Err` says why it is sent away for good.
pub async fn attend(
    mut shard: Shard<InMemoryQueue>,
    listener: Listener,
    counter: Counter,
    stop: CancellationToken,
) -> Result<(), String> {
    let number = shard.id().number();
    let discord = listener.discord.clone();
    let (queue, events) = mpsc::channel(WAITING_MAX);
    let hearing = tokio::spawn(listener.run(events));
    let mut patience = Patience { paused: true, ..Patience::default() };
    let mut since = None;
    let ended = loop {
        let next = tokio::select! {
            next = shard.next() => next,
            () = stop.cancelled() => break Ok(()),
        };
        match next {
            Some(Ok(Message::Text(text))) => {
                if is_hello(&text) && !patience.before_introduction(since.take(), &stop).await {
                    break Ok(());
                }
                if since.is_none() && shard.state() == ShardState::Active {
                    since = Some(Instant::now());
                    discord.state.send_replace(State::Connected);
                }
                counter.serve(&text);
                let sent = tokio::select! {
                    sent = queue.send(text) => sent.is_ok(),
                    () = stop.cancelled() => false,
                };
                if !sent {
                    break Ok(());
                }
            }
            Some(Ok(Message::Close(frame))) => {
                if shard.state() == ShardState::FatallyClosed {
                    break Err(farewell(frame.map_or(0, |frame| frame.code)));
                }
                info!(shard = number, code = frame.map(|frame| frame.code), "Discord hung up");
                discord.state.send_replace(State::Connecting);
                if !patience.after_close(since.take(), &stop).await {
                    break Ok(());
                }
            }
            // Twilight waits by itself before it tries again.
            Some(Err(error)) => {
                let source = std::error::Error::source(&error).map(ToString::to_string);
                warn!(shard = number, %error, source, "trouble with Discord's gateway");
            }
            None => break Ok(()),
        }
    };
    drop(queue);
    goodbye(shard).await;
    if let Err(error) = hearing.await {
        warn!(%error, "hearing Discord ended badly");
    }
    ended
}

const GOODBYE: Duration = Duration::from_millis(500);

/// Tells Discord that the bot is leaving, so that it does not look present.
async fn goodbye(mut shard: Shard<InMemoryQueue>) {
    if !shard.state().is_identified() {
        return;
    }
    shard.close(CloseFrame::NORMAL);
    let gone = async { while !matches!(shard.next().await, Some(Ok(Message::Close(_))) | None) {} };
    if tokio::time::timeout(GOODBYE, gone).await.is_err() {
        debug!("Discord did not say goodbye");
    }
}
