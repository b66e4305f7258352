//! The connections of a platform, shared by all gateways: each connection is an advisory lock of its own.
//!
//! Every gateway has a session that also holds a lock in common, by which the living ones are counted. Each wants its part of the
//! connections, rounded up: with fewer it takes those that are free, with more it closes some and lets go of them. The server frees the
//! locks of a gateway that ends, and the others take them at their next look. Locks are two numbers: one of the platform, and one of
//! the connection, so that one query shows all of them.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_postgres::{Client, Error};
use tokio_util::sync::CancellationToken;
use xxhash_rust::xxh3::xxh3_64;

use super::cluster_session::{HOLDS_FOR, NOTICES_LOSS, session_name};
use super::target::PgTarget;
use crate::ports::{BoxFuture, OwnShards, ShardClaims, ShardShare, Tenure};

/// How often it looks who is there and what is free.
const LOOKS_EVERY: Duration = Duration::from_millis(500);
/// A server that does not answer for so long is as good as gone.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);
/// How long to wait before it connects again.
const CONNECTS_AGAIN: Duration = Duration::from_secs(1);
/// Between two connections of one bucket that begin a session.
const TURN_EVERY: Duration = Duration::from_secs(5);
/// Of the lock that all gateways hold together. No platform has so many connections.
pub(super) const PRESENCE: u32 = i32::MAX as u32;
/// What the names of these sessions begin with, for people who look at the server.
pub(super) const SHARDS_NAME: &str = "aizuchi shards";

/// The first number of the locks of connections.
pub(super) fn shards_class(platform: &str) -> i32 {
    class(platform, "shards")
}

fn class(platform: &str, of: &str) -> i32 {
    xxh3_64(format!("aizuchi {platform} {of}").as_bytes()) as u32 as i32
}

pub struct PgShardClaims(mpsc::UnboundedSender<ClaimRequest>);

enum ClaimRequest {
    Claim(u32, oneshot::Sender<ShardShare>),
    Release(u32),
    Leave,
    Turn(u32, oneshot::Sender<()>),
}

impl PgShardClaims {
    /// Connects once something is claimed.
    pub fn start(target: PgTarget, platform: &'static str, stop: CancellationToken) -> PgShardClaims {
        let (sender, requests) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            tokio::select! {
                () = keep_up(target, platform, requests) => (),
                () = stop.cancelled() => (),
            }
        });
        PgShardClaims(sender)
    }
}

impl ShardClaims for PgShardClaims {
    fn claim(&self, count: u32) -> BoxFuture<'_, ShardShare> {
        Box::pin(async move {
            let (tell, told) = oneshot::channel();
            let _ = self.0.send(ClaimRequest::Claim(count, tell));
            match told.await {
                Ok(share) => share,
                // It is stopping.
                Err(_) => std::future::pending().await,
            }
        })
    }

    fn release(&self, shard: u32) {
        let _ = self.0.send(ClaimRequest::Release(shard));
    }

    fn leave(&self) {
        let _ = self.0.send(ClaimRequest::Leave);
    }

    fn wait_for_turn(&self, bucket: u32) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            let (tell, told) = oneshot::channel();
            let _ = self.0.send(ClaimRequest::Turn(bucket, tell));
            if told.await.is_err() {
                std::future::pending().await
            }
        })
    }
}

/// Ends when nobody wants anything any more. The locks end with it.
async fn keep_up(target: PgTarget, platform: &'static str, mut requests: mpsc::UnboundedReceiver<ClaimRequest>) {
    let (ours, _) = watch::channel(OwnShards::default());
    while let Some(first) = requests.recv().await {
        let mut waiting = PendingClaims::default();
        // Who left before may come again.
        if waiting.add(first) && !waiting.claims.is_empty() {
            take_part(&target, platform, &mut requests, waiting, &ours).await;
            lose_all(&ours);
        }
    }
}

/// Another gateway may have them from now on.
fn lose_all(ours: &watch::Sender<OwnShards>) {
    ours.send_if_modified(|ours| {
        let OwnShards { shards, tenure } = std::mem::take(ours);
        tenure.inspect(Tenure::end);
        !shards.is_empty()
    });
}

/// Until this process leaves.
async fn take_part(
    target: &PgTarget,
    platform: &'static str,
    requests: &mut mpsc::UnboundedReceiver<ClaimRequest>,
    mut waiting: PendingClaims,
    ours: &watch::Sender<OwnShards>,
) {
    loop {
        match target.connect(&session_name(SHARDS_NAME)).await {
            Ok((client, driver)) => {
                let driving = tokio::spawn(driver);
                let session = ShardSession::new(&client, platform, ours);
                match session.run(requests, &mut waiting).await {
                    Ok(()) => return,
                    Err(error) => tracing::warn!(platform, %error, "cannot hold connections any more; retrying"),
                }
                driving.abort();
            }
            Err(error) => {
                let error = crate::stores::StoreError::from(error);
                tracing::warn!(%error, "cannot share connections with other gateways; retrying");
            }
        }
        lose_all(ours);
        tokio::time::sleep(CONNECTS_AGAIN).await;
    }
}

/// What was asked for and not given yet; it outlives a session.
#[derive(Default)]
struct PendingClaims {
    /// How many connections there are, as was agreed with the other gateways, or as the platform wants until then.
    count: u32,
    is_agreed: bool,
    claims: Vec<oneshot::Sender<ShardShare>>,
    turns: Vec<(u32, oneshot::Sender<()>)>,
    released: Vec<u32>,
}

impl PendingClaims {
    /// `false` if nothing is wanted any more.
    fn add(&mut self, request: ClaimRequest) -> bool {
        match request {
            ClaimRequest::Claim(count, tell) => {
                if !self.is_agreed {
                    self.count = count.max(1);
                }
                self.claims.push(tell);
            }
            ClaimRequest::Release(shard) => self.released.push(shard),
            ClaimRequest::Turn(bucket, tell) => self.turns.push((bucket, tell)),
            ClaimRequest::Leave => return false,
        }
        true
    }
}

struct ShardSession<'a> {
    client: &'a Client,
    platform: &'static str,
    /// The first number of the locks of connections, and of turns.
    class: i32,
    turn_class: i32,
    /// How many connections there are.
    count: u32,
    ours: &'a watch::Sender<OwnShards>,
    tenure: Tenure,
    /// Locked until their connections are closed.
    leaving: BTreeSet<u32>,
    /// Buckets whose turn this gateway has, and until when.
    turns: HashMap<u32, Instant>,
}

/// Who is there, and what is taken, by anybody.
struct Taken {
    gateways: u32,
    shards: BTreeSet<u32>,
}

impl<'a> ShardSession<'a> {
    fn new(client: &'a Client, platform: &'static str, ours: &'a watch::Sender<OwnShards>) -> ShardSession<'a> {
        let (class, turn_class) = (shards_class(platform), class(platform, "turns"));
        let (leaving, turns) = (BTreeSet::new(), HashMap::new());
        let tenure = Tenure::new(Instant::now() + HOLDS_FOR);
        ShardSession { client, platform, class, turn_class, count: 0, ours, tenure, leaving, turns }
    }

    /// Until nobody asks any more, or the session is lost.
    async fn run(
        mut self,
        requests: &mut mpsc::UnboundedReceiver<ClaimRequest>,
        waiting: &mut PendingClaims,
    ) -> Result<(), SessionLost> {
        let mut look = tokio::time::interval(LOOKS_EVERY);
        look.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        within(self.enter(waiting)).await?;
        self.tenure = Tenure::new(Instant::now() + HOLDS_FOR);
        loop {
            tokio::select! {
                request = requests.recv() => match request {
                    Some(request) => if !waiting.add(request) { return Ok(()) },
                    None => return Ok(()),
                },
                _ = look.tick() => {
                    let since = Instant::now();
                    within(self.balance()).await?;
                    if !self.tenure.extend(since + HOLDS_FOR) {
                        return Err(SessionLost::Late);
                    }
                }
            }
            within(self.serve(waiting)).await?;
        }
    }

    /// Agrees with the other gateways on the number of connections, and counts among them.
    async fn enter(&mut self, waiting: &mut PendingClaims) -> Result<(), SessionLost> {
        // A gateway whose machine is gone must not count for long, nor keep its connections.
        self.client.batch_execute(NOTICES_LOSS).await?;
        let presence = PRESENCE as i32;
        let enter = "SELECT pg_advisory_lock_shared($1, $2)";
        // Of several that start at once, one is alone with it; the others wait here until it has decided.
        if self.try_lock(self.class, PRESENCE).await? {
            let store = "INSERT INTO cluster_shards (platform, count) VALUES ($1, $2)
                ON CONFLICT (platform) DO UPDATE SET count = excluded.count";
            self.client.execute(store, &[&self.platform, &(waiting.count as i32)]).await?;
            self.client.execute(enter, &[&self.class, &presence]).await?;
            self.unlock(self.class, PRESENCE).await?;
        } else {
            // Before it counts among the others, who would make room for it.
            self.agree(waiting).await?;
            self.client.execute(enter, &[&self.class, &presence]).await?;
        }
        self.count = self.agree(waiting).await?;
        (waiting.count, waiting.is_agreed) = (self.count, true);
        Ok(())
    }

    /// The number of connections that all gateways use.
    async fn agree(&self, waiting: &PendingClaims) -> Result<u32, SessionLost> {
        let query = "SELECT count FROM cluster_shards WHERE platform = $1";
        let row = self.client.query_opt(query, &[&self.platform]).await?;
        let count = row.map_or(waiting.count, |row| row.get::<_, i32>(0).max(1) as u32);
        if waiting.is_agreed && count != waiting.count {
            return Err(SessionLost::Disagrees { count });
        }
        Ok(count)
    }

    async fn taken(&self) -> Result<Taken, Error> {
        let query =
            "SELECT objid FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = $1
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        let rows = self.client.query(query, &[&(self.class as u32)]).await?;
        let (present, shards): (Vec<u32>, Vec<u32>) =
            rows.iter().map(|row| row.get::<_, u32>(0)).partition(|object| *object == PRESENCE);
        Ok(Taken { gateways: present.len() as u32, shards: shards.into_iter().collect() })
    }

    /// Takes what is free, or lets go of what others should have.
    async fn balance(&mut self) -> Result<(), Error> {
        let Taken { gateways, shards } = self.taken().await?;
        let wish = self.count.div_ceil(gateways.max(1)) as usize;
        let mut held = self.ours.borrow().shards.clone();
        while held.len() > wish {
            let last = held.pop_last().expect("it has more than it wants");
            tracing::info!(platform = self.platform, shard = last, "another gateway may have this connection");
            self.leaving.insert(last);
        }
        for shard in (0..self.count).filter(|shard| !shards.contains(shard)) {
            if held.len() < wish && self.try_lock(self.class, shard).await? {
                tracing::info!(lock = format!("aizuchi {} {shard}", self.platform), "this process holds the lock");
                held.insert(shard);
            }
        }
        let tenure = Some(self.tenure.clone());
        self.ours.send_if_modified(|ours| {
            let is_new = ours.shards != held;
            if is_new {
                *ours = OwnShards { shards: held, tenure };
            }
            is_new
        });
        Ok(())
    }

    /// Gives what was asked for, as far as it can be given now.
    async fn serve(&mut self, waiting: &mut PendingClaims) -> Result<(), Error> {
        for tell in waiting.claims.drain(..) {
            let _ = tell.send(ShardShare { count: waiting.count, ours: self.ours.subscribe() });
        }
        for shard in waiting.released.drain(..) {
            if self.leaving.remove(&shard) {
                self.unlock(self.class, shard).await?;
            }
        }
        let now = Instant::now();
        let over: Vec<u32> = self.turns.iter().filter(|(_, until)| **until <= now).map(|(bucket, _)| *bucket).collect();
        for bucket in over {
            self.turns.remove(&bucket);
            self.unlock(self.turn_class, bucket).await?;
        }
        waiting.turns.retain(|(_, tell)| !tell.is_closed());
        let mut index = 0;
        while index < waiting.turns.len() {
            let bucket = waiting.turns[index].0;
            // A session that has a lock would get it again.
            if self.turns.contains_key(&bucket) || !self.try_lock(self.turn_class, bucket).await? {
                index += 1;
                continue;
            }
            self.turns.insert(bucket, now + TURN_EVERY);
            let _ = waiting.turns.remove(index).1.send(());
        }
        Ok(())
    }

    async fn try_lock(&self, class: i32, object: u32) -> Result<bool, Error> {
        let row = self.client.query_one("SELECT pg_try_advisory_lock($1, $2)", &[&class, &(object as i32)]).await?;
        Ok(row.get(0))
    }

    async fn unlock(&self, class: i32, object: u32) -> Result<(), Error> {
        self.client.execute("SELECT pg_advisory_unlock($1, $2)", &[&class, &(object as i32)]).await.map(drop)
    }
}

#[derive(Debug, thiserror::Error)]
enum SessionLost {
    #[error(transparent)]
    Failed(#[from] Error),
    #[error("the database does not answer")]
    Silent,
    #[error("this process was stopped, or too busy, for too long")]
    Late,
    /// It was away, and others began anew without it.
    #[error("the other gateways have agreed on {count} connections; restart this one")]
    Disagrees { count: u32 },
}

async fn within<T, E: Into<SessionLost>>(work: impl Future<Output = Result<T, E>>) -> Result<T, SessionLost> {
    match tokio::time::timeout(ANSWERS_WITHIN, work).await {
        Ok(done) => done.map_err(E::into),
        Err(_) => Err(SessionLost::Silent),
    }
}
