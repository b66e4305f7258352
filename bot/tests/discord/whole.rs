//! The whole program: talk on Discord, decisions of the engine, answers of the built-in model.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use aizuchi::models::Models;
use aizuchi::platforms::discord::Discord;
use aizuchi::prompts::Prompts;
use aizuchi::runtime::{Clock, Runtime, World};
use aizuchi::stores::Database;
use serde_json::json;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::house::{Parrot, Scratch, policies};
use crate::server::{BOT, CHANNEL, GUILD, Mishap, Order, Server, TOKEN, person};

struct Program {
    runtime: Runtime,
    stop: CancellationToken,
    done: JoinHandle<()>,
}

impl Program {
    async fn start(server: &Server, folder: &Path) -> Program {
        let policies = policies(server, &["models.main=offline", "models.judge=offline"]);
        let settings = policies.general().settings.clone();
        let database = Database::open(&folder.join("aizuchi.db")).unwrap();
        let prompts = Arc::new(Prompts::new(PathBuf::new()));
        let mind = Arc::new(Models::new(prompts, &policies, &|_| None).unwrap());
        let discord = Discord::new(&settings, TOKEN.into(), database.clone(), Clock::Wall);
        let (events, _) = broadcast::channel(1000);
        let (ready, _) = watch::channel(true);
        let world = World { clock: Clock::Wall, mind, platforms: vec![discord.clone()], keeper: None, events, ready };
        let runtime = Runtime::start(database, policies, Arc::new(world)).await.unwrap();
        let stop = CancellationToken::new();
        let done = discord.listen(runtime.ears.clone(), Arc::new(Parrot::default()), stop.clone()).unwrap();
        server.until("it is there", |world| world.sessions.values().any(|session| session.line.is_some())).await;
        Program { runtime, stop, done }
    }

    async fn end(self) {
        self.runtime.stop().await;
        self.stop.cancel();
        self.done.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_asks_is_answered_with_a_reply_in_the_thread_they_asked_in() {
    let (scratch, server) = (Scratch::new(), Server::start().await);
    let thread = json!({"id": "900", "type": 11, "parent_id": CHANNEL.to_string(), "guild_id": GUILD.to_string()});
    server.world.with(|world| world.channels.insert(900, thread));
    let program = Program::start(&server, &scratch.0).await;
    let mia = person(11, "mia");
    let question = server.say(CHANNEL, &mia, &format!("<@{BOT}> how cold can tomatoes get?"));
    let posts = server.until_posts(CHANNEL, 1).await;
    assert_eq!(posts[0]["message_reference"]["message_id"], question.to_string());
    let in_thread = server.say(900, &mia, &format!("<@{BOT}> and at night?"));
    let posts = server.until_posts(900, 1).await;
    assert_eq!(posts[0]["message_reference"]["message_id"], in_thread.to_string());
    assert_eq!(server.posts(CHANNEL).len(), 1);
    program.end().await;
}

/// The line is cut while the answer is on its way, and the answer to the post is lost.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_in_mid_answer_posts_nothing_twice_and_loses_nothing() {
    let (scratch, server) = (Scratch::new(), Server::start().await);
    let program = Program::start(&server, &scratch.0).await;
    let mia = person(11, "mia");
    server.mishap("POST channels/", Mishap::AnswerLost);
    server.mishap("/messages", Mishap::Limited { after_s: 0.2, global: false });
    server.world.with(|world| {
        let fields = json!({"content": format!("<@{BOT}> how cold can tomatoes get?")});
        let id = world.snowflake();
        let message = world.say_as(id, CHANNEL, &mia, fields);
        // Told twice, as it happens around a resume.
        world.dispatch("MESSAGE_CREATE", message);
    });
    server.until_posts(CHANNEL, 1).await;
    server.world.with(|world| world.order(|| Order::Cut));
    server.until("it came back", |world| world.resumed == 1).await;
    server.say(CHANNEL, &mia, &format!("<@{BOT}> and peppers?"));
    server.until_posts(CHANNEL, 2).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(server.posts(CHANNEL).len(), 2);
    program.end().await;
}

/// What was said an hour ago is remembered; nobody is answered an hour late.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_long_gap_old_questions_are_not_answered() {
    let (scratch, server) = (Scratch::new(), Server::start().await);
    let mia = person(11, "mia");
    let hour = 3_600_000;
    let now = jiff::Timestamp::now().as_millisecond() as u64;
    server.world.with(|world| {
        let id = world.snowflake_at(now - 2 * hour);
        world.keep(id, CHANNEL, &mia, json!({"content": "the first they know of"}));
    });
    // The first start only notes where it stands.
    let program = Program::start(&server, &scratch.0).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    program.end().await;
    server.world.with(|world| {
        world.sessions.clear();
        let id = world.snowflake_at(now - hour);
        world.keep(id, CHANNEL, &mia, json!({"content": format!("<@{BOT}> how cold can tomatoes get?")}));
    });
    let program = Program::start(&server, &scratch.0).await;
    server
        .until("it fetched", |world| {
            world.asked.iter().any(|asked| asked.line == format!("GET channels/{CHANNEL}/messages"))
        })
        .await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(server.posts(CHANNEL).len(), 0);
    server.say(CHANNEL, &mia, &format!("<@{BOT}> are you there?"));
    assert_eq!(server.until_posts(CHANNEL, 1).await.len(), 1);
    program.end().await;
}
