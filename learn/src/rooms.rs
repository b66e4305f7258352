//! The rooms for training: the logs as they are, and variants that differ as talk elsewhere does.

use aizuchi_core::conversations::{Conversations, LinkModel};
use aizuchi_core::types::stable_hash;
use aizuchi_measure::logs::{Channel, Said};

use crate::words::to_utterance;

/// Logs of one kind: one platform, one language.
#[derive(Clone, Debug)]
pub struct Kind {
    pub name: String,
    pub channels: Vec<Channel>,
}

/// A channel for training.
#[derive(Clone, Debug)]
pub struct Room {
    pub channel: Channel,
    pub kind: usize,
    /// Its fold in the cross-validation; that of its first stretch if it has several.
    pub fold: usize,
    /// How many stretches it is split into, each in another fold.
    pub stretches: usize,
    /// As if none of its words were known.
    pub wordless: bool,
}

impl Room {
    /// The fold of a message.
    pub fn fold_of(&self, index: usize) -> usize {
        match self.stretches {
            1 => self.fold,
            some => (self.fold + index * some / self.channel.said.len().max(1)) % some,
        }
    }
}

/// One variant of the logs, and how much it counts.
pub struct LogVariant {
    pub rooms: Vec<Room>,
    pub share: f32,
    /// Whether it is used for joining and turns, or for links alone.
    pub joins: bool,
}

/// The weight of each variant, relative to the original talk.
#[derive(Clone, Copy, Debug)]
pub struct Shares {
    pub wordless: f32,
    pub nameless: f32,
    pub paused: f32,
    pub paced: f32,
    pub mixed: f32,
    pub hinted: f32,
    pub fresh: f32,
}

/// The original talk.
pub fn as_it_is(kinds: &[Kind], folds: usize) -> Vec<Room> {
    let rooms = |(kind, logs): (usize, &Kind)| {
        let room = |(index, channel): (usize, &Channel)| {
            let channel = channel.clone();
            Room { channel, kind, fold: index % folds, stretches: 1, wordless: false }
        };
        logs.channels.iter().enumerate().map(room).collect::<Vec<_>>()
    };
    kinds.iter().enumerate().flat_map(rooms).collect()
}

/// All variants; the first is the original talk, then as if no word were known, then as if nobody were called by name.
pub fn lives(known: &[Room], shares: &Shares) -> Vec<LogVariant> {
    let wordless = known.iter().cloned().map(|room| Room { wordless: true, ..room }).collect();
    let change = |rooms: &[Room], change: fn(&Channel, usize) -> Channel| -> Vec<Room> {
        let changed = |(index, room): (usize, &Room)| Room { channel: change(&room.channel, index), ..*room };
        rooms.iter().enumerate().map(changed).collect()
    };
    let mut nameless = change(known, |channel, _| without_names(channel));
    nameless.iter_mut().enumerate().for_each(|(index, room)| room.wordless = index % 3 != 0);
    let mut paused = change(&nameless, |channel, _| with_pauses(channel));
    paused.iter_mut().for_each(|room| room.wordless = true);
    let mut paced = change(known, at_another_pace);
    paced.iter_mut().enumerate().for_each(|(index, room)| room.wordless = index % 2 == 0);
    let mixed = mixed(known);
    let hinted = change(known, |channel, _| by_hints(channel));
    vec![
        LogVariant { rooms: known.to_vec(), share: 1.0, joins: true },
        LogVariant { rooms: wordless, share: shares.wordless, joins: true },
        LogVariant { rooms: nameless, share: shares.nameless, joins: true },
        LogVariant { rooms: paused, share: shares.paused, joins: false },
        LogVariant { rooms: paced, share: shares.paced, joins: true },
        LogVariant { rooms: mixed, share: shares.mixed, joins: true },
        LogVariant { rooms: hinted, share: shares.hinted, joins: false },
        LogVariant { rooms: fresh(known), share: shares.fresh, joins: false },
    ]
}

/// The same talk in a place where nobody calls anybody by name.
fn without_names(channel: &Channel) -> Channel {
    let (model, mut conversations) = (LinkModel::empty(), Conversations::default());
    let mut channel = channel.clone();
    for said in &mut channel.said {
        conversations.hear(&to_utterance(said), &model);
        said.text = conversations.body(&said.text, said.author).to_owned();
        said.name = String::new();
        said.mentions.clear();
    }
    channel
}

/// A mention counts as a hint if the mentioned person spoke within this many messages before.
const HINTED_MAX: usize = 24;

/// Unlabelled messages with their mention as the label: the mention itself is removed, and its target is to be found
/// without it.
fn by_hints(channel: &Channel) -> Channel {
    let mut hinted = without_names(channel);
    for (index, said) in channel.said.iter().enumerate() {
        let labelled = said.gold.is_some() || said.conversation.is_some();
        let near = index.saturating_sub(HINTED_MAX)..index;
        let for_whom = near.rev().find(|earlier| said.mentions.contains(&channel.said[*earlier].author));
        let hint = for_whom.filter(|earlier| !labelled && channel.said[*earlier].author != said.author);
        (hinted.said[index].gold, hinted.said[index].conversation) = (hint.map(|earlier| vec![earlier]), None);
    }
    hinted
}

/// How many messages there are between two pauses, and how many minutes a pause lasts.
const BETWEEN_PAUSES: usize = 60;
const PAUSES: [u64; 5] = [20, 45, 120, 400, 900];

/// The same talk in a room that is silent for long before some conversations. Answers across a pause are not used.
fn with_pauses(channel: &Channel) -> Channel {
    let mut channel = channel.clone();
    let (mut last, mut longer, mut pauses) = (0, 0, 0);
    for (index, said) in channel.said.iter_mut().enumerate() {
        let starts = said.gold.as_ref().is_some_and(|gold| gold.contains(&index));
        if starts && index - last >= BETWEEN_PAUSES {
            last = index;
            longer += PAUSES[pauses % PAUSES.len()] * 60_000;
            pauses += 1;
        }
        said.at.0 += longer;
        said.gold = said.gold.take().filter(|gold| gold.iter().all(|gold| *gold >= last));
    }
    channel
}

/// How much slower or faster a room becomes, in percent.
const PACES: [u64; 6] = [1000, 30, 4000, 300, 12_000, 10];
/// A night follows after this much talk.
const DAY: u64 = 10 * 3_600_000;
const NIGHT: u64 = 14 * 3_600_000;

/// The same talk at another pace: every gap is scaled, some more than others, with an occasional night.
fn at_another_pace(channel: &Channel, number: usize) -> Channel {
    let mut channel = channel.clone();
    let pace = PACES[number % PACES.len()];
    let Some(mut before) = channel.said.first().map(|said| said.at.0) else { return channel };
    let (mut at, mut awake) = (before, 0);
    for (index, said) in channel.said.iter_mut().enumerate() {
        let jitter = [40, 70, 100, 140, 250][(stable_hash(number as u64, &index.to_string()) % 5) as usize];
        let gap = said.at.0.saturating_sub(before) * pace / 100 * jitter / 100;
        before = said.at.0;
        at += gap;
        awake += gap;
        if pace > 100 && awake > DAY {
            awake = 0;
            at += NIGHT;
        }
        said.at.0 = at;
    }
    channel
}

/// How many channels are merged into one room.
const TOGETHER: usize = 4;

/// Several channels of one kind merged into one room by time: conversations interleave there more than in any of them. Logs
/// whose channels are stretches of one channel are left out: they share no clock.
fn mixed(known: &[Room]) -> Vec<Room> {
    let mut rooms = Vec::new();
    let folds = known.iter().map(|room| room.fold).max().unwrap_or(0);
    let kinds = known.iter().map(|room| room.kind).max().unwrap_or(0);
    for kind in 0..=kinds {
        for fold in 0..=folds {
            let of = |room: &&Room| {
                let labelled = room.channel.said.iter().any(|said| said.conversation.is_some());
                room.kind == kind && room.fold == fold && labelled
            };
            let some: Vec<&Room> = known.iter().filter(of).collect();
            for together in some.chunks(TOGETHER).filter(|together| together.len() > 1) {
                let channel = lay_together(together.iter().map(|room| &room.channel));
                rooms.push(Room { channel, kind, fold, stretches: 1, wordless: rooms.len() % 2 == 0 });
            }
        }
    }
    rooms
}

/// Messages in a new room.
const FRESH_MESSAGES: usize = 40;

/// New rooms: talk that begins in the middle, so that little is known yet of the people and the pace.
fn fresh(known: &[Room]) -> Vec<Room> {
    let mut rooms = Vec::new();
    for room in known {
        let said = &room.channel.said;
        let is_labelled = |said: &Said| said.gold.is_some() || said.conversation.is_some();
        let Some(first) = said.iter().position(is_labelled) else { continue };
        for begin in (first..said.len()).step_by(FRESH_MESSAGES) {
            let part = &said[begin..said.len().min(begin + FRESH_MESSAGES)];
            let cut = |said: &Said| {
                let gold = said.gold.as_ref().map(|gold| gold.iter().map(|gold| gold.checked_sub(begin)).collect());
                Said { gold: gold.flatten(), ..said.clone() }
            };
            let part: Vec<Said> = part.iter().map(cut).collect();
            // A conversation that began before is not known to have begun here.
            let before: Vec<Option<usize>> = said[..begin].iter().map(|said| said.conversation).collect();
            let is_known = |said: &Said| said.conversation.is_none_or(|label| !before.contains(&Some(label)));
            let said = part
                .into_iter()
                .map(|said| Said { conversation: said.conversation.filter(|_| is_known(&said)), ..said });
            let channel = Channel { name: room.channel.name.clone(), said: said.collect() };
            rooms.push(Room { channel, wordless: rooms.len() % 2 == 0, ..*room });
        }
    }
    rooms
}

fn lay_together<'a>(channels: impl Iterator<Item = &'a Channel>) -> Channel {
    let mut said: Vec<Said> = Vec::new();
    let mut conversations = 0;
    for channel in channels {
        let begun = conversations;
        for one in &channel.said {
            let conversation = one.conversation.map(|conversation| begun + conversation);
            conversations = conversations.max(conversation.map_or(0, |conversation| conversation + 1));
            let id = format!("{}/{}", channel.name, one.id.as_str());
            let id = aizuchi_core::types::MessageId::new(id);
            said.push(Said { id, gold: None, conversation, ..one.clone() });
        }
    }
    said.sort_by_key(|said| said.at);
    Channel { name: "mixed".to_owned(), said }
}

#[cfg(test)]
mod tests {
    use aizuchi_measure::logs::parse;

    use super::*;

    #[test]
    fn names_are_taken_off_what_is_said() {
        let log = r#"{"ts": 1, "channel": "c", "author": "ann", "text": "how?"}
{"ts": 2, "channel": "c", "author": "ben", "text": "ann: like this"}"#;
        let channel = parse(log).expect("it parses").remove(0);
        let texts: Vec<String> = without_names(&channel).said.into_iter().map(|said| said.name + &said.text).collect();
        assert_eq!(texts, ["how?", "like this"]);
    }

    #[test]
    fn a_mention_is_a_hint_and_is_taken_off() {
        let log = r#"{"ts": 1, "channel": "c", "id": "1", "author": "ann", "text": "how?"}
{"ts": 2, "channel": "c", "id": "2", "author": "ben", "text": "fine here"}
{"ts": 3, "channel": "c", "id": "3", "author": "cleo", "text": "@ann like this", "mentions": ["ann"]}"#;
        let channel = by_hints(&parse(log).expect("it parses")[0]);
        let gold: Vec<_> = channel.said.iter().map(|said| said.gold.clone()).collect();
        assert_eq!(gold, [None, None, Some(vec![0])]);
        assert!(channel.said[2].mentions.is_empty() && channel.said[2].text == "like this");
    }

    #[test]
    fn a_pause_comes_before_a_conversation_and_nothing_reaches_over_it() {
        let line = |index: usize| {
            let to = if index == 70 { 70 } else { index.saturating_sub(if index == 71 { 2 } else { 1 }) };
            format!(
                r#"{{"ts": {index}, "channel": "c", "id": "{index}", "author": "a", "text": "t", "gold_reply_to": ["{to}"]}}"#
            )
        };
        let log: Vec<String> = (0..80).map(line).collect();
        let channel = with_pauses(&parse(&log.join("\n")).expect("it parses")[0]);
        let silence = |index: usize| channel.said[index].at.since(channel.said[index - 1].at).0;
        assert_eq!((silence(69), silence(70), silence(71)), (1000, 1000 + 20 * 60_000, 1000));
        let looked_at: Vec<bool> = [69, 70, 71, 72].map(|index| channel.said[index].gold.is_some()).into();
        assert_eq!(looked_at, [true, true, false, true]);
    }

    #[test]
    fn channels_are_laid_together_by_the_clock_and_keep_their_conversations() {
        let log = r#"{"ts": 1, "channel": "c", "id": "1", "author": "ann", "text": "x", "gold_conversation": "one"}
{"ts": 3, "channel": "c", "id": "2", "author": "ben", "text": "x", "gold_conversation": "one"}
{"ts": 2, "channel": "d", "id": "1", "author": "ann", "text": "x", "gold_conversation": "one"}"#;
        let channels = parse(log).expect("it parses");
        let room = lay_together(channels.iter());
        let order: Vec<_> = room.said.iter().map(|said| (said.id.as_str(), said.conversation)).collect();
        assert_eq!(order, [("c/1", Some(0)), ("d/1", Some(1)), ("c/2", Some(0))]);
    }

    #[test]
    fn another_pace_keeps_the_order() {
        let lines: Vec<String> = (0..50)
            .map(|ts| format!(r#"{{"ts": {}, "channel": "c", "id": "{ts}", "author": "a", "text": "t"}}"#, ts * 600))
            .collect();
        let channel = parse(&lines.join("\n")).expect("it parses").remove(0);
        for (number, pace) in PACES.into_iter().enumerate() {
            let other = at_another_pace(&channel, number);
            assert!(other.said.is_sorted_by_key(|said| said.at), "{number}");
            let lasts = |channel: &Channel| channel.said[49].at.since(channel.said[0].at).0;
            assert_eq!(lasts(&other) > lasts(&channel), pace > 100, "{number}");
        }
    }
}
