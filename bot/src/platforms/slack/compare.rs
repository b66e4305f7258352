//! Detects what was changed or deleted while there was no connection: compares a channel's latest messages with the known
//! ones. Replies in threads are not compared.

use std::collections::HashMap;

use aizuchi_core::types::Place;
use serde_json::{Value, json};

use super::event::SlackEvent;
use super::inbox::InboxArrival;
use super::listen::SlackContext;
use super::platform::PLATFORM;
use super::read::{flag, list, stamp, stamp_of};
use super::translate::{SlackIdentity, readable};
use crate::journal::KnownMessage;
use crate::stores::StoreError;

/// Recent messages as the journal knows them.
pub async fn known_recent_messages(context: &SlackContext) -> Result<HashMap<Place, Vec<KnownMessage>>, StoreError> {
    context.slack.stores.recent.recent(PLATFORM, context.slack.clock.now()).await
}

/// The events that Slack would have sent. `page` is the channel's latest history.
pub async fn changes(
    context: &SlackContext,
    me: &SlackIdentity,
    channel: &str,
    kept: &[KnownMessage],
    page: &Value,
) -> Vec<InboxArrival> {
    let messages = list(page, "messages");
    let shown: HashMap<&str, &Value> =
        messages.iter().filter_map(|message| Some((stamp(message, "ts")?, message))).collect();
    let Some(oldest) = shown.keys().min().copied() else { return Vec::new() };
    // Messages older than a full page may still exist.
    let reaches_to = if flag(page, "has_more") { oldest } else { "" };
    let now = stamp_of(context.slack.clock.now());
    let mut found = Vec::new();
    for known in kept.iter().filter(|known| known.id.as_str() >= reaches_to) {
        let ts = known.id.as_str();
        let event = match shown.get(ts) {
            None => json!({"type": "message", "subtype": "message_deleted", "channel": channel, "deleted_ts": ts,
                           "event_ts": now}),
            Some(message) => json!({"type": "message", "subtype": "message_changed", "channel": channel,
                                    "message": message, "event_ts": edited_at(message).unwrap_or(&now)}),
        };
        let Some(SlackEvent::Changed(change)) = SlackEvent::read(&event) else { continue };
        let is_news = match (&change.text, &change.edited) {
            (None, _) => true,
            (Some(text), Some(_)) => readable(me, &context.slack.names, text).await.0 != *known.text,
            (Some(_), None) => false,
        };
        let event = SlackEvent::Changed(change);
        let key = event.key().filter(|_| is_news);
        found.extend(key.map(|key| InboxArrival { key, event, fetched: true }));
    }
    found
}

fn edited_at(message: &Value) -> Option<&str> {
    stamp(message.get("edited")?, "ts")
}
