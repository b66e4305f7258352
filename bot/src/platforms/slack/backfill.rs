//! Fetches messages that were sent while there was no connection; they are read, but not answered.
//!
//! Then it looks for changes to messages that are recorded. One that has arrived is recorded a little later: what is in the inbox is waited
//! for, and a room of a cluster that is behind is compared once it has recorded what was said until then.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use aizuchi_core::types::Place;
use serde_json::Value;
use tokio::time::timeout;
use tracing::{debug, info, warn};

use super::compare::{changes, known_recent_messages};
use super::errors::ApiError;
use super::inbox::{self, InboxArrival};
use super::listen::SlackContext;
use super::platform::PLATFORM;
use super::read::{list, stamp};
use super::translate::SlackIdentity;
use crate::journal::KnownMessage;
use crate::ports::LateRooms;
use crate::stores::StoreError;

/// How many threads per channel have their replies fetched: those of the latest messages.
const THREADS_MAX: usize = 10;
/// How often a call waits for a rate limit.
const PATIENCE_MAX: u32 = 5;
/// How long to wait for an answer to whether everything is recorded.
const ASKS_FOR: Duration = Duration::from_secs(1);
/// The pause after the store failed.
const AGAIN_AFTER: Duration = Duration::from_secs(1);
/// How often it looks whether what has arrived is forwarded, and whether rooms have recorded it.
const FORWARDS_WITHIN: Duration = Duration::from_millis(50);
const LOOKS_EVERY: Duration = Duration::from_millis(500);

/// Fills the gap after every reconnect. `known` is how far each channel was known at the start.
pub async fn keep(context: &SlackContext, me: &SlackIdentity, mut known: BTreeMap<String, String>) {
    loop {
        tokio::select! {
            () = context.back.notified() => (),
            () = context.stop.cancelled() => return,
        }
        let gone = async {
            if fill(context, me, &known).await {
                return context.gone.notified().await;
            }
            tokio::select! {
                () = compare_late(context, me, &known) => context.gone.notified().await,
                () = context.gone.notified() => (),
            }
        };
        tokio::select! {
            () = gone => (),
            () = context.stop.cancelled() => return,
        }
        known = heard_channels(context).await;
    }
}

/// The channels that are known, and the last message that was heard in each.
pub async fn heard_channels(context: &SlackContext) -> BTreeMap<String, String> {
    until_available(context, || inbox::channels(&*context.slack.stores.marks)).await.unwrap_or_default()
}

/// Returns whether changes were looked for too: what is said now hides the gap, so that it is filled without waiting for anybody.
async fn fill(context: &SlackContext, me: &SlackIdentity, channels: &BTreeMap<String, String>) -> bool {
    if context.slack.settings.backfill_messages == 0 {
        return true;
    }
    let said = timeout(ASKS_FOR, all_recorded(context)).await.ok().and_then(Result::ok).flatten();
    let mut stored = 0;
    for (channel, last) in channels {
        match fetch_missed(context, me, channel, last, said.as_ref()).await {
            Ok(arrivals) => stored += store(context, arrivals).await,
            Err(error) => warn!(channel, %error, "cannot fetch missed messages of a Slack channel"),
        }
    }
    if stored > 0 {
        info!(messages = stored, "backfilled missed Slack messages and edits");
    }
    said.is_some()
}

/// The recent messages, if everything that has arrived is recorded.
async fn all_recorded(context: &SlackContext) -> Result<Option<HashMap<Place, Vec<KnownMessage>>>, StoreError> {
    let is_recorded = inbox::last_pending(&*context.slack.stores.inbox).await? == 0
        && LateRooms::find(&*context.slack.stores.recent, PLATFORM).await?.is_empty();
    if is_recorded { known_recent_messages(context).await.map(Some) } else { Ok(None) }
}

/// Tries again as long as the store is away. `None` where it fails otherwise, and once the platform stops.
async fn until_available<T, F>(context: &SlackContext, attempt: impl Fn() -> F) -> Option<T>
where
    F: Future<Output = Result<T, StoreError>>,
{
    loop {
        match attempt().await {
            Ok(done) => return Some(done),
            Err(StoreError::Unavailable(why)) => {
                warn!(why, "cannot check for missed Slack messages; retrying");
                context.pause(AGAIN_AFTER).await;
                if context.stop.is_cancelled() {
                    return None;
                }
            }
            Err(failed) => {
                warn!(%failed, "cannot check for missed Slack messages");
                return None;
            }
        }
    }
}

/// Returns when what had arrived before is durable for the engine.
async fn until_forwarded(context: &SlackContext) -> Result<(), StoreError> {
    let inbox = &*context.slack.stores.inbox;
    let last = inbox::last_pending(inbox).await?;
    while inbox::is_pending(inbox, last).await? {
        context.pause(FORWARDS_WITHIN).await;
    }
    Ok(())
}

/// How many of them are new.
async fn store(context: &SlackContext, arrivals: Vec<InboxArrival>) -> usize {
    if arrivals.is_empty() {
        return 0;
    }
    let (inbox, at) = (&*context.slack.stores.inbox, context.slack.clock.now());
    let stored = until_available(context, || inbox::store(inbox, arrivals.clone(), at)).await;
    context.arrived.notify_one();
    stored.unwrap_or_default()
}

/// Compares each room once it has recorded what had arrived before.
async fn compare_late(context: &SlackContext, me: &SlackIdentity, channels: &BTreeMap<String, String>) {
    until_available(context, || until_forwarded(context)).await;
    let recent = &*context.slack.stores.recent;
    let mut late = until_available(context, || LateRooms::find(recent, PLATFORM)).await.unwrap_or_default();
    late.include(channels.keys().map(|channel| me.room(channel)));
    while !late.is_empty() {
        context.pause(LOOKS_EVERY).await;
        if let Err(failed) = compare_recorded(context, me, &mut late, channels).await {
            debug!(%failed, "cannot check Slack yet for edits made while offline");
        }
    }
}

async fn compare_recorded(
    context: &SlackContext,
    me: &SlackIdentity,
    late: &mut LateRooms,
    channels: &BTreeMap<String, String>,
) -> Result<(), StoreError> {
    let recorded = late.recorded(&*context.slack.stores.recent, PLATFORM).await?;
    if recorded.is_empty() {
        return Ok(());
    }
    let said = known_recent_messages(context).await?;
    for channel in channels.keys().filter(|channel| recorded.contains(&me.room(channel))) {
        let Some(kept) = said.get(&Place { room: me.room(channel), thread: None }) else { continue };
        match history(context, channel).await {
            Ok(page) => _ = store(context, changes(context, me, channel, kept, &page).await).await,
            Err(error) => warn!(channel, %error, "cannot fetch the history of a Slack channel"),
        }
    }
    recorded.iter().for_each(|room| late.remove(room));
    Ok(())
}

async fn history(context: &SlackContext, channel: &str) -> Result<Value, ApiError> {
    let limit = context.slack.settings.backfill_messages.to_string();
    call_with_patience(context, "conversations.history", &[("channel", channel), ("limit", &limit)]).await
}

/// Fetches what came after `last`, oldest first: the latest messages, and the replies to them. Then finds changes to
/// earlier ones.
async fn fetch_missed(
    context: &SlackContext,
    me: &SlackIdentity,
    channel: &str,
    last: &str,
    said: Option<&HashMap<Place, Vec<KnownMessage>>>,
) -> Result<Vec<InboxArrival>, ApiError> {
    let limit = context.slack.settings.backfill_messages.to_string();
    let page = history(context, channel).await?;
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
    if let Some(kept) = said.and_then(|said| said.get(&Place { room: me.room(channel), thread: None })) {
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
