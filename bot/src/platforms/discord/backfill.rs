//! Fills gaps: what was said while nobody listened is heard later, and not answered unless it has only just been said.

use std::sync::{Arc, Mutex};

use aizuchi_core::types::{Span, Time};
use aizuchi_core::{Input, Message};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use super::attend::Backoff;
use super::compare::KnownMessages;
use super::marks::Mark;
use super::platform::Discord;
use super::read::id;
use super::rest::Trouble;
use super::say::{Ear, Said};
use crate::runtime::Ears;

/// What is younger fell into a short gap, and can still be answered.
const FRESH: Span = Span::seconds(30);
/// What Discord gives at once.
pub(super) const PAGE: u64 = 100;
const CHANNELS_TOGETHER: usize = 4;
const DIRECT_MAX: usize = 50;
const ATTEMPTS_MAX: u32 = 8;

#[derive(Clone)]
pub struct Backfill {
    pub(super) discord: Arc<Discord>,
    pub(super) ears: Ears,
    pub(super) stop: CancellationToken,
    pub(super) together: Arc<Semaphore>,
    pub(super) known: Arc<Mutex<KnownMessages>>,
}

impl Backfill {
    pub fn new(discord: Arc<Discord>, ears: Ears, stop: CancellationToken) -> Backfill {
        let (together, known) = (Arc::new(Semaphore::new(CHANNELS_TOGETHER)), Arc::default());
        Backfill { discord, ears, stop, together, known }
    }

    /// The channels of a guild with their last message. Where gaps begin is settled when this returns; they are filled
    /// beside what happens from now on.
    pub async fn guild(&self, guild: u64, channels: Vec<(u64, Option<u64>)>) {
        // Without a last message there is nothing to miss, until there is one.
        let told = |(channel, newest): (u64, Option<u64>)| (channel, Some(newest.unwrap_or(0)));
        self.channels(guild, channels.into_iter().map(told).collect()).await;
    }

    /// Conversations with one person: Discord does not tell of them at the start.
    pub fn direct(&self) {
        let backfill = self.clone();
        tokio::spawn(async move {
            match backfill.discord.marks.direct(DIRECT_MAX).await {
                Ok(channels) => {
                    backfill.discord.places(|places| {
                        channels.iter().for_each(|channel| places.suppose(*channel, None));
                    });
                    backfill.channels(0, channels.into_iter().map(|channel| (channel, None)).collect()).await;
                }
                Err(error) => warn!(%error, "can not look for direct messages that were missed"),
            }
        });
    }

    async fn channels(&self, guild: u64, channels: Vec<(u64, Option<u64>)>) {
        for (channel, _) in &channels {
            self.compare(*channel, guild);
        }
        let gaps = match self.discord.marks.begin(guild, channels).await {
            Ok(gaps) => gaps,
            Err(error) => return warn!(guild, %error, "can not tell whether something was missed"),
        };
        for (channel, heard) in gaps {
            self.channel(channel, guild, heard);
        }
    }

    fn channel(&self, channel: u64, guild: u64, heard: u64) {
        let backfill = self.clone();
        tokio::spawn(async move {
            let fill = async {
                let Ok(_permit) = backfill.together.acquire().await else { return };
                backfill.fill(channel, guild, heard).await;
            };
            tokio::select! {
                () = fill => (),
                () = backfill.stop.cancelled() => return,
            }
            if let Err(error) = backfill.discord.marks.end(channel, guild).await {
                warn!(channel, %error, "can not note what was heard on Discord");
            }
        });
    }

    async fn fill(&self, channel: u64, guild: u64, heard: u64) {
        let most = u64::from(self.discord.settings.backfill_messages);
        let missed = match self.persist(|| self.missed(channel, guild, heard, most)).await {
            Ok(missed) => missed,
            Err(trouble) => return debug!(channel, %trouble, "can not fetch what was missed"),
        };
        if missed.is_empty() {
            return;
        }
        info!(channel, messages = missed.len(), "heard what was missed");
        for said in missed {
            if self.ears.hear(Input::Said(aged(said.message, self.discord.clock.now()))).await.is_err() {
                return;
            }
            let mark = Mark { channel, guild, message: said.id };
            if let Err(error) = self.discord.marks.fill(mark).await {
                return warn!(channel, %error, "can not note what was heard on Discord");
            }
        }
    }

    /// Asks again while that can help: nobody waits for the answer.
    pub(super) async fn persist<T, F>(&self, ask: impl Fn() -> F) -> Result<T, Trouble>
    where
        F: Future<Output = Result<T, Trouble>>,
    {
        let mut backoff = Backoff::default();
        for _ in 1..ATTEMPTS_MAX {
            match ask().await {
                Err(Trouble::Unclear(_) | Trouble::Broken(_)) => tokio::time::sleep(backoff.next()).await,
                Err(Trouble::Busy { after }) => tokio::time::sleep(backoff.next().max(after)).await,
                done => return done,
            }
        }
        ask().await
    }

    /// The newest messages after `heard`, oldest first.
    async fn missed(&self, channel: u64, guild: u64, heard: u64, most: u64) -> Result<Vec<Said>, Trouble> {
        let Some(me) = self.discord.me() else { return Ok(Vec::new()) };
        let mut missed = Vec::new();
        let mut before = String::new();
        while (missed.len() as u64) < most {
            let limit = PAGE.min(most - missed.len() as u64);
            let page = self.discord.rest.get(format!("channels/{channel}/messages?limit={limit}{before}")).await?;
            let page = page.as_array().map_or(&[][..], Vec::as_slice);
            let ids = page.iter().filter_map(|message| id(message, "id"));
            let Some(oldest) = ids.clone().min() else { break };
            let newer = |message: &&Value| id(message, "id").is_some_and(|id| id > heard);
            self.discord.places(|places| {
                let guild = Some(guild).filter(|guild| *guild != 0);
                let ear = Ear { me, own_names: &self.discord.own_names, places, guild };
                missed.extend(page.iter().filter(newer).filter_map(|message| ear.said(message)));
            });
            if oldest <= heard || (page.len() as u64) < limit {
                break;
            }
            before = format!("&before={oldest}");
        }
        missed.sort_unstable_by_key(|said| said.id);
        Ok(missed)
    }
}

fn aged(message: Message, now: Time) -> Message {
    let backfilled = now.since(message.at) > FRESH;
    Message { backfilled, ..message }
}
