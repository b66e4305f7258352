//! What happens while it is away, or goes away: nothing is lost, nothing old is answered.

use aizuchi::ports::InboxEntry;
use aizuchi::runtime::Clock;
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::slack::SlackServer;
use serde_json::json;

use crate::office::{Engine, Office, database, thread, until};

/// Acknowledged, stored, and the program gone before the engine heard it.
#[tokio::test]
async fn what_was_acknowledged_and_not_heard_is_told_at_the_next_start() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-unheard"));
    let deaf = Office::open_with(&server, &scratch, Engine::Deaf, &[]).await;
    let said: Vec<String> = (0..40).map(|number| server.say("C1GEN", "U1MIA", &number.to_string())).collect();
    until("all are acknowledged", || server.sockets.acknowledged() == 40).await;
    deaf.close().await;
    let office = Office::open_with(&server, &scratch, Engine::Listens, &["slack.backfill_messages=0"]).await;
    for ts in &said {
        assert!(!office.hears(ts).await.backfilled);
    }
    assert_eq!(office.said().len(), 40);
    office.close().await;
}

/// The same, of another process on the same store: nobody tells this one.
#[tokio::test]
async fn what_another_process_acknowledged_and_did_not_pass_on_is_heard() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-others"));
    let office = Office::open(&server, &scratch).await;
    let ts = server.say_unheard("C1GEN", None, "U1MIA", "and me?");
    let event = json!({"type": "message", "channel": "C1GEN", "user": "U1MIA", "text": "and me?", "ts": ts});
    let body = Some(json!({"event": event}).to_string());
    let entry = InboxEntry { key: format!("C1GEN/{ts}"), body, ..InboxEntry::default() };
    let stores = database(&scratch).platform_stores();
    stores.inbox.keep("slack", vec![entry], Clock::Wall.now()).await.unwrap();
    office.hears(&ts).await;
    office.close().await;
}

#[tokio::test]
async fn a_gap_is_filled_once_with_its_threads() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-gap"));
    let office = Office::open(&server, &scratch).await;
    let parent = server.say("C1GEN", "U1MIA", "lunch?");
    office.hears(&parent).await;
    office.close().await;
    let missed = server.say_unheard("C1GEN", None, "U2HAN", "where?");
    let answer = server.say_unheard("C1GEN", Some(&parent), "U3TOM", "yes");
    let office = Office::open(&server, &scratch).await;
    assert_eq!(office.hears(&answer).await.place, thread("C1GEN", &parent));
    // Said a moment ago: it may still be answered.
    assert!(!office.hears(&missed).await.backfilled);
    assert_eq!(office.said().iter().map(|message| message.id.as_str()).collect::<Vec<_>>(), [&missed, &answer]);
    // A short cut is a gap as well.
    server.sockets.cut();
    let during = server.say_unheard("C1GEN", None, "U2HAN", "still there?");
    office.hears(&during).await;
    let after = server.say("C1GEN", "U2HAN", "hello again");
    office.hears(&after).await;
    assert_eq!(office.said().len(), 4);
    office.close().await;
}

#[tokio::test]
async fn an_old_gap_is_heard_and_not_answered() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-old-gap"));
    let office = Office::open(&server, &scratch).await;
    let say = |ts: &str, text: &str| {
        let message = serde_json::json!({"type": "message", "user": "U1MIA", "ts": ts, "text": text});
        server.workspace().messages.entry("C2RAN".into()).or_default().push(message.clone());
        message
    };
    let mut first = say("1700000000.000000", "first");
    first["channel"] = "C2RAN".into();
    server.happens(first);
    office.hears("1700000000.000000").await;
    office.close().await;
    for number in 1..=80 {
        say(&format!("17000000{number:02}.000000"), "missed");
    }
    let office = Office::open_with(&server, &scratch, Engine::Listens, &["slack.backfill_messages=30"]).await;
    office.hears("1700000080.000000").await;
    let said = office.said();
    assert_eq!((said.len(), said[0].id.as_str()), (30, "1700000051.000000"));
    assert!(said.iter().all(|message| message.backfilled));
    office.close().await;
}

#[tokio::test]
async fn a_slack_that_is_away_at_the_start_is_waited_for() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-away"));
    server.workspace().fail(
        "auth.test",
        [aizuchi_test_servers::slack::Fault::Status(503), aizuchi_test_servers::slack::Fault::Limited(0)],
    );
    server.workspace().fail(
        "apps.connections.open",
        [aizuchi_test_servers::slack::Fault::Limited(0), aizuchi_test_servers::slack::Fault::Status(500)],
    );
    let office = Office::open(&server, &scratch).await;
    office.hears(&server.say("C1GEN", "U1MIA", "hi")).await;
    office.close().await;
}
