//! Detects what was changed or deleted while the bot was disconnected: compares a channel's newest messages with the known
//! ones.

use std::collections::HashMap;

use aizuchi_core::Input;
use aizuchi_core::types::{Change, Time};
use serde_json::{Value, json};
use tracing::{info, warn};

use super::backfill::{Backfill, PAGE};
use super::places::{channel_of, guild_of};
use super::platform::PLATFORM;
use super::read::id;
use super::translate::MessageContext;
use crate::journal::KnownMessage;
use crate::runtime::ShuttingDown;

/// Recent messages by channel or thread, with the guild; 0 for direct messages.
pub type KnownMessages = HashMap<u64, (u64, Vec<KnownMessage>)>;

impl Backfill {
    /// Loads the known messages at the start of a session that does not resume another one: Discord does not send what such
    /// a session missed.
    pub async fn recall(&self) {
        let now = self.discord.clock.now();
        let known = self.discord.recent.recent(PLATFORM, now).await;
        let known = known.unwrap_or_else(|error| {
            warn!(%error, "cannot check Discord for edits made while offline");
            HashMap::new()
        });
        let by_channel =
            known.into_iter().filter_map(|(place, kept)| Some((channel_of(&place)?, (guild_of(&place)?, kept))));
        *self.known.lock().expect("nobody panics while holding it") = by_channel.collect();
    }

    /// Takes the known messages of these channels, and of unlisted channels of the guild: once for each session.
    pub fn take_known(&self, guild: u64, channels: &[(u64, Option<u64>)]) -> HashMap<u64, Vec<KnownMessage>> {
        if self.discord.settings.backfill_messages == 0 {
            return HashMap::new();
        }
        let mut known = self.known.lock().expect("nobody panics while holding it");
        let told: std::collections::HashSet<u64> = channels.iter().map(|(channel, _)| *channel).collect();
        let wanted = |channel: &u64, of: &(u64, Vec<KnownMessage>)| told.contains(channel) || of.0 == guild;
        known.extract_if(|channel, of| wanted(channel, of)).map(|(channel, (_, kept))| (channel, kept)).collect()
    }

    /// `newest` is the newest page of the channel.
    pub async fn tell_changes(
        &self,
        channel: u64,
        guild: u64,
        known: &[KnownMessage],
        newest: &[Value],
    ) -> Result<(), ShuttingDown> {
        let Some(me) = self.discord.me() else { return Ok(()) };
        let now = self.discord.clock.now();
        let changes = self.discord.places(|places| {
            let guild = Some(guild).filter(|guild| *guild != 0);
            let context = MessageContext { me, own_names: &self.discord.own_names, places, guild };
            changes(&context, channel, known, newest, now)
        });
        if !changes.is_empty() {
            info!(channel, messages = changes.len(), "applied edits made while offline");
        }
        for change in changes {
            self.engine.submit(Input::Changed(change)).await?;
        }
        Ok(())
    }
}

/// `page` is the newest page now.
fn changes(
    context: &MessageContext<'_>,
    channel: u64,
    known: &[KnownMessage],
    page: &[Value],
    now: Time,
) -> Vec<Change> {
    let found: HashMap<u64, &Value> = page.iter().filter_map(|message| Some((id(message, "id")?, message))).collect();
    // Without permission to read the history the page is empty, which says nothing about deletions.
    let Some(oldest) = found.keys().min().copied() else { return Vec::new() };
    // Messages older than a full page may still exist.
    let reaches_to = if (page.len() as u64) < PAGE { 0 } else { oldest };
    let change = |kept: &KnownMessage| {
        let message: u64 = kept.id.as_str().parse().ok().filter(|message| *message >= reaches_to)?;
        let inputs = match found.get(&message) {
            None => context.to_deletions(&json!({"channel_id": channel, "id": message}), now),
            Some(shown) => context.to_edit(shown, now).into_iter().collect(),
        };
        inputs.into_iter().find_map(|input| {
            let Input::Changed(change) = input else { return None };
            Some(change).filter(|change| change.text.as_ref() != Some(&kept.text))
        })
    };
    known.iter().filter_map(change).collect()
}
