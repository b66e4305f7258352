//! Answers in the sample conversation, written by hand and marked as examples, since templates would not show what the bot
//! is like.

use aizuchi_core::types::RoomId;
use serde::Deserialize;

use crate::language::Language;

/// The prefix of the rooms in which samples are played.
const SAMPLE_ROOMS: &str = "web:sample-";
/// The bot's name in the recording; in the room it has the name of the settings.
const MENTION: &str = "@aizuchi ";

/// A line of the recording.
#[derive(Deserialize)]
struct SampleLine {
    text: String,
    answer: Option<String>,
}

/// The answer to a line of the sample that is played in this room.
pub fn example_answer(room: &RoomId, said: &str) -> Option<String> {
    if !room.as_str().starts_with(SAMPLE_ROOMS) {
        return None;
    }
    let lines = Language::ALL.into_iter().flat_map(|language| language.sample("web.jsonl").lines());
    lines.filter_map(|line| serde_json::from_str::<SampleLine>(line).ok()).find_map(|line| {
        let words = line.text.strip_prefix(MENTION).unwrap_or(&line.text);
        line.answer.filter(|_| said.ends_with(words))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_of_the_sample_are_answered_there_and_nowhere_else() {
        let asked = "does anyone know how cold tomatoes can get before they are lost?";
        let (sample, lobby) = (RoomId::new("web:sample-en-7"), RoomId::new("web:lobby"));
        assert!(example_answer(&sample, asked).is_some_and(|answer| answer.contains("frost")));
        assert!(
            example_answer(&sample, "@Tama 今夜はどうすればいい？").is_some_and(|answer| answer.contains("シーツ"))
        );
        assert_eq!(example_answer(&lobby, asked), None);
        assert_eq!(example_answer(&sample, "does anyone know whether it rains tomorrow?"), None);
    }
}
