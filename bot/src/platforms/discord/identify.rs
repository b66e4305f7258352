//! When a connection may identify: Discord limits how many may do so at once, and per day.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::oneshot;
use tracing::warn;
use twilight_gateway_queue::{InMemoryQueue, Queue as _};

use super::platform::Discord;
use super::read::bits;
use crate::ports::ShardClaims;

/// Who hands out the turns.
pub enum IdentifyQueue {
    /// This process has all connections.
    Own(InMemoryQueue),
    /// Other processes have connections too.
    Shared { discord: Arc<Discord>, claims: Arc<dyn ShardClaims>, together: u16 },
}

/// How often Discord is asked again whether it accepts new sessions.
const ASKS_AGAIN: Duration = Duration::from_secs(60);

impl IdentifyQueue {
    /// `limit` is `session_start_limit`.
    pub fn new(discord: &Arc<Discord>, limit: &Value) -> IdentifyQueue {
        let together = bits(limit, "max_concurrency").clamp(1, 1000) as u16;
        if let Some(claims) = discord.claims.get() {
            return IdentifyQueue::Shared { discord: discord.clone(), claims: claims.clone(), together };
        }
        let total = bits(limit, "total").clamp(1, u64::from(u32::MAX)) as u32;
        let remaining = remaining(limit).map_or(total, |left| left.min(u64::from(total)) as u32);
        let reset = Duration::from_millis(bits(limit, "reset_after"));
        if remaining == 0 {
            warn!(?reset, "Discord session start limit reached; waiting");
        }
        IdentifyQueue::Own(InMemoryQueue::new(together, remaining, reset, total.max(remaining)))
    }

    /// Resolves when this connection may identify.
    pub fn enqueue(&self, shard: u32) -> oneshot::Receiver<()> {
        match self {
            IdentifyQueue::Own(queue) => queue.enqueue(shard),
            IdentifyQueue::Shared { discord, claims, together } => {
                let (discord, claims, bucket) = (discord.clone(), claims.clone(), shard % u32::from(*together));
                let (mut grant, granted) = oneshot::channel();
                tokio::spawn(async move {
                    let waiting = async {
                        until_sessions_are_left(&discord).await;
                        claims.wait_for_turn(bucket).await;
                    };
                    tokio::select! {
                        () = waiting => (),
                        () = grant.closed() => return,
                    }
                    let _ = grant.send(());
                });
                granted
            }
        }
    }
}

fn remaining(limit: &Value) -> Option<u64> {
    limit.get("remaining").and_then(Value::as_u64)
}

/// Other processes start sessions too, so only Discord knows how many are left today.
async fn until_sessions_are_left(discord: &Discord) {
    loop {
        match discord.rest.get("gateway/bot".to_owned()).await {
            Ok(told) if told.get("session_start_limit").and_then(remaining) == Some(0) => {
                warn!("Discord session start limit reached; waiting");
            }
            // Where it cannot be asked, identifying fails as well.
            Ok(_) | Err(_) => return,
        }
        tokio::time::sleep(ASKS_AGAIN).await;
    }
}
