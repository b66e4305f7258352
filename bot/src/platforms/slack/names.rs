//! The names of people and channels: fetched once, updated by events, and limited in number.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, timeout};

use super::api::Api;
use super::errors::ApiError;
use super::people::{SlackChannel, SlackPerson};

/// For people and for channels each; at most twice as many are held.
const KEPT_MAX: usize = 20_000;
/// A message does not wait longer for a name.
const ASKED_FOR: Duration = Duration::from_secs(5);
/// After Slack did not answer about an id, it is not asked again for this long.
const ASKED_AGAIN_AFTER: Duration = Duration::from_secs(60);
pub struct Names {
    api: Arc<Api>,
    people: Mutex<NameCache<SlackPerson>>,
    channels: Mutex<NameCache<SlackChannel>>,
}

impl Names {
    pub fn new(api: Arc<Api>) -> Names {
        Names { api, people: Mutex::default(), channels: Mutex::default() }
    }

    /// Asks Slack if necessary; `None` if it does not answer.
    pub async fn person(&self, id: &str) -> Option<SlackPerson> {
        let known = self.people.lock().expect("no panic holds names").get(id);
        match known {
            Some(known) => known,
            None => self.ask(id).await,
        }
    }

    /// Includes their language, which not every response about people contains.
    pub async fn caller(&self, id: &str) -> Option<SlackPerson> {
        let known = self.person(id).await?;
        if known.language.is_some() { Some(known) } else { self.ask(id).await.or(Some(known)) }
    }

    async fn ask(&self, id: &str) -> Option<SlackPerson> {
        let form = [("user", id), ("include_locale", "true")];
        let found = found_or_none(self.api.call("users.info", &form)).await;
        let found = found.and_then(|answer| SlackPerson::read(answer.get("user")?));
        self.people.lock().expect("no panic holds names").keep(id, found.clone());
        found
    }

    pub async fn channel(&self, id: &str) -> Option<SlackChannel> {
        let known = self.channels.lock().expect("no panic holds names").get(id);
        if let Some(known) = known {
            return known;
        }
        let found = found_or_none(self.api.call("conversations.info", &[("channel", id)])).await;
        let found = found.and_then(|answer| SlackChannel::read(answer.get("channel")?));
        self.channels.lock().expect("no panic holds names").keep(id, found.clone());
        found
    }

    /// An update from Slack. Fields that are missing this time stay as they were.
    pub fn is_person(&self, mut person: SlackPerson) {
        let mut people = self.people.lock().expect("no panic holds names");
        if person.language.is_none()
            && let Some(Some(known)) = people.get(&person.id)
        {
            person.language = known.language;
        }
        let id = person.id.clone();
        people.keep(&id, Some(person));
    }

    pub fn is_channel(&self, mut channel: SlackChannel) {
        let mut channels = self.channels.lock().expect("no panic holds names");
        if channel.visibility.is_none() {
            // A new name says nothing about who can read it; an unknown channel is fetched again.
            let Some(Some(known)) = channels.get(&channel.id) else { return };
            channel.visibility = known.visibility;
        }
        let id = channel.id.clone();
        channels.keep(&id, Some(channel));
    }
}

async fn found_or_none(asked: impl Future<Output = Result<Value, ApiError>>) -> Option<Value> {
    match timeout(ASKED_FOR, asked).await {
        Ok(Ok(answer)) => Some(answer),
        Ok(Err(error)) => {
            tracing::debug!(%error, "cannot look up a Slack name");
            None
        }
        Err(_) => None,
    }
}

/// Two generations: when the younger is full, the older is dropped.
struct NameCache<T> {
    young: HashMap<String, (Instant, Option<T>)>,
    old: HashMap<String, (Instant, Option<T>)>,
}

impl<T> Default for NameCache<T> {
    fn default() -> NameCache<T> {
        NameCache { young: HashMap::new(), old: HashMap::new() }
    }
}

impl<T: Clone> NameCache<T> {
    /// `Some(None)`: Slack was asked recently and did not answer.
    fn get(&mut self, id: &str) -> Option<Option<T>> {
        let (at, found) = self.young.get(id).or_else(|| self.old.get(id))?.clone();
        if found.is_none() && at.elapsed() > ASKED_AGAIN_AFTER {
            return None;
        }
        if !self.young.contains_key(id) {
            self.keep(id, found.clone());
        }
        Some(found)
    }

    fn keep(&mut self, id: &str, found: Option<T>) {
        if self.young.len() >= KEPT_MAX {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(id.to_owned(), (Instant::now(), found));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_has_a_bound() {
        let mut kept = NameCache::default();
        for number in 0..KEPT_MAX * 5 {
            kept.keep(&number.to_string(), Some(number));
        }
        assert!(kept.young.len() + kept.old.len() <= 2 * KEPT_MAX);
        assert_eq!(kept.get(&(KEPT_MAX * 5 - 1).to_string()), Some(Some(KEPT_MAX * 5 - 1)));
        assert_eq!(kept.get("0"), None);
    }
}
