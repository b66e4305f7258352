//! Labelled logs, channel by channel.

use std::collections::BTreeMap;
use std::path::Path;

use aizuchi_core::types::{MessageId, RoomId, Time, Voice, stable_hash};
use aizuchi_formats::{Event, LabelledLog, LabelledMessage, Options, ReadError, labelled_text, read_labelled_log};

/// One message of a log.
#[derive(Clone, Debug)]
pub struct Said {
    pub id: MessageId,
    pub at: Time,
    pub author: u64,
    pub name: String,
    pub bot: bool,
    pub text: String,
    /// Indexes, in the channel, of the messages it answers; its own if it starts a conversation. Absent if it is not
    /// labelled.
    pub gold: Option<Vec<usize>>,
    /// The number of labels that refer to messages outside the log: nobody can predict them.
    pub lost: usize,
    /// Its conversation, counted within the channel; absent if unknown.
    pub conversation: Option<usize>,
    /// Hashes of the ids of those it mentions.
    pub mentions: Vec<u64>,
}

#[derive(Clone, Debug, Default)]
pub struct Channel {
    pub name: String,
    pub said: Vec<Said>,
}

impl Channel {
    /// For each message, the indexes of what it answers according to the labels: the label itself, or the message before it
    /// in its conversation. Its own if it starts a conversation; absent if unknown.
    pub fn answers(&self) -> Vec<Option<Vec<usize>>> {
        let mut last: BTreeMap<usize, usize> = BTreeMap::new();
        let answer = |(index, said): (usize, &Said)| match said.conversation {
            Some(conversation) => Some(vec![last.insert(conversation, index).unwrap_or(index)]),
            None => said.gold.clone(),
        };
        self.said.iter().enumerate().map(answer).collect()
    }

    /// The conversation of each message: the label, or what is linked by answers. Absent if unknown.
    pub fn conversations(&self) -> Vec<Option<usize>> {
        let known = |(conversation, said): (usize, &Said)| {
            (said.conversation.is_some() || said.gold.is_some()).then_some(conversation)
        };
        self.linked().into_iter().zip(&self.said).map(known).collect()
    }

    /// The same for messages without a label too: one that nothing answers is a conversation of its own.
    pub fn linked(&self) -> Vec<usize> {
        let mut roots: Vec<usize> = (0..self.said.len()).collect();
        fn find(roots: &mut [usize], mut index: usize) -> usize {
            while roots[index] != index {
                roots[index] = roots[roots[index]];
                index = roots[index];
            }
            index
        }
        for (index, answers) in self.answers().into_iter().enumerate() {
            for earlier in answers.into_iter().flatten().filter(|earlier| *earlier < index) {
                let (one, two) = (find(&mut roots, earlier), find(&mut roots, index));
                roots[one.max(two)] = one.min(two);
            }
        }
        (0..self.said.len()).map(|index| find(&mut roots, index)).collect()
    }
}

/// A log of any format: the labels of a transcript, or the threads and replies of an export.
pub fn read(path: &Path) -> Result<Vec<Channel>, ReadError> {
    Ok(read_with_events(&path.to_string_lossy(), &Options::default())?.0)
}

/// The same, with the events without what the labels reveal.
pub fn read_with_events(path: &str, options: &Options) -> Result<(Vec<Channel>, Vec<Event>), ReadError> {
    let LabelledLog { messages, events } = read_labelled_log(path, options)?;
    Ok((channels(messages), events))
}

/// Parses a log.
pub fn parse(text: &str) -> Result<Vec<Channel>, ReadError> {
    Ok(channels(labelled_text("log", text.as_bytes())?))
}

/// In order of first occurrence.
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
    let mut labels_seen: BTreeMap<String, usize> = BTreeMap::new();
    let said = |LabelledMessage { message, replies_to, conversation }: LabelledMessage| {
        let known = labels_seen.len();
        let labels = replies_to.as_ref().map_or(0, Vec::len);
        let gold = replies_to.map(|ids| ids.iter().filter_map(|id| indexes.get(id).copied()).collect::<Vec<_>>());
        Said {
            id: message.id,
            at: message.at,
            author: stable_hash(0, message.author.id.as_str()),
            name: message.author.name.into(),
            bot: message.author.voice == Voice::Bot,
            text: message.text.to_string(),
            mentions: message.mentions.iter().map(|person| stable_hash(0, person.as_str())).collect(),
            conversation: conversation.map(|label| *labels_seen.entry(label).or_insert(known)),
            lost: labels - gold.as_ref().map_or(0, Vec::len),
            gold,
        }
    };
    Channel { name, said: log.into_iter().map(said).collect() }
}
