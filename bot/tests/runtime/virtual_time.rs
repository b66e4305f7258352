//! An hour of talk in a moment: the loop that lives decides as `replay` does.

use std::time::Duration;

use aizuchi::language::Language;
use aizuchi::replay::{Decided, OwnPosts, run as replay};
use aizuchi::runtime::{Clock, EngineEvent};
use aizuchi::sentences::sentence;
use aizuchi_core::sim::StandIn;
use aizuchi_core::types::{MessageId, Place, Span};
use aizuchi_core::{Input, Message, Policies, Trace};
use aizuchi_formats::{Event as Recorded, Options};

use crate::made_up::{Board, Life, START, Scratch, Scripted, line, policies, said};

/// Five people talk for an hour; some of it is for the bot.
fn hour() -> Vec<Recorded> {
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

fn sample() -> Vec<Recorded> {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../samples/en.jsonl")).unwrap();
    let text = text.replace("\"channel\": \"garden\"", "\"channel\": \"log:garden\"");
    aizuchi_formats::read_text("en.jsonl", text.as_bytes(), &Options::default(), &mut |_| ()).unwrap().events
}

fn script() -> Vec<aizuchi_core::sim::ScriptLine> {
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

async fn live(settings: &[&str], events: &[Recorded]) -> Vec<Trace> {
    let (scratch, policies) = (Scratch::new(), policies(settings));
    let models = Scripted::new(false, script(), &policies);
    let board = std::sync::Arc::new(Board::default());
    let clock = Clock::starting_at(START);
    let mut life = Life::start(scratch.database(), policies, models, board, clock).await;
    for event in events {
        life.clock.sleep_until(Some(event.at)).await;
        life.hear(event.input.clone()).await;
    }
    tokio::time::sleep(Duration::from_secs(3600)).await;
    let mut traces = Vec::new();
    while let Ok(event) = life.events.try_recv() {
        // What people made of it is told later on, as the same decision.
        if let EngineEvent::Decided(trace) = event
            && trace.received.is_none()
        {
            traces.push((*trace).clone());
        }
    }
    life.runtime.stop().await;
    traces
}

fn replayed(policies: &Policies, events: Vec<Recorded>) -> Vec<Decided> {
    let stand_in = StandIn::new(false, script(), policies);
    replay(policies.clone(), stand_in, events, OwnPosts::Ignored, &mut |_| ())
}

/// Everything of a decision but the milliseconds at which models answered.
fn essence(trace: &Trace) -> (MessageId, String, Option<u8>, Option<String>, String, usize) {
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

async fn check(settings: &[&str], events: Vec<Recorded>) {
    let said = events.iter().filter(|event| matches!(event.input, Input::Said(_))).count();
    let mut lived = live(settings, &events).await;
    let expected = replayed(&policies(settings), events);
    assert_eq!((lived.len(), expected.len()), (said, said), "{settings:?}: every message is decided once");
    let index = |trace: &Trace| expected.iter().position(|decided| decided.trace.message == trace.message);
    lived.sort_by_key(index);
    for (lived, expected) in lived.iter().zip(&expected) {
        assert_eq!(essence(lived), essence(&expected.trace), "{settings:?}");
        let (now, then) = (lived.acted_at, expected.trace.acted_at);
        let apart = now.zip(then).map(|(now, then)| now.0.abs_diff(then.0));
        assert!(apart.is_none_or(|ms| ms <= 20) && now.is_some() == then.is_some(), "{now:?} {then:?}");
    }
    let spoke = expected.iter().filter(|decided| decided.trace.acted_at.is_some()).count();
    assert!(spoke > 0, "{settings:?}: a test in which nothing is said shows little");
}

#[tokio::test(start_paused = true)]
async fn the_default_lives_as_it_replays() {
    check(&["preset=aizuchi"], hour()).await;
    check(&["preset=aizuchi"], sample()).await;
}

#[tokio::test(start_paused = true)]
async fn the_presets_live_as_they_replay() {
    for preset in ["kotonoha", "sphene", "myao2"] {
        check(&[&format!("preset={preset}"), "bot.name=aizuchi", "address.name=true"], hour()).await;
    }
}

/// The rooms after the first are told how likely messages were in it.
#[tokio::test(start_paused = true)]
async fn new_rooms_start_from_others_as_in_a_replay() {
    let in_room = |room: u64, event: Recorded| {
        let Input::Said(message) = event.input else { unreachable!("people only talk in that hour") };
        let at = event.at + Span::minutes(90 * room);
        let (id, place) = (MessageId::new(format!("{room}-{}", message.id)), Place::room(format!("log:room{room}")));
        let input = Input::Said(Message { id, place, at, heard: message.heard.map(|_| at), ..message });
        Recorded { line: event.line + 10_000 * room, at, input }
    };
    let events: Vec<Recorded> =
        (0..3).flat_map(|room| hour().into_iter().take(110).map(move |event| in_room(room, event))).collect();
    check(&["preset=aizuchi"], events).await;
}

#[tokio::test(start_paused = true)]
async fn several_engines_decide_as_one() {
    check(&["preset=aizuchi", "runtime.shards=3"], hour()).await;
}
