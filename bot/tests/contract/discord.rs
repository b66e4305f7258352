//! The stage on Discord: a guild on a loopback server.

use std::sync::Arc;

use aizuchi::platforms::discord::Discord;
use aizuchi::runtime::Clock;
use aizuchi_test_servers::discord::{
    BOT, BOT_ID, CHANNEL, DiscordServer, GUILD, Order, ScriptedFailure, TOKEN, person,
};
use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::life::{BotRun, Ground, NoCommands};
use crate::stage::{PlatformStage, Post, ScriptedLine, Trouble};

pub struct Guild {
    server: DiscordServer,
    life: BotRun,
    people: Vec<String>,
    _stop: DropGuard,
}

impl Guild {
    fn person(&mut self, name: &str) -> Value {
        let known = self.people.iter().position(|known| known == name);
        let index = known.unwrap_or_else(|| {
            self.people.push(name.to_owned());
            self.people.len() - 1
        });
        person(1000 + index as u64, name)
    }

    /// A thread has the id of the message it hangs below.
    fn thread(&self, below: &str) -> u64 {
        let id = below.parse().expect("ids are numbers");
        let thread = json!({"id": below, "type": 11, "parent_id": CHANNEL.to_string(), "guild_id": GUILD.to_string()});
        self.server.world.with(|world| {
            if world.channels.insert(id, thread.clone()).is_none() {
                world.dispatch("THREAD_CREATE", thread);
            }
        });
        id
    }

    /// A message as it is there now, with its channel.
    fn message(&self, id: &str) -> Value {
        let found = self.server.world.with(|world| {
            let mut all = world.messages.values().flatten();
            all.find(|message| message["id"] == id).cloned()
        });
        let mut found = found.expect("there is such a message");
        found["guild_id"] = GUILD.to_string().into();
        found
    }

    fn limit(&self, mishap: ScriptedFailure) {
        self.server.mishap(&format!("POST channels/{CHANNEL}/messages"), mishap);
    }
}

impl PlatformStage for Guild {
    const ANSWERS_POINT: bool = true;

    async fn open() -> Guild {
        let server = DiscordServer::start().await;
        let ground = Ground::new(&[&format!("discord.api_url={}", server.url())]);
        let (own, engine) = (ground.layers.section().unwrap(), &ground.policies.general().settings);
        let discord = Discord::new(own, engine, TOKEN.into(), ground.database.platform_stores(), Clock::Wall);
        let life = BotRun::begin(ground, discord.clone()).await;
        let stop = CancellationToken::new();
        discord.listen(life.engine(), Arc::new(NoCommands), stop.clone()).unwrap();
        server.until("it is there", |world| world.sessions.values().any(|session| session.line.is_some())).await;
        Guild { server, life, people: Vec::new(), _stop: stop.drop_guard() }
    }

    fn life(&mut self) -> &mut BotRun {
        &mut self.life
    }

    fn room(&self) -> String {
        format!("discord:{GUILD}/{CHANNEL}")
    }

    fn mention(&self) -> String {
        format!("<@{BOT}>")
    }

    async fn lets_in(&mut self, _: &str) -> bool {
        true
    }

    async fn tell(&mut self, line: ScriptedLine<'_>) -> String {
        let by = self.person(line.by);
        let channel = line.thread.map_or(CHANNEL, |below| self.thread(below));
        let mut fields = json!({"content": line.text});
        if let Some(to) = line.reply {
            fields["message_reference"] = json!({"message_id": to});
        }
        self.server.tell(channel, &by, fields).to_string()
    }

    async fn edit(&mut self, _: &str, id: &str, text: &str) {
        let mut message = self.message(id);
        message["content"] = text.into();
        message["edited_timestamp"] = format!("{:.6}", jiff::Timestamp::now()).replace('Z', "+00:00").into();
        self.server.dispatch("MESSAGE_UPDATE", message);
    }

    async fn delete(&mut self, _: &str, id: &str) {
        let message = self.message(id);
        self.server.world.with(|world| {
            world.messages.values_mut().for_each(|all| all.retain(|kept| kept["id"] != id));
        });
        let gone = json!({"id": id, "channel_id": message["channel_id"], "guild_id": GUILD.to_string()});
        self.server.dispatch("MESSAGE_DELETE", gone);
    }

    async fn react(&mut self, by: &str, id: &str, emoji: &str, on: bool) {
        let (by, message) = (self.person(by), self.message(id));
        let kind = if on { "MESSAGE_REACTION_ADD" } else { "MESSAGE_REACTION_REMOVE" };
        let reaction = json!({"user_id": by["id"], "message_id": id, "channel_id": message["channel_id"],
            "guild_id": GUILD.to_string(), "emoji": {"id": null, "name": emoji}});
        self.server.dispatch(kind, reaction);
    }

    async fn posts(&self) -> Vec<Post> {
        let mut all: Vec<Value> = self.server.world.with(|world| world.messages.values().flatten().cloned().collect());
        all.retain(|message| message["author"]["id"] == BOT_ID);
        all.sort_by_key(|message| message["id"].as_str().unwrap_or_default().parse::<u64>().unwrap_or_default());
        all.iter().map(post).collect()
    }

    async fn cut(&mut self) {
        let before = self.server.world.with(|world| {
            world.order(|| Order::Cut);
            world.resumed
        });
        self.server.until("it came back", |world| world.resumed > before).await;
    }

    fn lose_answer(&mut self) -> Trouble {
        self.limit(ScriptedFailure::AnswerLost);
        Trouble::Comes
    }

    async fn redeliver(&mut self, id: &str) {
        let message = self.message(id);
        self.server.dispatch("MESSAGE_CREATE", message);
    }

    fn limit_posts(&mut self) -> Trouble {
        self.limit(ScriptedFailure::Limited { after_s: 0.2, global: false });
        Trouble::Comes
    }

    fn permit(&mut self, posts: bool) -> Trouble {
        self.server.world.with(|world| world.mishaps.clear());
        let tries = if posts { 0 } else { 20 };
        for _ in 0..tries {
            self.limit(ScriptedFailure::Refused { status: 403, code: 50013, message: "Missing Permissions" });
        }
        Trouble::Comes
    }
}

fn post(message: &Value) -> Post {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let shown = [&message["content"], &message["embeds"][0]["description"]].map(|it| text(it).unwrap_or_default());
    let channel = message["channel_id"].as_str().expect("it is in a channel");
    Post {
        id: text(&message["id"]).expect("it has an id"),
        text: shown.concat(),
        thread: (channel != CHANNEL.to_string()).then(|| channel.to_owned()),
        answering: text(&message["message_reference"]["message_id"]),
    }
}
