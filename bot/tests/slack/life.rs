//! The whole program beside a Slack on loopback: from the socket to the decision to the post.

use std::sync::Arc;

use aizuchi::journal::Records;
use aizuchi::models::Models;
use aizuchi::ports::{BoxFuture, ModelClient};
use aizuchi::prompts::Prompts;
use aizuchi::runtime::{Clock, Runtime, RuntimeContext};
use aizuchi::stores::StoreSettings;
use aizuchi::tools::Toolset;
use aizuchi_core::effect::{Ask, Brief, Failure, Usage};
use aizuchi_core::input::Answer;
use aizuchi_core::{Input, Policies};
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::program::eventually;
use aizuchi_test_servers::slack::{BOT, Fault, SlackServer};
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use crate::office::{Echo, database, settings, slack, until};

/// An answer may be as long as that of [`Writer`].
const OFFLINE: [&str; 3] = ["models.main=offline", "models.judge=offline", "reply.tokens_full=2000"];

struct SlackBot {
    runtime: Runtime,
    stop: CancellationToken,
    done: tokio::task::JoinHandle<()>,
}

impl SlackBot {
    async fn start(server: &SlackServer, scratch: &Scratch, models: Option<Arc<dyn ModelClient>>) -> SlackBot {
        let (_, policies) = settings(server, &OFFLINE);
        let prompts = Arc::new(Prompts::new(scratch.0.join("prompts")));
        let models = models.unwrap_or_else(|| Arc::new(Models::new(prompts, &policies, &|_| None).unwrap()));
        let database = database(scratch);
        let slack = slack(server, database.clone(), &OFFLINE);
        let (events, _) = broadcast::channel(100);
        let (ready, _) = watch::channel(true);
        let world = RuntimeContext {
            tools: Toolset::default(),
            clock: Clock::Wall,
            models,
            platforms: vec![slack.clone()],
            keeper: None,
            events,
            ready,
            store: StoreSettings::default(),
        };
        let runtime = Runtime::start(database, policies, Arc::new(world)).await.unwrap();
        let stop = CancellationToken::new();
        let done = slack.listen(runtime.engine.clone(), Arc::new(Echo::default()), stop.clone()).await.unwrap();
        until("lines are open", || server.sockets.open() >= 2).await;
        SlackBot { runtime, stop, done }
    }

    async fn stop(self) {
        self.runtime.stop().await;
        self.stop.cancel();
        self.done.await.unwrap();
    }
}

/// Writes more than fits into one post, in Markdown.
struct Writer;

fn long() -> String {
    let paragraph =
        |number: usize| format!("**Point {number}**: {}\n\n", "which takes a while to explain. ".repeat(20));
    (0..30).map(paragraph).collect()
}

impl ModelClient for Writer {
    fn judge(self: Arc<Self>, _: Box<Ask>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        Box::pin(std::future::ready(Err(Failure::new("not asked"))))
    }

    fn write(self: Arc<Self>, _: Box<Brief>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        Box::pin(std::future::ready(Ok(Answer { text: long().into(), usage: Usage::default() })))
    }
}

#[tokio::test]
async fn a_mention_is_answered_where_it_was_said() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-life"));
    let life = SlackBot::start(&server, &scratch, None).await;
    let parent = server.say("C1GEN", "U1MIA", "morning all");
    server.say_in("C1GEN", Some(&parent), "U2HAN", &format!("<@{BOT}> are you there?"));
    until("an answer", || !server.workspace().posted("C1GEN").is_empty()).await;
    server.say("C2RAN", "U1MIA", &format!("<@{BOT}> and here?"));
    until("another", || !server.workspace().posted("C2RAN").is_empty()).await;
    let posted = server.workspace().posted("C1GEN");
    assert_eq!(posted[0]["thread_ts"], parent.as_str());
    assert!(server.workspace().posted("C2RAN")[0]["thread_ts"].is_null());
    life.stop().await;
    for channel in ["C1GEN", "C2RAN"] {
        assert_eq!(server.workspace().posted(channel).len(), 1, "{channel}");
    }
}

#[tokio::test]
async fn a_long_answer_through_cuts_and_limits_comes_whole_and_once() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-long"));
    server.workspace().fail("chat.postMessage", [Fault::Cut, Fault::Limited(0), Fault::Status(502), Fault::Cut]);
    let life = SlackBot::start(&server, &scratch, Some(Arc::new(Writer))).await;
    server.say("C1GEN", "U1MIA", &format!("<@{BOT}> tell me everything"));
    // The line goes as well, and comes back.
    until("it begins", || !server.workspace().posted("C1GEN").is_empty()).await;
    server.sockets.cut();
    let whole = |server: &SlackServer| {
        server.workspace().posted("C1GEN").last().is_some_and(|post| post["text"].to_string().contains("Point 29"))
    };
    until("it is complete", || whole(&server)).await;
    life.stop().await;
    let posted = server.workspace().posted("C1GEN");
    assert!(posted.len() > 1, "it takes several posts");
    let all: String = posted.iter().map(|post| post["text"].as_str().unwrap()).collect();
    for number in 0..30 {
        assert_eq!(all.matches(&format!("*Point {number}*")).count(), 1, "point {number}");
    }
}

#[tokio::test]
async fn what_is_pending_survives_a_restart_and_is_posted_once() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-restart"));
    // Out, and the program gone before it knows.
    server.workspace().fail("chat.postMessage", [Fault::Cut]);
    let life = SlackBot::start(&server, &scratch, None).await;
    server.say("C1GEN", "U1MIA", &format!("<@{BOT}> are you there?"));
    until("it is out", || !server.workspace().posted("C1GEN").is_empty()).await;
    life.stop().await;
    let life = SlackBot::start(&server, &scratch, None).await;
    server.say("C1GEN", "U1MIA", &format!("<@{BOT}> and now?"));
    until("the next answer", || server.workspace().posted("C1GEN").len() >= 2).await;
    life.stop().await;
    assert_eq!(server.workspace().posted("C1GEN").len(), 2);
}

/// The recorded changes of messages: the new text, or that it is gone.
async fn changes(scratch: &Scratch) -> Vec<(String, Option<String>)> {
    let database = database(scratch);
    let records = Records::all(&database).await.unwrap().collect().await.unwrap();
    let inputs = records.into_iter().map(|record| record.expect("nothing is damaged").input);
    let change = |input| match input {
        Input::Changed(change) => Some((change.id.to_string(), change.text.map(String::from))),
        _ => None,
    };
    inputs.filter_map(change).collect()
}

async fn is_in_journal(scratch: &Scratch, id: &str) -> bool {
    let id = id.to_owned();
    let found = "SELECT 1 FROM journal WHERE body LIKE '%' || ?1 || '%'";
    let read = move |connection: &rusqlite::Connection| connection.prepare(found)?.exists([&id]);
    database(scratch).read(read).await.unwrap()
}

/// No event reports what was edited or deleted while there was no connection.
#[tokio::test]
async fn what_was_changed_while_it_was_away_is_found_once() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-changed"));
    let life = SlackBot::start(&server, &scratch, None).await;
    let [stays, edited, deleted, known] =
        ["it stays, <@U2HAN>", "tomatos", "never mind", "my adress"].map(|text| server.say("C1GEN", "U1MIA", text));
    server.edit("C1GEN", &known, "my address");
    eventually("the edit is heard", async || (changes(&scratch).await.len() == 1).then_some(())).await;
    life.stop().await;
    // Edited with the same words, which is no change.
    for (ts, text) in [(&edited, "tomatoes for <@U3TOM>"), (&stays, "it stays, <@U2HAN>")] {
        let _ = server.workspace().edit("C1GEN", ts, text);
    }
    let _ = server.workspace().delete("C1GEN", &deleted);
    for _ in 0..2 {
        let asked = server.workspace().calls_of("conversations.history");
        let life = SlackBot::start(&server, &scratch, None).await;
        until("it looked", || server.workspace().calls_of("conversations.history") > asked).await;
        // What is said afterwards is reported afterwards.
        let after = server.say("C1GEN", "U1MIA", "anything new?");
        eventually("it is heard", async || is_in_journal(&scratch, &after).await.then_some(())).await;
        eventually("the changes are heard", async || (changes(&scratch).await.len() >= 3).then_some(())).await;
        life.stop().await;
    }
    let mut changes = changes(&scratch).await;
    changes.sort();
    let text = |text: &str| Some(text.to_owned());
    let mut expected = [(known, text("my address")), (edited, text("tomatoes for @Tom")), (deleted, None)];
    expected.sort();
    assert_eq!(changes, expected);
}

/// Below its own post somebody answers it; what follows in the thread is talk among all who are there.
#[tokio::test]
async fn the_first_answer_below_a_post_of_its_own_is_an_answer_to_it() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-below"));
    let life = SlackBot::start(&server, &scratch, None).await;
    server.say("C1GEN", "U1MIA", &format!("<@{BOT}> how cold can they get?"));
    until("an answer", || server.workspace().posted("C1GEN").len() == 1).await;
    let post = server.workspace().posted("C1GEN")[0]["ts"].as_str().unwrap().to_owned();
    server.say_in("C1GEN", Some(&post), "U2HAN", "colder than that");
    until("it answers there", || server.workspace().posted("C1GEN").len() == 2).await;
    assert_eq!(server.workspace().posted("C1GEN")[1]["thread_ts"], post.as_str());
    life.stop().await;
}
