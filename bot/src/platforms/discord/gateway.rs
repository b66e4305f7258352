//! The connections to Discord's gateway: how many, where to, and their common end.

use std::sync::Arc;
use std::time::Duration;

use secrecy::ExposeSecret as _;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};
use twilight_gateway::queue::InMemoryQueue;
use twilight_gateway::{Config, ConfigBuilder, Intents, Shard, ShardId};

use super::attend::{Backoff, attend};
use super::backfill::Backfill;
use super::hear::Listener;
use super::interaction::Counter;
use super::platform::{Discord, State};
use super::read::{bits, text};
use super::rest::Trouble;
use super::trouble::farewell;
use crate::ports::Orders;
use crate::runtime::Ears;

/// What it asks to be told of.
pub const INTENTS: Intents = Intents::GUILDS
    .union(Intents::GUILD_MESSAGES)
    .union(Intents::MESSAGE_CONTENT)
    .union(Intents::GUILD_MESSAGE_REACTIONS)
    .union(Intents::DIRECT_MESSAGES);

const SHARDS_MAX: u64 = 10_000;

/// Returns when it is stopped, or when there is no going on.
pub async fn attend_all(discord: Arc<Discord>, ears: Ears, orders: Arc<dyn Orders>, stop: CancellationToken) {
    tokio::select! {
        ended = connect(&discord, ears, orders, &stop) => if let Err(why) = ended {
            error!("{why}");
            discord.state.send_replace(State::Stopped(why));
        },
        () = stop.cancelled() => (),
    }
}

/// `Err` says why it is sent away for good.
async fn connect(
    discord: &Arc<Discord>,
    ears: Ears,
    orders: Arc<dyn Orders>,
    stop: &CancellationToken,
) -> Result<(), String> {
    let plan = plan(discord).await?;
    discord.forget_old_posts().await;
    // When one is sent away for good, all go.
    let stop = stop.child_token();
    let _all_end = stop.clone().drop_guard();
    let backfill = Backfill::new(discord.clone(), ears.clone(), stop.clone());
    let counter = Counter::new(discord.clone(), orders);
    let mut connections = JoinSet::new();
    for number in 0..plan.shards {
        let shard = Shard::with_config(ShardId::new(number, plan.shards), plan.config.clone());
        let listener =
            Listener { discord: discord.clone(), ears: ears.clone(), backfill: backfill.clone(), stop: stop.clone() };
        connections.spawn(attend(shard, listener, counter.clone(), stop.clone()));
    }
    while let Some(ended) = connections.join_next().await {
        ended.map_err(|error| format!("a connection to Discord ended badly: {error}"))??;
    }
    Ok(())
}

struct Plan {
    shards: u32,
    config: Config<InMemoryQueue>,
}

/// Asks Discord until it answers.
async fn plan(discord: &Discord) -> Result<Plan, String> {
    let mut backoff = Backoff::default();
    let told = loop {
        match discord.rest.get("gateway/bot".to_owned()).await {
            Ok(told) => break told,
            Err(Trouble::BadToken) => return Err(farewell(4004)),
            Err(trouble) => {
                warn!(%trouble, "can not ask for Discord's gateway");
                tokio::time::sleep(backoff.next()).await;
            }
        }
    };
    let recommended = bits(&told, "shards").clamp(1, SHARDS_MAX) as u32;
    let shards = if discord.settings.shards == 0 { recommended } else { discord.settings.shards };
    let url = match discord.settings.gateway_url.as_str() {
        "" => text(&told, "url").unwrap_or("wss://gateway.discord.gg"),
        url => url,
    };
    let config = ConfigBuilder::new(discord.token.expose_secret().to_owned(), INTENTS)
        .proxy_url(url.trim_end_matches('/').to_owned())
        .queue(queue(told.get("session_start_limit").unwrap_or(&Value::Null)))
        .build();
    Ok(Plan { shards, config })
}

/// Discord lets so many introduce themselves at once, and so many a day.
fn queue(limit: &Value) -> InMemoryQueue {
    let total = bits(limit, "total").clamp(1, u64::from(u32::MAX)) as u32;
    let remaining =
        limit.get("remaining").and_then(Value::as_u64).map_or(total, |left| left.min(u64::from(total)) as u32);
    let together = bits(limit, "max_concurrency").clamp(1, 1000) as u16;
    let reset = Duration::from_millis(bits(limit, "reset_after"));
    if remaining == 0 {
        warn!(?reset, "Discord lets the bot connect no more today: it waits");
    }
    InMemoryQueue::new(together, remaining, reset, total.max(remaining))
}
