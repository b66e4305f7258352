//! Up to which message each channel was heard. While a gap is being filled, messages heard live do not count yet: a crash
//! in between must not hide the gap.
//!
//! These marks replace an inbox. Discord keeps the messages: after a crash the gateway resumes its session, or the channel
//! is read from its mark on. So nothing has to be stored here between receiving a message and passing it to the engine.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::watch;

use super::platform::PLATFORM;
use crate::ports::{ChannelMark, ChannelMarks};
use crate::stores::StoreError;

pub struct MarkTracker {
    store: Arc<dyn ChannelMarks>,
    /// Channels whose gap is being filled, and the newest message heard live meanwhile.
    filling: Mutex<HashMap<u64, u64>>,
    /// Notified when a gap is filled, or is not filled here any more.
    filled: watch::Sender<()>,
}

/// A message that was heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageMark {
    pub channel: u64,
    /// 0 for direct messages.
    pub guild: u64,
    pub message: u64,
}

/// A channel as Discord lists it when a session begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedChannel {
    pub channel: u64,
    /// Its last message, if Discord sends it.
    pub newest: Option<u64>,
    /// Whether it is to be read in any case.
    pub look: bool,
}

/// The `server` of the marks of whole guilds.
const GUILDS: &str = "guilds";

impl From<MessageMark> for ChannelMark {
    fn from(MessageMark { channel, guild, message }: MessageMark) -> ChannelMark {
        ChannelMark { channel: channel.to_string(), server: server(guild), heard: sortable_id(message) }
    }
}

fn server(guild: u64) -> String {
    if guild == 0 { String::new() } else { guild.to_string() }
}

/// The name of a guild's own mark. An old guild and one of its channels may have the same id.
fn guild_mark(guild: u64) -> String {
    format!("guild/{guild}")
}

/// Padded, because marks are compared as text.
fn sortable_id(id: u64) -> String {
    format!("{id:020}")
}

fn heard_id(mark: &ChannelMark) -> u64 {
    mark.heard.parse().unwrap_or(0)
}

impl MarkTracker {
    pub fn new(store: Arc<dyn ChannelMarks>) -> MarkTracker {
        MarkTracker { store, filling: Mutex::default(), filled: watch::Sender::new(()) }
    }

    /// Whether the gap of this channel is being filled.
    pub fn is_filling(&self, channel: u64) -> bool {
        self.filling.lock().expect("marks are never held over a panic").contains_key(&channel)
    }

    pub fn filled(&self) -> watch::Receiver<()> {
        self.filled.subscribe()
    }

    /// Notes messages that were heard live.
    pub async fn note(&self, mut marks: Vec<MessageMark>) -> Result<(), StoreError> {
        {
            let mut filling = self.filling.lock().expect("marks are never held over a panic");
            marks.retain(|mark| match filling.get_mut(&mark.channel) {
                Some(newest) => {
                    *newest = mark.message.max(*newest);
                    false
                }
                None => true,
            });
        }
        self.write(marks).await
    }

    async fn write(&self, marks: Vec<MessageMark>) -> Result<(), StoreError> {
        if marks.is_empty() {
            return Ok(());
        }
        self.store.advance(PLATFORM, marks.into_iter().map(ChannelMark::from).collect()).await
    }

    /// Where the gaps of channels begin, for those that may have one. A channel seen for the first time has none and is
    /// heard from now on, unless it was created after the channels of its guild were last listed: then all of it is a gap,
    /// whether its creation was reported or not. One write for all channels, since a guild has many.
    pub async fn begin(&self, guild: u64, channels: Vec<ListedChannel>) -> Result<Vec<(u64, u64)>, StoreError> {
        let names = channels.iter().map(|told| told.channel.to_string()).collect();
        let heard_before = self.store.find(PLATFORM, names).await?;
        let heard_before: HashMap<&str, u64> =
            heard_before.iter().map(|mark| (mark.channel.as_str(), heard_id(mark))).collect();
        let guild_marks = GuildMarks::find(&*self.store, guild).await?;
        let (mut known, mut marks) = (Vec::new(), Vec::new());
        for told in &channels {
            if let Some(heard) = heard_before.get(told.channel.to_string().as_str()) {
                known.push((*told, *heard));
                continue;
            }
            let is_younger = guild != 0 && guild_marks.told != 0 && told.channel >= guild_marks.told;
            let from = if is_younger { 0 } else { told.newest.unwrap_or(0) };
            marks.push(ChannelMark::from(MessageMark { channel: told.channel, guild, message: from }));
            known.push((ListedChannel { look: told.look || (is_younger && told.newest.is_none()), ..*told }, from));
        }
        if guild != 0 {
            let newest = channels.iter().flat_map(|told| [Some(told.channel), told.newest]).flatten().max();
            let heard = sortable_id(newest.unwrap_or(0).max(guild_marks.heard));
            marks.push(ChannelMark { channel: guild_mark(guild), server: GUILDS.into(), heard });
        }
        if !marks.is_empty() {
            self.store.advance(PLATFORM, marks).await?;
        }
        let mut filling = self.filling.lock().expect("marks are never held over a panic");
        let mut gaps = Vec::new();
        for (told, heard) in known {
            // If something was heard and no last message is sent, the server does not know it.
            let may_lack = told.look || told.newest.map_or(heard > 0, |newest| newest > heard);
            if may_lack && !filling.contains_key(&told.channel) {
                filling.insert(told.channel, heard);
                gaps.push((told.channel, heard));
            }
        }
        Ok(gaps)
    }

    /// Part of the gap is filled.
    pub async fn fill(&self, mark: MessageMark) -> Result<(), StoreError> {
        self.write(vec![mark]).await
    }

    /// The whole gap is filled, or cannot be: messages heard live count from now on.
    pub async fn end(&self, channel: u64, guild: u64) -> Result<(), StoreError> {
        let newest = self.filling.lock().expect("marks are never held over a panic").remove(&channel);
        self.filled.send_replace(());
        let mark = newest.map(|message| MessageMark { channel, guild, message });
        self.write(mark.into_iter().collect()).await
    }

    /// The gap is not filled here any more: the next process that has the connection looks for it again.
    pub fn abandon(&self, channel: u64) {
        self.filling.lock().expect("marks are never held over a panic").remove(&channel);
        self.filled.send_replace(());
    }

    /// The most recently heard direct message channels.
    pub async fn direct(&self, at_most: usize) -> Result<Vec<u64>, StoreError> {
        let marks = self.store.of_server(PLATFORM, &server(0), at_most).await?;
        Ok(marks.iter().filter_map(|mark| mark.channel.parse().ok()).collect())
    }
}

/// How far a guild as a whole is known.
#[derive(Default)]
struct GuildMarks {
    /// The newest message that was heard in it.
    heard: u64,
    /// The newest id that was known when its channels were last listed: anything created later has a greater one. If that
    /// was never noted, the newest message that was heard is used instead.
    told: u64,
}

impl GuildMarks {
    async fn find(store: &dyn ChannelMarks, guild: u64) -> Result<GuildMarks, StoreError> {
        if guild == 0 {
            return Ok(GuildMarks::default());
        }
        let newest = store.of_server(PLATFORM, &server(guild), 1).await?;
        let newest = newest.first().map_or(0, heard_id);
        let told = store.find(PLATFORM, vec![guild_mark(guild)]).await?;
        Ok(GuildMarks { heard: newest, told: told.first().map_or(newest, heard_id) })
    }
}
