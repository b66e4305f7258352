//! A room as a virtual object of Restate: one writer at a time, in the order in which it is told.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aizuchi_core::effect::{Effect, Usage};
use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::room::Cost;
use aizuchi_core::types::{CallId, RoomId};
use aizuchi_core::{Input, Time};
use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};

use super::calls::{CallOrder, CallsClient};
use super::context::ClusterContext;
use super::decide::{RoomNews, RoomOutcome, decide};
use super::state::{RoomState, Stamped};
use crate::ports::{PoliciesId, RoomBatch, SetAside};
use crate::runtime::note_decisions;

/// Under which Restate keeps the state of a room.
pub const STATE: &str = "room";

pub struct Room {
    pub context: Arc<ClusterContext>,
}

/// What an invocation notes of the world before it acts; every attempt goes by it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Noted {
    /// The settings that held.
    policies: PoliciesId,
    /// The last record of the journal.
    seq: u64,
    /// When it was, so that a wait is as long as it has to be.
    now: Time,
    /// What the room is to be told of others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    siblings: Option<Box<Input>>,
}

/// What is to be paid for on behalf of a room.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RoomBill {
    pub at: Time,
    pub usage: Usage,
}

/// Who is to be forgotten.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Forgetting {
    pub at: Time,
    pub request: ForgetRequest,
}

fn news(at: Time, input: Input) -> RoomNews {
    RoomNews { told: vec![Stamped { at, input }], forget: None }
}

/// While PostgreSQL does not answer, a room waits.
fn patience() -> RunRetryPolicy {
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
    invocation_retry_policy(initial_interval = "100ms", factor = 2.0, max_interval = "5s")
)]
impl Room {
    /// Something happened: a list of [`Stamped`].
    #[handler]
    async fn handle(&self, ctx: ObjectContext<'_>, told: Vec<u8>) -> HandlerResult<()> {
        let room = RoomId::new(ctx.key());
        match serde_json::from_slice::<Vec<Stamped>>(&told) {
            Ok(told) => self.go_on(&ctx, room, RoomNews { told, forget: None }).await,
            Err(error) => self.set_aside(&ctx, room, &told, error.to_string()).await,
        }
    }

    /// A deadline. One that is not the next any more changes nothing.
    #[handler]
    async fn tick(&self, ctx: ObjectContext<'_>, due: u64) -> HandlerResult<()> {
        let due = Time(due);
        let state = load(&ctx).await?;
        if state.armed != Some(due) {
            return Ok(());
        }
        self.go_on(&ctx, RoomId::new(ctx.key()), news(due, Input::Tick)).await
    }

    /// Whether the room can pay for something; if so, it has paid.
    #[handler]
    async fn pay(&self, ctx: ObjectContext<'_>, bill: Json<RoomBill>) -> HandlerResult<bool> {
        let Json(RoomBill { at, usage }) = bill;
        let (room, state) = (RoomId::new(ctx.key()), load(&ctx).await?);
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
        // Settings may be others at the next attempt.
        let Json(fits) = ctx.run(move || async move { Ok(Json(fits)) }).name("fits").await?;
        if fits {
            self.go_on(&ctx, room.clone(), news(at, Input::Billed(room, usage))).await?;
        }
        Ok(fits)
    }

    /// Somebody is to be forgotten: nothing of them is left in the state.
    #[handler]
    async fn forget(&self, ctx: ObjectContext<'_>, forgetting: Json<Forgetting>) -> HandlerResult<()> {
        let Json(Forgetting { at, request }) = forgetting;
        let news = RoomNews { forget: Some(request), ..news(at, Input::Forgotten) };
        self.go_on(&ctx, RoomId::new(ctx.key()), news).await
    }

    /// The state as it is, for whoever wants to look.
    #[handler]
    async fn look(&self, ctx: SharedObjectContext<'_>) -> HandlerResult<Vec<u8>> {
        Ok(ctx.get::<Vec<u8>>(STATE).await?.unwrap_or_default())
    }
}

async fn load(ctx: &ObjectContext<'_>) -> HandlerResult<RoomState> {
    match ctx.get::<Vec<u8>>(STATE).await? {
        Some(bytes) => Ok(RoomState::decode(&bytes)?),
        None => Ok(RoomState::default()),
    }
}

impl Room {
    async fn go_on(&self, ctx: &ObjectContext<'_>, room: RoomId, news: RoomNews) -> HandlerResult<()> {
        let (before, news) = (Arc::new(load(ctx).await?), Arc::new(news));
        // What this attempt works out is used by it; another attempt finds only the note and works it out again.
        let worked_out = Arc::new(Mutex::new(None));
        let recording = record(self.context.clone(), room.clone(), before.clone(), news.clone(), worked_out.clone());
        let Json(noted) = ctx.run(move || recording).name("record").retry_policy(patience()).await?;
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
        for effect in effects {
            if let Effect::Abort(call) = &effect {
                if let Some(invocation) = state.calls.remove(&call.serial) {
                    ctx.invocation_handle(invocation).cancel();
                }
                continue;
            }
            // Shown by whoever was there when it was decided.
            if matches!(effect, Effect::Type(_)) {
                continue;
            }
            let call = call_of(&effect).cloned();
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
        if let Some(siblings) = noted.siblings {
            let told = serde_json::to_vec(&[Stamped { at: state.last, input: *siblings }]).expect("it can be written");
            ctx.object_client::<RoomClient>(room.as_str()).handle(told).send();
        }
        let rang = state.armed.is_none_or(|armed| armed <= state.last);
        state.armed = match (state.armed, deadline) {
            (_, None) if rang => None,
            (armed, None) => armed,
            // One that comes earlier finds that it is early, and is set anew.
            (Some(armed), Some(due)) if !rang && armed <= due => Some(armed),
            (_, Some(due)) => {
                let wait = Duration::from_millis(due.0.saturating_sub(noted.now.0));
                ctx.object_client::<RoomClient>(room.as_str()).tick(due.0).send_after(wait);
                Some(due)
            }
        };
        ctx.set(STATE, state.encode());
        Ok(())
    }

    /// Keeps what cannot even be read; the room goes on.
    async fn set_aside(&self, ctx: &ObjectContext<'_>, room: RoomId, told: &[u8], error: String) -> HandlerResult<()> {
        let state = load(ctx).await?;
        tracing::error!(%room, error, "cannot read what a room was told; set aside");
        let input = String::from_utf8_lossy(told).into_owned();
        let set_aside = vec![SetAside { room: room.clone(), at: state.last, input, error }];
        let records = vec![(state.last, Input::Tick)];
        let batch = RoomBatch { room, after: state.records, records, decided: Vec::new(), set_aside };
        let (store, batch) = (self.context.store.clone(), Arc::new(batch));
        ctx.run(move || async move { Ok(store.record(batch).await.map(drop)?) })
            .name("set aside")
            .retry_policy(patience())
            .await?;
        ctx.set(STATE, RoomState { records: state.records + 1, ..state }.encode());
        Ok(())
    }
}

/// Decides and records it.
async fn record(
    context: Arc<ClusterContext>,
    room: RoomId,
    before: Arc<RoomState>,
    news: Arc<RoomNews>,
    worked_out: Arc<Mutex<Option<RoomOutcome>>>,
) -> HandlerResult<Json<Noted>> {
    let policies = context.policies();
    let outcome = decide(&room, &before, &policies, &news)?;
    for poison in &outcome.batch.set_aside {
        tracing::error!(%room, error = poison.error, "an input cannot be handled; set aside");
    }
    let seq = context.store.record(Arc::new(outcome.batch.clone())).await?;
    let siblings = introduce(&context, &room, &outcome);
    show(&context, &outcome);
    *worked_out.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
    Ok(Json(Noted { policies: policies.id, seq, now: context.runtime.clock.now(), siblings }))
}

/// Adds to what is known of rooms of this kind, and tells the room of them where it has few messages of its own.
fn introduce(context: &ClusterContext, room: &RoomId, outcome: &RoomOutcome) -> Option<Box<Input>> {
    let mut siblings = context.siblings.lock().unwrap_or_else(PoisonError::into_inner);
    for trace in outcome.new_decisions().iter().filter(|trace| trace.received.is_none()) {
        siblings.note(&outcome.engine, trace);
    }
    siblings.introduce(&outcome.engine, room).filter(|_| outcome.was_said).map(Box::new)
}

/// Metrics and memory hear of decisions, and a typing indicator is for now or never.
fn show(context: &ClusterContext, outcome: &RoomOutcome) {
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
