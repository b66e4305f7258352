//! What was said while there was no line: fetched and heard, not answered.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use aizuchi_core::types::Place;
use serde_json::Value;
use tracing::{info, warn};

use super::compare::{changes, said_lately};
use super::inbox::{self, Arrival};
use super::listen::Desk;
use super::read::{list, stamp};
use super::translate::Me;
use super::trouble::ApiError;
use crate::journal::Kept;

/// Threads per channel whose answers are fetched: those of the latest messages.
const THREADS_MAX: usize = 10;
/// Waits for Slack's patience, per call.
const PATIENCE_MAX: u32 = 5;

/// Fills the gap whenever there is a line again. `known` is how far each channel was known at the start.
pub async fn keep(desk: &Desk, me: &Me, mut known: BTreeMap<String, String>) {
    loop {
        tokio::select! {
            () = desk.back.notified() => (),
            () = desk.stop.cancelled() => return,
        }
        tokio::select! {
            () = fill(desk, me, known) => (),
            () = desk.stop.cancelled() => return,
        }
        tokio::select! {
            () = desk.gone.notified() => (),
            () = desk.stop.cancelled() => return,
        }
        known = inbox::channels(&*desk.slack.stores.marks).await.unwrap_or_default();
    }
}

async fn fill(desk: &Desk, me: &Me, channels: BTreeMap<String, String>) {
    if desk.slack.settings.backfill_messages == 0 {
        return;
    }
    let said = said_lately(desk).await;
    let mut stored = 0;
    for (channel, last) in channels {
        match missed(desk, me, &channel, &last, &said).await {
            Ok(arrivals) if arrivals.is_empty() => (),
            Ok(arrivals) => {
                let at = desk.slack.clock.now();
                let store = inbox::store(&*desk.slack.stores.inbox, arrivals, at).await;
                stored += store.unwrap_or_else(|failed| {
                    warn!(%failed, "can not store what was missed on Slack");
                    0
                });
                desk.arrived.notify_one();
            }
            Err(error) => warn!(channel, %error, "what was missed in a Slack channel stays unknown"),
        }
    }
    if stored > 0 {
        info!(messages = stored, "heard what was said and changed on Slack meanwhile");
    }
}

/// What came after `last`, oldest first: the latest messages, and the answers to them. Then what was changed before it.
async fn missed(
    desk: &Desk,
    me: &Me,
    channel: &str,
    last: &str,
    said: &HashMap<Place, Vec<Kept>>,
) -> Result<Vec<Arrival>, ApiError> {
    let limit = desk.slack.settings.backfill_messages.to_string();
    let page = patiently(desk, "conversations.history", &[("channel", channel), ("limit", &limit)]).await?;
    let messages = list(&page, "messages");
    let mut found: Vec<Value> = messages.iter().filter(|message| is_after(message, last)).cloned().collect();
    let answered = |message: &&Value| stamp(message, "latest_reply").is_some_and(|reply| reply > last);
    for parent in messages.iter().filter(answered).take(THREADS_MAX) {
        let Some(thread) = stamp(parent, "ts") else { continue };
        let form = [("channel", channel), ("ts", thread), ("oldest", last), ("limit", &limit)];
        let replies = patiently(desk, "conversations.replies", &form).await?;
        found.extend(list(&replies, "messages").iter().filter(|message| is_after(message, last)).cloned());
    }
    found.sort_by(|one, other| stamp(one, "ts").cmp(&stamp(other, "ts")));
    let mut arrivals: Vec<Arrival> =
        found.into_iter().filter_map(|message| Arrival::of_history(channel, message)).collect();
    if let Some(kept) = said.get(&Place { room: me.room(channel), thread: None }) {
        arrivals.extend(changes(desk, me, channel, kept, &page).await);
    }
    Ok(arrivals)
}

fn is_after(message: &Value, last: &str) -> bool {
    stamp(message, "ts").is_some_and(|ts| ts > last)
}

/// A call that can wait: nobody is waiting for its answer.
pub async fn patiently(desk: &Desk, method: &str, form: &[(&str, &str)]) -> Result<Value, ApiError> {
    for _ in 0..PATIENCE_MAX {
        match desk.slack.api.call(method, form).await {
            Err(ApiError::Limited { after }) => desk.pause(after.min(Duration::from_secs(120))).await,
            done => return done,
        }
    }
    desk.slack.api.call(method, form).await
}
