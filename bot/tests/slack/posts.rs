//! What it posts: once, in Slack's own form, where it was asked; and what Slack has against it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use aizuchi::platforms::slack::{ConnectionPace, Slack};
use aizuchi::ports::{BoxFuture, Platform as _, PostError, PostKey, PostLedger, PostProgress, PostRequest};
use aizuchi::runtime::Clock;
use aizuchi::stores::StoreError;
use aizuchi_core::types::{MessageId, Time};
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::slack::{APP_TOKEN, BOT_TOKEN, Fault, SlackServer};
use tokio::sync::Semaphore;

use crate::office::{Office, PACE, database, room, settings, slack, thread, until};

#[tokio::test]
async fn a_key_is_posted_once_where_it_belongs() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-posts"));
    let office = Office::open(&server, &scratch).await;
    let parent = server.say("C1GEN", "U1MIA", "lunch?");
    let top = office.post("k#1/0", &room("C1GEN"), "**yes** & <!channel> [here](https://a.b)").await.unwrap();
    assert_eq!(office.post("k#1/0", &room("C1GEN"), "other words").await, Ok(top));
    office.post("k#2/0", &thread("C1GEN", &parent), "in there").await.unwrap();
    let posted = server.workspace().posted("C1GEN");
    assert_eq!(posted.len(), 2);
    assert_eq!(posted[0]["text"], "*yes* &amp; &lt;!channel&gt; <https://a.b|here>");
    assert_eq!((&posted[0]["thread_ts"], &posted[1]["thread_ts"]), (&serde_json::Value::Null, &parent.as_str().into()));
    let (_, form) = server.workspace().calls.iter().find(|(method, _)| method == "chat.postMessage").cloned().unwrap();
    assert_eq!((form["unfurl_links"].as_str(), form["link_names"].as_str()), ("false", "false"));
    assert_eq!(form["unfurl_media"].as_str(), "false", "no link is fetched");
    office.close().await;
}

/// The ledger of a process that is stopped as soon as a post is begun.
struct StoppedLedger {
    ledger: Arc<dyn PostLedger>,
    goes_on: Semaphore,
}

impl PostLedger for StoppedLedger {
    fn begin<'a>(&'a self, post: PostKey<'a>, now: Time) -> BoxFuture<'a, Result<PostProgress, StoreError>> {
        Box::pin(async move {
            let begun = self.ledger.begin(post, now).await;
            self.goes_on.acquire().await.expect("it is never closed").forget();
            begun
        })
    }

    fn begin_again<'a>(
        &'a self,
        post: PostKey<'a>,
        before: Time,
        now: Time,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        self.ledger.begin_again(post, before, now)
    }

    fn posted<'a>(&'a self, post: PostKey<'a>, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        self.ledger.posted(post, id)
    }

    fn withdraw<'a>(&'a self, post: PostKey<'a>) -> BoxFuture<'a, Result<(), StoreError>> {
        self.ledger.withdraw(post)
    }

    fn taken<'a>(&'a self, platform: &'a str, ids: &'a [String]) -> BoxFuture<'a, Result<HashSet<String>, StoreError>> {
        self.ledger.taken(platform, ids)
    }

    fn sweep<'a>(&'a self, platform: &'a str, before: Time) -> BoxFuture<'a, Result<(), StoreError>> {
        self.ledger.sweep(platform, before)
    }
}

/// It posted what another process had posted meanwhile.
#[tokio::test]
async fn a_process_that_was_stopped_before_it_posts_does_not_post_any_more() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-stopped"));
    let (own, policies) = settings(&server, &[]);
    let mut stores = database(&scratch).platform_stores();
    let ledger = Arc::new(StoppedLedger { ledger: stores.posts, goes_on: Semaphore::new(0) });
    stores.posts = ledger.clone();
    // Any time is too long.
    let pace = ConnectionPace { posts_within: Duration::ZERO, ..PACE };
    let tokens = (BOT_TOKEN.into(), APP_TOKEN.into());
    let settings = &policies.general().settings;
    let stopped = Slack::at_pace(own, settings, tokens.0, tokens.1, stores, Clock::Wall, pace).unwrap();
    let place = room("C1GEN");
    let posting = PostRequest { key: "k#1/0", place: &place, text: "yes", answering: None, more: false };
    let other = slack(&server, database(&scratch), &[]);
    let meanwhile = async {
        until("it is begun", || scratch_has_post(&scratch)).await;
        let posted = other.post(posting).await;
        ledger.goes_on.add_permits(1);
        posted
    };
    let (late, posted) = tokio::join!(stopped.post(posting), meanwhile);
    assert!(matches!(late, Err(PostError::TryLater { .. })), "{late:?}");
    assert_eq!(server.workspace().posted("C1GEN").len(), 1);
    // It finds out with its next attempt.
    ledger.goes_on.add_permits(1);
    assert_eq!(stopped.post(posting).await, posted);
    assert_eq!(server.workspace().posted("C1GEN").len(), 1);
}

fn scratch_has_post(scratch: &Scratch) -> bool {
    let store = rusqlite::Connection::open(scratch.0.join("aizuchi.db")).unwrap();
    store.query_row("SELECT count(*) FROM post", [], |row| row.get::<_, i64>(0)).is_ok_and(|count| count == 1)
}

#[tokio::test]
async fn a_post_can_be_taken_back() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-withdraw"));
    let office = Office::open(&server, &scratch).await;
    let post = office.post("k#1/0", &room("C1GEN"), "yes").await.unwrap();
    assert_eq!(server.workspace().posted("C1GEN").len(), 1);
    for _ in 0..2 {
        assert_eq!(office.slack.withdraw(&room("C1GEN"), &post).await, Ok(()), "once more changes nothing");
        assert!(server.workspace().posted("C1GEN").is_empty());
    }
    office.close().await;
}

#[tokio::test]
async fn a_cut_line_in_mid_answer_posts_nothing_twice() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-cut-post"));
    let parent = server.say("C1GEN", "U1MIA", "lunch?");
    let slack_now = slack(&server, database(&scratch), &[]);
    for (place, key) in [(room("C1GEN"), "k#1/0"), (thread("C1GEN", &parent), "k#2/0")] {
        server.workspace().fail("chat.postMessage", [Fault::Cut]);
        let posting = aizuchi::ports::PostRequest { key, place: &place, text: "yes", answering: None, more: false };
        assert!(matches!(slack_now.post(posting).await, Err(PostError::TryLater { .. })));
        let before = server.workspace().posted("C1GEN").last().unwrap()["ts"].as_str().unwrap().to_owned();
        // Another program finds it, as after a crash; and everybody knows from then on.
        let again = slack(&server, database(&scratch), &[]);
        assert_eq!(again.post(posting).await, Ok(MessageId::new(&before)));
        assert_eq!(slack_now.post(posting).await, Ok(MessageId::new(&before)));
        assert_eq!(looked(&server), 1, "looked for once");
        server.workspace().calls.retain(|(method, _)| method == "chat.postMessage");
    }
    assert_eq!(server.workspace().posted("C1GEN").len(), 2);
    assert_eq!(server.workspace().calls_of("chat.postMessage"), 2);
}

/// The version before kept the same in tables of Slack's own.
#[tokio::test]
async fn what_an_older_version_left_in_mid_air_is_heard_and_posted_once() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-older"));
    let place = room("C1GEN");
    let posting =
        aizuchi::ports::PostRequest { key: "k#1/0", place: &place, text: "yes", answering: None, more: false };
    server.workspace().fail("chat.postMessage", [Fault::Cut]);
    let lost = slack(&server, database(&Scratch::new("slack-lost")), &[]).post(posting).await;
    assert!(matches!(lost, Err(PostError::TryLater { .. })), "{lost:?}");
    let out = server.workspace().posted("C1GEN")[0]["ts"].as_str().unwrap().to_owned();
    let begun = (out.parse::<f64>().unwrap() * 1000.0) as i64;
    let older = rusqlite::Connection::open(scratch.0.join("aizuchi.db")).unwrap();
    for version in 1..=10 {
        let step = format!("{}/src/stores/sqlite/migrations/{version:04}.sql", env!("CARGO_MANIFEST_DIR"));
        older.execute_batch(&std::fs::read_to_string(step).unwrap()).unwrap();
    }
    older.pragma_update(None, "user_version", 10).unwrap();
    older.execute("INSERT INTO slack_post VALUES ('k#1/0', ?1, NULL)", [begun]).unwrap();
    let event =
        r#"{"event":{"type":"message","channel":"C1GEN","user":"U1MIA","ts":"1700000000.000100","text":"lunch?"}}"#;
    let insert = "INSERT INTO slack_event (key, at, body) VALUES ('C1GEN/1700000000.000100', ?1, ?2)";
    older.execute(insert, rusqlite::params![begun, event]).unwrap();
    drop(older);

    let office = Office::open(&server, &scratch).await;
    assert_eq!(&*office.hears("1700000000.000100").await.text, "lunch?");
    assert_eq!(office.slack.post(posting).await, Ok(MessageId::new(&out)));
    assert_eq!(server.workspace().calls_of("chat.postMessage"), 1);
    office.close().await;
}

/// Where nothing is kept of what a post carries along, it is known by its author, its words and its time.
#[tokio::test]
async fn a_post_without_its_mark_is_known_by_its_words() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-forgetful"));
    server.workspace().forgetful = true;
    let parent = server.say("C1GEN", "U1MIA", "lunch?");
    let slack_now = slack(&server, database(&scratch), &[]);
    let text = "**yes** 👍 & https://a.b/c [here](https://d.e) _too_\nat noon";
    for (number, place) in [room("C1GEN"), thread("C1GEN", &parent)].into_iter().enumerate() {
        let (first, second) = (format!("k#{number}/0"), format!("k#{number}/1"));
        let posting = aizuchi::ports::PostRequest { key: &first, place: &place, text, answering: None, more: false };
        // Somebody else says the same, and so does it: under another key, that is another post.
        server.say("C1GEN", "U3TOM", "*yes* :+1: &amp; <https://a.b/c> <https://d.e|here> _too_\nat noon");
        let other = slack_now.post(posting).await.unwrap();
        server.workspace().fail("chat.postMessage", [Fault::Cut]);
        let posting = aizuchi::ports::PostRequest { key: &second, ..posting };
        assert!(matches!(slack_now.post(posting).await, Err(PostError::TryLater { .. })));
        let out = server.workspace().posted("C1GEN").last().unwrap()["ts"].as_str().unwrap().to_owned();
        let again = slack(&server, database(&scratch), &[]);
        assert_eq!(again.post(posting).await, Ok(MessageId::new(&out)));
        assert_ne!(other.as_str(), out);
    }
    assert_eq!(server.workspace().calls_of("chat.postMessage"), 4);
    // Nothing of ours with these words is left: it never went out.
    let place = room("C1GEN");
    let posting = aizuchi::ports::PostRequest { key: "k#9/0", place: &place, text, answering: None, more: false };
    server.workspace().fail("chat.postMessage", [Fault::Status(503)]);
    assert!(matches!(slack_now.post(posting).await, Err(PostError::TryLater { .. })));
    slack_now.post(posting).await.unwrap();
    assert_eq!(server.workspace().posted("C1GEN").len(), 5);
}

fn looked(server: &SlackServer) -> usize {
    let workspace = server.workspace();
    workspace.calls_of("conversations.history") + workspace.calls_of("conversations.replies")
}

/// Begun and cut before it went out: it is looked for, not found, and posted.
#[tokio::test]
async fn what_never_went_out_is_posted_after_all() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-never-out"));
    let slack = slack(&server, database(&scratch), &[]);
    let place = room("C1GEN");
    let posting =
        aizuchi::ports::PostRequest { key: "k#1/0", place: &place, text: "yes", answering: None, more: false };
    server.workspace().fail("chat.postMessage", [Fault::Status(503)]);
    assert!(matches!(slack.post(posting).await, Err(PostError::TryLater { after: None, .. })));
    // Where it cannot be looked for, nothing is risked.
    server.workspace().fail("conversations.history", [Fault::Error("missing_scope")]);
    let Err(PostError::GiveUp { what }) = slack.post(posting).await else { panic!("it cannot know") };
    assert!(what.contains("whether it was posted before"), "{what}");
    slack.post(posting).await.unwrap();
    assert_eq!(server.workspace().posted("C1GEN").len(), 1);
}

#[tokio::test]
async fn patience_and_refusals_are_told_apart() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-refusals"));
    let slack = slack(&server, database(&scratch), &[]);
    let place = room("C1GEN");
    let posting =
        aizuchi::ports::PostRequest { key: "k#1/0", place: &place, text: "yes", answering: None, more: false };
    server.workspace().fail("chat.postMessage", [Fault::Limited(7)]);
    let Err(PostError::TryLater { after, .. }) = slack.post(posting).await else { panic!("patience") };
    assert_eq!(after, Some(Duration::from_secs(7)));
    let refused = async |with: &str| match slack.post(posting).await {
        Err(PostError::GiveUp { what }) => assert!(what.contains(with), "{what}"),
        other => panic!("{with}: {other:?}"),
    };
    let set = |field: &str, value: bool| server.workspace().channels.get_mut("C1GEN").unwrap()[field] = value.into();
    set("is_archived", true);
    refused("archived").await;
    set("is_archived", false);
    set("is_member", false);
    refused("/invite").await;
    set("is_member", true);
    server.workspace().scopes.remove("chat:write");
    refused("lacks the scope chat:write").await;
    server.workspace().scopes.insert("chat:write".into());
    server.workspace().revoked = Some("token_revoked");
    refused("install the app again").await;
    server.workspace().revoked = None;
    // Nothing of it went out, and nothing had to be looked for.
    assert_eq!(server.workspace().calls_of("conversations.history"), 0);
    slack.post(posting).await.unwrap();
    assert_eq!(server.workspace().posted("C1GEN").len(), 1);
    let elsewhere = room("C9NONE");
    let lost =
        aizuchi::ports::PostRequest { key: "k#2/0", place: &elsewhere, text: "yes", answering: None, more: false };
    assert!(matches!(slack.post(lost).await, Err(PostError::GiveUp { .. })));
}

#[tokio::test]
async fn reactions_have_names() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-reactions"));
    let slack = slack(&server, database(&scratch), &[]);
    let ts = server.say("C1GEN", "U1MIA", "lunch?");
    let (place, id) = (room("C1GEN"), MessageId::new(&ts));
    for emoji in ["👀", "😊", "👍", "🤔", "✨", "💡", "👀"] {
        assert_eq!(slack.react(&place, &id, emoji).await, Ok(()), "{emoji}");
    }
    assert_eq!(server.workspace().reactions.len(), 6);
    assert!(matches!(slack.react(&place, &id, "🦖").await, Err(PostError::GiveUp { .. })));
    let gone = MessageId::new("1700000000.000000");
    assert!(matches!(slack.react(&place, &gone, "👍").await, Err(PostError::GiveUp { .. })));
}
