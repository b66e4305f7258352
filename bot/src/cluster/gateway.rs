//! What platforms tell, on its way to the rooms: one line for each room, so that it arrives in order, and as many at once as wait.
//!
//! It stands where the shards of a single process stand, behind the same [`EngineHandle`]. Something is durable once Restate has
//! accepted it; until then whoever told it waits, and a platform tells it again after a crash.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::types::RoomId;
use aizuchi_core::view::RoomView;
use aizuchi_core::{Engine, Input, Time};
use serde_json::json;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::context::ClusterContext;
use super::ingress::{RestateClient, RestateError};
use super::state::Stamped;
use super::telling::Telling;
use crate::journal::Journal;
use crate::runtime::{EventTimes, ForgetJob, ShardRequest, StoreRequest};
use crate::stores::StoreError;

/// Told together at most.
const TOGETHER_MAX: usize = 256;
const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// What was stored so long ago and not told was left by a gateway that ended.
const LEFT_AFTER: Duration = Duration::from_secs(15);
const LOOK_EVERY: Duration = Duration::from_secs(5);

pub struct Gateway {
    context: Arc<ClusterContext>,
    restate: RestateClient,
    journal: Journal,
    /// No other gateway has it.
    name: String,
}

/// Something for one room.
enum Waiting {
    Told(Stamped, oneshot::Sender<()>),
    Store(Time, StoreRequest),
    /// Of a gateway that ended.
    Left(i64, Stamped),
}

impl Gateway {
    /// `name` is one that no other gateway has, now or before.
    pub fn new(context: Arc<ClusterContext>, restate: RestateClient, journal: Journal, name: String) -> Gateway {
        Gateway { context, restate, journal, name }
    }

    /// Until it is told to stop; what it has begun to tell is told then.
    pub async fn run(self: Arc<Self>, mut inbox: mpsc::Receiver<ShardRequest>, stop: CancellationToken) {
        let mut times = EventTimes::new(self.context.runtime.clone());
        times.begin(Time(0));
        let mut rooms: HashMap<RoomId, VecDeque<Waiting>> = HashMap::new();
        let mut telling: JoinSet<RoomId> = JoinSet::new();
        let mut look = tokio::time::interval(LOOK_EVERY);
        loop {
            let (room, waiting) = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(told) = telling.join_next() => {
                    let room = told.expect("telling does not panic");
                    match rooms.get_mut(&room) {
                        Some(waiting) if !waiting.is_empty() => {
                            let some = waiting.drain(..waiting.len().min(TOGETHER_MAX)).collect();
                            telling.spawn(self.clone().tell(room, some, stop.clone()));
                        }
                        Some(_) | None => drop(rooms.remove(&room)),
                    }
                    continue;
                }
                _ = look.tick() => {
                    for (room, left) in self.left_behind().await {
                        self.line_up(&mut rooms, &mut telling, room, left, &stop);
                    }
                    continue;
                }
                request = inbox.recv() => match request {
                    None => break,
                    Some(request) => match self.take(request, &mut times) {
                        Some(waiting) => waiting,
                        None => continue,
                    },
                },
            };
            self.line_up(&mut rooms, &mut telling, room, waiting, &stop);
        }
        while telling.join_next().await.is_some() {}
    }

    /// Told at once where nothing of this room is on its way.
    fn line_up(
        self: &Arc<Self>,
        rooms: &mut HashMap<RoomId, VecDeque<Waiting>>,
        telling: &mut JoinSet<RoomId>,
        room: RoomId,
        waiting: Waiting,
        stop: &CancellationToken,
    ) {
        match rooms.get_mut(&room) {
            Some(line) => line.push_back(waiting),
            None => {
                rooms.insert(room.clone(), VecDeque::new());
                telling.spawn(self.clone().tell(room, vec![waiting], stop.clone()));
            }
        }
    }

    fn take(self: &Arc<Self>, request: ShardRequest, times: &mut EventTimes) -> Option<(RoomId, Waiting)> {
        match request {
            ShardRequest::Input(mut input, durable) => {
                // The clocks of several machines are never set for all rooms at once.
                let _ = times.notice();
                let at = times.stamp(&mut input);
                match input.room().cloned() {
                    Some(room) => Some((room, Waiting::Told(Stamped { at, input }, durable))),
                    None => {
                        self.tell_all(input, durable);
                        None
                    }
                }
            }
            ShardRequest::Store(StoreRequest { room, at, addressed, write, done }) => {
                let stamp = times.stamp_event(Some(&room), Some(at));
                let (handled_at, write) = (stamp.at, write.finished_by(move |input| stamp.put_on(input)));
                Some((room.clone(), Waiting::Store(handled_at, StoreRequest { room, at, addressed, write, done })))
            }
            ShardRequest::Pay(room, usage, durable) => {
                let (gateway, at) = (self.clone(), times.now());
                tokio::spawn(async move {
                    match gateway.restate.pay(&room, &json!({"at": at, "usage": usage})).await {
                        Ok(true) => {
                            let _ = durable.send(());
                        }
                        Ok(false) => (),
                        Err(error) => tracing::warn!(%room, %error, "cannot bill a room"),
                    }
                });
                None
            }
            ShardRequest::Look(room, seen) => {
                let (gateway, now) = (self.clone(), times.now());
                tokio::spawn(async move { seen.send(gateway.view(&room, now).await) });
                None
            }
            ShardRequest::Forget(ForgetJob { request, done, .. }) => {
                let (gateway, now) = (self.clone(), times.now());
                tokio::spawn(async move { done.send(gateway.forget(request, now).await) });
                None
            }
            ShardRequest::Close(room, done) => {
                let gateway = self.clone();
                tokio::spawn(async move { done.send(gateway.context.store.forget_room(room).await) });
                None
            }
        }
    }

    /// Other settings: workers read them themselves, and rooms hear of them from the workers.
    fn tell_all(self: &Arc<Self>, input: Input, durable: oneshot::Sender<()>) {
        let Input::PolicyChanged(stated) = input else {
            let _ = durable.send(());
            return;
        };
        let gateway = self.clone();
        tokio::spawn(async move {
            let policies = stated.known_to(&gateway.context.policies().policies);
            match gateway.context.set_policies(policies).await {
                Ok(()) => {
                    let _ = durable.send(());
                }
                Err(error) => tracing::error!(%error, "cannot store other settings"),
            }
        });
    }

    /// Has every room forget a person, and then the journal.
    async fn forget(&self, request: Arc<ForgetRequest>, now: Time) -> Result<(), StoreError> {
        let found = self.journal.footprints(0, 1, request).await?;
        for room in self.context.store.rooms().await? {
            let told = json!({"at": now, "request": found.request});
            let forgotten = self.restate.forget(&room, &told).await;
            forgotten.map_err(|error| StoreError::Unavailable(error.to_string()))?;
        }
        self.journal.forget_records(found, &self.context.policies().policies).await
    }

    async fn view(&self, room: &RoomId, now: Time) -> Option<RoomView> {
        let state = self.restate.look(room).await;
        let state = state.inspect_err(|error| tracing::warn!(%room, %error, "cannot look into a room")).ok()?;
        let policies = self.context.policies();
        let engine = Engine::unpack_room((*policies.policies).clone(), &state.packed).ok()?;
        engine.view(room, now.max(state.last))
    }

    /// What gateways that ended had stored and not told.
    async fn left_behind(&self) -> Vec<(RoomId, Waiting)> {
        let unsent = match self.context.store.unsent(LEFT_AFTER).await {
            Ok(unsent) => unsent,
            Err(error) => {
                tracing::debug!(%error, "cannot look for what was left untold");
                return Vec::new();
            }
        };
        let told = |(id, stamped): (i64, Stamped)| {
            let room = stamped.input.room().cloned()?;
            Some((room, Waiting::Left(id, stamped)))
        };
        let stamped = unsent.into_iter().map(|left| (left.id, Stamped { at: left.at, input: left.input }));
        stamped.filter_map(told).collect()
    }

    /// Tells a room, however long that takes. What is not told when it has to stop is told again by whoever comes after.
    async fn tell(self: Arc<Self>, room: RoomId, waiting: Vec<Waiting>, stop: CancellationToken) -> RoomId {
        let (mut told, mut durable) = (Telling::default(), Vec::new());
        for one in waiting {
            match one {
                Waiting::Told(stamped, done) => {
                    told.push(None, stamped);
                    durable.push(done);
                }
                Waiting::Left(id, stamped) => told.push(Some(id), stamped),
                Waiting::Store(at, StoreRequest { write, done, .. }) => {
                    let stored = self.context.store.store_talk(at, write).await;
                    let _ = done.send(stored.map(|unsent| {
                        if let Some(unsent) = unsent {
                            told.push_stored(unsent);
                        }
                    }));
                }
            }
        }
        if !self.compare_with_stored(&room, &mut told, &stop).await {
            return room;
        }
        let (told, ids) = told.into_parts();
        if told.is_empty() || self.until_accepted(&room, &told, &stop).await {
            for done in durable {
                let _ = done.send(());
            }
            if !ids.is_empty()
                && let Err(error) = self.context.store.sent(ids).await
            {
                tracing::debug!(%error, "cannot note what a room was told; it is told again");
            }
        }
        room
    }

    /// What others stored before the last of these and have not told yet is told with them, so that a room hears everything in the order
    /// in which people see it; what others have told meanwhile is not told again. Returns `false` if it has to stop.
    async fn compare_with_stored(&self, room: &RoomId, told: &mut Telling, stop: &CancellationToken) -> bool {
        let Some(last) = told.last_stored() else { return true };
        let mut pause = FIRST_PAUSE;
        loop {
            match self.context.store.unsent_up_to(room.clone(), last).await {
                Ok(unsent) => {
                    told.replace_stored(unsent);
                    return true;
                }
                Err(error) => tracing::warn!(%room, %error, "cannot read what a room is to hear; retrying"),
            }
            tokio::select! {
                () = stop.cancelled() => return false,
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
            }
        }
    }

    async fn until_accepted(&self, room: &RoomId, told: &[Stamped], stop: &CancellationToken) -> bool {
        static TOLD: AtomicU64 = AtomicU64::new(0);
        let key = format!("{}-{}", self.name, TOLD.fetch_add(1, Ordering::Relaxed));
        let mut pause = FIRST_PAUSE;
        loop {
            match self.restate.tell(room, &key, told).await {
                Ok(()) => {
                    self.context.runtime.ready.send_if_modified(|ready| !std::mem::replace(ready, true));
                    return true;
                }
                Err(error @ (RestateError::Unavailable(_) | RestateError::Refused(_))) => {
                    tracing::warn!(%room, %error, "cannot tell a room; retrying");
                    self.context.runtime.ready.send_replace(false);
                }
            }
            tokio::select! {
                () = stop.cancelled() => return false,
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
            }
        }
    }
}
