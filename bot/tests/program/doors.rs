//! Who comes in: too much at once, too slowly, and those who only ask how things are.

use std::time::Duration;

use aizuchi_test_servers::visitor::Visitor;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;

use crate::program::new_home;

#[tokio::test]
async fn ten_megabytes() {
    let home = new_home(&[]);
    let program = home.start().await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    let mut jonas = Visitor::enter(program.address, "lobby", "jonas").await;
    let why = mia.refused(json!({"do": "say", "key": "1", "text": "x".repeat(9000)})).await;
    assert_eq!(why, "That message is too long: at most 8000 characters.");
    let huge = json!({"do": "say", "key": "2", "text": "x".repeat(10_000_000)}).to_string();
    // The line may break while it is still being sent.
    let _ = mia.send_raw(Message::text(huge)).await;
    mia.end().await;
    jonas.say("1", "@aizuchi was that thunder?").await;
    while jonas.next("said").await["message"]["voice"] != "Me" {}
    let mut back = Visitor::enter(program.address, "lobby", "mia").await;
    back.say("3", "sorry").await;
}

#[tokio::test]
async fn connections_that_never_get_to_the_point() {
    let home = new_home(&[]);
    let program = home.start().await;
    let mut slow = Vec::new();
    // More than there is room for: the program has 256 pages and 256 others.
    for _ in 0..600 {
        let mut stream = TcpStream::connect(program.address).await.unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").await.unwrap();
        slow.push(stream);
    }
    let visit = async {
        let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
        mia.say("1", "@aizuchi is it you?").await;
        while mia.next("said").await["message"]["voice"] != "Me" {}
    };
    timeout(Duration::from_secs(60), visit).await.expect("they do not keep others out for long");
    drop(slow);
}

/// What supervisors and log readers live on.
#[tokio::test]
async fn how_things_are() {
    let home = new_home(&[]);
    let program = home.start().await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    mia.say("1", "@aizuchi good morning").await;
    while mia.next("said").await["message"]["voice"] != "Me" {}
    mia.next("decided").await;
    assert!(program.get("/live").await.ends_with("alive\n"));
    assert!(program.get("/ready").await.ends_with("ready\n"));
    let metrics = program.get("/metrics").await;
    for (name, least) in [
        ("aizuchi_inputs_total", 3.0),
        ("aizuchi_decisions_total{outcome=\"replies\"}", 1.0),
        ("aizuchi_posts_total{outcome=\"posted\"}", 1.0),
        ("aizuchi_web_messages_total", 1.0),
        ("aizuchi_web_pages", 1.0),
        ("aizuchi_rooms{shard=\"0\"}", 1.0),
        ("aizuchi_journal_seconds_count", 3.0),
        ("aizuchi_store_seconds_count{store=\"sqlite\",kind=\"write\"}", 1.0),
    ] {
        let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.trim().parse::<f64>().ok());
        assert!(line.is_some_and(|value| value >= least), "{name}: {line:?}\n{metrics}");
    }
    let said = program.said();
    let logs: Vec<Value> = said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let open = logs.iter().find(|line| line["message"] == "web room listening").expect("it tells when it opens");
    assert_eq!((&open["level"], &open["address"]), (&json!("INFO"), &json!(program.address.to_string())));
    assert!(open["timestamp"].is_string() && !said.contains("good morning"), "{said}");
}
