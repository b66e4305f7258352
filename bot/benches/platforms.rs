//! What platforms cost: events per second from the socket to the decision, and memory of many guilds. The servers of the
//! tests speak over loopback with the real adapters, engines and a durable journal; figures are ratios against something
//! measured in the same run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use aizuchi::config;
use aizuchi::platforms::discord::{Discord, DiscordSettings};
use aizuchi::platforms::slack::{Slack, SlackSettings};
use aizuchi::ports::{BoxFuture, Caller, Commands, ModelClient, Platform};
use aizuchi::runtime::{Clock, EngineEvent, Runtime, RuntimeContext};
use aizuchi::stores::{Database, StoreSettings};
use aizuchi::tools::Toolset;
use aizuchi_core::Policies;
use aizuchi_core::effect::{Ask, Brief, Failure};
use aizuchi_core::input::Answer;
use aizuchi_core::settings::Section;
use aizuchi_core::types::Place;
use aizuchi_test_servers::discord::{self as discord_server, GUILD, Order, TOKEN, person};
use aizuchi_test_servers::slack::{self as slack_server, APP_TOKEN, BOT_TOKEN};
use serde_json::{Value, json};
use tokio::sync::{broadcast, mpsc, watch};
use tokio_util::sync::CancellationToken;

const EVENTS: u64 = 20_000;
const CHANNELS: u64 = 100;
const GUILDS: u64 = 1_000;
const GUILD_CHANNELS: u64 = 30;
const GUILD_ROLES: u64 = 20;
/// Nothing to wait for: its decision falls when it is heard.
const REMARK: &str = "and then the rain came, and we all went home again";

fn main() {
    // `discord`, `slack` or `guilds` alone, or all; `cargo bench` hands over its own flags beside.
    let named: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let wanted = |name: &str| named.is_empty() || named.iter().any(|given| given == name);
    let folder = std::env::temp_dir().join(format!("aizuchi-bench-platforms-{}", std::process::id()));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        if wanted("guilds") {
            guilds(&folder.join("guilds")).await;
        }
        if wanted("discord") {
            discord(&folder.join("discord")).await;
        }
        if wanted("slack") {
            slack(&folder.join("slack")).await;
        }
    });
    let _ = std::fs::remove_dir_all(&folder);
}

/// Has nothing to say: what is measured is hearing and deciding.
struct Silent;

impl ModelClient for Silent {
    fn judge(self: Arc<Self>, _: Box<Ask>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        Box::pin(std::future::ready(Err(Failure::new("no judge"))))
    }

    fn write(self: Arc<Self>, _: Box<Brief>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        Box::pin(std::future::ready(Err(Failure::new("no words"))))
    }
}

struct NoCommands;

impl Commands for NoCommands {
    fn run<'a>(&'a self, text: &'a str, _: &'a Caller, _: &'a Place) -> BoxFuture<'a, String> {
        Box::pin(std::future::ready(text.to_owned()))
    }
}

/// The engines with their journal, and the decisions as they fall.
struct RunningEngines {
    runtime: Runtime,
    decided: mpsc::UnboundedReceiver<Instant>,
    stop: CancellationToken,
}

fn settings<S: Section>(assignments: &[&str]) -> (S, Policies) {
    let mut layers = config::new_layers();
    assignments.iter().for_each(|assignment| layers.add_assignment(assignment));
    (layers.section().expect("settings that fit"), config::resolve(&layers).expect("settings that fit"))
}

fn database(folder: &Path) -> Database {
    std::fs::create_dir_all(folder).expect("a folder");
    let file: PathBuf = folder.join("aizuchi.db");
    Database::open(&file).expect("a store")
}

impl RunningEngines {
    async fn begin(database: Database, policies: Policies, platform: Arc<dyn Platform>) -> RunningEngines {
        let (events, mut watched) = broadcast::channel(1 << 16);
        let ready = watch::Sender::new(true);
        let world = RuntimeContext {
            tools: Toolset::default(),
            clock: Clock::Wall,
            models: Arc::new(Silent),
            keeper: None,
            platforms: vec![platform],
            events,
            ready,
            store: StoreSettings::default(),
        };
        let runtime = Runtime::start(database, policies, Arc::new(world)).await.expect("it starts");
        let (tell, decided) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok(event) = watched.recv().await {
                if matches!(event, EngineEvent::Decided(_)) {
                    let _ = tell.send(Instant::now());
                }
            }
        });
        RunningEngines { runtime, decided, stop: CancellationToken::new() }
    }

    /// Returns when this many decisions were made.
    async fn decides(&mut self, count: u64) -> Instant {
        let mut last = Instant::now();
        for number in 0..count {
            let next = tokio::time::timeout(Duration::from_secs(120), self.decided.recv()).await;
            last = next.unwrap_or_else(|_| panic!("{number} of {count} are decided")).expect("it lives");
        }
        last
    }

    async fn end(self) {
        self.runtime.stop().await;
        self.stop.cancel();
    }
}

/// How long it takes to read the frames and do nothing with them.
fn parsing(frames: &[String]) -> Duration {
    let started = Instant::now();
    let read = frames.iter().filter(|frame| serde_json::from_str::<Value>(frame).is_ok()).count();
    let taken = started.elapsed();
    assert_eq!(read, frames.len(), "frames are JSON");
    taken
}

fn tell(what: &str, events: u64, taken: Duration, frames: &[String]) {
    let parsed = parsing(frames);
    let per_second = |count: usize, taken: Duration| count as f64 / taken.as_secs_f64();
    println!(
        "{what}, one connection, from the socket to the decision with a durable journal: {events} events in {:.2} s, {:.0} a second; parsing their JSON alone {:.0} a second: {:.1} times as long",
        taken.as_secs_f64(),
        per_second(events as usize, taken),
        per_second(frames.len(), parsed),
        taken.as_secs_f64() / parsed.as_secs_f64(),
    );
}

async fn on_discord(folder: &Path) -> (discord_server::DiscordServer, RunningEngines) {
    let server = discord_server::DiscordServer::start().await;
    for number in 0..CHANNELS {
        let channel = json!({"id": channel(number).to_string(), "guild_id": GUILD.to_string(), "type": 0,
            "name": format!("channel-{number}"), "permission_overwrites": [], "last_message_id": null});
        server.world.with(|world| world.channels.insert(self::channel(number), channel));
    }
    let (own, policies) = settings::<DiscordSettings>(&[&format!("discord.api_url={}", server.url())]);
    let database = database(folder);
    let discord =
        Discord::new(own, &policies.general().settings, TOKEN.into(), database.platform_stores(), Clock::Wall);
    let life = RunningEngines::begin(database, policies, discord.clone()).await;
    discord.listen(life.runtime.engine.clone(), Arc::new(NoCommands), life.stop.clone()).expect("a sane token");
    server.until("it is there", |world| world.sessions.values().any(|session| session.line.is_some())).await;
    (server, life)
}

fn channel(number: u64) -> u64 {
    (10 + number) << 22
}

async fn discord(folder: &Path) {
    let (server, mut life) = on_discord(folder).await;
    // Made beforehand: what is measured begins with their sending.
    let (line, events) = server.world.with(|world| {
        let id = world.sessions.keys().next().expect("it is there").clone();
        let session = world.sessions.get_mut(&id).expect("it is there");
        let (line, before) = (session.line.take().expect("it is open"), session.log.len());
        for number in 0..EVENTS {
            let by = person(1000 + number % 7, &format!("person{}", number % 7));
            world.say(channel(number * 7919 % CHANNELS), &by, json!({"content": REMARK}));
        }
        (line, world.sessions[&id].log[before..].to_vec())
    });
    let frames: Vec<String> = events.iter().map(Value::to_string).collect();
    let started = Instant::now();
    for event in events {
        line.send(Order::Send(event)).unwrap_or_else(|_| panic!("the line is open"));
    }
    let ended = life.decides(EVENTS).await;
    tell("Discord", EVENTS, ended - started, &frames);
    life.end().await;
}

async fn slack(folder: &Path) {
    let server = slack_server::SlackServer::start_in_a_hurry(Duration::from_secs(300)).await;
    let names: Vec<String> = (0..CHANNELS).map(|number| format!("CB{number}")).collect();
    for name in &names {
        let channel = json!({"id": name, "name": name, "is_channel": true, "is_member": true, "is_archived": false});
        server.workspace().channels.insert(name.clone(), channel);
    }
    let (own, policies) =
        settings::<SlackSettings>(&[&format!("slack.api_url={}", server.api_url()), "slack.connections=1"]);
    let database = database(folder);
    let engine = &policies.general().settings;
    let slack = Slack::new(own, engine, BOT_TOKEN.into(), APP_TOKEN.into(), database.platform_stores(), Clock::Wall)
        .expect("an address that can be asked");
    let mut life = RunningEngines::begin(database, policies.clone(), slack.clone()).await;
    let listening = slack.listen(life.runtime.engine.clone(), Arc::new(NoCommands), life.stop.clone()).await;
    listening.expect("the tokens are good");
    while server.sockets.open() < 1 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let people = ["U1MIA", "U2HAN", "U3TOM"];
    let payloads: Vec<Value> = (0..EVENTS)
        .map(|number| {
            let (channel, user) = (&names[(number * 7919 % CHANNELS) as usize], people[number as usize % 3]);
            let mut workspace = server.workspace();
            let (_, mut events) = workspace.say(channel, None, json!({"user": user, "text": REMARK}));
            workspace.wrap(events.remove(0))
        })
        .collect();
    let frame = |payload: &Value| json!({"envelope_id": "e", "type": "events_api", "payload": payload}).to_string();
    let frames: Vec<String> = payloads.iter().map(frame).collect();
    let started = Instant::now();
    for payload in payloads {
        server.sockets.deliver("events_api", payload);
    }
    let ended = life.decides(EVENTS).await;
    tell("Slack", EVENTS, ended - started, &frames);
    life.end().await;
}

/// A guild as Discord sends it: channels with permission overwrites, and roles.
fn guild(number: u64) -> (Value, u64) {
    let (id, first) = ((1_000_000 + number) << 22, (10_000_000 + number * 1000) << 22);
    let role = |role: u64| {
        json!({"id": (id + role).to_string(), "name": format!("role {role}"), "permissions": "274877992000",
            "color": 0, "hoist": false, "position": role, "managed": false, "mentionable": true, "flags": 0})
    };
    let channel = |channel: u64| {
        let shut = json!([{"id": id.to_string(), "type": 0, "allow": "0", "deny": "1024"}]);
        json!({"id": (first + channel).to_string(), "type": 0, "name": format!("channel-{channel}"), "position": channel,
            "permission_overwrites": if channel.is_multiple_of(5) { shut } else { json!([]) },
            "last_message_id": (first + channel).to_string(), "nsfw": false, "parent_id": null,
            "topic": "what this channel is for", "rate_limit_per_user": 0})
    };
    let guild = json!({"id": id.to_string(), "name": format!("guild {number}"), "owner_id": "1", "member_count": 500,
        "roles": (0..GUILD_ROLES).map(role).collect::<Vec<_>>(),
        "channels": (0..GUILD_CHANNELS).map(channel).collect::<Vec<_>>(),
        "threads": [], "emojis": [], "members": [], "unavailable": false});
    (guild, first)
}

/// Guilds are joined one after the other, and somebody says something in each.
async fn guilds(folder: &Path) {
    let (server, mut life) = on_discord(folder).await;
    let line = server.world.with(|world| world.sessions.values().find_map(|session| session.line.clone()));
    let line = line.expect("it is there");
    let send = |kind: &str, seq: u64, data: &Value| {
        let event = json!({"op": 0, "t": kind, "s": seq, "d": data});
        let bytes = event.to_string().len() as u64;
        line.send(Order::Send(event)).unwrap_or_else(|_| panic!("the line is open"));
        bytes
    };
    let (mut before, mut bytes, mut seq, mut started) = (0, 0, 10, Instant::now());
    // The first few show what does not grow.
    let warming = 50;
    for number in 0..GUILDS + warming {
        if number == warming {
            (before, bytes, started) = (resident(), 0, Instant::now());
        }
        let (guild, first) = guild(number);
        let message = server.world.with(|world| world.snowflake());
        let said = json!({"id": message.to_string(), "channel_id": (first + 1).to_string(), "guild_id": guild["id"],
            "author": person(1000 + number, "mia"), "content": REMARK, "type": 0, "mentions": []});
        bytes += send("GUILD_CREATE", seq, &guild) + send("MESSAGE_CREATE", seq + 1, &said);
        seq += 2;
        life.decides(1).await;
    }
    let used = resident().saturating_sub(before);
    println!(
        "memory of {GUILDS} guilds on Discord with {GUILD_CHANNELS} channels, {GUILD_ROLES} roles and a message each: {:.1} MB, {:.0} bytes a guild, {:.3} of what Discord tells of them; joined in {:.1} s",
        used as f64 / 1e6,
        used as f64 / GUILDS as f64,
        used as f64 / bytes as f64,
        started.elapsed().as_secs_f64(),
    );
    life.end().await;
}

fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()).map_or(0, |kib| kib * 1024)
}
