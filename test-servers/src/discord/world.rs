//! The state of this Discord: a guild with its channels, people, messages, and the sessions that get its events.

use std::collections::{BTreeMap, HashMap};
use std::time::{Instant, SystemTime};

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::limits::Buckets;
use super::rest::{RecordedRequest, ScriptedFailure};

pub const TOKEN: &str = "MTAw.loop.back";
pub const BOT: u64 = 100;
pub const BOT_ID: &str = "100";
pub const GUILD: u64 = 1 << 22;
pub const CHANNEL: u64 = 2 << 22;
pub const PRIVATE: u64 = 3 << 22;

pub const MESSAGE_CONTENT: u64 = 1 << 15;
pub const GUILD_MESSAGES: u64 = 1 << 9;
pub const DIRECT_MESSAGES: u64 = 1 << 12;
pub const GUILD_REACTIONS: u64 = 1 << 10;

/// A command to a connection.
pub enum Order {
    Send(Value),
    Close(u16),
    /// With a reason in words.
    CloseSaying(u16, &'static str),
    /// Without a close frame.
    Cut,
}

pub struct Session {
    pub intents: u64,
    pub shard: (u64, u64),
    pub seq: u64,
    /// Everything that was dispatched, for a client that reconnects.
    pub log: Vec<Value>,
    pub line: Option<mpsc::UnboundedSender<Order>>,
}

pub struct World {
    pub host: String,
    pub port: u16,
    pub token: String,
    pub message_content_granted: bool,
    pub heartbeat_ms: u64,
    pub answers_heartbeats: bool,
    pub heartbeats: u32,
    /// How many connections it recommends.
    pub shards: u64,
    pub guild: Value,
    pub channels: BTreeMap<u64, Value>,
    pub messages: HashMap<u64, Vec<Value>>,
    pub sessions: HashMap<String, Session>,
    pub nonces: HashMap<String, (u64, u64, Instant)>,
    pub asked: Vec<RecordedRequest>,
    pub mishaps: Vec<(String, ScriptedFailure)>,
    pub buckets: Buckets,
    /// How often clients identified, and how often they resumed.
    pub identified: u32,
    pub resumed: u32,
    pub closed_with: Vec<u16>,
    /// The host and the user agent of each request to the gateway.
    pub visitors: Vec<(String, String)>,
    /// How many connections the gateway refuses before it accepts one.
    pub turned_away: u32,
    /// The host at which a session is to be resumed.
    pub resume_host: String,
    counter: u64,
}

pub fn person(id: u64, name: &str) -> Value {
    json!({"id": id.to_string(), "username": name, "discriminator": "0", "global_name": null, "avatar": null})
}

pub fn hook(id: u64, name: &str) -> Value {
    json!({"id": id.to_string(), "username": name, "discriminator": "0000", "avatar": null, "bot": true})
}

pub fn bot() -> Value {
    json!({"id": BOT.to_string(), "username": "aizuchi", "discriminator": "0", "global_name": null, "avatar": null,
        "bot": true, "verified": true, "mfa_enabled": true, "flags": 0, "email": null})
}

fn channel(id: u64, name: &str, overwrites: Value) -> Value {
    json!({"id": id.to_string(), "guild_id": GUILD.to_string(), "type": 0, "name": name, "position": 0,
        "permission_overwrites": overwrites, "last_message_id": null, "nsfw": false, "parent_id": null, "topic": null,
        "rate_limit_per_user": 0})
}

impl World {
    pub fn new(port: u16) -> World {
        let shut = json!([{"id": GUILD.to_string(), "type": 0, "allow": "0", "deny": "1024"}]);
        let channels = [(CHANNEL, channel(CHANNEL, "general", json!([]))), (PRIVATE, channel(PRIVATE, "staff", shut))];
        let everyone = json!({"id": GUILD.to_string(), "name": "@everyone", "permissions": "274877992000", "color": 0,
            "hoist": false, "position": 0, "managed": false, "mentionable": false, "flags": 0});
        let guild = json!({"id": GUILD.to_string(), "name": "garden", "owner_id": "1", "roles": [everyone],
            "emojis": [], "stickers": [], "features": [], "member_count": 3, "members": [], "presences": [],
            "voice_states": [], "stage_instances": [], "guild_scheduled_events": [], "soundboard_sounds": [],
            "large": false, "unavailable": false, "joined_at": "2026-01-01T00:00:00+00:00", "afk_timeout": 300,
            "verification_level": 0, "default_message_notifications": 0, "explicit_content_filter": 0, "mfa_level": 0,
            "premium_tier": 0, "preferred_locale": "en-US", "nsfw_level": 0, "system_channel_flags": 0,
            "application_id": null, "premium_progress_bar_enabled": false});
        World {
            host: "127.0.0.1".to_owned(),
            port,
            token: TOKEN.to_owned(),
            message_content_granted: true,
            heartbeat_ms: 41_250,
            answers_heartbeats: true,
            heartbeats: 0,
            shards: 1,
            guild,
            channels: channels.into(),
            messages: HashMap::new(),
            sessions: HashMap::new(),
            nonces: HashMap::new(),
            asked: Vec::new(),
            mishaps: Vec::new(),
            buckets: Buckets::default(),
            identified: 0,
            resumed: 0,
            closed_with: Vec::new(),
            visitors: Vec::new(),
            turned_away: 0,
            resume_host: "127.0.0.1".to_owned(),
            counter: 0,
        }
    }

    pub fn snowflake(&mut self) -> u64 {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis() as u64;
        self.snowflake_at(now)
    }

    pub fn snowflake_at(&mut self, ms: u64) -> u64 {
        self.counter += 1;
        ((ms - 1_420_070_400_000) << 22) + self.counter % 4096
    }

    pub fn guild_of(&self, channel: u64) -> Option<&str> {
        self.channels.get(&channel)?["guild_id"].as_str()
    }

    /// Stores a message and dispatches it.
    pub fn say(&mut self, channel: u64, by: &Value, fields: Value) -> u64 {
        let id = self.snowflake();
        self.say_as(id, channel, by, fields);
        id
    }

    /// The author changes it.
    pub fn edit(&mut self, channel: u64, id: u64, text: &str) {
        let (now, name) = (jiff::Timestamp::now(), id.to_string());
        let all = self.messages.entry(channel).or_default();
        let message = all.iter_mut().find(|message| message["id"] == name.as_str()).expect("there is such a message");
        message["content"] = text.into();
        message["edited_timestamp"] = format!("{now:.6}").replace('Z', "+00:00").into();
        let mut changed = message.clone();
        changed["guild_id"] = self.guild_of(channel).map_or(Value::Null, Value::from);
        self.dispatch("MESSAGE_UPDATE", changed);
    }

    pub fn delete(&mut self, channel: u64, id: u64) {
        let name = id.to_string();
        self.messages.entry(channel).or_default().retain(|message| message["id"] != name.as_str());
        let gone = json!({"id": id.to_string(), "channel_id": channel.to_string(), "guild_id": self.guild_of(channel)});
        self.dispatch("MESSAGE_DELETE", gone);
    }

    pub fn say_as(&mut self, id: u64, channel: u64, by: &Value, fields: Value) -> Value {
        let message = self.keep(id, channel, by, fields);
        self.dispatch("MESSAGE_CREATE", message.clone());
        message
    }

    /// Stores a message without dispatching it: it was sent while the clients were disconnected.
    pub fn keep(&mut self, id: u64, channel: u64, by: &Value, fields: Value) -> Value {
        let ms = (id >> 22) + 1_420_070_400_000;
        let at = jiff::Timestamp::from_millisecond(ms as i64).unwrap();
        let mut message = json!({"id": id.to_string(), "channel_id": channel.to_string(), "author": by, "content": "",
            "timestamp": format!("{at:.6}").replace('Z', "+00:00"), "edited_timestamp": null, "tts": false,
            "mention_everyone": false, "mentions": [], "mention_roles": [], "attachments": [], "embeds": [],
            "pinned": false, "type": 0, "flags": 0, "components": []});
        if let Some(guild) = self.guild_of(channel) {
            message["guild_id"] = guild.into();
            message["member"] = json!({"nick": null, "roles": [], "joined_at": "2026-01-01T00:00:00+00:00",
                "deaf": false, "mute": false, "flags": 0});
        }
        for (field, value) in fields.as_object().unwrap() {
            message[field] = value.clone();
        }
        let shown = self.resolve_reply(message);
        let mut kept = shown.clone();
        // Nonces are sent once and never again, and a fetched message has no member.
        for gone in ["nonce", "member", "guild_id"] {
            kept.as_object_mut().unwrap().remove(gone);
        }
        self.messages.entry(channel).or_default().push(kept);
        if let Some(known) = self.channels.get_mut(&channel) {
            known["last_message_id"] = id.to_string().into();
        }
        shown
    }

    fn resolve_reply(&self, mut message: Value) -> Value {
        let Some(to) = message["message_reference"]["message_id"].as_str() else { return message };
        let all = self.messages.values().flatten();
        let found = all.clone().find(|kept| kept["id"] == to).cloned().unwrap_or(Value::Null);
        message["referenced_message"] = found;
        if message["type"] == 0 {
            message["type"] = 19.into();
        }
        message
    }

    /// To the sessions of its guild; direct messages to the first one.
    pub fn dispatch(&mut self, kind: &str, data: Value) {
        let guild =
            if kind.starts_with("GUILD_") && data["guild_id"].is_null() { &data["id"] } else { &data["guild_id"] };
        let guild = guild.as_str().and_then(|id| id.parse().ok()).unwrap_or(0);
        for session in self.sessions.values_mut().filter(|session| session.has(guild)) {
            session.tell(kind, data.clone());
        }
    }

    /// The guild as it is sent at the start of a session.
    pub fn guild_now(&self) -> Value {
        let mut guild = self.guild.clone();
        let is_thread = |channel: &&Value| channel["type"].as_u64().is_some_and(|kind| (10..=12).contains(&kind));
        let (threads, channels): (Vec<&Value>, Vec<&Value>) =
            self.channels.values().filter(|channel| !channel["guild_id"].is_null()).partition(is_thread);
        guild["channels"] = channels.into_iter().cloned().collect();
        guild["threads"] = threads.into_iter().cloned().collect();
        guild
    }

    /// Sends this command to every connection.
    pub fn order(&mut self, order: impl Fn() -> Order) {
        for line in self.sessions.values().filter_map(|session| session.line.as_ref()) {
            let _ = line.send(order());
        }
    }
}

impl Session {
    /// Whether a guild is its own; 0 stands for direct messages.
    pub fn has(&self, guild: u64) -> bool {
        (guild >> 22) % self.shard.1 == self.shard.0
    }

    /// Sends an event if the session subscribed to it, with only the fields it may see.
    pub fn tell(&mut self, kind: &str, mut data: Value) {
        let in_guild = data.get("guild_id").is_some_and(|guild| !guild.is_null());
        let needed = match kind {
            "MESSAGE_CREATE" | "MESSAGE_UPDATE" | "MESSAGE_DELETE" if in_guild => GUILD_MESSAGES,
            "MESSAGE_CREATE" | "MESSAGE_UPDATE" | "MESSAGE_DELETE" => DIRECT_MESSAGES,
            "MESSAGE_REACTION_ADD" | "MESSAGE_REACTION_REMOVE" if in_guild => GUILD_REACTIONS,
            _ => 0,
        };
        if self.intents & needed != needed {
            return;
        }
        let own = data["author"]["id"] == BOT_ID;
        let mentioned = data["content"].as_str().is_some_and(|text| text.contains(&format!("<@{BOT}>")));
        if kind.starts_with("MESSAGE_C") && in_guild && self.intents & MESSAGE_CONTENT == 0 && !own && !mentioned {
            data["content"] = "".into();
        }
        self.seq += 1;
        let event = json!({"op": 0, "t": kind, "s": self.seq, "d": data});
        self.log.push(event.clone());
        if let Some(line) = &self.line {
            let _ = line.send(Order::Send(event));
        }
    }
}
