//! Talks that every shell decides alike, and what models answer there.

use aizuchi::language::Language;
use aizuchi::sentences::sentence;
use aizuchi_core::Trace;
use aizuchi_core::types::{MessageId, Span};
use aizuchi_formats::{Event as Recorded, Options};

use crate::made_up::{START, line, said};

/// Five people talk for an hour; some of it is for the bot.
pub fn hour() -> Vec<Recorded> {
    let people = ["mia", "jonas", "lena", "健", "さくら"];
    let texts = [
        "good morning everybody",
        "does anyone know how long the oven takes?",
        "草",
        "aizuchi, are you there?",
        "誰か会議室の鍵を知りませんか？",
        "I think it broke yesterday, the light does not come on any more",
        "thanks, that is all",
        "なるほど",
        "who can help me with the release tonight?",
        "aizuchi: 今日の予定は？",
        "lol",
        "maybe we should ask again tomorrow when everybody is here",
    ];
    let (mut at, mut draw) = (START, 42_u64);
    let mut events = Vec::new();
    while at < START + Span::minutes(60) {
        draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let (who, what) = ((draw >> 33) as usize % people.len(), (draw >> 40) as usize % texts.len());
        at = at + Span(1_000 + (draw >> 20) % 20_000);
        let id = format!("m{}", events.len());
        events.push(Recorded { line: events.len() as u64 + 1, at, input: said(&id, at, people[who], texts[what]) });
    }
    events
}

pub fn sample() -> Vec<Recorded> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../samples/en.jsonl")).unwrap();
    let text = text.replace("\"channel\": \"garden\"", "\"channel\": \"log:garden\"");
    aizuchi_formats::read_text("en.jsonl", text.as_bytes(), &Options::default(), &mut |_| ()).unwrap().events
}

pub fn script() -> Vec<aizuchi_core::sim::ScriptLine> {
    let yes = |question: &str, answer: &str, holds: &str, latency| aizuchi_core::sim::ScriptLine {
        holds: Some(holds.into()),
        ..line(question, answer, latency)
    };
    vec![
        yes("join", r#"{"respond": true, "kind": "full", "delay_seconds": 7, "reason": "asked"}"#, "oven", 700),
        yes("join", r#"{"respond": true, "kind": "reaction", "reason": "kind"}"#, "鍵", 1_300),
        yes("judge", r#"{"should_respond": true, "delay_seconds": 20, "reason": "asked"}"#, "release", 900),
        yes("judge", "YES", "oven", 400),
        yes("state", "ENDING", "that is all", 300),
        line("write", "Here is what I think.", 2_100),
    ]
}

/// Everything of a decision but the milliseconds at which models answered.
pub fn essence(trace: &Trace) -> (MessageId, String, Option<u8>, Option<String>, String, usize) {
    let gate = trace.gate.as_ref().map(|gate| gate.to_string());
    (
        trace.message.clone(),
        format!("{:?} {:?}", trace.outcome, trace.stage),
        trace.score,
        gate,
        sentence(trace, Language::ENGLISH),
        trace.asked.len(),
    )
}
