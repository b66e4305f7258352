//! Tells the engine what was stored, in the order in which it was stored. A crash between the two is healed by the
//! same loop at the next start: what is stored and not heard is told, and the engine passes over what it knows.

use std::time::Duration;

use aizuchi_core::Input;
use futures_util::future::join_all;
use rusqlite::{Connection, params};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};

use super::talk::last_seq;
use crate::runtime::{Ears, Gone};
use crate::stores::Database;

/// Told at the same time: each is durable before it counts as heard, and they share the disk's time.
const TOGETHER_MAX: usize = 32;
/// After the store failed.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Outbox {
    wake: Notify,
    /// Everything up to this change has been heard.
    heard: watch::Sender<u64>,
}

impl Outbox {
    pub fn new() -> Outbox {
        Outbox { wake: Notify::new(), heard: watch::Sender::new(0) }
    }

    /// Something was stored.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Returns when the engine has heard of this change.
    pub async fn until_heard(&self, seq: u64) {
        let mut heard = self.heard.subscribe();
        heard.wait_for(|heard| *heard >= seq).await.expect("the sender lives as long as we do");
    }

    /// Tells until the program stops.
    pub async fn tell(&self, database: &Database, ears: &Ears, stop: &CancellationToken) {
        let mut told = 0;
        loop {
            tokio::select! {
                more = self.tell_some(database, ears, &mut told) => match more {
                    Ok(true) => continue,
                    Ok(false) => (),
                    Err(Gone) => return,
                },
                () = stop.cancelled() => return,
            }
            tokio::select! {
                () = self.wake.notified() => (),
                () = stop.cancelled() => return,
            }
        }
    }

    /// Whether there may be more.
    async fn tell_some(&self, database: &Database, ears: &Ears, told: &mut u64) -> Result<bool, Gone> {
        let after = *told;
        let (newest, unheard) = match database.read(move |connection| unheard(connection, after)).await {
            Ok(found) => found,
            Err(failed) => {
                error!(%failed, "can not read what was said in the web room");
                tokio::time::sleep(AGAIN_AFTER).await;
                return Ok(true);
            }
        };
        let last = unheard.last().map(|(seq, _)| *seq);
        let full = unheard.len() == TOGETHER_MAX;
        let inputs = unheard.into_iter().filter_map(|(seq, body)| {
            let input = serde_json::from_str::<Input>(&body);
            input.inspect_err(|error| warn!(seq, %error, "passed over what can not be read")).ok()
        });
        let all: Result<Vec<()>, Gone> = join_all(inputs.map(|input| ears.hear(input))).await.into_iter().collect();
        all?;
        *told = last.unwrap_or(after);
        self.heard.send_replace(if full { *told } else { newest });
        let Some(last) = last else { return Ok(false) };
        let forget = "DELETE FROM web_unheard WHERE seq <= ?1";
        // Left behind, it is told again at the next start and passed over there.
        if let Err(failed) = database.write(move |transaction| transaction.execute(forget, [last as i64])).await {
            warn!(%failed, "can not note what was heard in the web room");
        }
        Ok(full)
    }
}

/// The number of the latest change, and what was not heard up to there.
fn unheard(connection: &Connection, after: u64) -> rusqlite::Result<(u64, Vec<(u64, String)>)> {
    // Both of the same instant.
    let snapshot = connection.unchecked_transaction()?;
    let newest = last_seq(&snapshot)?;
    let query = "SELECT seq, body FROM web_unheard WHERE seq > ?1 ORDER BY seq LIMIT ?2";
    let found = snapshot
        .prepare_cached(query)?
        .query_map(params![after as i64, TOGETHER_MAX as i64], |row| Ok((row.get::<_, i64>(0)? as u64, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    Ok((newest, found))
}
