//! What came in, on its way through the inbox: stored before it is acknowledged, so that neither a crash loses anything nor
//! a redelivery counts twice.

use std::collections::BTreeMap;

use aizuchi_core::types::{Span, Time};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::event::Event;
use super::names::Names;
use super::platform::PLATFORM;
use super::read::text;
use crate::ports::{ArrivedThreads, ChannelMark, ChannelMarks, Inbox, InboxEntry, MarkChange};
use crate::stores::StoreError;

/// As long as Slack might send something again, and people might react to it.
const KEPT: Span = Span::minutes(7 * 24 * 60);

/// Something that came in.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Arrival {
    /// The same however often it comes.
    #[serde(skip)]
    pub key: String,
    /// Slack's event.
    pub event: Value,
    /// Fetched later, to fill a gap.
    #[serde(default)]
    pub fetched: bool,
}

impl Arrival {
    /// From an envelope; `None` if there is nothing in it for the engine. Names are noted at once and not kept: who
    /// changes theirs often would fill the store, and the next look at everybody finds what was missed.
    pub fn of_payload(envelope: &str, mut payload: Value, names: &Names) -> Option<Arrival> {
        let event = payload.get_mut("event").map(Value::take)?;
        let read = Event::read(&event);
        match &read {
            Event::Person(person) => names.is_person(person.clone()),
            Event::Renamed(channel) => names.is_channel(channel.clone()),
            Event::Said(_) | Event::Changed(_) | Event::Reacted(_) | Event::Joined { .. } | Event::Left { .. } => (),
            Event::Nothing => return None,
        }
        if matches!(read, Event::Person(_) | Event::Renamed(_)) {
            return None;
        }
        let named = payload.get("event_id").and_then(Value::as_str).filter(|id| !id.is_empty() && id.len() <= 200);
        let key = read.key().unwrap_or_else(|| named.unwrap_or(envelope).to_owned());
        Some(Arrival { key, event, fetched: false })
    }

    /// From a channel's history.
    pub fn of_history(channel: &str, mut message: Value) -> Option<Arrival> {
        let fields = message.as_object_mut()?;
        fields.insert("channel".into(), channel.into());
        fields.insert("type".into(), "message".into());
        let key = Event::read(&message).key()?;
        Some(Arrival { key, event: message, fetched: true })
    }

    fn into_entry(self) -> InboxEntry {
        let read = Event::read(&self.event);
        let thread = if let Event::Said(saying) = &read { saying.thread.clone() } else { None };
        let body = serde_json::to_string(&self).expect("an arrival is plain data");
        InboxEntry { key: self.key, thread, body: Some(body), mark: mark(&read) }
    }
}

/// How far it says that its channel is known.
fn mark(event: &Event) -> Option<MarkChange> {
    match event {
        Event::Said(saying) => Some(MarkChange::Heard(ChannelMark {
            channel: saying.channel.clone(),
            server: String::new(),
            heard: saying.ts.clone(),
        })),
        Event::Left { channel } => Some(MarkChange::Left(channel.clone())),
        Event::Changed(_)
        | Event::Reacted(_)
        | Event::Person(_)
        | Event::Renamed(_)
        | Event::Joined { .. }
        | Event::Nothing => None,
    }
}

/// Stores what was not known yet; how many that were.
pub async fn store(inbox: &dyn Inbox, arrivals: Vec<Arrival>, at: Time) -> Result<usize, StoreError> {
    inbox.keep(PLATFORM, arrivals.into_iter().map(Arrival::into_entry).collect(), at).await
}

/// Whether a slash command arrives for the first time.
pub async fn is_new(inbox: &dyn Inbox, key: String, at: Time) -> Result<bool, StoreError> {
    let entry = InboxEntry { key, ..InboxEntry::default() };
    Ok(inbox.keep(PLATFORM, vec![entry], at).await? > 0)
}

/// What these people did and nobody was told yet is not told any more.
pub async fn forget(inbox: &dyn Inbox, users: &[&str]) -> Result<(), StoreError> {
    let by = |event: &Value| ["user", "bot_id"].iter().any(|field| users.contains(&text(event, field).unwrap_or("")));
    let mut gone = Vec::new();
    for pending in inbox.pending(PLATFORM, 0, usize::MAX).await? {
        let Ok(Arrival { event, .. }) = serde_json::from_str(&pending.body) else { continue };
        let inner = ["message", "previous_message"].iter().filter_map(|field| event.get(*field));
        if by(&event) || inner.into_iter().any(by) {
            gone.push((pending.seq, None));
        }
    }
    if gone.is_empty() { Ok(()) } else { inbox.amend(PLATFORM, gone).await }
}

/// The thread a message lies in, if it came lately.
pub async fn thread_of(threads: &dyn ArrivedThreads, channel: &str, ts: &str) -> Result<Option<String>, StoreError> {
    threads.thread_of(PLATFORM, &format!("{channel}/{ts}")).await
}

/// Whether nothing came of this thread before this message.
pub async fn is_first(threads: &dyn ArrivedThreads, channel: &str, thread: &str, ts: &str) -> Result<bool, StoreError> {
    let (parent, message) = (format!("{channel}/{thread}"), format!("{channel}/{ts}"));
    threads.is_known_between(PLATFORM, (&parent, &message), thread).await.map(|known| !known)
}

/// The channels it heard, and the last message of each.
pub async fn channels(marks: &dyn ChannelMarks) -> Result<BTreeMap<String, String>, StoreError> {
    let marks = marks.of_server(PLATFORM, "", usize::MAX).await?;
    Ok(marks.into_iter().map(|mark| (mark.channel, mark.heard)).collect())
}

pub async fn sweep(inbox: &dyn Inbox, now: Time) -> Result<(), StoreError> {
    inbox.sweep(PLATFORM, now - KEPT).await
}
