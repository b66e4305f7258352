//! Tells the engine what came in, in the order in which it came. What a crash left untold is told at the next start by
//! the same loop, and the engine passes over what it knows.

use std::time::Duration;

use aizuchi_core::Input;
use aizuchi_core::input::Command;
use futures_util::future::join_all;
use tracing::{error, warn};

use super::event::{Event, Saying};
use super::inbox::{self, Arrival};
use super::listen::Desk;
use super::platform::PLATFORM;
use super::translate::{self, Me, Telling};
use crate::ports::Pending;
use crate::runtime::Gone;

/// Told at the same time: each is durable before it counts as heard, and they share the disk's time.
const TOGETHER_MAX: usize = 256;
/// After the store failed.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// Tells until the platform stops.
pub async fn tell(desk: &Desk, me: &Me) {
    let mut told = 0;
    loop {
        tokio::select! {
            more = tell_some(desk, me, &mut told) => match more {
                Ok(true) => continue,
                Ok(false) => (),
                Err(Gone) => return,
            },
            () = desk.stop.cancelled() => return,
        }
        tokio::select! {
            () = desk.arrived.notified() => (),
            () = desk.stop.cancelled() => return,
        }
    }
}

/// Whether there may be more.
async fn tell_some(desk: &Desk, me: &Me, told: &mut u64) -> Result<bool, Gone> {
    let inbox = &desk.slack.stores.inbox;
    let untold = match inbox.pending(PLATFORM, *told, TOGETHER_MAX).await {
        Ok(untold) => untold,
        Err(failed) => {
            error!(%failed, "can not read what came from Slack");
            desk.slack.clock.note_return();
            tokio::time::sleep(AGAIN_AFTER).await;
            return Ok(true);
        }
    };
    let Some(last) = untold.last().map(|pending| pending.seq) else { return Ok(false) };
    let full = untold.len() == TOGETHER_MAX;
    let mut inputs = Vec::new();
    for Pending { seq, body } in untold {
        match serde_json::from_str::<Arrival>(&body) {
            Ok(arrival) => inputs.extend(input(desk, me, arrival).await),
            Err(error) => warn!(seq, %error, "passed over what can not be read"),
        }
    }
    let all: Result<Vec<()>, Gone> =
        join_all(inputs.into_iter().map(|input| desk.ears.hear(input))).await.into_iter().collect();
    all?;
    *told = last;
    // Left behind, it is told again at the next start and passed over there.
    if let Err(failed) = inbox.handled(PLATFORM, last).await {
        warn!(%failed, "can not note what was heard from Slack");
    }
    Ok(full)
}

/// Whether nothing is known between a message and the one its thread grows from.
async fn is_first_below(desk: &Desk, saying: &Saying) -> bool {
    let Some(thread) = &saying.thread else { return false };
    inbox::is_first(&*desk.slack.stores.threads, &saying.channel, thread, &saying.ts).await.unwrap_or(false)
}

/// What the engine is told of it.
async fn input(desk: &Desk, me: &Me, arrival: Arrival) -> Option<Input> {
    let names = &desk.slack.names;
    match arrival.event {
        Event::Said(saying) => {
            let first_below = is_first_below(desk, &saying).await;
            let telling = Telling { fetched: arrival.fetched, now: desk.slack.clock.now(), first_below };
            translate::said(me, names, saying, telling).await
        }
        Event::Changed(changing) => translate::changed(me, names, changing).await,
        // Its own reactions it knows already.
        Event::Reacted(reacting) if reacting.user == me.user => None,
        Event::Reacted(reacting) => {
            let thread = inbox::thread_of(&*desk.slack.stores.threads, &reacting.channel, &reacting.ts).await;
            translate::reacted(me, &reacting, thread.ok().flatten().as_deref())
        }
        Event::Joined { channel, user } => {
            if user == me.user {
                tracing::info!(channel, "was invited to a Slack channel");
                // So that the first message finds it known.
                names.channel(&channel).await;
            }
            None
        }
        Event::Left { channel } => {
            tracing::info!(channel, "is no longer in a Slack channel");
            Some(Input::Told(me.room(&channel), Command::Left))
        }
    }
}
