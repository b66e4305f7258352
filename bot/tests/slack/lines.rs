//! Lines that break, are replaced or fall silent, and envelopes that come more than once.

use std::time::Duration;

use aizuchi::platforms::slack::ConnectionPace;
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::logs::Logs;
use aizuchi_test_servers::slack::{Fault, SlackServer};
use serde_json::json;

use crate::office::{Engine, Office, PACE, pause_in, until};

#[tokio::test]
async fn several_lines_and_every_envelope_acknowledged() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-lines"));
    let office = Office::open_with(&server, &scratch, Engine::Listens, &["slack.connections=4"]).await;
    until("four lines", || server.sockets.open() == 4).await;
    for number in 0..200 {
        server.say("C1GEN", "U1MIA", &format!("message {number}"));
    }
    until("all are heard", || office.said().len() == 200).await;
    until("all are acknowledged", || server.sockets.acknowledged() == 200).await;
    assert_eq!((server.sockets.redelivered(), server.sockets.lost(), server.sockets.unasked()), (0, 0, 0));
    office.close().await;
    until("lines are left", || server.sockets.open() == 0).await;
}

#[tokio::test]
async fn a_redelivery_counts_once_and_is_acknowledged() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-redelivery"));
    let office = Office::open(&server, &scratch).await;
    let event = json!({"type": "message", "channel": "C1GEN", "user": "U1MIA", "text": "x", "ts": "1700000000.000100"});
    let reaction = json!({"type": "reaction_added", "user": "U1MIA", "reaction": "eyes", "event_ts": "1700000001.000000",
                          "item": {"type": "message", "channel": "C1GEN", "ts": "1700000000.000100"}});
    for (envelope, id, event) in [
        ("a", "Ev1", &event),
        ("a", "Ev1", &event),
        ("b", "Ev1", &event),
        ("c", "Ev9", &event),
        ("d", "Ev2", &reaction),
        ("e", "Ev2", &reaction),
    ] {
        let payload = json!({"type": "event_callback", "event_id": id, "event": event});
        let frame = json!({"type": "events_api", "envelope_id": envelope, "payload": payload, "retry_attempt": 1});
        server.sockets.send_raw(&frame.to_string());
    }
    until("each is acknowledged", || server.sockets.unasked() == 6).await;
    office.hears(&server.say("C1GEN", "U1MIA", "last")).await;
    assert_eq!(office.inputs().len(), 3, "{:?}", office.inputs());
    office.close().await;
    // Nor does the next start count it again.
    let again = Office::open(&server, &scratch).await;
    let payload = json!({"type": "event_callback", "event_id": "Ev1", "event": event});
    server.sockets.send_raw(&json!({"type": "events_api", "envelope_id": "z", "payload": payload}).to_string());
    again.hears(&server.say("C1GEN", "U1MIA", "after")).await;
    assert_eq!(again.inputs().len(), 1);
    again.close().await;
}

#[tokio::test]
async fn a_line_is_replaced_before_it_is_closed() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-warning"));
    let office = Office::open(&server, &scratch).await;
    // Old enough to be a good line.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let old = server.sockets.warn("warning");
    until("new lines beside the old", || server.sockets.open() == 4).await;
    let meanwhile: Vec<String> = (0..8).map(|number| server.say("C1GEN", "U1MIA", &number.to_string())).collect();
    for ts in &meanwhile {
        office.hears(ts).await;
    }
    old.close();
    until("the old are gone", || server.sockets.open() == 2).await;
    office.hears(&server.say("C1GEN", "U1MIA", "after")).await;
    assert_eq!((server.sockets.opened(), server.sockets.redelivered(), server.sockets.lost()), (4, 0, 0));
    office.close().await;
}

/// However long the pauses had become before: what was lost after a good life is opened again at once.
#[tokio::test]
async fn a_line_that_lived_is_opened_again_after_the_shortest_pause() {
    let (server, scratch, logs) = (SlackServer::start().await, Scratch::new("slack-good-line"), Logs::collect());
    server.workspace().fail("apps.connections.open", std::iter::repeat_n(Fault::Status(503), 7));
    let office = Office::try_open(&server, &scratch, Engine::Listens, &["slack.connections=1"]).await.unwrap();
    until("a line is open", || server.sockets.open() == 1).await;
    let before: Vec<Duration> = logs.with("pause=").iter().map(|line| pause_in(line)).collect();
    assert!(before.len() == 7 && before[6] > before[0], "the pauses grow: {before:?}");
    assert!(before.iter().all(|pause| *pause <= PACE.pause_max), "and not beyond what is set: {before:?}");
    tokio::time::sleep(PACE.good_after * 2).await;
    server.sockets.cut();
    until("it is open again", || server.sockets.opened() == 2).await;
    let lost = pause_in(&logs.with("pause=")[7]);
    assert!(lost <= PACE.pause_min * 2, "deaf for {lost:?}");
    office.close().await;
}

#[tokio::test]
async fn a_silent_line_is_noticed_and_what_it_swallowed_comes_again() {
    let server = SlackServer::start_in_a_hurry(Duration::from_secs(5)).await;
    let (scratch, pace) =
        (Scratch::new("slack-silence"), ConnectionPace { silent_max: Duration::from_secs(2), ..PACE });
    let office = Office::open_at_pace(&server, &scratch, Engine::Listens, &["slack.connections=2"], pace).await;
    server.sockets.hush();
    let ts = server.say("C1GEN", "U1MIA", "anybody?");
    office.hears(&ts).await;
    assert!(server.sockets.opened() >= 3 && server.sockets.lost() == 0);
    office.close().await;
}

#[tokio::test]
async fn too_many_lines_is_not_the_end() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-crowded"));
    let other_scratch = Scratch::new("slack-crowded-other");
    let other = Office::open_with(&server, &other_scratch, Engine::Listens, &["slack.connections=10"]).await;
    until("all lines are taken", || server.sockets.open() == 10).await;
    let late = Office::try_open(&server, &scratch, Engine::Listens, &[]).await.unwrap();
    until("it was turned away", || server.sockets.opened() >= 12).await;
    assert!(!late.done.is_finished());
    late.close().await;
    other.close().await;
}

#[tokio::test]
async fn ten_megabytes_are_acknowledged_and_let_go() {
    let (server, scratch) = (SlackServer::start().await, Scratch::new("slack-huge"));
    let office = Office::open(&server, &scratch).await;
    let text = "x".repeat(10_000_000);
    server.happens(
        json!({"type": "message", "channel": "C1GEN", "user": "U1MIA", "text": text, "ts": "1700000000.000100"}),
    );
    until("it is acknowledged", || server.sockets.acknowledged() == 1).await;
    office.hears(&server.say("C1GEN", "U1MIA", "fine")).await;
    assert_eq!((office.said().len(), server.sockets.opened()), (1, 2));
    office.close().await;
}
