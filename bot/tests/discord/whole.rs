//! The whole program: talk on Discord, decisions of the engine, answers of the built-in model.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use aizuchi::journal::Records;
use aizuchi::models::Models;
use aizuchi::platforms::discord::Discord;
use aizuchi::prompts::Prompts;
use aizuchi::runtime::{Clock, Runtime, RuntimeContext};
use aizuchi::stores::{Database, StoreSettings};
use aizuchi::tools::Toolset;
use aizuchi_core::Input;
use aizuchi_test_servers::discord::{BOT, CHANNEL, DiscordServer, GUILD, Order, ScriptedFailure, TOKEN, person};
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::program::eventually;
use serde_json::json;
use tokio::sync::{broadcast, watch};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::house::{Parrot, settings};

struct Program {
    runtime: Runtime,
    stop: CancellationToken,
    done: JoinHandle<()>,
}

impl Program {
    async fn start(server: &DiscordServer, folder: &Path) -> Program {
        let (own, policies) = settings(server, &["models.main=offline", "models.judge=offline"]);
        let database = Database::open(&folder.join("aizuchi.db")).unwrap();
        let prompts = Arc::new(Prompts::new(PathBuf::new()));
        let models = Arc::new(Models::new(prompts, &policies, &|_| None).unwrap());
        let discord =
            Discord::new(own, &policies.general().settings, TOKEN.into(), database.platform_stores(), Clock::Wall);
        let (events, _) = broadcast::channel(1000);
        let (ready, _) = watch::channel(true);
        let world = RuntimeContext {
            tools: Toolset::default(),
            clock: Clock::Wall,
            models,
            platforms: vec![discord.clone()],
            keeper: None,
            events,
            ready,
            store: StoreSettings::default(),
        };
        let runtime = Runtime::start(database, policies, Arc::new(world)).await.unwrap();
        let stop = CancellationToken::new();
        let done = discord.listen(runtime.engine.clone(), Arc::new(Parrot::default()), stop.clone()).unwrap();
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
    let (scratch, server) = (Scratch::new("discord"), DiscordServer::start().await);
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
    let (scratch, server) = (Scratch::new("discord"), DiscordServer::start().await);
    let program = Program::start(&server, &scratch.0).await;
    let mia = person(11, "mia");
    server.mishap("POST channels/", ScriptedFailure::AnswerLost);
    server.mishap("/messages", ScriptedFailure::Limited { after_s: 0.2, global: false });
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
    let (scratch, server) = (Scratch::new("discord"), DiscordServer::start().await);
    let mia = person(11, "mia");
    let hour = 3_600_000;
    let now = jiff::Timestamp::now().as_millisecond() as u64;
    server.world.with(|world| {
        let id = world.snowflake_at(now - 2 * hour);
        world.keep(id, CHANNEL, &mia, json!({"content": "the first they know of"}));
    });
    // The first start only notes the last message of each channel.
    let program = Program::start(&server, &scratch.0).await;
    until_marked(&scratch.0).await;
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

/// The recorded changes of a message: its new text, or that it is gone.
async fn changes(folder: &Path, id: u64) -> Vec<Option<String>> {
    let database = Database::open(&folder.join("aizuchi.db")).unwrap();
    let records = Records::all(&database).await.unwrap().collect().await.unwrap();
    let inputs = records.into_iter().map(|record| record.expect("nothing is damaged").input);
    let change = |input| match input {
        Input::Changed(change) if change.id.as_str() == id.to_string() => Some(change.text.map(String::from)),
        _ => None,
    };
    inputs.filter_map(change).collect()
}

/// The channel that the server describes does not name its newest message; the comparison with what is known finds it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_newer_than_the_last_that_was_known_is_found_by_comparing() {
    let (scratch, server) = (Scratch::new("discord"), DiscordServer::start().await);
    let program = Program::start(&server, &scratch.0).await;
    let mia = person(11, "mia");
    let known = server.say(CHANNEL, &mia, "before");
    until_heard(&scratch.0, known).await;
    program.end().await;
    let missed = server.world.with(|world| {
        world.sessions.clear();
        let id = world.snowflake();
        world.keep(id, CHANNEL, &mia, json!({"content": "missed"}));
        world.channels.get_mut(&CHANNEL).unwrap()["last_message_id"] = known.to_string().into();
        id
    });
    let program = Program::start(&server, &scratch.0).await;
    until_heard(&scratch.0, missed).await;
    program.end().await;
}

/// Until it is noted how far the channel is known.
async fn until_marked(folder: &Path) {
    let database = Database::open(&folder.join("aizuchi.db")).unwrap();
    let found = "SELECT 1 FROM channel_mark WHERE platform = 'discord' AND channel = ?1";
    let is_marked = async || {
        let marked = database.read(move |connection| connection.prepare(found)?.exists([CHANNEL.to_string()])).await;
        marked.unwrap().then_some(())
    };
    eventually("the channel is noted", is_marked).await;
}

/// Until a message is in the journal.
async fn until_heard(folder: &Path, id: u64) {
    let database = Database::open(&folder.join("aizuchi.db")).unwrap();
    let found = "SELECT 1 FROM journal WHERE body LIKE '%' || ?1 || '%'";
    let is_known = async || {
        let known = database.read(move |connection| connection.prepare(found)?.exists([id.to_string()])).await;
        known.unwrap().then_some(())
    };
    eventually(&format!("{id} is heard"), is_known).await;
}

/// No event reports what was edited or deleted while the program was off.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_changed_while_it_was_away_is_found() {
    let (scratch, server) = (Scratch::new("discord"), DiscordServer::start().await);
    let program = Program::start(&server, &scratch.0).await;
    let mia = person(11, "mia");
    let [stays, edited, deleted, known] =
        ["it stays", "tomatos", "never mind", "my adress"].map(|text| server.say(CHANNEL, &mia, text));
    let edit = |id: u64, text: &str| {
        server.world.with(|world| {
            let all = world.messages.get_mut(&CHANNEL).unwrap();
            let found = all.iter_mut().find(|kept| kept["id"] == *id.to_string()).unwrap();
            found["content"] = text.into();
            found["edited_timestamp"] = "2026-11-15T09:00:00.123000+00:00".into();
            let mut event = found.clone();
            event["guild_id"] = GUILD.to_string().into();
            event
        })
    };
    server.dispatch("MESSAGE_UPDATE", edit(known, "my address"));
    let last = server.say(CHANNEL, &mia, "that is all");
    until_heard(&scratch.0, last).await;
    program.end().await;
    edit(edited, "tomatoes");
    server.world.with(|world| {
        world.sessions.clear();
        world.messages.get_mut(&CHANNEL).unwrap().retain(|kept| kept["id"] != *deleted.to_string());
    });
    let program = Program::start(&server, &scratch.0).await;
    let found = async |id| changes(&scratch.0, id).await.len() == 1;
    eventually("both are found", async || (found(deleted).await && found(edited).await).then_some(())).await;
    program.end().await;
    assert_eq!(changes(&scratch.0, edited).await, [Some("tomatoes".to_owned())]);
    assert_eq!(changes(&scratch.0, deleted).await, [None]);
    assert_eq!(changes(&scratch.0, stays).await, []);
    assert_eq!(changes(&scratch.0, known).await, [Some("my address".to_owned())], "it was heard when it happened");
    // Once is enough; and who may not read the past any more learns nothing from it.
    server.world.with(|world| {
        world.sessions.clear();
        world.messages.get_mut(&CHANNEL).unwrap().clear();
    });
    let asked = server.asked(&format!("GET channels/{CHANNEL}/messages")).len();
    let program = Program::start(&server, &scratch.0).await;
    server
        .until("it looked again", |world| {
            let fetched = |line: &str| line == format!("GET channels/{CHANNEL}/messages");
            world.asked.iter().filter(|request| fetched(&request.line)).count() > asked
        })
        .await;
    program.end().await;
    assert_eq!((changes(&scratch.0, deleted).await.len(), changes(&scratch.0, stays).await.len()), (1, 0));
}
