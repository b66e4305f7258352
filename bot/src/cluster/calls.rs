//! What rooms want done: models are asked, posts go out, tools run. Each comes back to its room as what it led to.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use aizuchi_core::Input;
use aizuchi_core::effect::{Effect, Failure};
use restate_sdk::prelude::*;
use serde::{Deserialize, Serialize};

use super::context::ClusterContext;
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

fn patience() -> RunRetryPolicy {
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
    invocation_retry_policy(initial_interval = "100ms", factor = 2.0, max_interval = "5s")
)]
impl Calls {
    #[handler]
    async fn carry_out(&self, ctx: Context<'_>, order: Json<CallOrder>) -> HandlerResult<()> {
        let Json(order) = order;
        let room = order.effect.room().clone();
        let key = order.key.clone();
        let mut interrupted = None;
        if let Effect::RunTool(tool) = &order.effect
            && !is_first_attempt(&ctx).await?
        {
            let failure = Failure::new("the tool was interrupted");
            interrupted = Some(Input::ToolResult(tool.call.clone(), Err(failure)));
        }
        let Json(told) = match interrupted {
            Some(input) => {
                let clock = self.context.runtime.clock;
                let result = move || async move { Ok(Json(vec![Stamped { at: clock.now(), input }])) };
                ctx.run(result).name("interrupted").await?
            }
            None => {
                let carrying = carry_out(self.context.clone(), order);
                ctx.run(move || carrying).name("call").retry_policy(patience()).await?
            }
        };
        if !told.is_empty() {
            let told = serde_json::to_vec(&told)?;
            ctx.object_client::<RoomObjectClient>(room.as_str()).handle(told).idempotency_key(key).send();
        }
        Ok(())
    }
}

/// What a tool has changed stays changed: one that was begun is not run again.
async fn is_first_attempt(ctx: &Context<'_>) -> HandlerResult<bool> {
    static ATTEMPTS: AtomicU64 = AtomicU64::new(0);
    let own = Arc::new(AtomicU64::new(0));
    let begun = own.clone();
    let begin = move || async move {
        // No other process has it, nor this one again.
        let number = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), std::process::id());
        let attempt = (number << 20) + ATTEMPTS.fetch_add(1, Ordering::Relaxed) + 1;
        begun.store(attempt, Ordering::Relaxed);
        Ok(Json(attempt))
    };
    let Json(first) = ctx.run(begin).name("begin").await?;
    Ok(first == own.load(Ordering::Relaxed))
}

/// What came of it, stamped when it came. Dropped, a call is cancelled; a post is not.
async fn carry_out(context: Arc<ClusterContext>, order: CallOrder) -> HandlerResult<Json<Vec<Stamped>>> {
    let policies = context.policies_of(order.policies).await?;
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
        told.push(Stamped { at: context.runtime.clock.now(), input });
    }
    Ok(Json(told))
}
