//! What must hold beyond what the ledger knows: order, timers, silence.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use aizuchi_core::Input;
use aizuchi_core::types::Voice;
use aizuchi_test_servers::postgres::PostgresServer;
use rusqlite::Connection;
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::crowd::News;

/// Clocks are read in milliseconds, and commits in microseconds.
const EARLY_MS: f64 = 2.0;

/// Every room heard people in the order in which the history has them. Returns how many messages were compared.
pub fn check_order(store: &Connection) -> usize {
    let (mut heard, mut known): (BTreeMap<String, Vec<String>>, _) = (BTreeMap::new(), HashSet::new());
    for body in texts(store, "SELECT body FROM journal ORDER BY seq") {
        if let Ok(Input::Said(message)) = serde_json::from_str::<Input>(&body) {
            // Told again after a crash, it changes nothing.
            if message.author.voice == Voice::Person && known.insert(message.id.clone()) {
                heard.entry(message.place.room.to_string()).or_default().push(message.id.to_string());
            }
        }
    }
    let mut count = 0;
    for (room, heard) in heard {
        let Some(name) = room.strip_prefix("web:") else { continue };
        let query = format!(
            "SELECT id FROM web_message WHERE room = '{name}' AND body ->> 'voice' = 'Person' ORDER BY first_seq"
        );
        let said = texts(store, &query);
        let differs = said.iter().zip(&heard).position(|(said, heard)| said != heard);
        assert!(
            differs.is_none() && said.len() == heard.len(),
            "{room}: {} said, {} heard, the first in another order is the {differs:?}-th: {:?} and {:?}",
            said.len(),
            heard.len(),
            differs.map(|index| &said[index..said.len().min(index + 5)]),
            differs.map(|index| &heard[index..heard.len().min(index + 5)]),
        );
        count += said.len();
    }
    count
}

fn texts(store: &Connection, query: &str) -> Vec<String> {
    let mut statement = store.prepare(query).expect("a copy is a store");
    let rows = statement.query_map([], |row| row.get(0)).expect("a copy can be read");
    rows.map(|text| text.expect("a copy can be read")).collect()
}

/// Deadlines that were handled, and the latest of them.
pub struct Timers {
    pub count: u64,
    pub latest: Duration,
}

/// No deadline was handled before it was due.
pub async fn check_timers(server: &PostgresServer, database: &str) -> Timers {
    let late = "1000 * extract(epoch from pg_xact_commit_timestamp(xmin)) - at";
    let query = format!(
        "select count(*), coalesce(min({late}), 0), coalesce(max({late}), 0) from journal where body = '\"Tick\"'"
    );
    let row = server.psql(database, &query).await;
    let numbers: Vec<f64> = row.split('|').map(|number| number.parse().expect("a number")).collect();
    assert!(numbers[1] > -EARLY_MS, "a timer rang {} ms early", -numbers[1]);
    Timers { count: numbers[0] as u64, latest: Duration::from_secs_f64(numbers[2].max(0.0) / 1e3) }
}

/// Listens to what people notice and hands it on.
pub struct SilenceWatch {
    task: tokio::task::JoinHandle<Duration>,
}

impl SilenceWatch {
    /// The channel gives what `news` gave.
    pub fn start(mut news: mpsc::UnboundedReceiver<News>) -> (SilenceWatch, mpsc::UnboundedReceiver<News>) {
        let (on, handed_on) = mpsc::unbounded_channel();
        let task = tokio::spawn(async move {
            let (mut longest, mut last) = (Duration::ZERO, Instant::now());
            while let Some(one) = news.recv().await {
                if matches!(one, News::FirstPart | News::LaterPart) {
                    longest = longest.max(last.elapsed());
                    last = Instant::now();
                }
                let _ = on.send(one);
            }
            longest
        });
        (SilenceWatch { task }, handed_on)
    }

    /// The longest time in which nobody in the web room was answered.
    pub async fn longest(self) -> Duration {
        self.task.await.expect("it only listens")
    }
}
