//! The server, tried by Slack's own client for Python: a mistake of ours cannot hide on both sides.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use aizuchi_test_servers::program::PATIENCE;
use aizuchi_test_servers::slack::{APP_TOKEN, BOT_TOKEN, SlackServer};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::Command;
use tokio::time::timeout;

use crate::office::until;

fn python() -> PathBuf {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/servers/slack");
    let folder = std::env::var_os("AIZUCHI_PLATFORMS").map_or_else(usual, PathBuf::from);
    let python = folder.join("bin/python");
    assert!(
        python.exists(),
        "{} is not there: `./dev servers` prepares it, and `./dev test` does so by itself",
        python.display()
    );
    python
}

#[tokio::test]
async fn slack_bolt_logs_in_hears_and_posts() {
    let server = SlackServer::start().await;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/slack/client.py");
    let mut program = Command::new(python())
        .arg(script)
        .args([&format!("{}/", server.api_url()), BOT_TOKEN, APP_TOKEN])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("python can be started");
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    let mut next = async || timeout(PATIENCE, lines.next_line()).await.expect("it says something").unwrap();
    assert_eq!(next().await.as_deref(), Some("connected"));
    until("its line is open", || server.sockets.open() == 1).await;
    let ts = server.say("C1GEN", "U2HAN", "こんにちは & so on");
    assert_eq!(next().await, Some(format!("heard {ts} こんにちは & so on")));
    assert_eq!(next().await.as_deref(), Some("posted"));
    let posted = server.workspace().posted("C1GEN");
    assert_eq!(posted.len(), 1);
    assert_eq!((&posted[0]["text"], &posted[0]["thread_ts"]), (&"heard by bolt".into(), &ts.as_str().into()));
    assert_eq!(posted[0]["metadata"]["event_payload"]["key"], "k");
    assert_eq!(next().await.as_deref(), Some("found k in the history"));
    assert_eq!(next().await.as_deref(), Some("people: 4 in pages of 3"));
    server.order("C1GEN", "U1MIA", "why");
    assert_eq!(next().await.as_deref(), Some("order why"));
    until("its answer", || server.workspace().answers.len() == 1).await;
    assert_eq!(next().await.as_deref(), Some("refused: invalid_auth"));
    assert_eq!((server.sockets.lost(), server.sockets.redelivered(), server.sockets.unasked()), (0, 0, 0));
}
