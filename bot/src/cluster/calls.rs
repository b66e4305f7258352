//! What rooms want done: models are asked, posts go out, tools run. Each comes back to its room as what it led to.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aizuchi_core::Input;
use aizuchi_core::effect::{Effect, Failure};
use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};

use super::context::{ClusterContext, KnownPolicies};
use super::room::RoomObjectClient;
use super::state::Stamped;
use crate::language::Language;
use crate::ports::PoliciesId;
use crate::runtime::EffectRunner;

pub struct Calls {
    pub context: Arc<ClusterContext>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CallOrder {
    /// The same for ever for this effect.
    pub key: String,
    pub effect: Effect,
    /// The last record of the journal when it was wanted.
    pub seq: u64,
    pub policies: PoliciesId,
    /// In which people spoke last.
    pub language: Option<String>,
}

fn call_retry_policy() -> RunRetryPolicy {
    RunRetryPolicy::new()
        .initial_delay(Duration::from_millis(100))
        .exponentiation_factor(2.0)
        .max_delay(Duration::from_secs(5))
}

#[restate_sdk::service(
    name = "Calls",
    journal_retention = "0s",
    idempotency_retention = "7 days",
    inactivity_timeout = "20m",
    abort_timeout = "20m",
    invocation_retry_policy(initial_interval = "100ms", factor = 2.0, max_interval = "5s", max_attempts = 1000000000)
)]
impl Calls {
    #[handler]
    async fn carry_out(&self, ctx: Context<'_>, order: Json<CallOrder>) -> HandlerResult<()> {
        let Json(order) = order;
        let room = order.effect.room().clone();
        let key = order.key.clone();
        let beginning = if matches!(order.effect, Effect::RunTool(_)) {
            self.begin(&ctx, order.policies).await?
        } else {
            Beginning::Repeatable
        };
        // Always under this name: what an attempt has journaled, the next one has to find.
        let carrying = carry_out(self.context.clone(), order, beginning);
        let Json(told) = ctx.run(move || carrying).name("call").retry_policy(call_retry_policy()).await?;
        if !told.is_empty() {
            let told = serde_json::to_vec(&told)?;
            ctx.object_client::<RoomObjectClient>(room.as_str()).handle(told).idempotency_key(key).send();
        }
        Ok(())
    }
}

/// Whether a call may be made.
enum Beginning {
    /// However often it was begun before.
    Repeatable,
    /// By this attempt, under these settings.
    First(Arc<KnownPolicies>),
    /// An attempt before this one has begun it.
    Interrupted,
}

impl Calls {
    /// What a tool has changed stays changed: one that was begun is not run again. It has begun once its settings are known, and not
    /// while PostgreSQL is away.
    async fn begin(&self, ctx: &Context<'_>, policies: PoliciesId) -> HandlerResult<Beginning> {
        static ATTEMPTS: AtomicU64 = AtomicU64::new(0);
        let own = Arc::new(Mutex::new(None));
        let (context, begun) = (self.context.clone(), own.clone());
        let begin = move || async move {
            let policies = context.policies_of(policies).await?;
            // No other process has it, nor this one again.
            let number = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), std::process::id());
            let attempt = (number << 20) + ATTEMPTS.fetch_add(1, Ordering::Relaxed) + 1;
            *begun.lock().unwrap_or_else(PoisonError::into_inner) = Some((attempt, policies));
            Ok(Json(attempt))
        };
        let Json(first) = ctx.run(begin).name("begin").retry_policy(call_retry_policy()).await?;
        let own = own.lock().unwrap_or_else(PoisonError::into_inner).take();
        Ok(match own {
            Some((attempt, policies)) if attempt == first => Beginning::First(policies),
            _ => Beginning::Interrupted,
        })
    }
}

/// What came of it, stamped when it came. Dropped, a call is cancelled; a post is not.
async fn carry_out(
    context: Arc<ClusterContext>,
    order: CallOrder,
    beginning: Beginning,
) -> HandlerResult<Json<Vec<Stamped>>> {
    let policies = match (beginning, &order.effect) {
        (Beginning::Interrupted, Effect::RunTool(tool)) => {
            let interrupted = Input::ToolResult(tool.call.clone(), Err(Failure::new("the tool was interrupted")));
            return Ok(Json(vec![Stamped::new(context.runtime.clock.now(), interrupted)]));
        }
        (Beginning::First(policies), _) => policies,
        (Beginning::Repeatable | Beginning::Interrupted, _) => context.policies_of(order.policies).await?,
    };
    let (answer, mut results) = tokio::sync::mpsc::unbounded_channel();
    let mut runner =
        EffectRunner::new(context.runtime.clone(), policies.policies.clone(), answer, context.ledger.clone());
    if let Some(language) = order.language.as_deref().and_then(Language::from_id) {
        runner.set_language(order.effect.room(), language);
    }
    runner.start(order.effect, order.seq);
    let _cancelled_with_this = runner.into_calls();
    let mut told = Vec::new();
    while let Some(input) = results.recv().await {
        told.push(Stamped::new(context.runtime.clock.now(), input));
    }
    Ok(Json(told))
}
