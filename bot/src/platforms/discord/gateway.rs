//! The connections to Discord's gateway: how many, where to, and their common shutdown.

use std::sync::Arc;
use std::time::Duration;

use reqwest::Client;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};
use twilight_gateway_queue::InMemoryQueue;

use super::backfill::Backfill;
use super::errors::close_reason;
use super::interaction::Interactions;
use super::listener::GatewayListener;
use super::platform::{Discord, GatewayState};
use super::read::{bits, text};
use super::reconnect::keep_connected;
use super::rest::{RestError, USER_AGENT};
use crate::platforms::backoff::Backoff;
use crate::ports::Commands;
use crate::runtime::EngineHandle;
use crate::tls;

const GUILDS: u64 = 1 << 0;
const GUILD_MESSAGES: u64 = 1 << 9;
const GUILD_MESSAGE_REACTIONS: u64 = 1 << 10;
const DIRECT_MESSAGES: u64 = 1 << 12;
const MESSAGE_CONTENT: u64 = 1 << 15;

/// The events it subscribes to.
pub const INTENTS: u64 = GUILDS | GUILD_MESSAGES | MESSAGE_CONTENT | GUILD_MESSAGE_REACTIONS | DIRECT_MESSAGES;

const SHARDS_MAX: u64 = 10_000;
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// Between two requests for the gateway's address.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Returns on shutdown, or when it cannot go on.
pub async fn attend_all(
    discord: Arc<Discord>,
    engine: EngineHandle,
    commands: Arc<dyn Commands>,
    stop: CancellationToken,
) {
    let ended = tokio::select! {
        ended = connect(&discord, engine, commands, &stop) => ended,
        // A bot that cannot answer does not keep listening.
        () = discord.rest.token_refused() => Err(close_reason(BAD_TOKEN, "")),
        () = stop.cancelled() => Ok(()),
    };
    if let Err(why) = ended {
        error!("{why}");
        discord.state.send_replace(GatewayState::Stopped(why));
    }
}

/// Discord's close code for an invalid token.
const BAD_TOKEN: u16 = 4004;

/// `Err` says why Discord refuses it permanently.
async fn connect(
    discord: &Arc<Discord>,
    engine: EngineHandle,
    commands: Arc<dyn Commands>,
    stop: &CancellationToken,
) -> Result<(), String> {
    let plan = Arc::new(plan(discord).await?);
    discord.forget_old_posts().await;
    // If one connection is refused permanently, all are closed.
    let stop = stop.child_token();
    let _all_end = stop.clone().drop_guard();
    let backfill = Backfill::new(discord.clone(), engine.clone(), stop.clone());
    let interactions = Interactions::new(discord.clone(), commands);
    let mut connections = JoinSet::new();
    for number in 0..plan.shards {
        let listener = GatewayListener {
            discord: discord.clone(),
            engine: engine.clone(),
            backfill: backfill.clone(),
            stop: stop.clone(),
        };
        connections.spawn(keep_connected(plan.clone(), number, listener, interactions.clone(), stop.clone()));
    }
    while let Some(ended) = connections.join_next().await {
        ended.map_err(|error| format!("a Discord connection failed: {error}"))??;
    }
    Ok(())
}

/// How to connect.
pub struct GatewayPlan {
    pub shards: u32,
    pub url: String,
    /// Whether the address is from the settings: then it is used for every connection.
    pub by_hand: bool,
    pub queue: InMemoryQueue,
    pub client: Client,
    token: SecretString,
}

impl GatewayPlan {
    pub fn token(&self) -> &str {
        self.token.expose_secret()
    }
}

/// Requests the plan from Discord until it answers.
async fn plan(discord: &Discord) -> Result<GatewayPlan, String> {
    let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
    let told = loop {
        match discord.rest.get("gateway/bot".to_owned()).await {
            Ok(told) => break told,
            Err(RestError::BadToken) => return Err(close_reason(BAD_TOKEN, "")),
            Err(error) => {
                let pause = backoff.next();
                warn!(%error, pause_ms = pause.as_millis() as u64, "cannot get the Discord gateway URL");
                tokio::time::sleep(pause).await;
            }
        }
    };
    let recommended = bits(&told, "shards").clamp(1, SHARDS_MAX) as u32;
    let by_hand = discord.settings.gateway_url.as_str();
    let told_url = text(&told, "url").unwrap_or("wss://gateway.discord.gg");
    let client = tls::client_builder().http1_only().connect_timeout(CONNECT_WITHIN).user_agent(USER_AGENT).build();
    Ok(GatewayPlan {
        shards: if discord.settings.shards == 0 { recommended } else { discord.settings.shards },
        url: if by_hand.is_empty() { told_url } else { by_hand }.to_owned(),
        by_hand: !by_hand.is_empty(),
        queue: queue(told.get("session_start_limit").unwrap_or(&Value::Null)),
        client: client.map_err(|error| format!("cannot set up TLS for Discord: {error}"))?,
        token: discord.token.clone(),
    })
}

/// Discord limits how many connections may identify at once, and per day.
fn queue(limit: &Value) -> InMemoryQueue {
    let total = bits(limit, "total").clamp(1, u64::from(u32::MAX)) as u32;
    let remaining =
        limit.get("remaining").and_then(Value::as_u64).map_or(total, |left| left.min(u64::from(total)) as u32);
    let together = bits(limit, "max_concurrency").clamp(1, 1000) as u16;
    let reset = Duration::from_millis(bits(limit, "reset_after"));
    if remaining == 0 {
        warn!(?reset, "Discord session start limit reached; waiting");
    }
    InMemoryQueue::new(together, remaining, reset, total.max(remaining))
}
