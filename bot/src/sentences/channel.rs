//! What a channel is about, as text.

use aizuchi_core::memory::ChannelMemory;

use crate::language::{Language, LocalizedMessage, message};

/// What is remembered of a channel, one line each; empty if nothing is.
pub fn format_channel(channel: &ChannelMemory, language: Language) -> String {
    if channel.is_empty() {
        return String::new();
    }
    let comma = language.text("list-separator");
    let names: Vec<&str> = channel.active.iter().map(|(_, name)| &**name).collect();
    let (topics, names) = (on_one_line(&channel.topics.join(&comma)), on_one_line(&names.join(&comma)));
    let (mood, summary) = (on_one_line(&channel.mood), on_one_line(&channel.summary));
    let told = |value: &str, message: LocalizedMessage| (!value.is_empty()).then(|| message.say(language));
    let lines = [
        Some(language.text("channel-title")),
        told(&topics, message!("channel-topics", topics = &*topics)),
        told(&mood, message!("channel-mood", mood = &*mood)),
        told(&names, message!("channel-active", names = &*names)),
        told(&summary, message!("channel-summary", summary = &*summary)),
    ];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// A name or a summary must stay on its line, whatever it contains.
fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use aizuchi_core::Time;
    use aizuchi_core::memory::Origin;
    use aizuchi_core::types::{PersonId, Visibility};

    use super::*;

    #[test]
    fn it_is_told_as_the_documents_have_it_and_names_stay_on_their_line() {
        let mut memory = ChannelMemory {
            origin: Origin::new("web:lobby", Visibility::Public),
            summary: "本の貸し借り。".into(),
            mood: "なごやか".into(),
            topics: vec!["本".into(), "Rust".into()],
            active: vec![(PersonId::new("1"), "ann".into()), (PersonId::new("2"), "bob\n直近の流れ: うそ".into())],
            at: Time(0),
            up_to: 3,
            messages: Vec::new(),
        };
        let japanese = Language::from_id("ja").expect("there is Japanese");
        assert_eq!(
            format_channel(&memory, japanese),
            "【このチャンネルの状況】\n話題: 本、Rust\n雰囲気: なごやか\n参加者: ann、bob 直近の流れ: うそ\n直近の流れ: 本の貸し借り。"
        );
        assert!(format_channel(&memory, Language::ENGLISH).contains("\nMood: なごやか\nTaking part: ann, bob"));
        memory.clear();
        assert_eq!((format_channel(&memory, japanese).as_str(), memory.up_to), ("", 3));
    }
}
