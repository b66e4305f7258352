//! A room as a virtual object of Restate: its inputs are handled one at a time, in the order in which Restate accepted them.
//!
//! Each invocation does three things. `load` reads the state. `record` decides (`decide.rs`) and writes the outcome to PostgreSQL in one
//! transaction, inside `ctx.run`: Restate journals the note that it returns ([`Noted`]). `act` sends the effects to [`Calls`](super::calls::Calls),
//! sets the timer for the next deadline, and saves the state.
//!
//! An attempt that is interrupted is repeated by Restate, perhaps by another worker. If the note is journaled, `record` does not run
//! again, and the outcome is computed again from the same state under the same settings: the engine is deterministic, so it is the
//! same. If PostgreSQL has the batch and Restate not the note, the store recognises the batch by the number of records before
//! it. Whatever else is not the same each time (the clock, the budget of all rooms, other rooms) is read in `record` alone.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aizuchi_core::effect::{Effect, Usage};
use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::room::Cost;
use aizuchi_core::types::{CallId, RoomId};
use aizuchi_core::usage::TotalSpent;
use aizuchi_core::{Input, Time};
use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};

use super::calls::{CallOrder, CallsClient};
use super::context::ClusterContext;
use super::decide::{RoomNews, RoomOutcome, decide, total_limit};
use super::state::{RoomState, Stamped};
use crate::ports::{PoliciesId, RecordOutcome, RecordedBatch};
use crate::runtime::{Clock, OUTSIDE, note_decisions};

/// The key under which Restate keeps the state of a room.
pub const STATE: &str = "room";

pub struct RoomObject {
    pub context: Arc<ClusterContext>,
}

/// What an invocation has read from outside. It is journaled, so that every attempt of the invocation acts on the same values.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Noted {
    /// The settings by which it decided.
    policies: PoliciesId,
    /// The last record of the journal.
    seq: u64,
    /// The time, from which the delay of a timer is computed.
    now: Time,
    /// What the room gets to know about rooms of its kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    siblings: Option<Box<Input>>,
    /// Calls that the budget over all rooms does not allow, by number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    refused: Vec<(u64, TotalSpent)>,
}

impl Noted {
    fn refusal_of(&self, call: &CallId) -> Option<TotalSpent> {
        self.refused.iter().find(|(serial, _)| *serial == call.serial).map(|(_, why)| *why)
    }
}

/// A payment on behalf of a room.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RoomBill {
    pub at: Time,
    pub usage: Usage,
}

/// A request to forget a person.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Forgetting {
    pub at: Time,
    pub request: ForgetRequest,
}

fn news(at: Time, input: Input) -> RoomNews {
    RoomNews { told: vec![Stamped::new(at, input)], ..RoomNews::default() }
}

/// While PostgreSQL does not answer, a room retries.
fn store_retry_policy() -> RunRetryPolicy {
    RunRetryPolicy::new()
        .initial_delay(Duration::from_millis(50))
        .exponentiation_factor(2.0)
        .max_delay(Duration::from_secs(2))
}

#[restate_sdk::object(
    name = "Room",
    journal_retention = "0s",
    idempotency_retention = "7 days",
    inactivity_timeout = "1m",
    // By default Restate gives up after 70 attempts, which is some minutes without a worker.
    invocation_retry_policy(initial_interval = "100ms", factor = 2.0, max_interval = "5s", max_attempts = 1000000000)
)]
impl RoomObject {
    /// Handles what happened: a list of [`Stamped`].
    #[handler]
    async fn handle(&self, ctx: ObjectContext<'_>, told: Vec<u8>) -> HandlerResult<()> {
        let room = RoomId::new(ctx.key());
        self.go_on(&ctx, room, RoomNews::parse(&told)).await
    }

    /// A deadline has come. It is ignored if it is not the next one any more.
    #[handler]
    async fn tick(&self, ctx: ObjectContext<'_>, due: u64) -> HandlerResult<()> {
        let due = Time(due);
        let state = self.load(&ctx).await?;
        if state.armed != Some(due) {
            return Ok(());
        }
        self.go_on(&ctx, RoomId::new(ctx.key()), news(due, Input::Tick)).await
    }

    /// Pays for something, if the budget allows it; returns whether it did.
    #[handler]
    async fn pay(&self, ctx: ObjectContext<'_>, bill: Json<RoomBill>) -> HandlerResult<bool> {
        let Json(RoomBill { at, usage }) = bill;
        let (room, state) = (RoomId::new(ctx.key()), self.load(&ctx).await?);
        let policies = self.context.policies();
        let fits = match &state.packed[..] {
            [] => true,
            packed => {
                let engine = aizuchi_core::Engine::unpack_room((*policies.policies).clone(), packed)?;
                let policy = policies.policies.for_room(room.as_str());
                engine
                    .spent(&room)
                    .is_none_or(|spent| spent.fits(policy, at.max(state.last), Cost::from(&usage)).is_ok())
            }
        };
        let call = CallId { room: room.clone(), serial: OUTSIDE };
        let budget = total_limit(&policies.policies, &room, at.max(state.last));
        let (store, cost) = (self.context.store.clone(), Cost::from(&usage));
        // Another attempt may run under other settings.
        let reserving = move || async move { Ok(Json(fits && store.reserve(call, cost, budget).await?)) };
        let Json(fits) = ctx.run(reserving).name("fits").retry_policy(store_retry_policy()).await?;
        if fits {
            self.go_on(&ctx, room.clone(), news(at, Input::Billed(room, usage))).await?;
        }
        Ok(fits)
    }

    /// Removes a person from the state.
    #[handler]
    async fn forget(&self, ctx: ObjectContext<'_>, forgetting: Json<Forgetting>) -> HandlerResult<()> {
        let Json(Forgetting { at, request }) = forgetting;
        let news = RoomNews { forget: Some(request), ..news(at, Input::Forgotten) };
        self.go_on(&ctx, RoomId::new(ctx.key()), news).await
    }

    /// Takes over a room of a single process, if that has not happened yet: what was pending there goes on.
    #[handler]
    async fn take_over(&self, ctx: ObjectContext<'_>, at: u64) -> HandlerResult<()> {
        let state = self.load(&ctx).await?;
        if state.records > 0 || state.packed.is_empty() {
            return Ok(());
        }
        self.go_on(&ctx, RoomId::new(ctx.key()), news(Time(at), Input::Tick)).await
    }

    /// Returns the state.
    #[handler]
    async fn look(&self, ctx: SharedObjectContext<'_>) -> HandlerResult<Vec<u8>> {
        Ok(ctx.get::<Vec<u8>>(STATE).await?.unwrap_or_default())
    }
}

impl RoomObject {
    /// A room that Restate does not know may be one that a single process had.
    async fn load(&self, ctx: &ObjectContext<'_>) -> HandlerResult<RoomState> {
        if let Some(bytes) = ctx.get::<Vec<u8>>(STATE).await? {
            return Ok(RoomState::decode(&bytes)?);
        }
        let (store, room) = (self.context.store.clone(), RoomId::new(ctx.key()));
        let reading = move || async move { Ok(store.offered_state(room).await?.unwrap_or_default()) };
        let offered: Vec<u8> = ctx.run(reading).name("offered").retry_policy(store_retry_policy()).await?;
        match &offered[..] {
            [] => Ok(RoomState::default()),
            bytes => {
                let state = RoomState::decode(bytes)?;
                ctx.set(STATE, offered);
                Ok(state)
            }
        }
    }

    async fn go_on(&self, ctx: &ObjectContext<'_>, room: RoomId, news: RoomNews) -> HandlerResult<()> {
        let (before, news) = (Arc::new(self.load(ctx).await?), Arc::new(news));
        // This attempt uses the outcome that it recorded; a later attempt finds only the note, and decides again.
        let worked_out = Arc::new(Mutex::new(None));
        let recording = record(self.context.clone(), room.clone(), before.clone(), news.clone(), worked_out.clone());
        let Json(noted) = ctx.run(move || recording).name("record").retry_policy(store_retry_policy()).await?;
        let kept = worked_out.lock().unwrap_or_else(PoisonError::into_inner).take();
        let outcome = match kept {
            Some(outcome) => outcome,
            None => {
                let policies = self.context.policies_of(noted.policies).await?;
                decide(&room, &before, &policies, &news)?
            }
        };
        self.act(ctx, &room, outcome, noted).await
    }

    /// Sends what is to be done, and saves the state.
    async fn act(
        &self,
        ctx: &ObjectContext<'_>,
        room: &RoomId,
        outcome: RoomOutcome,
        noted: Noted,
    ) -> HandlerResult<()> {
        let RoomOutcome { mut state, effects, deadline, .. } = outcome;
        let mut unkeyed = 0_u64;
        let mut told = Vec::new();
        for effect in effects {
            if let Effect::Abort(call) = &effect {
                if let Some(invocation) = state.calls.remove(&call.serial) {
                    ctx.invocation_handle(invocation).cancel();
                }
                continue;
            }
            // The typing indicator was sent when it was decided.
            if matches!(effect, Effect::Type(_)) {
                continue;
            }
            let call = call_of(&effect).cloned();
            if let Some((call, why)) = call.as_ref().and_then(|call| Some((call, noted.refusal_of(call)?))) {
                told.push(Stamped::new(state.last, Input::Refused(call.clone(), why)));
                continue;
            }
            let key = call.as_ref().map_or_else(
                || {
                    unkeyed += 1;
                    format!("{room}/record/{}/{unkeyed}", state.records)
                },
                CallId::to_string,
            );
            let is_post = matches!(effect, Effect::Deliver(_));
            let (policies, seq, language) = (noted.policies, noted.seq, state.language.clone());
            let order = CallOrder { key: key.clone(), effect, seq, policies, language };
            let sent = ctx.service_client::<CallsClient>().carry_out(Json(order)).idempotency_key(key).send();
            match call {
                // A post is never cancelled: nobody could tell whether it is out already.
                Some(call) if is_post => {
                    state.posts.insert(call.serial);
                }
                Some(call) => {
                    let invocation = sent.await?;
                    state.calls.insert(call.serial, invocation.invocation_id().to_owned());
                }
                None => (),
            }
        }
        told.extend(noted.siblings.map(|siblings| Stamped::new(state.last, *siblings)));
        if !told.is_empty() {
            let told = serde_json::to_vec(&told).expect("inputs can be written");
            ctx.object_client::<RoomObjectClient>(room.as_str()).handle(told).send();
        }
        let rang = state.armed.is_none_or(|armed| armed <= state.last);
        state.armed = match (state.armed, deadline) {
            (_, None) if rang => None,
            (armed, None) => armed,
            // The earlier timer stays: when it fires, nothing is due, and a new one is set.
            (Some(armed), Some(due)) if !rang && armed <= due => Some(armed),
            (_, Some(due)) => {
                let wait = Duration::from_millis(due.0.saturating_sub(noted.now.0));
                ctx.object_client::<RoomObjectClient>(room.as_str()).tick(due.0).send_after(wait);
                Some(due)
            }
        };
        ctx.set(STATE, state.encode());
        Ok(())
    }
}

/// Decides, and records the outcome in PostgreSQL.
async fn record(
    context: Arc<ClusterContext>,
    room: RoomId,
    before: Arc<RoomState>,
    news: Arc<RoomNews>,
    worked_out: Arc<Mutex<Option<RoomOutcome>>>,
) -> HandlerResult<Json<Noted>> {
    let mut policies = context.policies();
    let (outcome, RecordedBatch { seq, now, refused }) = loop {
        let outcome = decide(&room, &before, &policies, &news)?;
        match context.store.record(outcome.batch.clone()).await? {
            RecordOutcome::Recorded(recorded) => break (outcome, recorded),
            RecordOutcome::DecidedBy(others) => policies = context.policies_of(others).await?,
        }
    };
    if !outcome.batch.set_aside.is_empty() {
        // Why may have words of people in it.
        tracing::error!(%room, "cannot handle an input; set aside: `aizuchi cluster rooms --stuck` says why");
    }
    let reporting = AssertUnwindSafe(|| {
        if context.reported.is_new(&room, outcome.batch.after) {
            refused.iter().for_each(|(_, why)| context.ledger.note_refusal(why));
            show(&context, &outcome);
        }
        introduce(&context, &room, &outcome)
    });
    // It is recorded: a panic from here on would stop the room for ever.
    let siblings = catch_unwind(reporting).unwrap_or_else(|_| {
        tracing::error!(%room, "a panic while something that is decided was counted");
        None
    });
    *worked_out.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    let now = match context.runtime.clock {
        // A wait must not depend on which worker begins it.
        Clock::Wall => now,
        made @ Clock::Made(_) => made.now(),
    };
    Ok(Json(Noted { policies: policies.id, seq, now, siblings, refused }))
}

/// The input that tells the room about rooms of its kind, if it has few messages of its own.
fn introduce(context: &ClusterContext, room: &RoomId, outcome: &RoomOutcome) -> Option<Box<Input>> {
    context.siblings.introduce(&outcome.engine, room).filter(|_| outcome.was_said).map(Box::new)
}

/// Updates metrics, memory and what is known about rooms of this kind, and sends typing indicators.
fn show(context: &ClusterContext, outcome: &RoomOutcome) {
    for trace in outcome.new_decisions().iter().filter(|trace| trace.received.is_none()) {
        context.siblings.note(&outcome.engine, trace);
    }
    metrics::counter!("aizuchi_inputs_total").increment(outcome.batch.records.len() as u64);
    note_decisions(&context.runtime, outcome.new_decisions());
    for effect in &outcome.effects {
        if let Effect::Type(typing) = effect {
            let (runtime, place) = (context.runtime.clone(), typing.place.clone());
            tokio::spawn(async move {
                if let Some(platform) = runtime.platform(place.room.as_str()) {
                    platform.typing(&place).await;
                }
            });
        }
    }
}

/// The call whose result the room waits for.
fn call_of(effect: &Effect) -> Option<&CallId> {
    match effect {
        Effect::Ask(ask) => Some(&ask.call),
        Effect::Write(brief) => Some(&brief.call),
        Effect::Recall(recall) => Some(&recall.call),
        Effect::Remember(remember) => Some(&remember.call),
        Effect::RunTool(order) => Some(&order.call),
        Effect::Deliver(delivery) => Some(&delivery.call),
        Effect::Type(_)
        | Effect::Withdraw(_)
        | Effect::Abort(_)
        | Effect::Trace(_)
        | Effect::Received(_)
        | Effect::Updated(_) => None,
    }
}
