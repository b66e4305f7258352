//! What was changed or deleted while nobody listened: a channel's newest messages, held against what is known of them.

use std::collections::HashMap;

use aizuchi_core::Input;
use aizuchi_core::types::{Change, Time};
use serde_json::{Value, json};
use tracing::{debug, info, warn};

use super::backfill::{Backfill, PAGE};
use super::places::channel_of;
use super::read::id;
use super::say::Ear;
use crate::journal::{Kept, lately};

/// What was said lately, by channel or thread.
pub type KnownMessages = HashMap<u64, Vec<Kept>>;

impl Backfill {
    /// Looks up what is known, at the start of a session that does not go on from another: whatever such a session
    /// missed, Discord does not tell.
    pub async fn recall(&self) {
        let now = self.discord.clock.now();
        let known = self.discord.database.read(move |connection| lately(connection, "discord", now)).await;
        let known = known.unwrap_or_else(|error| {
            warn!(%error, "can not tell what was changed on Discord meanwhile");
            HashMap::new()
        });
        let by_channel = known.into_iter().filter_map(|(place, kept)| Some((channel_of(&place)?, kept))).collect();
        *self.known.lock().expect("nobody panics while holding it") = by_channel;
    }

    /// Once for each channel that something is known of, beside whatever happens there.
    pub fn compare(&self, channel: u64, guild: u64) {
        let known = self.known.lock().expect("nobody panics while holding it").remove(&channel);
        let Some(known) = known.filter(|_| self.discord.settings.backfill_messages > 0) else { return };
        let backfill = self.clone();
        tokio::spawn(async move {
            let compare = async {
                let Ok(_permit) = backfill.together.acquire().await else { return };
                backfill.tell_changes(channel, guild, known).await;
            };
            tokio::select! {
                () = compare => (),
                () = backfill.stop.cancelled() => (),
            }
        });
    }

    async fn tell_changes(&self, channel: u64, guild: u64, known: Vec<Kept>) {
        let Some(me) = self.discord.me() else { return };
        let fetch = || self.discord.rest.get(format!("channels/{channel}/messages?limit={PAGE}"));
        let page = match self.persist(fetch).await {
            Ok(page) => page,
            Err(trouble) => return debug!(channel, %trouble, "can not tell what was changed meanwhile"),
        };
        let now = self.discord.clock.now();
        let changes = self.discord.places(|places| {
            let guild = Some(guild).filter(|guild| *guild != 0);
            let ear = Ear { me, own_names: &self.discord.own_names, places, guild };
            changes(&ear, channel, &known, page.as_array().map_or(&[], Vec::as_slice), now)
        });
        if !changes.is_empty() {
            info!(channel, messages = changes.len(), "heard what was changed meanwhile");
        }
        for change in changes {
            if self.ears.hear(Input::Changed(change)).await.is_err() {
                return;
            }
        }
    }
}

/// `page` is the newest there is now.
fn changes(ear: &Ear<'_>, channel: u64, known: &[Kept], page: &[Value], now: Time) -> Vec<Change> {
    let found: HashMap<u64, &Value> = page.iter().filter_map(|message| Some((id(message, "id")?, message))).collect();
    // Who may not read the past is shown nothing at all: that says nothing about it.
    let Some(oldest) = found.keys().min().copied() else { return Vec::new() };
    // What is older than a full page may well be there.
    let reaches_to = if (page.len() as u64) < PAGE { 0 } else { oldest };
    let change = |kept: &Kept| {
        let message: u64 = kept.id.as_str().parse().ok().filter(|message| *message >= reaches_to)?;
        let inputs = match found.get(&message) {
            None => ear.deleted(&json!({"channel_id": channel, "id": message}), now),
            Some(shown) => ear.edited(shown, now).into_iter().collect(),
        };
        inputs.into_iter().find_map(|input| match input {
            Input::Changed(change) => Some(change).filter(|change| change.text.as_ref() != Some(&kept.text)),
            _ => None,
        })
    };
    known.iter().filter_map(change).collect()
}
