//! Detects what was changed or deleted while the bot was disconnected: compares a channel's newest messages with the known
//! ones.
//!
//! A message may be durable before it is recorded: a worker of a cluster may be behind. Rooms that are behind when a session begins are
//! compared again once they have recorded what was said until then.

use std::collections::HashMap;
use std::time::Duration;

use aizuchi_core::Input;
use aizuchi_core::types::{Change, Place, Time};
use serde_json::{Value, json};
use tokio::time::timeout;
use tracing::{debug, info, warn};

use super::backfill::{Backfill, PAGE};
use super::places::{channel_of, guild_of};
use super::platform::PLATFORM;
use super::read::id;
use super::translate::MessageContext;
use crate::journal::KnownMessage;
use crate::ports::LateRooms;
use crate::runtime::ShuttingDown;
use crate::stores::StoreError;

/// How long to wait for an answer to which rooms are behind.
const ASKS_FOR: Duration = Duration::from_secs(1);
/// How often it looks whether rooms have recorded what was said.
const LOOKS_EVERY: Duration = Duration::from_millis(500);

/// Recent messages by channel or thread, with the guild; 0 for direct messages.
pub type KnownMessages = HashMap<u64, (u64, Vec<KnownMessage>)>;

impl Backfill {
    /// Loads the known messages at the start of a session that does not resume another one: Discord does not send what such
    /// a session missed.
    pub async fn recall(&self) {
        // Where gaps begin is stored only after this, so that it must not wait for rooms that are behind.
        let late = timeout(ASKS_FOR, LateRooms::find(&*self.discord.recent, PLATFORM)).await;
        let known = self.until_available(|| self.recent()).await.unwrap_or_else(|error| {
            warn!(%error, "cannot check Discord for edits made while offline");
            HashMap::new()
        });
        *self.known.lock().expect("nobody panics while holding it") = by_channel(known).collect();
        let late = late.ok().and_then(Result::ok);
        if late.as_ref().is_none_or(|late| !late.is_empty()) && self.discord.settings.backfill_messages > 0 {
            let (backfill, stop) = (self.clone(), self.stop.clone());
            tokio::spawn(async move { stop.run_until_cancelled(backfill.compare_late(late)).await });
        }
    }

    async fn recent(&self) -> Result<HashMap<Place, Vec<KnownMessage>>, StoreError> {
        self.discord.recent.recent(PLATFORM, self.discord.clock.now()).await
    }

    /// `late` are the rooms that are behind, if that is known.
    async fn compare_late(self, late: Option<LateRooms>) {
        let Ok(mut late) = (match late {
            Some(late) => Ok(late),
            None => self.until_available(|| self.perhaps_late()).await,
        }) else {
            return;
        };
        while !late.is_empty() {
            tokio::time::sleep(LOOKS_EVERY).await;
            if let Err(error) = self.compare_recorded(&mut late).await {
                debug!(%error, "cannot check Discord yet for edits made while offline");
            }
        }
    }

    /// Every room, since any may have been behind when the session began.
    async fn perhaps_late(&self) -> Result<LateRooms, StoreError> {
        let mut late = LateRooms::find(&*self.discord.recent, PLATFORM).await?;
        late.include(self.recent().await?.into_keys().map(|place| place.room));
        Ok(late)
    }

    /// Compares the rooms that have recorded everything meanwhile.
    async fn compare_recorded(&self, late: &mut LateRooms) -> Result<(), StoreError> {
        let recorded = late.recorded(&*self.discord.recent, PLATFORM).await?;
        if recorded.is_empty() {
            return Ok(());
        }
        let mut known = self.recent().await?;
        for room in recorded {
            let here: KnownMessages = by_channel(known.extract_if(|place, _| place.room == room)).collect();
            // Where a gap is being filled, no other look begins.
            if here.keys().any(|channel| self.discord.marks.is_filling(*channel)) {
                continue;
            }
            late.remove(&room);
            let Some((guild, _)) = here.values().next() else { continue };
            let guild = *guild;
            self.known.lock().expect("nobody panics while holding it").extend(here);
            self.channels(guild, Vec::new()).await;
        }
        Ok(())
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

fn by_channel(
    known: impl IntoIterator<Item = (Place, Vec<KnownMessage>)>,
) -> impl Iterator<Item = (u64, (u64, Vec<KnownMessage>))> {
    known.into_iter().filter_map(|(place, kept)| Some((channel_of(&place)?, (guild_of(&place)?, kept))))
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
