//! Labelled logs, channel by channel.

use std::collections::BTreeMap;
use std::path::Path;

use aizuchi_core::types::{MessageId, RoomId, Time, Voice, stable_hash};
use aizuchi_formats::{LabelledMessage, ReadError, labelled_text, read_labelled};

/// One message of a log.
#[derive(Clone, Debug)]
pub struct Said {
    pub id: MessageId,
    pub at: Time,
    pub author: u64,
    pub name: String,
    pub bot: bool,
    pub text: String,
    /// Indexes, in the channel, of the messages it answers; its own where it starts a conversation. Absent where nobody
    /// looked.
    pub gold: Option<Vec<usize>>,
    /// Labels that lead out of the log: nobody can find them.
    pub lost: usize,
}

#[derive(Clone, Debug, Default)]
pub struct Channel {
    pub name: String,
    pub said: Vec<Said>,
}

pub fn read(path: &Path) -> Result<Vec<Channel>, ReadError> {
    Ok(channels(read_labelled(&path.to_string_lossy())?))
}

/// A log that is there as text.
pub fn parse(text: &str) -> Result<Vec<Channel>, ReadError> {
    Ok(channels(labelled_text("log", text.as_bytes())?))
}

/// In the order in which they are first heard of.
fn channels(log: Vec<LabelledMessage>) -> Vec<Channel> {
    let mut indexes: BTreeMap<RoomId, usize> = BTreeMap::new();
    let mut channels: Vec<Vec<LabelledMessage>> = Vec::new();
    for labelled in log {
        let index = *indexes.entry(labelled.message.place.room.clone()).or_insert(channels.len());
        if index == channels.len() {
            channels.push(Vec::new());
        }
        channels[index].push(labelled);
    }
    channels.into_iter().map(channel).collect()
}

fn channel(log: Vec<LabelledMessage>) -> Channel {
    let name = log[0].message.place.room.to_string();
    let indexes: BTreeMap<MessageId, usize> =
        log.iter().enumerate().map(|(index, labelled)| (labelled.message.id.clone(), index)).collect();
    let said = |LabelledMessage { message, replies_to }: LabelledMessage| {
        let labels = replies_to.as_ref().map_or(0, Vec::len);
        let gold = replies_to.map(|ids| ids.iter().filter_map(|id| indexes.get(id).copied()).collect::<Vec<_>>());
        Said {
            id: message.id,
            at: message.at,
            author: stable_hash(0, message.author.id.as_str()),
            name: message.author.name.into(),
            bot: message.author.voice == Voice::Bot,
            text: message.text.to_string(),
            lost: labels - gold.as_ref().map_or(0, Vec::len),
            gold,
        }
    };
    Channel { name, said: log.into_iter().map(said).collect() }
}
