//! What platforms tell, on its way to the rooms: one line for each room, so that it arrives in order, and as many at once as wait.
//!
//! It takes the place that the shards have in a single process, behind the same [`EngineHandle`]. Something is durable once Restate
//! has accepted it; until then the caller waits, and a platform reports it again after a crash.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use aizuchi_core::types::RoomId;
use aizuchi_core::view::RoomView;
use aizuchi_core::{Engine, Input, Time};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use super::context::ClusterContext;
use super::forgetting::PendingForgets;
use super::ingress::{RestateClient, RestateError, unique_key};
use super::outgoing::OutgoingInputs;
use super::room::RoomBill;
use super::room_lines::{RoomLines, WaitingTalk};
use super::state::Stamped;
use crate::journal::Journal;
use crate::ports::{GatewayNumber, Unsent, UnsentRows};
use crate::runtime::{EventTimes, ForgetJob, HandedOn, ShardRequest, StoreRequest};
use crate::stores::StoreError;

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// What was stored so long ago and not told was left by a gateway that ended, also where the database does not know that it ended.
const LEFT_AFTER: Duration = Duration::from_secs(15);
const LOOK_EVERY: Duration = Duration::from_secs(1);

pub struct Gateway {
    pub(super) context: Arc<ClusterContext>,
    pub(super) restate: RestateClient,
    pub(super) journal: Journal,
    pub(super) forgets: PendingForgets,
    /// No other gateway has it.
    name: String,
    /// By which others know whether it lives.
    number: GatewayNumber,
}

impl Gateway {
    /// `name` is one that no other gateway has, now or before.
    pub fn new(
        context: Arc<ClusterContext>,
        restate: RestateClient,
        journal: Journal,
        name: String,
        number: GatewayNumber,
    ) -> Gateway {
        Gateway { context, restate, journal, forgets: PendingForgets::default(), name, number }
    }

    /// Runs until `stop`; what it has begun to send is sent then.
    pub async fn run(self: Arc<Self>, mut inbox: mpsc::Receiver<ShardRequest>, stop: CancellationToken) {
        let mut times = EventTimes::new(self.context.runtime.clone());
        times.begin(Time(0));
        let mut lines = RoomLines::new(self.clone(), stop.clone());
        // The database may take long to answer, and nobody is to wait for that.
        let mut left: JoinSet<Vec<(RoomId, Stamped)>> = JoinSet::new();
        let mut look = tokio::time::interval(LOOK_EVERY);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                () = lines.go_on() => (),
                Some(found) = left.join_next() => {
                    for (room, newest) in found.expect("looking for what was left does not panic") {
                        // Where something is on its way already, the rest is looked for again later.
                        if !lines.has(&room) {
                            lines.add(room, WaitingTalk::Left(newest));
                        }
                    }
                }
                _ = look.tick(), if left.is_empty() => drop(left.spawn(self.clone().left_behind())),
                request = inbox.recv() => match request {
                    None => break,
                    Some(request) => self.take(request, &mut times, &mut lines),
                },
            }
        }
        lines.end().await;
    }

    fn take(self: &Arc<Self>, request: ShardRequest, times: &mut EventTimes, lines: &mut RoomLines) {
        // From now on it stamps by the clock as it is; each room finds out for itself that the clock was set.
        let _ = times.notice();
        match request {
            ShardRequest::Input(mut input, durable) => {
                let at = times.stamp(&mut input);
                match input.room().cloned() {
                    Some(room) => lines.add(room, WaitingTalk::Told(Stamped::new(at, input), durable)),
                    None => self.tell_all(input, durable),
                }
            }
            ShardRequest::Store(StoreRequest { room, at, addressed, write, done }) => {
                let stamp = times.stamp_event(Some(&room), Some(at));
                let (handled_at, write) = (stamp.at, write.finished_by(move |input| stamp.put_on(input)));
                let request = StoreRequest { room: room.clone(), at, addressed, write, done };
                lines.add(room, WaitingTalk::Store(handled_at, request));
            }
            ShardRequest::Pay(room, usage, durable) => {
                let (gateway, bill) = (self.clone(), RoomBill { at: times.now(), usage });
                tokio::spawn(async move {
                    match gateway.restate.pay(&room, &bill).await {
                        Ok(true) => {
                            let _ = durable.send(());
                        }
                        Ok(false) => (),
                        Err(error) => tracing::warn!(%room, %error, "cannot bill a room"),
                    }
                });
            }
            ShardRequest::Look(room, seen) => {
                let (gateway, now) = (self.clone(), times.now());
                tokio::spawn(async move { seen.send(gateway.view(&room, now).await) });
            }
            ShardRequest::Forget(ForgetJob { request, done, .. }) => {
                let (gateway, now, on_its_way) = (self.clone(), times.now(), lines.all_passed());
                tokio::spawn(async move { done.send(gateway.forget(request, now, on_its_way).await) });
            }
            ShardRequest::Close(room, done) => {
                let (gateway, passed) = (self.clone(), lines.passed(room.clone()));
                tokio::spawn(async move { done.send(gateway.close(room, passed).await) });
            }
        }
    }

    /// Other settings: workers read them themselves, and rooms hear of them from the workers.
    fn tell_all(self: &Arc<Self>, input: Input, durable: HandedOn) {
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
                Err(error) => tracing::error!(%error, "cannot store the new settings"),
            }
        });
    }

    /// Deletes what was said in a room that is closed for good, once the room has handled all of it.
    async fn close(&self, room: RoomId, passed: oneshot::Receiver<()>) -> Result<(), StoreError> {
        passed.await.map_err(|_| StoreError::Closed)?;
        let unavailable = |error: RestateError| StoreError::Unavailable(error.to_string());
        self.restate.call(&room, &unique_key(), &[]).await.map_err(unavailable)?;
        self.context.store.forget_room(room).await
    }

    async fn view(&self, room: &RoomId, now: Time) -> Option<RoomView> {
        let state = self.restate.look(room).await;
        let state = state.inspect_err(|error| tracing::warn!(%room, %error, "cannot look into a room")).ok()?;
        let policies = self.context.policies();
        let engine = Engine::unpack_room((*policies.policies).clone(), &state.packed).ok()?;
        engine.view(room, now.max(state.last))
    }

    /// What gateways that ended had stored and not told: of each room the newest; the rest goes with it.
    async fn left_behind(self: Arc<Self>) -> Vec<(RoomId, Stamped)> {
        let unsent = match self.context.store.newest_left(LEFT_AFTER).await {
            Ok(rows) => self.readable(rows).await,
            Err(error) => {
                tracing::debug!(%error, "cannot look for inputs that were not delivered to their rooms");
                return Vec::new();
            }
        };
        let of_room = |unsent: Unsent| Some((unsent.input.room().cloned()?, Stamped::from(unsent)));
        unsent.into_iter().filter_map(of_room).collect()
    }

    /// What cannot be read is set aside, so that rooms do not wait for it.
    async fn readable(&self, UnsentRows { unsent, unreadable }: UnsentRows) -> Vec<Unsent> {
        for row in &unreadable {
            let room = row.room.as_ref().map(tracing::field::display);
            tracing::error!(id = row.id, room, why = row.why, "cannot read a stored input of a room; set aside");
        }
        if !unreadable.is_empty()
            && let Err(error) = self.context.store.set_aside_unsent(unreadable).await
        {
            tracing::warn!(%error, "cannot set aside what cannot be read; retrying");
        }
        unsent
    }

    /// Sends to a room, however long that takes. What is not sent when it has to stop is sent by the next process that looks for it.
    pub(super) async fn tell(
        self: Arc<Self>,
        room: RoomId,
        waiting: Vec<WaitingTalk>,
        stop: CancellationToken,
    ) -> RoomId {
        let (mut told, mut passed) = (OutgoingInputs::default(), Vec::new());
        for one in waiting {
            match one {
                WaitingTalk::Told(stamped, done) => told.push_waited_for(stamped, done),
                WaitingTalk::Left(stamped) => told.push(stamped),
                WaitingTalk::Passed(done) => passed.push(done),
                WaitingTalk::Store(at, StoreRequest { write, done, .. }) => {
                    let stored = self.context.store.store_talk(self.number, at, write).await;
                    let _ = done.send(stored.map(|unsent| {
                        if let Some(unsent) = unsent {
                            told.push(unsent.into());
                        }
                    }));
                }
            }
        }
        if !self.compare_with_stored(&room, &mut told, &stop).await {
            return room;
        }
        if told.is_empty() || self.until_accepted(&room, &mut told, &stop).await {
            let ids = told.accepted();
            for done in passed {
                let _ = done.send(());
            }
            if !ids.is_empty()
                && let Err(error) = self.context.store.sent(ids).await
            {
                tracing::debug!(%error, "cannot note what was delivered to a room; delivering it again");
            }
        }
        room
    }

    /// What other gateways stored before the last of these and have not sent yet is sent with them, so that a room hears everything in the
    /// order in which people see it; what they have sent meanwhile is not sent again. Returns `false` if it has to stop.
    async fn compare_with_stored(&self, room: &RoomId, told: &mut OutgoingInputs, stop: &CancellationToken) -> bool {
        let Some(last) = told.last_stored() else { return true };
        let mut pause = FIRST_PAUSE;
        loop {
            match self.context.store.unsent_up_to(room.clone(), last).await {
                Ok(rows) => {
                    told.replace_stored(self.readable(rows).await);
                    return true;
                }
                Err(error) => tracing::warn!(%room, %error, "cannot read the stored inputs of a room; retrying"),
            }
            tokio::select! {
                () = stop.cancelled() => return false,
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
            }
        }
    }

    /// What was heard under a right that is lost meanwhile is left out: who has the right now tells it. `false` if it has to stop.
    async fn until_accepted(&self, room: &RoomId, told: &mut OutgoingInputs, stop: &CancellationToken) -> bool {
        static TOLD: AtomicU64 = AtomicU64::new(0);
        let key = format!("{}-{}", self.name, TOLD.fetch_add(1, Ordering::Relaxed));
        let ready = &self.context.runtime.ready;
        let mut pause = FIRST_PAUSE;
        loop {
            let now = self.context.runtime.clock.now();
            let wanted = told.wanted(now);
            if wanted.is_empty() {
                return true;
            }
            match self.restate.tell(room, &key, &wanted).await {
                Ok(()) => {
                    ready.send_if_modified(|ready| !std::mem::replace(ready, true));
                    return true;
                }
                Err(error @ (RestateError::Unavailable(_) | RestateError::Refused(_))) => {
                    tracing::warn!(%room, %error, "cannot deliver inputs to a room; retrying");
                    // It may be this room alone.
                    if self.restate.check().await.is_err() {
                        ready.send_if_modified(|ready| std::mem::replace(ready, false));
                    }
                }
            }
            tokio::select! {
                () = stop.cancelled() => return false,
                () = tokio::time::sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
            }
        }
    }
}
