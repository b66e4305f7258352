//! Talks that every shell decides alike, and what models answer there.

use aizuchi::language::Language;
use aizuchi::sentences::sentence;
use aizuchi_core::input::Command;
use aizuchi_core::types::{Change, MessageId, PersonId, Place, Reaction, RoomId, Span, ThreadId};
use aizuchi_core::{Input, Message, Time, Trace};
use aizuchi_formats::{Event as Recorded, Options};

use crate::made_up::{START, line, said};

const PEOPLE: [&str; 5] = ["mia", "jonas", "lena", "健", "さくら"];
const TEXTS: [&str; 12] = [
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

/// The same numbers each time.
pub struct Dice(pub u64);

impl Dice {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0
    }

    pub fn roll(&mut self, below: u64) -> u64 {
        (self.draw() >> 33) % below
    }
}

/// Five people talk for an hour; some of it is for the bot.
pub fn hour() -> Vec<Recorded> {
    let (mut at, mut dice, mut events) = (START, Dice(42), Vec::new());
    while at < START + Span::minutes(60) {
        let draw = dice.draw();
        at = at + Span(1_000 + (draw >> 20) % 20_000);
        let id = format!("m{}", events.len());
        push(&mut events, at, said(&id, at, who(draw), what(draw)));
    }
    events
}

/// The people of a recorded day had not heard the bot, so that a replay learns nothing from how they went on.
pub const A_DAY: [&str; 2] = ["preset=aizuchi", "effect.feedback=false"];

/// They talk for a day, in two rooms and a thread: a lively morning, a slow afternoon, a night. They edit, delete and react, and the bot
/// is muted for a while.
pub fn day() -> Vec<Recorded> {
    let (mut at, mut dice, mut events) = (START, Dice(7), Vec::new());
    let mut newest: Option<(Place, MessageId)> = None;
    while at < START + Span::minutes(24 * 60) {
        let draw = dice.draw();
        let pause_ms = match at.since(START).0 / 3_600_000 {
            0..2 => 1_000 + (draw >> 20) % 60_000,
            2..10 => 1_000 + (draw >> 20) % 1_200_000,
            10..18 => 8 * 3_600_000,
            _ => 1_000 + (draw >> 20) % 240_000,
        };
        at = at + Span(pause_ms);
        let input = match (newest.take(), (draw >> 50) % 16) {
            _ if events.len() == 150 => Input::Told(RoomId::new("log:room"), Command::Mute(Some(Span::minutes(20)))),
            (Some((place, id)), 0) => Input::Changed(Change { place, id, at, text: Some(what(draw).into()) }),
            (Some((place, id)), 1) => Input::Changed(Change { place, id, at, text: None }),
            (Some((place, message)), 2) => {
                let by = PersonId::new(who(draw));
                Input::Reacted(Reaction { place, message, at, by, emoji: "👍".into(), on: true })
            }
            _ => {
                let Input::Said(message) = said(&format!("m{}", events.len()), at, who(draw), what(draw)) else {
                    unreachable!("it is said")
                };
                let place = match (draw >> 56) % 4 {
                    0 => Place::room("log:attic"),
                    1 => Place { thread: Some(ThreadId::new("m5")), ..message.place.clone() },
                    _ => message.place.clone(),
                };
                newest = Some((place.clone(), message.id.clone()));
                Input::Said(Message { place, ..message })
            }
        };
        push(&mut events, at, input);
    }
    events
}

fn who(draw: u64) -> &'static str {
    PEOPLE[(draw >> 33) as usize % PEOPLE.len()]
}

fn what(draw: u64) -> &'static str {
    TEXTS[(draw >> 40) as usize % TEXTS.len()]
}

fn push(events: &mut Vec<Recorded>, at: Time, input: Input) {
    events.push(Recorded { line: events.len() as u64 + 1, at, input });
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
