//! The session by which a process of a cluster hears what others do, and holds what only one of them may have.
//!
//! A lock is held as long as the session lives: the server frees it when the process or its machine ends, and another one takes it.

use std::collections::HashMap;
use std::time::Duration;

use aizuchi_core::types::{MessageId, RoomId};
use serde::{Deserialize, Serialize};
use tokio::sync::{broadcast, watch};
use tokio_postgres::Client;
use tokio_util::sync::CancellationToken;
use xxhash_rust::xxh3::xxh3_64;

use super::target::{NotificationReceiver, PgTarget};

/// How often it tries for a lock, and whether the session lives.
const TRIES_EVERY: Duration = Duration::from_secs(1);
/// A server that does not answer for so long is as good as gone.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);
/// Has the server notice within some seconds that this process or its machine is gone, so that others can have its locks. By itself it
/// would wait for hours. The machine of a process that hangs answers for it, so the server (from version 14 on) also ends a session that
/// asks for nothing: whoever is well asks every second at least.
pub(super) const NOTICES_LOSS: &str =
    "SET tcp_keepalives_idle = 4; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3;
    SET tcp_user_timeout = 10000;
    SELECT set_config('idle_session_timeout', '4s', false) WHERE current_setting('server_version_num')::int >= 140000";
/// What a watcher may be behind with.
const NOTICES_MAX: usize = 4096;

/// Something happened in a room.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoomNotice {
    pub room: RoomId,
    /// Messages about which something was decided.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decided: Vec<MessageId>,
}

impl RoomNotice {
    pub const CHANNEL: &str = "aizuchi_room";
    /// A notification holds less than 8,000 bytes.
    const BYTES_MAX: usize = 7_000;

    pub fn written(mut self) -> Option<String> {
        let written = |notice: &RoomNotice| serde_json::to_string(notice).ok();
        let whole = written(&self)?;
        if whole.len() <= RoomNotice::BYTES_MAX {
            return Some(whole);
        }
        self.decided.clear();
        written(&self).filter(|short| short.len() <= RoomNotice::BYTES_MAX)
    }
}

pub struct ClusterSession {
    notices: broadcast::Sender<RoomNotice>,
    locks: HashMap<String, watch::Receiver<bool>>,
}

impl ClusterSession {
    /// Connects in the background, and again whenever the connection is lost. `locks` are the names of what it wants to hold.
    pub fn start(target: PgTarget, locks: &[&str], stop: CancellationToken) -> ClusterSession {
        let (notices, _) = broadcast::channel(NOTICES_MAX);
        let (mut held, mut watched) = (Vec::new(), HashMap::new());
        for name in locks {
            let (sender, receiver) = watch::channel(false);
            held.push((format!("aizuchi {name}"), sender));
            watched.insert((*name).to_owned(), receiver);
        }
        tokio::spawn(keep_up(target, held, notices.clone(), stop));
        ClusterSession { notices, locks: watched }
    }

    pub fn notices(&self) -> broadcast::Receiver<RoomNotice> {
        self.notices.subscribe()
    }

    /// Whether it holds this one now; `None` if it does not want to.
    pub fn lock(&self, name: &str) -> Option<watch::Receiver<bool>> {
        self.locks.get(name).cloned()
    }
}

/// Runs something while a lock is held, and again whenever it is held anew. What is run ends when its token is cancelled.
pub async fn while_held<F: Future<Output = ()>>(
    mut held: watch::Receiver<bool>,
    stop: CancellationToken,
    work: impl Fn(CancellationToken) -> F,
) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            holds = held.wait_for(|holds| *holds) => if holds.is_err() { return },
        }
        let until = stop.child_token();
        let mut lost = held.clone();
        let losing = async {
            let _ = lost.wait_for(|holds| !holds).await;
            until.cancel();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = work(until.clone()) => (),
            () = losing => unreachable!("it waits for the work to end"),
        }
        // The lock may be held again by the time the work has ended.
        if until.is_cancelled() {
            continue;
        }
        // What ended by itself, such as a platform that does not let it in, is not tried again and again.
        tokio::select! {
            () = stop.cancelled() => return,
            holds = held.wait_for(|holds| !holds) => if holds.is_err() { return },
        }
    }
}

/// What the names of sessions begin with, for whoever looks at the server.
pub const SESSION_NAME: &str = "aizuchi session";

/// Machine and process id are in it.
fn session_name() -> String {
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{SESSION_NAME} {} {}", machine.trim(), std::process::id())
}

/// As the server knows a lock.
pub fn lock_number(name: &str) -> i64 {
    xxh3_64(name.as_bytes()).cast_signed()
}

type HeldLocks = Vec<(String, watch::Sender<bool>)>;

async fn keep_up(target: PgTarget, locks: HeldLocks, notices: broadcast::Sender<RoomNotice>, stop: CancellationToken) {
    loop {
        match target.connect_listening(&session_name()).await {
            Ok((client, driver, told)) => {
                let driving = tokio::spawn(driver);
                tokio::select! {
                    () = attend(&client, told, &locks, &notices) => (),
                    () = stop.cancelled() => (),
                }
                driving.abort();
            }
            Err(error) => {
                let error = crate::stores::StoreError::from(error);
                tracing::warn!(%error, "cannot hear what other processes do; retrying");
            }
        }
        for (_, held) in &locks {
            held.send_if_modified(std::mem::take);
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(TRIES_EVERY) => (),
        }
    }
}

/// As long as the session lives.
async fn attend(
    client: &Client,
    mut told: NotificationReceiver,
    locks: &HeldLocks,
    notices: &broadcast::Sender<RoomNotice>,
) {
    if client.batch_execute(&format!("{NOTICES_LOSS}; LISTEN {}", RoomNotice::CHANNEL)).await.is_err() {
        return;
    }
    let mut tries = tokio::time::interval(TRIES_EVERY);
    loop {
        tokio::select! {
            notification = told.recv() => match notification {
                Some(notification) => {
                    if let Ok(notice) = serde_json::from_str(notification.payload()) {
                        let _ = notices.send(notice);
                    }
                }
                None => return,
            },
            _ = tries.tick() => {
                let trying = try_locks(client, locks);
                if !matches!(tokio::time::timeout(ANSWERS_WITHIN, trying).await, Ok(Ok(()))) {
                    return;
                }
            }
        }
    }
}

async fn try_locks(client: &Client, locks: &HeldLocks) -> Result<(), tokio_postgres::Error> {
    client.simple_query("SELECT 1").await?;
    for (name, held) in locks.iter().filter(|(_, held)| !*held.borrow()) {
        let row = client.query_one("SELECT pg_try_advisory_lock($1)", &[&lock_number(name)]).await?;
        if row.get::<_, bool>(0) {
            tracing::info!(lock = name, "this process holds the lock");
            held.send_replace(true);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// How often it was begun, each time ending only after a while.
    async fn begun_after(lost: Duration, ends_by_itself: bool) -> usize {
        let (held, holds) = watch::channel(true);
        let (stop, begun) = (CancellationToken::new(), AtomicUsize::new(0));
        let work = async |until: CancellationToken| {
            begun.fetch_add(1, Ordering::Relaxed);
            if !ends_by_itself {
                until.cancelled().await;
                tokio::time::sleep(Duration::from_secs(2)).await;
            }
        };
        let losing = async {
            tokio::time::sleep(Duration::from_secs(10)).await;
            held.send_replace(false);
            tokio::time::sleep(lost).await;
            held.send_replace(true);
            tokio::time::sleep(Duration::from_secs(60)).await;
        };
        tokio::select! {
            () = while_held(holds, stop, work) => (),
            () = losing => (),
        }
        begun.load(Ordering::Relaxed)
    }

    /// The database was away for a second, and what was run took two to end: it was never begun again.
    #[tokio::test(start_paused = true)]
    async fn what_is_held_again_before_the_work_has_ended_is_begun_again() {
        assert_eq!(begun_after(Duration::from_secs(1), false).await, 2);
        assert_eq!(begun_after(Duration::from_secs(5), false).await, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn what_ends_by_itself_is_begun_again_when_the_lock_was_lost() {
        assert_eq!(begun_after(Duration::from_secs(1), true).await, 2);
    }
}
