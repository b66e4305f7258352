//! Notes without a model: who talked about what, and what somebody asked to be remembered.

use aizuchi_core::effect::{Digesting, TranscriptLine};
use aizuchi_core::memory::words;
use aizuchi_core::types::Voice;
use serde_json::{Value, json};

use crate::language::{Language, say};
use crate::ports::DigestRequest;

const TOPICS: usize = 6;

/// In the format in which a model would answer.
pub fn write_digest(digest: &DigestRequest) -> String {
    match digest.what {
        Digesting::Summary => summary(digest).to_string(),
        Digesting::Reflection => reflection(digest).to_string(),
    }
}

fn summary(digest: &DigestRequest) -> Value {
    let text: String = digest.lines.iter().map(|line| format!("{}\n", line.text)).collect();
    let topics = words::topics(&text, TOPICS);
    let mut names: Vec<&str> = Vec::new();
    for line in digest.lines.iter().filter(|line| line.voice == Voice::Person) {
        if !names.contains(&line.name) {
            names.push(line.name);
        }
    }
    let count = digest.lines.len();
    let language = Language::of_text(&text);
    let comma = language.text("list-separator");
    let (names, about) = (names.join(&comma), topics.join(&comma));
    let summary = say!(language, "offline-summary", names = names, topics = about, count = count);
    json!({"summary": summary, "mood": "", "topic_keywords": topics})
}

/// A message with one of these phrases is meant to be remembered.
const MARKS: &[&str] = &[
    "remember that ",
    "remember: ",
    "please remember ",
    "note that ",
    "覚えておいて",
    "覚えといて",
    "メモ: ",
    "メモ：",
];

fn reflection(digest: &DigestRequest) -> Value {
    let facts: Vec<Value> = digest.lines.iter().zip(1..).filter_map(|(line, number)| fact(line, number)).collect();
    json!({"facts": facts, "people": []})
}

fn fact(line: TranscriptLine<'_>, number: usize) -> Option<Value> {
    let lower = line.text.to_lowercase();
    let asked = line.voice == Voice::Person && MARKS.iter().any(|mark| lower.contains(mark));
    let keywords = words::topics(line.text, TOPICS);
    asked.then(|| {
        json!({
            "content": format!("{}: {}", line.name, line.text),
            "keywords": keywords,
            "messages": [number],
            "confidence": 0.9,
            "shareable": false,
            "replaces": 0,
        })
    })
}
