//! The server itself, tried by clients that cheat.

use std::time::Duration;

use aizuchi_test_servers::slack::{APP_TOKEN, BOT_TOKEN, SlackServer};
use futures_util::StreamExt as _;
use serde_json::Value;
use tokio_tungstenite::tungstenite::Message;

use crate::office::until;

async fn call(server: &SlackServer, method: &str, token: Option<&str>, body: &str) -> Value {
    let client = aizuchi::tls::client_builder().build().unwrap();
    let request = client.post(format!("{}/{method}", server.api_url())).body(body.to_owned());
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    let request = if let Some(token) = token { request.bearer_auth(token) } else { request };
    serde_json::from_str(&request.send().await.unwrap().text().await.unwrap()).unwrap()
}

#[tokio::test]
async fn anyone_who_does_not_acknowledge_gets_it_again() {
    let server = SlackServer::start_in_a_hurry(Duration::from_millis(300)).await;
    let url = call(&server, "apps.connections.open", Some(APP_TOKEN), "").await["url"].as_str().unwrap().to_owned();
    let (mut socket, _) = tokio_tungstenite::connect_async(&url).await.unwrap();
    let mut next = async || match socket.next().await.unwrap().unwrap() {
        Message::Text(text) => serde_json::from_str::<Value>(&text).unwrap(),
        other => panic!("{other:?}"),
    };
    assert_eq!(next().await["type"], "hello");
    let ts = server.say("C1GEN", "U1MIA", "hi");
    let mut envelopes = Vec::new();
    for attempt in 0..4 {
        let frame = next().await;
        assert_eq!((&frame["retry_attempt"], &frame["payload"]["event"]["ts"]), (&attempt.into(), &ts.as_str().into()));
        envelopes.push(frame["envelope_id"].clone());
    }
    assert!(envelopes.iter().all(|envelope| *envelope == envelopes[0]));
    until("it is given up", || server.sockets.lost() == 1).await;
    // The ticket was good once.
    assert!(tokio_tungstenite::connect_async(&url).await.is_err());
}

#[tokio::test]
async fn anyone_who_calls_wrongly_is_told_so_in_slacks_words() {
    let server = SlackServer::start().await;
    let error = async |method: &str, token: Option<&str>, body: &str| {
        call(&server, method, token, body).await["error"].as_str().unwrap_or("none").to_owned()
    };
    assert_eq!(error("auth.test", None, "").await, "not_authed");
    assert_eq!(error("auth.test", Some("xoxb-wrong"), "").await, "invalid_auth");
    assert_eq!(error("auth.test", Some(APP_TOKEN), "").await, "not_allowed_token_type");
    assert_eq!(error("apps.connections.open", Some(BOT_TOKEN), "").await, "not_allowed_token_type");
    assert_eq!(error("chat.dance", Some(BOT_TOKEN), "").await, "unknown_method");
    assert_eq!(error("chat.postMessage", Some(BOT_TOKEN), "channel=C1GEN").await, "no_text");
    assert_eq!(error("chat.postMessage", Some(BOT_TOKEN), "channel=C9&text=x").await, "channel_not_found");
    assert_eq!(
        error("chat.postMessage", Some(BOT_TOKEN), "channel=C1GEN&text=x&metadata=%7B%7D").await,
        "invalid_metadata_schema"
    );
    let long = format!("channel=C1GEN&text={}", "x".repeat(40_001));
    assert_eq!(error("chat.postMessage", Some(BOT_TOKEN), &long).await, "msg_too_long");
    assert_eq!(error("conversations.history", Some(BOT_TOKEN), "channel=C1GEN&limit=9999").await, "invalid_limit");
    server.workspace().scopes.remove("reactions:write");
    assert_eq!(error("reactions.add", Some(BOT_TOKEN), "channel=C1GEN&timestamp=1&name=eyes").await, "missing_scope");
    server.workspace().revoked = Some("account_inactive");
    assert_eq!(error("auth.test", Some(BOT_TOKEN), "").await, "account_inactive");
}
