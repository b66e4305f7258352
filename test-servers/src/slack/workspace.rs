//! The state of the workspace: people, channels, messages; and scripted faults.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

pub const TEAM: &str = "T0TEA";
pub const BOT: &str = "U0BOT";
pub const BOT_ID: &str = "B0BOT";
pub const BOT_TOKEN: &str = "xoxb-right";
pub const APP_TOKEN: &str = "xapp-right";

/// What the app was allowed when it was installed.
const GRANTED: [&str; 14] = [
    "app_mentions:read",
    "channels:history",
    "channels:read",
    "chat:write",
    "commands",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "mpim:history",
    "mpim:read",
    "reactions:read",
    "reactions:write",
    "users:read",
];

/// A fault instead of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    Limited(u64),
    Status(u16),
    /// Carried out, and then the connection breaks.
    Cut,
    Error(&'static str),
}

pub struct Workspace {
    pub users: Vec<Value>,
    pub channels: BTreeMap<String, Value>,
    /// Of each channel, in the order of time; answers in threads among them.
    pub messages: BTreeMap<String, Vec<Value>>,
    pub reactions: Vec<(String, String, String)>,
    pub scopes: BTreeSet<String>,
    /// Those that are valid: the bot's and the app's.
    pub tokens: [String; 2],
    /// The response to every call once the token is no longer valid.
    pub revoked: Option<&'static str>,
    pub faults: HashMap<&'static str, VecDeque<Fault>>,
    /// Every call, with what it said.
    pub calls: Vec<(String, BTreeMap<String, String>)>,
    /// What was answered to slash commands.
    pub answers: Vec<Value>,
    pub tickets: BTreeSet<String>,
    /// Drops the metadata of posts, and rewrites links and emoji.
    pub forgetful: bool,
    last_micros: u64,
    events: u64,
}

impl Workspace {
    pub(super) fn new() -> Workspace {
        let user = |id: &str, name: &str, locale: &str| {
            json!({"id": id, "team_id": TEAM, "name": name.to_lowercase(), "deleted": false, "real_name": name,
                   "is_admin": id == "U1MIA", "is_bot": id == BOT, "locale": locale,
                   "profile": {"display_name": name, "real_name": name}})
        };
        let channel = |id: &str, name: &str, private: bool, im: bool| {
            json!({"id": id, "name": name, "is_channel": !private && !im, "is_group": private, "is_private": private || im,
                   "is_im": im, "is_mpim": false, "is_member": true, "is_archived": false})
        };
        let channels = [
            channel("C1GEN", "general", false, false),
            channel("C2RAN", "random", false, false),
            channel("G1SEC", "secret", true, false),
            channel("D1MIA", "", false, true),
        ];
        Workspace {
            users: vec![
                user("U1MIA", "Mia", "en-US"),
                user("U2HAN", "花子", "ja-JP"),
                user("U3TOM", "Tom", "en-GB"),
                user(BOT, "aizuchi", "en-US"),
            ],
            channels: channels.into_iter().map(|it| (it["id"].as_str().unwrap().to_owned(), it)).collect(),
            messages: BTreeMap::new(),
            reactions: Vec::new(),
            scopes: GRANTED.map(str::to_owned).into(),
            tokens: [BOT_TOKEN, APP_TOKEN].map(str::to_owned),
            revoked: None,
            faults: HashMap::new(),
            calls: Vec::new(),
            answers: Vec::new(),
            tickets: BTreeSet::new(),
            forgetful: false,
            last_micros: 0,
            events: 0,
        }
    }

    /// The next calls of this method fail.
    pub fn fail(&mut self, method: &'static str, faults: impl IntoIterator<Item = Fault>) {
        self.faults.entry(method).or_default().extend(faults);
    }

    pub fn calls_of(&self, method: &str) -> usize {
        self.calls.iter().filter(|(called, _)| called == method).count()
    }

    /// What was posted by the bot, in order.
    pub fn posted(&self, channel: &str) -> Vec<Value> {
        let all = self.messages.get(channel).into_iter().flatten();
        all.filter(|message| message["bot_id"] == BOT_ID).cloned().collect()
    }

    pub fn next_ts(&mut self) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64;
        self.last_micros = now.max(self.last_micros + 1);
        format!("{}.{:06}", self.last_micros / 1_000_000, self.last_micros % 1_000_000)
    }

    /// Returns its time stamp, and the events for the app.
    pub fn say(&mut self, channel: &str, thread: Option<&str>, mut message: Value) -> (String, Vec<Value>) {
        let ts = self.next_ts();
        message["type"] = json!("message");
        message["ts"] = json!(ts);
        message["team"] = json!(TEAM);
        if let Some(thread) = thread {
            message["thread_ts"] = json!(thread);
            if let Some(parent) = self.find(channel, thread) {
                message["parent_user_id"] = parent["user"].clone();
                parent["thread_ts"] = json!(thread);
                parent["latest_reply"] = json!(ts);
                parent["reply_count"] = json!(parent["reply_count"].as_u64().unwrap_or(0) + 1);
            }
        }
        self.messages.entry(channel.to_owned()).or_default().push(message.clone());
        let mut event = message;
        event["channel"] = json!(channel);
        event["event_ts"] = json!(ts);
        event.as_object_mut().unwrap().remove("metadata");
        let mut events = vec![event.clone()];
        if event["text"].as_str().is_some_and(|text| text.contains(&format!("<@{BOT}"))) {
            event["type"] = json!("app_mention");
            events.push(event);
        }
        events[0]["channel_type"] = json!(match &channel[..1] {
            "D" => "im",
            "G" => "group",
            _ => "channel",
        });
        (ts, events)
    }

    fn find(&mut self, channel: &str, ts: &str) -> Option<&mut Value> {
        self.messages.get_mut(channel)?.iter_mut().find(|message| message["ts"] == ts)
    }

    pub fn edit(&mut self, channel: &str, ts: &str, text: &str) -> Value {
        let at = self.next_ts();
        let message = self.find(channel, ts).expect("there is such a message");
        let before = message.clone();
        message["text"] = json!(text);
        message["edited"] = json!({"user": message["user"], "ts": at});
        let after = message.clone();
        json!({"type": "message", "subtype": "message_changed", "hidden": true, "channel": channel, "ts": at,
               "event_ts": at, "message": after, "previous_message": before})
    }

    pub fn has(&self, channel: &str, ts: &str) -> bool {
        self.messages.get(channel).is_some_and(|all| all.iter().any(|message| message["ts"] == ts))
    }

    pub fn delete(&mut self, channel: &str, ts: &str) -> Value {
        let at = self.next_ts();
        let all = self.messages.get_mut(channel).expect("there is such a channel");
        let index = all.iter().position(|message| message["ts"] == ts).expect("there is such a message");
        let before = all.remove(index);
        json!({"type": "message", "subtype": "message_deleted", "hidden": true, "channel": channel, "ts": at,
               "event_ts": at, "deleted_ts": ts, "previous_message": before})
    }

    /// As it is in an envelope.
    pub fn wrap(&mut self, event: Value) -> Value {
        self.events += 1;
        json!({"token": "verification", "team_id": TEAM, "api_app_id": "A1", "event": event, "type": "event_callback",
               "event_id": format!("Ev{}", self.events), "event_time": self.last_micros / 1_000_000,
               "authorizations": [{"team_id": TEAM, "user_id": BOT, "is_bot": true}]})
    }
}
