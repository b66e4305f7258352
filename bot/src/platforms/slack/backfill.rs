//! Fetches messages that were sent while there was no connection; they are read, but not answered.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use aizuchi_core::types::Place;
use serde_json::Value;
use tracing::{info, warn};

use super::compare::{changes, known_recent_messages};
use super::errors::ApiError;
use super::inbox::{self, InboxArrival};
use super::listen::SlackContext;
use super::read::{list, stamp};
use super::translate::SlackIdentity;
use crate::journal::KnownMessage;

/// How many threads per channel have their replies fetched: those of the latest messages.
const THREADS_MAX: usize = 10;
/// How often a call waits for a rate limit.
const PATIENCE_MAX: u32 = 5;

/// Fills the gap after every reconnect. `known` is how far each channel was known at the start.
pub async fn keep(context: &SlackContext, me: &SlackIdentity, mut known: BTreeMap<String, String>) {
    loop {
        tokio::select! {
            () = context.back.notified() => (),
            () = context.stop.cancelled() => return,
        }
        tokio::select! {
            () = fill(context, me, known) => (),
            () = context.stop.cancelled() => return,
        }
        tokio::select! {
            () = context.gone.notified() => (),
            () = context.stop.cancelled() => return,
        }
        known = inbox::channels(&*context.slack.stores.marks).await.unwrap_or_default();
    }
}

async fn fill(context: &SlackContext, me: &SlackIdentity, channels: BTreeMap<String, String>) {
    if context.slack.settings.backfill_messages == 0 {
        return;
    }
    let said = known_recent_messages(context).await;
    let mut stored = 0;
    for (channel, last) in channels {
        match fetch_missed(context, me, &channel, &last, &said).await {
            Ok(arrivals) if arrivals.is_empty() => (),
            Ok(arrivals) => {
                let at = context.slack.clock.now();
                let store = inbox::store(&*context.slack.stores.inbox, arrivals, at).await;
                stored += store.unwrap_or_else(|failed| {
                    warn!(%failed, "cannot store missed Slack messages");
                    0
                });
                context.arrived.notify_one();
            }
            Err(error) => warn!(channel, %error, "cannot fetch missed messages of a Slack channel"),
        }
    }
    if stored > 0 {
        info!(messages = stored, "backfilled missed Slack messages and edits");
    }
}

/// Fetches what came after `last`, oldest first: the latest messages, and the replies to them. Then finds changes to
/// earlier ones.
async fn fetch_missed(
    context: &SlackContext,
    me: &SlackIdentity,
    channel: &str,
    last: &str,
    said: &HashMap<Place, Vec<KnownMessage>>,
) -> Result<Vec<InboxArrival>, ApiError> {
    let limit = context.slack.settings.backfill_messages.to_string();
    let page = call_with_patience(context, "conversations.history", &[("channel", channel), ("limit", &limit)]).await?;
    let messages = list(&page, "messages");
    let mut found: Vec<Value> = messages.iter().filter(|message| is_after(message, last)).cloned().collect();
    let answered = |message: &&Value| stamp(message, "latest_reply").is_some_and(|reply| reply > last);
    for parent in messages.iter().filter(answered).take(THREADS_MAX) {
        let Some(thread) = stamp(parent, "ts") else { continue };
        let form = [("channel", channel), ("ts", thread), ("oldest", last), ("limit", &limit)];
        let replies = call_with_patience(context, "conversations.replies", &form).await?;
        found.extend(list(&replies, "messages").iter().filter(|message| is_after(message, last)).cloned());
    }
    found.sort_by(|one, other| stamp(one, "ts").cmp(&stamp(other, "ts")));
    let mut arrivals: Vec<InboxArrival> =
        found.into_iter().filter_map(|message| InboxArrival::of_history(channel, message)).collect();
    if let Some(kept) = said.get(&Place { room: me.room(channel), thread: None }) {
        arrivals.extend(changes(context, me, channel, kept, &page).await);
    }
    Ok(arrivals)
}

fn is_after(message: &Value, last: &str) -> bool {
    stamp(message, "ts").is_some_and(|ts| ts > last)
}

/// A call that may wait, since nobody waits for its result.
pub async fn call_with_patience(
    context: &SlackContext,
    method: &str,
    form: &[(&str, &str)],
) -> Result<Value, ApiError> {
    for _ in 0..PATIENCE_MAX {
        match context.slack.api.call(method, form).await {
            Err(ApiError::Limited { after }) => context.pause(after.min(Duration::from_secs(120))).await,
            done => return done,
        }
    }
    context.slack.api.call(method, form).await
}
