//! Fills gaps: messages sent while the bot was disconnected are received later, and not answered unless they are very
//! recent.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use aizuchi_core::types::{Span, Time};
use aizuchi_core::{Input, Message};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;
use tracing::{debug, info, warn};

use super::compare::KnownMessages;
use super::marks::{ListedChannel, MessageMark};
use super::platform::Discord;
use super::read::id;
use super::rest::{RestError, with_retries};
use super::translate::{DiscordMessage, MessageContext};
use crate::journal::KnownMessage;
use crate::platforms::backoff::Backoff;
use crate::runtime::{EngineHandle, ShuttingDown};
use crate::stores::StoreError;

/// A younger message fell into a short gap and can still be answered.
const FRESH: Span = Span::seconds(30);
/// The page size of Discord.
pub(super) const PAGE: u64 = 100;
const CHANNELS_TOGETHER: usize = 4;
const DIRECT_MAX: usize = 50;
const ATTEMPTS_MAX: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

#[derive(Clone)]
pub struct Backfill {
    pub(super) discord: Arc<Discord>,
    pub(super) engine: EngineHandle,
    pub(super) stop: CancellationToken,
    pub(super) together: Arc<Semaphore>,
    pub(super) known: Arc<Mutex<KnownMessages>>,
}

impl Backfill {
    pub fn new(discord: Arc<Discord>, engine: EngineHandle, stop: CancellationToken) -> Backfill {
        let (together, known) = (Arc::new(Semaphore::new(CHANNELS_TOGETHER)), Arc::default());
        Backfill { discord, engine, stop, together, known }
    }

    /// Fills the gaps of a guild's channels, given with their last message. Where gaps begin is stored when this returns;
    /// they are filled in the background.
    pub async fn guild(&self, guild: u64, channels: Vec<(u64, Option<u64>)>) {
        self.channels(guild, channels).await;
    }

    /// Direct messages: Discord does not list these channels at the start. The same as with those of a guild.
    pub async fn direct(&self) {
        match self.discord.marks.direct(DIRECT_MAX).await {
            Ok(channels) => {
                self.discord.places(|places| {
                    channels.iter().for_each(|channel| places.suppose(*channel, None));
                });
                self.channels(0, channels.into_iter().map(|channel| (channel, None)).collect()).await;
            }
            Err(error) => warn!(%error, "cannot list direct message channels to backfill"),
        }
    }

    pub(super) async fn channels(&self, guild: u64, channels: Vec<(u64, Option<u64>)>) {
        let mut known = self.take_known(guild, &channels);
        let listed = channels.iter().map(|(channel, newest)| (*channel, *newest));
        // A channel with recent messages that is not listed may be an archived thread.
        let unlisted = known.keys().filter(|channel| channels.iter().all(|(told, _)| told != *channel));
        let told: Vec<ListedChannel> = listed
            .chain(unlisted.map(|channel| (*channel, None)))
            .map(|(channel, newest)| ListedChannel { channel, newest, look: known.contains_key(&channel) })
            .collect();
        let gaps = match self.until_available(|| self.discord.marks.begin(guild, told.clone())).await {
            Ok(gaps) => gaps,
            Err(error) => return warn!(guild, %error, "cannot check for missed messages"),
        };
        for (channel, heard) in gaps {
            self.channel(Gap { channel, guild, heard, known: known.remove(&channel).unwrap_or_default() });
        }
    }

    /// Tries again as long as the store is away. What is said meanwhile waits: heard first, it would hide the gap.
    pub(super) async fn until_available<T, F>(&self, attempt: impl Fn() -> F) -> Result<T, StoreError>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
        loop {
            match attempt().await {
                Err(StoreError::Unavailable(why)) => {
                    let pause = backoff.next();
                    warn!(
                        why,
                        pause_ms = pause.as_millis() as u64,
                        "cannot check for missed Discord messages; retrying"
                    );
                    if self.stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                        return Err(StoreError::Closed);
                    }
                }
                done => return done,
            }
        }
    }

    fn channel(&self, gap: Gap) {
        let backfill = self.clone();
        let (channel, guild) = (gap.channel, gap.guild);
        tokio::spawn(async move {
            let fill = async {
                let Ok(_permit) = backfill.together.acquire().await else { return Ok(()) };
                backfill.fill(gap).await
            };
            let filled = tokio::select! {
                filled = fill => filled,
                () = backfill.stop.cancelled() => Err(ShuttingDown),
            };
            if filled.is_err() {
                return backfill.discord.marks.abandon(channel);
            }
            if let Err(error) = backfill.discord.marks.end(channel, guild).await {
                warn!(channel, %error, "cannot store the Discord position");
            }
        });
    }

    /// Fetches messages newer than the last one heard, and then checks the older ones for changes.
    async fn fill(&self, gap: Gap) -> Result<(), ShuttingDown> {
        let Gap { channel, guild, heard, known } = gap;
        let (missed, newest) = match with_retries(ATTEMPTS_MAX, || self.missed(channel, guild, heard)).await {
            Ok(found) => found,
            Err(error) => {
                debug!(channel, %error, "cannot fetch missed messages");
                return Ok(());
            }
        };
        if !missed.is_empty() {
            info!(channel, messages = missed.len(), "backfilled missed messages");
        }
        for said in missed {
            self.engine.submit(Input::Said(mark_old(said.message, self.discord.clock.now()))).await?;
            let mark = MessageMark { channel, guild, message: said.id };
            if let Err(error) = self.discord.marks.fill(mark).await {
                warn!(channel, %error, "cannot store the Discord position");
                return Ok(());
            }
        }
        self.tell_changes(channel, guild, &known, &newest).await
    }

    /// The newest messages after `heard`, oldest first, and the newest page of the channel.
    async fn missed(
        &self,
        channel: u64,
        guild: u64,
        heard: u64,
    ) -> Result<(Vec<DiscordMessage>, Vec<Value>), RestError> {
        let most = self.discord.settings.backfill_messages as usize;
        let (mut missed, mut newest): (Vec<DiscordMessage>, Option<Vec<Value>>) = (Vec::new(), None);
        let Some(me) = self.discord.me().filter(|_| most > 0) else { return Ok((missed, Vec::new())) };
        let mut before = String::new();
        while missed.len() < most {
            let page = self.discord.rest.get(format!("channels/{channel}/messages?limit={PAGE}{before}")).await?;
            let page = page.as_array().cloned().unwrap_or_default();
            let oldest = page.iter().filter_map(|message| id(message, "id")).min();
            let newer = |message: &&Value| id(message, "id").is_some_and(|id| id > heard);
            self.discord.places(|places| {
                let guild = Some(guild).filter(|guild| *guild != 0);
                let context = MessageContext { me, own_names: &self.discord.own_names, places, guild };
                missed.extend(page.iter().filter(newer).filter_map(|message| context.to_message(message)));
            });
            let is_last = (page.len() as u64) < PAGE || oldest.is_none_or(|oldest| oldest <= heard);
            newest.get_or_insert(page);
            match oldest.filter(|_| !is_last) {
                Some(oldest) => before = format!("&before={oldest}"),
                None => break,
            }
        }
        missed.sort_unstable_by_key(|said| said.id);
        missed.drain(..missed.len().saturating_sub(most));
        Ok((missed, newest.unwrap_or_default()))
    }
}

/// A possible gap in a channel.
struct Gap {
    channel: u64,
    guild: u64,
    /// The last message that was heard.
    heard: u64,
    /// Recent messages as the journal knows them.
    known: Vec<KnownMessage>,
}

fn mark_old(message: Message, now: Time) -> Message {
    let backfilled = now.since(message.at) > FRESH;
    Message { backfilled, ..message }
}
