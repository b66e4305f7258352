//! The session by which a process of a cluster hears what others do, and holds what only one of them may have.
//!
//! A lock is held as long as the session lives: the server frees it when the process or its machine ends, and another one takes it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use aizuchi_core::types::{MessageId, RoomId};
use serde::{Deserialize, Serialize};
use tokio::sync::{broadcast, mpsc, watch};
use tokio::time::Instant;
use tokio_postgres::Client;
use tokio_util::sync::CancellationToken;
use xxhash_rust::xxh3::xxh3_64;

use super::cluster_outbox::gateways_class;
use super::target::{NotificationReceiver, PgTarget};
use crate::ports::{GatewayNumber, PageNotice, PageNotices, Tenure};

/// How often it tries for a lock, and whether the session lives.
const TRIES_EVERY: Duration = Duration::from_secs(1);
/// A server that does not answer for so long is as good as gone.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);
/// Has the server notice within some seconds that this process or its machine is gone, so that others can have its locks. By itself it
/// would wait for hours. The machine of a process that hangs answers for it, so the server (from version 14 on) also ends a session that
/// sends no query: a healthy process sends one every second at least.
pub(super) const NOTICES_LOSS: &str =
    "SET tcp_keepalives_idle = 4; SET tcp_keepalives_interval = 2; SET tcp_keepalives_count = 3;
    SET tcp_user_timeout = 10000;
    SELECT set_config('idle_session_timeout', '4s', false) WHERE current_setting('server_version_num')::int >= 140000";
/// How long a session certainly lives after a query was sent: less than the server waits for the next one.
pub(super) const HOLDS_FOR: Duration = Duration::from_secs(3);
/// What a watcher may be behind with.
const NOTICES_MAX: usize = 4096;
/// Notices for pages that wait to leave; more are dropped.
const PAGE_NOTICES_MAX: usize = 256;
/// Of notices for pages.
const PAGES: &str = "aizuchi_page";
/// A notification holds less than 8,000 bytes.
const NOTICE_BYTES_MAX: usize = 7_000;

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

    pub fn written(mut self) -> Option<String> {
        let written = |notice: &RoomNotice| serde_json::to_string(notice).ok();
        let whole = written(&self)?;
        if whole.len() <= NOTICE_BYTES_MAX {
            return Some(whole);
        }
        self.decided.clear();
        written(&self).filter(|short| short.len() <= NOTICE_BYTES_MAX)
    }
}

/// What another process told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessNotice {
    Room(RoomNotice),
    Page(PageNotice),
    /// The session was lost: notices from before it may have been missed.
    Missed,
}

/// As it is sent.
#[derive(Serialize, Deserialize)]
struct SentPageNotice {
    /// The session that tells it.
    from: u64,
    notice: PageNotice,
}

pub struct ClusterSession {
    number: GatewayNumber,
    notices: broadcast::Sender<ProcessNotice>,
    locks: HashMap<String, ProcessLock>,
    page_notices: PageNoticeSender,
}

/// Tells other processes through the session.
#[derive(Clone)]
pub struct PageNoticeSender(mpsc::Sender<PageNotice>);

impl PageNotices for PageNoticeSender {
    fn tell(&self, notice: PageNotice) {
        // A page that misses it sees it later, or would not see it any more.
        let _ = self.0.try_send(notice);
    }
}

/// Something that only one process may have.
#[derive(Clone)]
pub struct ProcessLock {
    held: watch::Receiver<Option<Tenure>>,
    /// Whether this process wants it.
    wanted: Arc<AtomicBool>,
}

impl ProcessLock {
    /// The same lock, which this process wants again if it did not want it any more.
    pub fn wanted(&self) -> ProcessLock {
        self.wanted.store(true, Ordering::Relaxed);
        self.clone()
    }

    /// Returns when this process has it.
    pub async fn until_held(&mut self) {
        if self.held.wait_for(Option::is_some).await.is_err() {
            std::future::pending().await
        }
    }

    /// This process does not want it any more: another one may have it.
    fn give_up(&self) {
        self.wanted.store(false, Ordering::Relaxed);
    }
}

impl ClusterSession {
    /// Connects in the background, and again whenever the connection is lost. `locks` are the names of what it wants to hold.
    pub fn start(target: PgTarget, locks: &[&str], stop: CancellationToken) -> ClusterSession {
        let (notices, _) = broadcast::channel(NOTICES_MAX);
        let (mut held, mut watched) = (Vec::new(), HashMap::new());
        for name in locks {
            let ((sender, receiver), wanted) = (watch::channel(None), Arc::new(AtomicBool::new(true)));
            held.push(WantedLock { name: format!("aizuchi {name}"), held: sender, wanted: wanted.clone() });
            watched.insert((*name).to_owned(), ProcessLock { held: receiver, wanted });
        }
        let (page_notices, to_tell) = mpsc::channel(PAGE_NOTICES_MAX);
        let number = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), std::process::id());
        let gateway = GatewayNumber((number >> 33) as i32);
        let session = SessionParts { number, gateway, locks: held, notices: notices.clone() };
        tokio::spawn(session.keep_up(target, to_tell, stop));
        ClusterSession { number: gateway, notices, locks: watched, page_notices: PageNoticeSender(page_notices) }
    }

    /// What this process stores for rooms has this number, by which others know whether it lives.
    pub fn gateway_number(&self) -> GatewayNumber {
        self.number
    }

    pub fn notices(&self) -> broadcast::Receiver<ProcessNotice> {
        self.notices.subscribe()
    }

    pub fn page_notices(&self) -> PageNoticeSender {
        self.page_notices.clone()
    }

    /// `None` if it does not want this one.
    pub fn lock(&self, name: &str) -> Option<ProcessLock> {
        self.locks.get(name).cloned()
    }
}

/// Runs something while a lock is held, and again whenever it is held anew. What is run ends when its token is cancelled; what it hears may
/// be handed on within its tenure. If it ends by itself, such as a platform that does not let this process in, it is over, and another
/// process may have the lock.
pub async fn while_held<F: Future<Output = ()>>(
    mut lock: ProcessLock,
    stop: CancellationToken,
    work: impl Fn(CancellationToken, Tenure) -> F,
) {
    loop {
        let held = tokio::select! {
            () = stop.cancelled() => return,
            held = lock.held.wait_for(Option::is_some) => held.ok().and_then(|tenure| tenure.clone()),
        };
        let Some(tenure) = held else { return };
        let until = stop.child_token();
        let losing = async {
            tenure.ended().await;
            until.cancel();
            std::future::pending::<()>().await;
        };
        tokio::select! {
            () = work(until.clone(), tenure.clone()) => (),
            () = losing => unreachable!("it waits for the work to end"),
        }
        // The lock may be held again by the time the work has ended.
        if tenure.holds() && !until.is_cancelled() {
            return lock.give_up();
        }
        if stop.is_cancelled() {
            return;
        }
        // Until the session knows that it is lost.
        let _ = lock.held.wait_for(|held| held.as_ref().is_none_or(Tenure::holds)).await;
    }
}

/// The prefix of the names of these sessions, for people who look at the server.
pub const SESSION_NAME: &str = "aizuchi session";

/// Machine and process id are in it.
pub(super) fn session_name(begins: &str) -> String {
    let machine = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    format!("{begins} {} {}", machine.trim(), std::process::id())
}

/// As the server knows a lock.
pub fn lock_number(name: &str) -> i64 {
    xxh3_64(name.as_bytes()).cast_signed()
}

struct WantedLock {
    name: String,
    held: watch::Sender<Option<Tenure>>,
    wanted: Arc<AtomicBool>,
}

/// What outlives a connection.
struct SessionParts {
    /// No other session has it.
    number: u64,
    gateway: GatewayNumber,
    locks: Vec<WantedLock>,
    notices: broadcast::Sender<ProcessNotice>,
}

impl SessionParts {
    async fn keep_up(self, target: PgTarget, mut to_tell: mpsc::Receiver<PageNotice>, stop: CancellationToken) {
        loop {
            match target.connect_listening(&session_name(SESSION_NAME)).await {
                Ok((client, driver, told)) => {
                    let driving = tokio::spawn(driver);
                    tokio::select! {
                        () = self.attend(&client, told, &mut to_tell) => (),
                        () = stop.cancelled() => (),
                    }
                    driving.abort();
                }
                Err(error) => {
                    let error = crate::stores::StoreError::from(error);
                    tracing::warn!(%error, "cannot listen for notices of other processes; retrying");
                }
            }
            for lock in &self.locks {
                lock.lose();
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(TRIES_EVERY) => (),
            }
        }
    }

    /// As long as the connection lives.
    async fn attend(&self, client: &Client, mut told: NotificationReceiver, to_tell: &mut mpsc::Receiver<PageNotice>) {
        let lives = format!("SELECT pg_advisory_lock_shared({}, {})", gateways_class(), self.gateway.0);
        let listen = format!("{NOTICES_LOSS}; {lives}; LISTEN {}; LISTEN {PAGES}", RoomNotice::CHANNEL);
        if client.batch_execute(&listen).await.is_err() {
            return;
        }
        let _ = self.notices.send(ProcessNotice::Missed);
        let mut tries = tokio::time::interval(TRIES_EVERY);
        loop {
            let done = tokio::select! {
                notification = told.recv() => match notification {
                    Some(notification) => {
                        self.read(notification.channel(), notification.payload());
                        continue;
                    }
                    None => return,
                },
                Some(notice) = to_tell.recv() => {
                    tokio::time::timeout(ANSWERS_WITHIN, self.tell(client, notice)).await
                }
                _ = tries.tick() => tokio::time::timeout(ANSWERS_WITHIN, try_locks(client, &self.locks)).await,
            };
            if !matches!(done, Ok(Ok(()))) {
                return;
            }
        }
    }

    /// Hands on what another process told, as far as it can be read.
    fn read(&self, channel: &str, payload: &str) {
        let notice = if channel == PAGES {
            let sent = serde_json::from_str::<SentPageNotice>(payload).ok().filter(|sent| sent.from != self.number);
            sent.map(|sent| ProcessNotice::Page(sent.notice))
        } else {
            serde_json::from_str(payload).ok().map(ProcessNotice::Room)
        };
        if let Some(notice) = notice {
            let _ = self.notices.send(notice);
        }
    }

    async fn tell(&self, client: &Client, notice: PageNotice) -> Result<(), tokio_postgres::Error> {
        let sent = serde_json::to_string(&SentPageNotice { from: self.number, notice }).expect("it is plain data");
        if sent.len() > NOTICE_BYTES_MAX {
            return Ok(());
        }
        client.execute("SELECT pg_notify($1, $2)", &[&PAGES, &sent]).await.map(drop)
    }
}

impl WantedLock {
    /// Another process may have it from now on.
    fn lose(&self) {
        self.held.send_if_modified(|held| held.take().inspect(Tenure::end).is_some());
    }
}

async fn try_locks(client: &Client, locks: &[WantedLock]) -> Result<(), tokio_postgres::Error> {
    let until = Instant::now() + HOLDS_FOR;
    client.simple_query("SELECT 1").await?;
    for lock in locks {
        let WantedLock { name, held, wanted } = lock;
        let tenure = held.borrow().clone();
        let is_late = tenure.as_ref().is_some_and(|tenure| !tenure.extend(until));
        if is_late || (tenure.is_some() && !wanted.load(Ordering::Relaxed)) {
            lock.lose();
            client.execute("SELECT pg_advisory_unlock($1)", &[&lock_number(name)]).await?;
            tracing::info!(lock = name, "this process released the lock");
        } else if tenure.is_none() && wanted.load(Ordering::Relaxed) {
            let row = client.query_one("SELECT pg_try_advisory_lock($1)", &[&lock_number(name)]).await?;
            if row.get::<_, bool>(0) {
                tracing::info!(lock = name, "this process holds the lock");
                held.send_replace(Some(Tenure::new(until)));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// How often it was begun, each time ending only after a while, and whether the lock was given up.
    async fn begun_after(lost: Duration, ends_by_itself: bool) -> (usize, bool) {
        let ((held, holds), wanted) = (watch::channel(None), Arc::new(AtomicBool::new(true)));
        let new = || Some(Tenure::new(Instant::now() + Duration::from_secs(3600)));
        held.send_replace(new());
        let lock = ProcessLock { held: holds, wanted: wanted.clone() };
        let (stop, begun) = (CancellationToken::new(), AtomicUsize::new(0));
        let work = async |until: CancellationToken, _| {
            begun.fetch_add(1, Ordering::Relaxed);
            if !ends_by_itself {
                until.cancelled().await;
                tokio::time::sleep(Duration::from_secs(2)).await;
            }
        };
        let losing = async {
            tokio::time::sleep(Duration::from_secs(10)).await;
            held.send_replace(None).inspect(Tenure::end);
            tokio::time::sleep(lost).await;
            held.send_replace(new());
            tokio::time::sleep(Duration::from_secs(60)).await;
        };
        tokio::select! {
            () = while_held(lock, stop, work) => (),
            () = losing => (),
        }
        (begun.load(Ordering::Relaxed), !wanted.load(Ordering::Relaxed))
    }

    /// The database was away for a second, and what was run took two to end: it was never begun again.
    #[tokio::test(start_paused = true)]
    async fn what_is_held_again_before_the_work_has_ended_is_begun_again() {
        assert_eq!(begun_after(Duration::from_secs(1), false).await, (2, false));
        assert_eq!(begun_after(Duration::from_secs(5), false).await, (2, false));
    }

    /// A gateway with a token of before kept the platform to itself, and nobody was heard there.
    #[tokio::test(start_paused = true)]
    async fn what_ends_by_itself_is_left_to_another_process() {
        assert_eq!(begun_after(Duration::from_secs(1), true).await, (1, true));
    }
}
