//! Tells the engine what was stored: of each room in the order in which it was stored, and first where somebody turns to
//! the bot. A crash between the two is healed by the same loop at the next start: what is stored and not heard is told,
//! and the engine passes over what it knows.

use std::collections::BTreeSet;
use std::time::Duration;

use aizuchi_core::Input;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use rusqlite::{Connection, params};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;
use tracing::{error, warn};

use super::talk::last_seq;
use crate::runtime::{Ears, Gone, Lanes};
use crate::stores::Database;

/// Read at once.
const READ_MAX: usize = 256;
/// Read and not told yet.
const WAITING_MAX: usize = 1024;
/// Told and not durable yet, beside those who go first.
const UNDER_WAY_MAX: usize = 256;
const FIRST_MAX: usize = 32;
/// After the store failed.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Outbox {
    wake: Notify,
    /// Everything up to this change has been heard.
    heard: watch::Sender<u64>,
}

/// How far the telling is.
#[derive(Default)]
struct Progress {
    /// Read from the store up to this change, and whether there may be more.
    read: u64,
    more: bool,
    /// Everything up to this change was there when the store was read last.
    newest: u64,
    waiting: Lanes<(u64, Input)>,
    /// Changes that were read and not heard yet.
    unheard: BTreeSet<u64>,
}

impl Progress {
    /// Everything up to this change has been heard.
    fn heard(&self) -> u64 {
        match self.unheard.first() {
            Some(first) => first - 1,
            None if self.more => self.read,
            None => self.newest,
        }
    }
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
        let _ = stop.run_until_cancelled(self.tell_all(database, ears)).await;
    }

    async fn tell_all(&self, database: &Database, ears: &Ears) -> Result<(), Gone> {
        let mut progress = Progress { more: true, ..Progress::default() };
        let (mut under_way, mut noting) = (FuturesUnordered::new(), FuturesUnordered::new());
        let mut noted = 0;
        loop {
            while progress.more && progress.waiting.len() < WAITING_MAX {
                self.read_more(database, &mut progress).await;
            }
            let room = UNDER_WAY_MAX.saturating_sub(under_way.len());
            let room = if progress.waiting.is_urgent() { room.max(FIRST_MAX) } else { room };
            for (seq, input) in progress.waiting.take(room) {
                let promise = ears.queue(input).await?;
                under_way.push(async move { promise.durable().await.map(|()| seq) });
            }
            let heard = progress.heard();
            self.heard.send_if_modified(|before| heard > std::mem::replace(before, heard.max(*before)));
            if heard > noted && noting.is_empty() {
                noted = heard;
                noting.push(note(database, heard));
            }
            tokio::select! {
                biased;
                () = self.wake.notified() => progress.more = true,
                Some(told) = under_way.next() => drop(progress.unheard.remove(&told?)),
                Some(()) = noting.next() => (),
                () = std::future::ready(()), if progress.more && progress.waiting.len() < WAITING_MAX => (),
            }
            // Whatever else is durable by now.
            while let Some(Some(told)) = under_way.next().now_or_never() {
                progress.unheard.remove(&told?);
            }
        }
    }

    async fn read_more(&self, database: &Database, progress: &mut Progress) {
        let after = progress.read;
        let (newest, unheard) = match database.read(move |connection| unheard(connection, after)).await {
            Ok(found) => found,
            Err(failed) => {
                error!(%failed, "cannot read what was said in the web room");
                return tokio::time::sleep(AGAIN_AFTER).await;
            }
        };
        progress.more = unheard.len() == READ_MAX;
        progress.newest = newest;
        for (seq, body) in unheard {
            progress.read = seq;
            match serde_json::from_str::<Input>(&body) {
                Ok(input) => {
                    progress.unheard.insert(seq);
                    progress.waiting.push(input.room().cloned(), turns_to_it(&input), (seq, input));
                }
                Err(error) => warn!(seq, %error, "passed over what cannot be read"),
            }
        }
    }
}

/// What is marked as meant for the bot; the engine's own queue looks at names too.
fn turns_to_it(input: &Input) -> bool {
    let Input::Said(message) = input else { return false };
    message.mentions_me || message.reply.as_ref().is_some_and(|reply| reply.to_me)
}

/// Everything up to this change need not be told again.
async fn note(database: &Database, heard: u64) {
    let forget = "DELETE FROM web_unheard WHERE seq <= ?1";
    let forget =
        move |transaction: &rusqlite::Transaction<'_>| transaction.prepare_cached(forget)?.execute([heard as i64]);
    // Left behind, it is told again at the next start and passed over there.
    if let Err(failed) = database.write_behind(forget).await {
        warn!(%failed, "cannot note what was heard in the web room");
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
        .query_map(params![after as i64, READ_MAX as i64], |row| Ok((row.get::<_, i64>(0)? as u64, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    Ok((newest, found))
}
