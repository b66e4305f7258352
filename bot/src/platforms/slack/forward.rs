//! Passes arrivals to the engine in the order of their arrival. Arrivals that a crash left pending are passed on at the
//! next start by the same loop.

use std::time::Duration;

use aizuchi_core::Input;
use aizuchi_core::input::Command;
use futures_util::future::join_all;
use tracing::{error, warn};

use super::event::{MessageEvent, SlackEvent};
use super::inbox::{self, InboxArrival};
use super::listen::SlackContext;
use super::platform::PLATFORM;
use super::translate::{self, SlackIdentity, TranslationContext};
use crate::ports::PendingEntry;
use crate::redacted;
use crate::runtime::ShuttingDown;

/// How many are submitted together: each is durable before it counts as heard, and they share the disk's time.
const TOGETHER_MAX: usize = 256;
/// How often it looks without a notice of an arrival: of several processes on one store, one may have stored an event and ended.
const LOOKS_EVERY: Duration = Duration::from_secs(2);
/// The pause after the store failed.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// For a submission in progress when the platform stops: if it were recorded but not marked as handled, it would be
/// recorded again.
const GRACE: Duration = Duration::from_secs(2);

/// Passes on arrivals until the platform stops.
pub async fn forward_arrivals(context: &SlackContext, me: &SlackIdentity) {
    let mut handled = 0;
    loop {
        let batch = tokio::select! {
            batch = read_batch(context, me, handled) => batch,
            () = context.stop.cancelled() => return,
        };
        let more = match batch {
            Some(batch) => {
                let (last, is_full) = (batch.last, batch.is_full);
                tokio::select! {
                    submitted = submit_batch(context, batch) => match submitted {
                        Ok(()) => handled = last,
                        Err(ShuttingDown) => return,
                    },
                    () = grace(context) => return,
                }
                is_full
            }
            None => false,
        };
        if more {
            continue;
        }
        tokio::select! {
            () = context.arrived.notified() => (),
            () = tokio::time::sleep(LOOKS_EVERY) => (),
            () = context.stop.cancelled() => return,
        }
    }
}

async fn grace(context: &SlackContext) {
    context.stop.cancelled().await;
    tokio::time::sleep(GRACE).await;
}

/// Pending entries of the inbox as inputs of the engine.
struct ArrivalBatch {
    /// By the number of their entry.
    inputs: Vec<(u64, Input)>,
    /// The number of the last entry.
    last: u64,
    /// Whether there may be more.
    is_full: bool,
}

/// The next pending entries, if there are any.
async fn read_batch(context: &SlackContext, me: &SlackIdentity, handled: u64) -> Option<ArrivalBatch> {
    let pending = loop {
        match context.slack.stores.inbox.pending(PLATFORM, handled, TOGETHER_MAX).await {
            Ok(pending) => break pending,
            Err(failed) => {
                error!(%failed, "cannot read the Slack inbox");
                context.slack.clock.note_return();
                tokio::time::sleep(AGAIN_AFTER).await;
            }
        }
    };
    let last = pending.last()?.seq;
    let is_full = pending.len() == TOGETHER_MAX;
    let mut inputs = Vec::new();
    for PendingEntry { seq, body } in pending {
        match serde_json::from_str::<InboxArrival>(&body) {
            Ok(arrival) => inputs.extend(input(context, me, arrival).await.into_iter().map(|input| (seq, input))),
            Err(error) => warn!(seq, error = redacted::parse_error(&error), "skipped an unreadable record"),
        }
    }
    Some(ArrivalBatch { inputs, last, is_full })
}

/// Returns when all of it is durable and marked as handled. If the engine stops in between, what it accepted is marked.
async fn submit_batch(context: &SlackContext, batch: ArrivalBatch) -> Result<(), ShuttingDown> {
    let (seqs, inputs): (Vec<u64>, Vec<Input>) = batch.inputs.into_iter().unzip();
    let submitted = join_all(inputs.into_iter().map(|input| context.engine.submit(input))).await;
    let refused = submitted.iter().position(Result::is_err);
    let handled = match refused {
        Some(refused) => seqs[refused] - 1,
        None => batch.last,
    };
    // An entry left behind by a crash is passed on again at the next start: a message is recognised by its id and skipped,
    // an edit is recorded once more and changes nothing.
    if let Err(failed) = context.slack.stores.inbox.handled(PLATFORM, handled).await {
        warn!(%failed, "cannot store the Slack position");
    }
    if refused.is_some() { Err(ShuttingDown) } else { Ok(()) }
}

/// Whether no message is known between this one and its parent message.
async fn is_first_below(context: &SlackContext, saying: &MessageEvent) -> bool {
    let Some(thread) = &saying.thread else { return false };
    inbox::is_first(&*context.slack.stores.threads, &saying.channel, thread, &saying.ts).await.unwrap_or(false)
}

/// The engine's input for an arrival.
async fn input(context: &SlackContext, me: &SlackIdentity, arrival: InboxArrival) -> Option<Input> {
    let names = &context.slack.names;
    match arrival.event {
        SlackEvent::Said(saying) => {
            let first_below = is_first_below(context, &saying).await;
            let telling = TranslationContext { fetched: arrival.fetched, now: context.slack.clock.now(), first_below };
            translate::to_message_input(me, names, saying, telling).await
        }
        SlackEvent::Changed(changing) => translate::to_change_input(me, names, changing).await,
        // The bot knows its own reactions already.
        SlackEvent::Reacted(reacting) if reacting.user == me.user => None,
        SlackEvent::Reacted(reacting) => {
            let thread = inbox::thread_of(&*context.slack.stores.threads, &reacting.channel, &reacting.ts).await;
            translate::to_reaction_input(me, &reacting, thread.ok().flatten().as_deref())
        }
        SlackEvent::Joined { channel, user } => {
            if user == me.user {
                tracing::info!(channel, "joined a Slack channel");
                // Loaded now, so that it is known when the first message arrives.
                names.channel(&channel).await;
            }
            None
        }
        SlackEvent::Left { channel } => {
            tracing::info!(channel, "left a Slack channel");
            Some(Input::Told(me.room(&channel), Command::Left))
        }
    }
}
