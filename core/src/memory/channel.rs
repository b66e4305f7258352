//! What a channel is about: a running summary, its mood, its topics and who takes part.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::Origin;
use crate::types::{MessageId, PersonId, Time};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChannelMemory {
    #[serde(flatten)]
    pub origin: Origin,
    pub summary: Box<str>,
    /// A phrase.
    pub mood: Box<str>,
    pub topics: Vec<Box<str>>,
    /// Who takes part, in order of appearance, by the names people see.
    pub active: Vec<(PersonId, Box<str>)>,
    pub at: Time,
    /// The last record of the journal that went into it.
    pub up_to: u64,
    /// The latest messages that went into it; `MESSAGES_MAX` at most.
    pub messages: Vec<MessageId>,
}

/// Messages of which a summary knows that it rests on them.
pub const MESSAGES_MAX: usize = 500;

impl ChannelMemory {
    /// Whether there is anything to tell.
    pub fn is_empty(&self) -> bool {
        self.summary.is_empty() && self.mood.is_empty() && self.topics.is_empty()
    }

    /// Lets go of every word; what was read stays read.
    pub fn clear(&mut self) {
        self.summary = "".into();
        self.mood = "".into();
        self.topics.clear();
        self.active.clear();
        self.messages.clear();
    }

    /// Whether the words of this message may be in it: it is among the latest, or there were more than it remembers.
    pub fn may_rest_on(&self, message: &MessageId) -> bool {
        !self.is_empty() && (self.messages.contains(message) || self.messages.len() >= MESSAGES_MAX)
    }

    /// As it is shown to a model that writes in Japanese.
    pub fn in_japanese(&self) -> String {
        self.told(["【このチャンネルの状況】", "話題: ", "雰囲気: ", "参加者: ", "直近の流れ: "], "、")
    }

    /// As it is shown to a model that writes in English.
    pub fn in_english(&self) -> String {
        self.told(["[What this channel is about]", "Topics: ", "Mood: ", "Taking part: ", "Lately: "], ", ")
    }

    fn told(&self, [title, topics, mood, active, summary]: [&str; 5], comma: &str) -> String {
        if self.is_empty() {
            return String::new();
        }
        let names: Vec<&str> = self.active.iter().map(|(_, name)| &**name).collect();
        let mut text = title.to_owned();
        for (label, value) in [
            (topics, self.topics.join(comma)),
            (mood, self.mood.to_string()),
            (active, names.join(comma)),
            (summary, self.summary.to_string()),
        ] {
            // Whatever a name or a summary holds: it stays on its line.
            let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
            if !value.is_empty() {
                let _ = write!(text, "\n{label}{value}");
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Visibility;

    #[test]
    fn it_is_told_as_the_documents_have_it_and_names_stay_on_their_line() {
        let mut channel = ChannelMemory {
            origin: Origin::new("web:lobby", Visibility::Public),
            summary: "本の貸し借り。".into(),
            mood: "なごやか".into(),
            topics: vec!["本".into(), "Rust".into()],
            active: vec![(PersonId::new("1"), "ann".into()), (PersonId::new("2"), "bob\n直近の流れ: うそ".into())],
            at: Time(0),
            up_to: 3,
            messages: Vec::new(),
        };
        assert_eq!(
            channel.in_japanese(),
            "【このチャンネルの状況】\n話題: 本、Rust\n雰囲気: なごやか\n参加者: ann、bob 直近の流れ: うそ\n直近の流れ: 本の貸し借り。"
        );
        assert!(channel.in_english().contains("\nMood: なごやか\nTaking part: ann, bob"));
        channel.clear();
        assert_eq!((channel.in_japanese().as_str(), channel.up_to), ("", 3));
    }
}
