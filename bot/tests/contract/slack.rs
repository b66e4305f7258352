//! The stage on Slack: a workspace on a loopback server.

use std::sync::Arc;
use std::time::Duration;

use aizuchi::platforms::slack::{ConnectionPace, Slack};
use aizuchi::runtime::Clock;
use aizuchi_test_servers::slack::{APP_TOKEN, BOT, BOT_TOKEN, Fault, SlackServer, TEAM};
use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::life::{BotRun, Ground, NoCommands, until};
use crate::stage::{PlatformStage, Post, ScriptedLine, Trouble};

const CHANNEL: &str = "C1GEN";
const LINES: usize = 2;

const PACE: ConnectionPace = ConnectionPace {
    ping_every: Duration::from_millis(200),
    silent_max: Duration::from_secs(20),
    pause_min: Duration::from_millis(50),
    pause_max: Duration::from_millis(500),
    good_after: Duration::from_millis(50),
    sync_every: Duration::from_secs(3600),
    posts_within: Duration::from_secs(2),
};

pub struct Workplace {
    server: SlackServer,
    life: BotRun,
    _stop: DropGuard,
}

impl Workplace {
    fn user(&self, name: &str) -> String {
        let mut workspace = self.server.workspace();
        if let Some(user) = workspace.users.iter().find(|user| user["real_name"] == name) {
            return user["id"].as_str().expect("it has an id").to_owned();
        }
        let id = format!("U9X{}", workspace.users.len());
        workspace.users.push(json!({"id": id, "team_id": TEAM, "name": name, "deleted": false, "real_name": name,
            "is_bot": false, "locale": "en-US", "profile": {"display_name": name, "real_name": name}}));
        id
    }

    fn message(&self, id: &str) -> Value {
        let workspace = self.server.workspace();
        let found = workspace.messages[CHANNEL].iter().find(|message| message["ts"] == id);
        found.expect("there is such a message").clone()
    }

    async fn connected(&self) {
        until("lines are open", async || (self.server.sockets.open() >= LINES).then_some(())).await;
    }
}

impl PlatformStage for Workplace {
    const ANSWERS_POINT: bool = false;

    async fn open() -> Workplace {
        let server = SlackServer::start().await;
        let ground = Ground::new(&[&format!("slack.api_url={}", server.api_url())]);
        let (own, engine) = (ground.layers.section().unwrap(), &ground.policies.general().settings);
        let (bot, app, stores) = (BOT_TOKEN.into(), APP_TOKEN.into(), ground.database.platform_stores());
        let slack = Slack::at_pace(own, engine, bot, app, stores, Clock::Wall, PACE).unwrap();
        let life = BotRun::begin(ground, slack.clone()).await;
        let stop = CancellationToken::new();
        slack.listen(life.engine(), Arc::new(NoCommands), stop.clone()).await.unwrap();
        let workplace = Workplace { server, life, _stop: stop.drop_guard() };
        workplace.connected().await;
        workplace
    }

    fn life(&mut self) -> &mut BotRun {
        &mut self.life
    }

    fn room(&self) -> String {
        format!("slack:{TEAM}/{CHANNEL}")
    }

    fn mention(&self) -> String {
        format!("<@{BOT}>")
    }

    async fn lets_in(&mut self, _: &str) -> bool {
        true
    }

    /// A reply is a thread below what it answers.
    async fn tell(&mut self, line: ScriptedLine<'_>) -> String {
        let user = self.user(line.by);
        self.server.say_in(CHANNEL, line.thread.or(line.reply), &user, line.text)
    }

    async fn edit(&mut self, _: &str, id: &str, text: &str) {
        self.server.edit(CHANNEL, id, text);
    }

    async fn delete(&mut self, _: &str, id: &str) {
        self.server.delete(CHANNEL, id);
    }

    async fn react(&mut self, by: &str, id: &str, emoji: &str, on: bool) {
        let user = self.user(by);
        let kind = if on { "reaction_added" } else { "reaction_removed" };
        let name = match emoji {
            "👍" => "+1",
            "✅" => "white_check_mark",
            other => panic!("{other} has no name here"),
        };
        self.server.react(CHANNEL, id, &user, name, kind);
    }

    async fn posts(&self) -> Vec<Post> {
        self.server.workspace().posted(CHANNEL).iter().map(post).collect()
    }

    async fn cut(&mut self) {
        let opened = self.server.sockets.opened();
        self.server.sockets.cut();
        until("it comes back", async || (self.server.sockets.opened() >= opened + LINES).then_some(())).await;
        self.connected().await;
    }

    fn lose_answer(&mut self) -> Trouble {
        self.server.workspace().fail("chat.postMessage", [Fault::Cut]);
        Trouble::Comes
    }

    async fn redeliver(&mut self, id: &str) {
        let mut event = self.message(id);
        event["channel"] = CHANNEL.into();
        event["channel_type"] = "channel".into();
        event["event_ts"] = id.into();
        let acknowledged = self.server.sockets.acknowledged();
        self.server.happens(event);
        let is_taken = async || (self.server.sockets.acknowledged() > acknowledged).then_some(());
        until("it is acknowledged", is_taken).await;
    }

    fn limit_posts(&mut self) -> Trouble {
        self.server.workspace().fail("chat.postMessage", [Fault::Limited(1)]);
        Trouble::Comes
    }

    fn permit(&mut self, posts: bool) -> Trouble {
        let mut workspace = self.server.workspace();
        workspace.channels.get_mut(CHANNEL).expect("there is such a channel")["is_member"] = posts.into();
        Trouble::Comes
    }
}

fn post(message: &Value) -> Post {
    let text = |field: &str| message[field].as_str().map(str::to_owned);
    Post {
        id: text("ts").expect("it has a time stamp"),
        text: text("text").unwrap_or_default(),
        thread: text("thread_ts").filter(|thread| message["ts"] != **thread),
        answering: None,
    }
}
