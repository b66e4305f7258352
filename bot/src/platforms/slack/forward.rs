//! Tells the engine what came in, in the order in which it came. What a crash left untold is told at the next start by
//! the same loop, and the engine passes over what it knows.

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
use crate::runtime::ShuttingDown;

/// Told at the same time: each is durable before it counts as heard, and they share the disk's time.
const TOGETHER_MAX: usize = 256;
/// After the store failed.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Tells until the platform stops.
pub async fn forward_arrivals(context: &SlackContext, me: &SlackIdentity) {
    let mut told = 0;
    loop {
        tokio::select! {
            more = tell_some(context, me, &mut told) => match more {
                Ok(true) => continue,
                Ok(false) => (),
                Err(ShuttingDown) => return,
            },
            () = context.stop.cancelled() => return,
        }
        tokio::select! {
            () = context.arrived.notified() => (),
            () = context.stop.cancelled() => return,
        }
    }
}

/// Whether there may be more.
async fn tell_some(context: &SlackContext, me: &SlackIdentity, told: &mut u64) -> Result<bool, ShuttingDown> {
    let inbox = &context.slack.stores.inbox;
    let untold = match inbox.pending(PLATFORM, *told, TOGETHER_MAX).await {
        Ok(untold) => untold,
        Err(failed) => {
            error!(%failed, "cannot read the Slack inbox");
            context.slack.clock.note_return();
            tokio::time::sleep(AGAIN_AFTER).await;
            return Ok(true);
        }
    };
    let Some(last) = untold.last().map(|pending| pending.seq) else { return Ok(false) };
    let full = untold.len() == TOGETHER_MAX;
    let mut inputs = Vec::new();
    for PendingEntry { seq, body } in untold {
        match serde_json::from_str::<InboxArrival>(&body) {
            Ok(arrival) => inputs.extend(input(context, me, arrival).await),
            Err(error) => warn!(seq, %error, "skipped an unreadable record"),
        }
    }
    let all: Result<Vec<()>, ShuttingDown> =
        join_all(inputs.into_iter().map(|input| context.engine.submit(input))).await.into_iter().collect();
    all?;
    *told = last;
    // Left behind, it is told again at the next start and passed over there.
    if let Err(failed) = inbox.handled(PLATFORM, last).await {
        warn!(%failed, "cannot store the Slack position");
    }
    Ok(full)
}

/// Whether nothing is known between a message and the one its thread grows from.
async fn is_first_below(context: &SlackContext, saying: &MessageEvent) -> bool {
    let Some(thread) = &saying.thread else { return false };
    inbox::is_first(&*context.slack.stores.threads, &saying.channel, thread, &saying.ts).await.unwrap_or(false)
}

/// What the engine is told of it.
async fn input(context: &SlackContext, me: &SlackIdentity, arrival: InboxArrival) -> Option<Input> {
    let names = &context.slack.names;
    match arrival.event {
        SlackEvent::Said(saying) => {
            let first_below = is_first_below(context, &saying).await;
            let telling = TranslationContext { fetched: arrival.fetched, now: context.slack.clock.now(), first_below };
            translate::to_message_input(me, names, saying, telling).await
        }
        SlackEvent::Changed(changing) => translate::to_change_input(me, names, changing).await,
        // Its own reactions it knows already.
        SlackEvent::Reacted(reacting) if reacting.user == me.user => None,
        SlackEvent::Reacted(reacting) => {
            let thread = inbox::thread_of(&*context.slack.stores.threads, &reacting.channel, &reacting.ts).await;
            translate::to_reaction_input(me, &reacting, thread.ok().flatten().as_deref())
        }
        SlackEvent::Joined { channel, user } => {
            if user == me.user {
                tracing::info!(channel, "joined a Slack channel");
                // So that the first message finds it known.
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
