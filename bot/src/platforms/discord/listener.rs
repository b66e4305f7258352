//! Handles one connection's events in order, and passes them to the engine.

use std::sync::Arc;

use aizuchi_core::Input;
use aizuchi_core::input::Command;
use futures_util::future::join_all;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use super::backfill::Backfill;
use super::commands;
use super::held::HeldEvents;
use super::marks::MessageMark;
use super::platform::Discord;
use super::read::{bits, id, is, list, text};
use super::rest::{RestError, with_retries};
use super::translate::MessageContext;
use crate::redacted;
use crate::runtime::{EngineHandle, ShuttingDown};

/// How many inputs are submitted together: each is durable before it counts as heard, and they share the disk's time.
const TOGETHER_MAX: usize = 512;

/// Receives the events of one connection.
pub struct GatewayListener {
    pub discord: Arc<Discord>,
    pub engine: EngineHandle,
    pub backfill: Backfill,
    pub stop: CancellationToken,
}

/// The result of a batch of events.
#[derive(Debug, Default)]
struct EventBatch {
    inputs: Vec<Input>,
    marks: Vec<MessageMark>,
    /// The bot's own posts that came back as events.
    posts: Vec<(String, u64)>,
}

/// Something that was said or changed in a channel.
#[derive(Debug)]
pub struct ChannelEvent {
    inputs: Vec<Input>,
    mark: Option<MessageMark>,
}

impl EventBatch {
    fn add(&mut self, ChannelEvent { inputs, mark }: ChannelEvent) {
        self.inputs.extend(inputs);
        self.marks.extend(mark);
    }
}

impl GatewayListener {
    /// Runs until the connection is given up, or the engine has stopped.
    pub async fn run(self, mut events: mpsc::Receiver<String>) {
        let (mut texts, mut held, mut filled) = (Vec::new(), HeldEvents::default(), self.discord.marks.filled());
        loop {
            let due = held.due();
            tokio::select! {
                count = events.recv_many(&mut texts, TOGETHER_MAX) => if count == 0 {
                    // What still waits comes after a gap that is not filled: the next connection fetches it.
                    return;
                },
                _ = filled.changed(), if due.is_some() => (),
                () = sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => (),
            }
            let mut batch = EventBatch::default();
            held.take_ready(&self.discord.marks).into_iter().for_each(|event| batch.add(event));
            for text in texts.drain(..) {
                self.take(&text, &mut held, &mut batch).await;
            }
            tokio::select! {
                told = self.forward(batch) => if told.is_err() { return },
                () = self.stop.cancelled() => return,
            }
        }
    }

    async fn forward(&self, batch: EventBatch) -> Result<(), ShuttingDown> {
        let told: Result<Vec<()>, ShuttingDown> =
            join_all(batch.inputs.into_iter().map(|input| self.engine.submit(input))).await.into_iter().collect();
        told?;
        // If this fails, the messages are fetched again after the next gap and skipped there.
        if let Err(error) = self.discord.marks.note(batch.marks).await {
            warn!(%error, "cannot store the Discord position");
        }
        for (nonce, message) in batch.posts {
            if let Err(error) = self.discord.posted(&nonce, message).await {
                warn!(%error, "cannot store a post");
            }
        }
        Ok(())
    }

    async fn take(&self, text: &str, held: &mut HeldEvents, out: &mut EventBatch) {
        let event: Value = match serde_json::from_str(text) {
            Ok(event) => event,
            Err(error) => return debug!(error = redacted::parse_error(&error), "skipped an unreadable event"),
        };
        let Some(kind) = event.get("t").and_then(Value::as_str) else { return };
        let Some(data) = event.get("d").filter(|data| data.is_object()) else { return };
        metrics::counter!("aizuchi_platform_events_total", "platform" => "discord", "kind" => metric_label(kind))
            .increment(1);
        match kind {
            "READY" => self.is_ready(data).await,
            "GUILD_CREATE" => self.guild(data).await,
            // An outage is not a removal: the guild comes back with everything.
            "GUILD_DELETE" if !is(data, "unavailable") => {
                if let Some(guild) = id(data, "id") {
                    let rooms = self.discord.places(|places| places.forget_guild(guild));
                    out.inputs.extend(rooms.into_iter().map(|room| Input::Told(room, Command::Left)));
                }
            }
            "CHANNEL_CREATE" | "THREAD_CREATE" => out.marks.extend(self.created(data)),
            "CHANNEL_UPDATE" | "THREAD_UPDATE" => {
                self.discord.places(|places| places.learn(data, None));
            }
            "THREAD_LIST_SYNC" => {
                let guild = id(data, "guild_id");
                self.discord.places(|places| {
                    for thread in list(data, "threads") {
                        places.learn(thread, guild);
                    }
                });
            }
            "CHANNEL_DELETE" | "THREAD_DELETE" => {
                if let Some(channel) = id(data, "id") {
                    let room = self.discord.places(|places| places.forget(channel));
                    out.inputs.extend(room.map(|room| Input::Told(room, Command::Left)));
                }
            }
            "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE" => {
                if let (Some(guild), Some(role)) = (id(data, "guild_id"), data.get("role")) {
                    self.discord.places(|places| places.learn_role(role, guild));
                }
            }
            "GUILD_ROLE_DELETE" => {
                if let (Some(guild), Some(role)) = (id(data, "guild_id"), id(data, "role_id")) {
                    self.discord.places(|places| places.forget_role(role, guild));
                }
            }
            // Discord sends this about the bot itself without a subscription.
            "GUILD_MEMBER_UPDATE" if data.get("user").and_then(|user| id(user, "id")) == self.discord.me() => {
                if let Some(guild) = id(data, "guild_id") {
                    self.discord.places(|places| places.give_roles(list(data, "roles"), guild));
                }
            }
            "MESSAGE_CREATE"
            | "MESSAGE_UPDATE"
            | "MESSAGE_DELETE"
            | "MESSAGE_DELETE_BULK"
            | "MESSAGE_REACTION_ADD"
            | "MESSAGE_REACTION_REMOVE" => self.talk(kind, data, held, out).await,
            _ => (),
        }
    }

    async fn talk(&self, kind: &str, data: &Value, held: &mut HeldEvents, out: &mut EventBatch) {
        let (Some(me), Some(channel)) = (self.discord.me(), id(data, "channel_id")) else { return };
        let guild = id(data, "guild_id");
        self.discord.find_out(channel, guild).await;
        let now = self.discord.clock.now();
        let heard = self.discord.places(|places| {
            let context = MessageContext { me, own_names: &self.discord.own_names, places, guild };
            let mut mark = None;
            let inputs = match kind {
                "MESSAGE_CREATE" => {
                    let said = context.to_message(data)?;
                    let guild = places.get(channel).map_or(guild.unwrap_or(0), |channel| channel.guild);
                    mark = Some(MessageMark { channel, guild, message: said.id });
                    out.posts.extend(said.nonce.map(|nonce| (nonce, said.id)));
                    vec![Input::Said(said.message)]
                }
                "MESSAGE_UPDATE" => context.to_edit(data, now).into_iter().collect(),
                "MESSAGE_REACTION_ADD" => context.to_reaction(data, true, now).into_iter().collect(),
                "MESSAGE_REACTION_REMOVE" => context.to_reaction(data, false, now).into_iter().collect(),
                _ => context.to_deletions(data, now),
            };
            Some(ChannelEvent { inputs, mark })
        });
        let ready = heard.and_then(|event| held.hold(channel, event, &self.discord.marks));
        ready.into_iter().for_each(|event| out.add(event));
    }

    /// A new channel was heard from its beginning; one that the bot has only been given access to was not.
    fn created(&self, data: &Value) -> Option<MessageMark> {
        self.discord.places(|places| {
            let (channel, last) = places.learn(data, None)?;
            let guild = places.get(channel)?.guild;
            let before = last.filter(|_| !is(data, "newly_created"));
            Some(MessageMark { channel, guild, message: before.unwrap_or(0) })
        })
    }

    async fn is_ready(&self, data: &Value) {
        let Some(user) = data.get("user") else { return };
        let Some(me) = id(user, "id") else { return };
        self.discord.set_me(me);
        info!(name = text(user, "username"), guilds = list(data, "guilds").len(), "connected to Discord");
        let application = data.get("application").and_then(|application| id(application, "id"));
        let first = data.get("shard").and_then(Value::as_array).is_none_or(|shard| shard.first() == Some(&0.into()));
        if first && let Some(application) = application {
            let guilds = list(data, "guilds").iter().filter_map(|guild| id(guild, "id")).collect();
            tokio::spawn(commands::register(self.discord.clone(), application, guilds));
        }
        self.backfill.recall().await;
        if first {
            self.backfill.direct().await;
        }
    }

    async fn guild(&self, data: &Value) {
        let (Some(me), Some(guild)) = (self.discord.me(), id(data, "id")) else { return };
        let known = self.discord.places(|places| places.learn_guild(data, me));
        debug!(guild, channels = known.len(), members = bits(data, "member_count"), "joined a guild");
        self.backfill.guild(guild, known).await;
    }
}

/// Attempts, while messages wait.
const LOOKS_MAX: u32 = 3;

impl Discord {
    /// Fetches a channel that is not known. If Discord does not answer for the moment, it is fetched again with the next
    /// message: a thread must not be treated as a room of its own forever.
    async fn find_out(&self, channel: u64, guild: Option<u64>) {
        if self.places(|places| places.get(channel).is_some()) {
            return;
        }
        match with_retries(LOOKS_MAX, || self.rest.get(format!("channels/{channel}"))).await {
            Ok(found) => self.places(|places| {
                if places.learn(&found, guild).is_none() {
                    places.suppose(channel, guild);
                }
            }),
            Err(error @ (RestError::Refused { .. } | RestError::BadToken)) => {
                debug!(channel, %error, "cannot access a channel");
                self.places(|places| places.suppose(channel, guild));
            }
            Err(error @ (RestError::Unclear(_) | RestError::Broken(_) | RestError::Busy { .. })) => {
                warn!(channel, %error, "cannot access a channel for now");
            }
        }
    }
}

/// The kinds that are counted by name; the list is bounded.
const KINDS: &[&str] = &[
    "READY",
    "RESUMED",
    "GUILD_CREATE",
    "GUILD_DELETE",
    "CHANNEL_CREATE",
    "CHANNEL_UPDATE",
    "CHANNEL_DELETE",
    "THREAD_CREATE",
    "THREAD_UPDATE",
    "THREAD_DELETE",
    "THREAD_LIST_SYNC",
    "GUILD_ROLE_CREATE",
    "GUILD_ROLE_UPDATE",
    "GUILD_ROLE_DELETE",
    "GUILD_MEMBER_UPDATE",
    "MESSAGE_CREATE",
    "MESSAGE_UPDATE",
    "MESSAGE_DELETE",
    "MESSAGE_DELETE_BULK",
    "MESSAGE_REACTION_ADD",
    "MESSAGE_REACTION_REMOVE",
    "INTERACTION_CREATE",
];

fn metric_label(kind: &str) -> &'static str {
    KINDS.iter().find(|known| **known == kind).copied().unwrap_or("other")
}
