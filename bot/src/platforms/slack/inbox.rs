//! The inbox of Slack events: stored before they are acknowledged, so that no crash loses one and no redelivery counts
//! twice.
//!
//! An entry has a key that is the same however often and on whichever way the event comes (an envelope, its redelivery, the
//! channel's history); a known key is not stored again. `forward.rs` passes the pending entries to the engine in order and
//! marks them as handled; the keys stay for a week, as long as Slack may send again. Each entry is stored with the mark of
//! its channel, up to where it is known: after an interruption the history is fetched from there.

use std::collections::BTreeMap;

use aizuchi_core::types::{Span, Time};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::event::{ParsedEvent, SlackEvent};
use super::names::Names;
use super::platform::PLATFORM;
use crate::ports::{ArrivedThreads, ChannelMark, ChannelMarks, Inbox, InboxEntry, MarkChange};
use crate::stores::StoreError;

/// As long as Slack might send an event again, and people might react to it.
const KEPT: Span = Span::minutes(7 * 24 * 60);

/// How many pending entries are read at a time.
const PENDING_TOGETHER: usize = 256;

/// An event that arrived.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct InboxArrival {
    /// The same however often it arrives.
    #[serde(skip)]
    pub key: String,
    #[serde(deserialize_with = "event_of_any_build")]
    pub event: SlackEvent,
    /// Fetched later, to fill a gap.
    #[serde(default)]
    pub fetched: bool,
}

/// An event in the format of this version, or as Slack sent it, which older versions stored.
fn event_of_any_build<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SlackEvent, D::Error> {
    let value = Value::deserialize(deserializer)?;
    match value.get("type") {
        Some(_) => SlackEvent::read(&value).ok_or_else(|| D::Error::custom("not an event of a channel")),
        None => serde_json::from_value(value).map_err(D::Error::custom),
    }
}

impl InboxArrival {
    /// From an envelope; `None` if it contains nothing for the engine. Changes of names are applied at once and not stored:
    /// a person who changes theirs often would fill the store, and the next sync finds what was missed.
    pub fn of_payload(envelope: &str, payload: &Value, names: &Names) -> Option<InboxArrival> {
        let event = match ParsedEvent::read(payload.get("event")?) {
            ParsedEvent::Event(event) => event,
            ParsedEvent::Person(person) => {
                names.is_person(person);
                return None;
            }
            ParsedEvent::Renamed(channel) => {
                names.is_channel(channel);
                return None;
            }
            ParsedEvent::Nothing => return None,
        };
        let named = payload.get("event_id").and_then(Value::as_str).filter(|id| !id.is_empty() && id.len() <= 200);
        let key = event.key().unwrap_or_else(|| named.unwrap_or(envelope).to_owned());
        Some(InboxArrival { key, event, fetched: false })
    }

    /// From a channel's history.
    pub fn of_history(channel: &str, mut message: Value) -> Option<InboxArrival> {
        let fields = message.as_object_mut()?;
        fields.insert("channel".into(), channel.into());
        fields.insert("type".into(), "message".into());
        let event = SlackEvent::read(&message)?;
        Some(InboxArrival { key: event.key()?, event, fetched: true })
    }

    fn into_entry(self) -> InboxEntry {
        let body = serde_json::to_string(&self).expect("an arrival is plain data");
        let InboxArrival { key, event, .. } = self;
        InboxEntry { key, thread: event.thread().map(str::to_owned), body: Some(body), mark: mark(event) }
    }
}

/// The mark of its channel that this event advances.
fn mark(event: SlackEvent) -> Option<MarkChange> {
    match event {
        SlackEvent::Said(saying) => {
            Some(MarkChange::Heard(ChannelMark { channel: saying.channel, server: String::new(), heard: saying.ts }))
        }
        SlackEvent::Left { channel } => Some(MarkChange::Left(channel)),
        SlackEvent::Changed(_) | SlackEvent::Reacted(_) | SlackEvent::Joined { .. } => None,
    }
}

/// Stores arrivals that are new; returns how many there were.
pub async fn store(inbox: &dyn Inbox, arrivals: Vec<InboxArrival>, at: Time) -> Result<usize, StoreError> {
    inbox.keep(PLATFORM, arrivals.into_iter().map(InboxArrival::into_entry).collect(), at).await
}

/// The number of the newest pending arrival; 0 if there is none.
pub async fn last_pending(inbox: &dyn Inbox) -> Result<u64, StoreError> {
    let mut last = 0;
    while let Some(newest) = inbox.pending(PLATFORM, last, PENDING_TOGETHER).await?.last() {
        last = newest.seq;
    }
    Ok(last)
}

/// Whether an arrival up to this one is pending.
pub async fn is_pending(inbox: &dyn Inbox, up_to: u64) -> Result<bool, StoreError> {
    Ok(inbox.pending(PLATFORM, 0, 1).await?.first().is_some_and(|oldest| oldest.seq <= up_to))
}

/// Whether a slash command arrives for the first time.
pub async fn is_new(inbox: &dyn Inbox, key: String, at: Time) -> Result<bool, StoreError> {
    let entry = InboxEntry { key, ..InboxEntry::default() };
    Ok(inbox.keep(PLATFORM, vec![entry], at).await? > 0)
}

/// Removes pending events of these people, so that the engine never gets them.
pub async fn forget(inbox: &dyn Inbox, users: &[&str]) -> Result<(), StoreError> {
    let mut gone = Vec::new();
    for pending in inbox.pending(PLATFORM, 0, usize::MAX).await? {
        let arrival = serde_json::from_str::<InboxArrival>(&pending.body);
        if arrival.is_ok_and(|arrival| arrival.event.is_by(users)) {
            gone.push((pending.seq, None));
        }
    }
    if gone.is_empty() { Ok(()) } else { inbox.amend(PLATFORM, gone).await }
}

/// The thread a message is in, if it arrived recently.
pub async fn thread_of(threads: &dyn ArrivedThreads, channel: &str, ts: &str) -> Result<Option<String>, StoreError> {
    threads.thread_of(PLATFORM, &format!("{channel}/{ts}")).await
}

/// Whether nothing of this thread arrived before this message.
pub async fn is_first(threads: &dyn ArrivedThreads, channel: &str, thread: &str, ts: &str) -> Result<bool, StoreError> {
    let (parent, message) = (format!("{channel}/{thread}"), format!("{channel}/{ts}"));
    threads.is_known_between(PLATFORM, (&parent, &message), thread).await.map(|known| !known)
}

/// The channels the bot has heard, and the last message of each.
pub async fn channels(marks: &dyn ChannelMarks) -> Result<BTreeMap<String, String>, StoreError> {
    let marks = marks.of_server(PLATFORM, "", usize::MAX).await?;
    Ok(marks.into_iter().map(|mark| (mark.channel, mark.heard)).collect())
}

pub async fn sweep(inbox: &dyn Inbox, now: Time) -> Result<(), StoreError> {
    inbox.sweep(PLATFORM, now - KEPT).await
}
