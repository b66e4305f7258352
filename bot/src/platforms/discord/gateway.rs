//! The connections to Discord's gateway: how many, where to, and their common shutdown.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use reqwest::Client;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::{error, info, warn};

use super::backfill::Backfill;
use super::errors::close_reason;
use super::identify::IdentifyQueue;
use super::interaction::Interactions;
use super::listener::GatewayListener;
use super::platform::{Discord, GatewayState};
use super::read::{bits, text};
use super::reconnect::keep_connected;
use super::rest::{RestError, USER_AGENT};
use crate::platforms::backoff::Backoff;
use crate::ports::{Commands, OwnShards};
use crate::redacted;
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

/// How long connections with a token of before may take to close.
const CLOSE_WITHIN: Duration = Duration::from_secs(10);

/// Returns on shutdown, or when it cannot go on. With another token it connects anew.
pub async fn attend_all(
    discord: Arc<Discord>,
    engine: EngineHandle,
    commands: Arc<dyn Commands>,
    stop: CancellationToken,
) {
    let mut token = discord.token.subscribe();
    let ended = loop {
        token.mark_unchanged();
        let close = stop.child_token();
        let connected = connect(&discord, engine.clone(), commands.clone(), &stop, &close);
        tokio::pin!(connected);
        let ended = tokio::select! {
            ended = &mut connected => ended,
            // A bot that cannot answer does not keep listening.
            () = discord.rest.token_refused() => Err(close_reason(BAD_TOKEN, "")),
            Ok(()) = token.changed() => {
                info!("connecting to Discord with another token");
                discord.state.send_replace(GatewayState::Connecting);
                close.cancel();
                // What was heard until then goes on; what comes after is fetched by the next connections.
                let _ = timeout(CLOSE_WITHIN, connected).await;
                continue;
            }
            () = stop.cancelled() => Ok(()),
        };
        // It may have been the token of before that was refused.
        if ended.is_ok() || !token.has_changed().unwrap_or(false) {
            break ended;
        }
    };
    if let Err(why) = ended {
        error!(why, "Discord refused the connection for good");
        if let Some(claims) = discord.claims.get() {
            claims.leave();
        }
        discord.state.send_replace(GatewayState::Stopped(why));
    }
}

/// Discord's close code for an invalid token.
const BAD_TOKEN: u16 = 4004;

/// Until `stop`, or until all connections are closed after `close`. `Err` says why Discord refuses it permanently.
async fn connect(
    discord: &Arc<Discord>,
    engine: EngineHandle,
    commands: Arc<dyn Commands>,
    stop: &CancellationToken,
    close: &CancellationToken,
) -> Result<(), String> {
    let planned = tokio::select! {
        planned = plan(discord) => planned,
        () = close.cancelled() => return Ok(()),
    };
    let mut plan = planned?;
    let (everything, all) = watch::channel(OwnShards::default());
    let mut ours = match discord.claims.get() {
        Some(claims) => {
            let share = tokio::select! {
                share = claims.claim(plan.shards) => share,
                () = close.cancelled() => return Ok(()),
            };
            plan.shards = share.count;
            share.ours
        }
        None => {
            everything.send_replace(OwnShards { shards: (0..plan.shards).collect(), tenure: None });
            all
        }
    };
    let plan = Arc::new(plan);
    discord.forget_old_posts().await;
    // If one connection is refused permanently, all are closed.
    let close = close.child_token();
    let _all_end = close.clone().drop_guard();
    let backfill = Backfill::new(discord.clone(), engine.clone(), close.clone());
    let interactions = Interactions::new(discord.clone(), commands);
    let mut running: HashMap<u32, CancellationToken> = HashMap::new();
    let mut connections = JoinSet::new();
    loop {
        let OwnShards { shards: mut wanted, tenure } = ours.borrow_and_update().clone();
        let is_closing = close.is_cancelled();
        if is_closing {
            if connections.is_empty() {
                return Ok(());
            }
            wanted.clear();
        }
        running.iter().filter(|(number, _)| !wanted.contains(number)).for_each(|(_, until)| until.cancel());
        for number in wanted.into_iter().filter(|number| !running.contains_key(number)).collect::<Vec<_>>() {
            let until = close.child_token();
            running.insert(number, until.clone());
            let engine = engine.clone().within(tenure.clone());
            let backfill = Backfill { stop: until.clone(), engine: engine.clone(), ..backfill.clone() };
            let (discord, plan) = (discord.clone(), plan.clone());
            let listener = GatewayListener { discord, engine, backfill, stop: stop.clone() };
            let connected = keep_connected(plan, number, listener, interactions.clone(), until);
            connections.spawn(async move { (number, connected.await) });
        }
        tokio::select! {
            Some(ended) = connections.join_next() => {
                let failed = |error| format!("a Discord connection failed: {}", redacted::join_error(&error));
                let (number, ended) = ended.map_err(failed)?;
                ended?;
                running.remove(&number);
                if let Some(claims) = discord.claims.get().filter(|_| !ours.borrow().shards.contains(&number)) {
                    claims.release(number);
                }
            }
            Ok(()) = ours.changed() => (),
            () = close.cancelled(), if !is_closing => (),
            () = stop.cancelled() => return Ok(()),
        }
    }
}

/// How to connect.
pub struct GatewayPlan {
    pub shards: u32,
    pub url: String,
    /// Whether the address is from the settings: then it is used for every connection.
    pub by_hand: bool,
    pub queue: IdentifyQueue,
    pub client: Client,
    token: SecretString,
}

impl GatewayPlan {
    pub fn token(&self) -> &str {
        self.token.expose_secret()
    }
}

/// Requests the plan from Discord until it answers.
async fn plan(discord: &Arc<Discord>) -> Result<GatewayPlan, String> {
    let token = discord.token.borrow().clone();
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
        queue: IdentifyQueue::new(discord, told.get("session_start_limit").unwrap_or(&Value::Null)),
        client: client.map_err(|error| format!("cannot set up TLS for Discord: {error}"))?,
        token,
    })
}
