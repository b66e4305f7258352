//! Foreign clients on the server, and clients that cheat.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use aizuchi_test_servers::discord::{CHANNEL, DiscordServer, TOKEN, person};
use aizuchi_test_servers::program::PATIENCE;
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

fn python() -> PathBuf {
    let python = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/servers/discord/bin/python");
    let advice = "is not there: `./dev servers` prepares it, and `./dev test` does so by itself";
    assert!(python.exists(), "{} {advice}", python.display());
    python
}

/// A mistake of ours could hide on both sides: discord.py is written by others.
#[tokio::test]
async fn a_bot_made_with_discord_py_logs_in_hears_and_posts() {
    let server = DiscordServer::start().await;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/discord/client.py");
    let mut program = tokio::process::Command::new(python())
        .args([script.as_os_str(), server.port.to_string().as_ref(), TOKEN.as_ref()])
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(program.stdout.take().unwrap()).lines();
    let mut told = Vec::new();
    let all = async {
        while let Some(line) = lines.next_line().await.unwrap() {
            if line.starts_with("ready") {
                server.say(CHANNEL, &person(11, "mia"), "is anybody there?");
            }
            told.push(line);
        }
    };
    tokio::time::timeout(PATIENCE, all).await.expect("it comes to an end");
    let question = server.world.with(|world| world.messages[&CHANNEL][0]["id"].as_str().unwrap().to_owned());
    told.sort();
    let expected = [
        format!("echo hello mia {question}"),
        "heard mia general is anybody there?".to_owned(),
        "history 2 hello mia".to_owned(),
        "ready aizuchi garden".to_owned(),
        "refused 400 50035".to_owned(),
    ];
    assert_eq!(told, expected);
}

type GatewaySocket = WebSocketStream<MaybeTlsStream<TcpStream>>;

async fn line(server: &DiscordServer) -> GatewaySocket {
    let url = format!("ws://127.0.0.1:{}/?v=10&encoding=json", server.port);
    let (mut line, _) = connect_async(url).await.unwrap();
    assert_eq!(next(&mut line).await.unwrap()["op"], 10);
    line
}

async fn send(line: &mut GatewaySocket, payload: Value) {
    line.send(Message::text(payload.to_string())).await.unwrap();
}

/// The next payload, or the code the server hangs up with.
async fn next(line: &mut GatewaySocket) -> Result<Value, u16> {
    loop {
        let said = tokio::time::timeout(PATIENCE, line.next()).await.expect("it says something");
        match said.unwrap().unwrap() {
            Message::Text(text) => return Ok(serde_json::from_str(&text).unwrap()),
            Message::Close(frame) => return Err(frame.unwrap().code.into()),
            _ => continue,
        }
    }
}

async fn hung_up_with(line: &mut GatewaySocket) -> u16 {
    loop {
        if let Err(code) = next(line).await {
            return code;
        }
    }
}

fn identify(token: &str, intents: u64) -> Value {
    json!({"op": 2, "d": {"token": token, "intents": intents, "properties": {"os": "linux"}}})
}

#[tokio::test]
async fn who_cheats_is_hung_up_on() {
    let server = DiscordServer::start().await;
    let cheats = [
        (vec![identify("wrong", 1)], 4004),
        (vec![identify(TOKEN, 1 << 8)], 4014),
        (vec![identify(TOKEN, 1 << 40)], 4013),
        (vec![identify(TOKEN, 1), identify(TOKEN, 1)], 4005),
        (vec![json!({"op": 3, "d": {}})], 4003),
        (vec![json!({"op": 99})], 4001),
        (vec![json!({"op": 2, "d": {"token": TOKEN, "intents": 1, "properties": {}, "shard": [3, 2]}})], 4010),
        (vec![json!({"op": 2, "d": {"token": TOKEN, "intents": 1, "properties": {"x": "y".repeat(5000)}}})], 4002),
    ];
    for (payloads, code) in cheats {
        let mut line = line(&server).await;
        for payload in payloads {
            send(&mut line, payload).await;
        }
        assert_eq!(hung_up_with(&mut line).await, code);
    }
}

#[tokio::test]
async fn who_has_no_heartbeat_is_hung_up_on_and_who_lies_about_the_past_too() {
    let server = DiscordServer::start().await;
    server.world.with(|world| world.heartbeat_ms = 200);
    let mut silent = line(&server).await;
    send(&mut silent, identify(TOKEN, 1)).await;
    let ready = next(&mut silent).await.unwrap();
    assert_eq!(hung_up_with(&mut silent).await, 4009);
    let resume = |seq: u64| json!({"op": 6, "d": {"token": TOKEN, "session_id": ready["d"]["session_id"], "seq": seq}});
    let mut liar = line(&server).await;
    send(&mut liar, resume(1000)).await;
    assert_eq!(hung_up_with(&mut liar).await, 4007);
    // Who tells the truth hears what was missed.
    let mut back = line(&server).await;
    send(&mut back, resume(1)).await;
    assert_eq!(next(&mut back).await.unwrap()["t"], "GUILD_CREATE");
    assert_eq!(next(&mut back).await.unwrap()["t"], "RESUMED");
    send(&mut back, json!({"op": 1, "d": 3})).await;
    assert_eq!(next(&mut back).await.unwrap()["op"], 11);
    server.world.with(|world| world.sessions.clear());
    let mut late = line(&server).await;
    send(&mut late, resume(1)).await;
    assert_eq!(next(&mut late).await.unwrap(), json!({"op": 9, "s": null, "t": null, "d": false}));
}
