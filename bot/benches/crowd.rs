//! What a crowd costs: the real program with many pages of the web room in many rooms, from a mention to the model's
//! request. Figures stand beside others of the same run: a durable write alone, and a message to nobody.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use aizuchi_test_servers::pages::{Load, mention_in};
use aizuchi_test_servers::postgres::{PostgresOptions, PostgresServer};
use aizuchi_test_servers::program::Home;
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use rusqlite::Connection;
use serde_json::json;
use tokio::net::TcpListener;

const LOAD: Load = Load {
    rooms: 100,
    pages: 250,
    messages_per_second: 1_200,
    mentions_per_second: 4,
    length: Duration::from_secs(30),
};
/// Until everything has been asked once.
const WARM_UP: Duration = Duration::from_secs(5);
const WRITES: u32 = 200;

fn main() {
    // `cargo bench` hands over its own flags; a number is the length in seconds.
    let seconds = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let load = Load { length: seconds.map_or(LOAD.length, Duration::from_secs), ..LOAD };
    tokio::runtime::Runtime::new().expect("a runtime").block_on(mention_to_request(load));
}

/// When each mention reached the model, by its number.
type Asked = Arc<Mutex<HashMap<u64, Instant>>>;

async fn mention_to_request(load: Load) {
    let asked = Asked::default();
    let port = serve(asked.clone()).await;
    let mut home =
        Home::new(env!("CARGO_BIN_EXE_aizuchi"), &["models.main=openai/some-model", "models.judge=openai/some-model"]);
    home.set(format!("providers.openai.url=http://127.0.0.1:{port}/v1/"));
    home.set_variable("OPENAI_API_KEY", "sk-bench");
    home.set(load.rooms_setting());
    home.set(format!("web.connections_max={}", load.pages + 1));
    // All of them come from this machine.
    home.set("web.address_connections_max=0");
    // `-- postgres`: everything in a database on the same disk.
    let server = match std::env::args().any(|argument| argument == "postgres") {
        true => Some(PostgresServer::start(PostgresOptions { durable: true, ..PostgresOptions::default() }).await),
        false => None,
    };
    if let Some(server) = &server {
        home.set(format!("store.url={}", server.url(&server.empty_database().await)));
    }
    let program = home.start().await;
    let write = median(durable_writes(home.folder()));
    let begun = Instant::now();
    let noted = load.run(program.address).await;
    let asked = std::mem::take(&mut *asked.lock().expect("nobody panics while holding it"));
    let warm = begun + WARM_UP;
    let between = |from: &HashMap<u64, Instant>, to: &HashMap<u64, Instant>| {
        let of_one = |(number, sent): (&u64, &Instant)| (*sent > warm).then(|| Some(*to.get(number)? - *sent))?;
        let mut spans: Vec<Duration> = from.iter().filter_map(of_one).collect();
        spans.sort();
        spans
    };
    let Load { rooms, pages, messages_per_second, .. } = load;
    println!(
        "{messages_per_second} messages/s in {rooms} rooms from {pages} pages; one durable write alone {:.2} ms",
        ms(write)
    );
    for (what, spans) in [
        ("mention to request", between(&noted.mentioned, &asked)),
        ("message to decision", between(&noted.sent, &noted.decided)),
        ("message to acknowledgement", between(&noted.sent, &noted.taken)),
    ] {
        let at =
            |share: f64| spans.get(((spans.len().max(1) - 1) as f64 * share) as usize).copied().unwrap_or_default();
        println!(
            "{what}: p50 {:.2} ms, p99 {:.2} ms over {}; p50 {:.1}, p99 {:.1} of a write",
            ms(at(0.5)),
            ms(at(0.99)),
            spans.len(),
            at(0.5).as_secs_f64() / write.as_secs_f64(),
            at(0.99).as_secs_f64() / write.as_secs_f64(),
        );
    }
}

/// A model that has the same few words for everybody.
async fn serve(asked: Asked) -> u16 {
    let answer = |text: &str| {
        json!({
            "id": "x", "object": "chat.completion", "model": "m",
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 3, "total_tokens": 13}
        })
        .to_string()
    };
    let words = answer("Not much, to be honest.");
    let handle = async move |body: String| {
        let now = Instant::now();
        if let Some(number) = mention_in(&body) {
            asked.lock().expect("nobody panics while holding it").entry(number).or_insert(now);
        }
        ([(CONTENT_TYPE, "application/json")], words.clone()).into_response()
    };
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
    let port = listener.local_addr().expect("it is bound").port();
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(handle)).await });
    port
}

/// What the disk takes for one small row, made durable as the program does it.
fn durable_writes(folder: &Path) -> Vec<Duration> {
    let connection = Connection::open(folder.join("alone.db")).expect("a file");
    connection.pragma_update(None, "journal_mode", "WAL").expect("a log beside it");
    connection.pragma_update(None, "synchronous", "FULL").expect("durable");
    connection.execute_batch("CREATE TABLE row (body TEXT)").expect("a table");
    let write = |_| {
        let begun = Instant::now();
        connection.execute("INSERT INTO row VALUES ('and then the rain came')", []).expect("it is written");
        begun.elapsed()
    };
    (0..WRITES).map(write).collect()
}

fn median(mut spans: Vec<Duration>) -> Duration {
    spans.sort();
    spans[spans.len() / 2]
}

fn ms(span: Duration) -> f64 {
    span.as_secs_f64() * 1e3
}
