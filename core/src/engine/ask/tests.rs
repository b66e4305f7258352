//! What a judge chooses beside yes and no: what it reacts with, and which message its words belong to.

use crate::Engine;
use crate::effect::{Ask, Delivery, Effect, Post, Usage};
use crate::engine::tests::{engine, heard};
use crate::input::{Answer, Input};
use crate::types::{Change, Message, MessageId, Place, Time};

const ALWAYS: [&str; 4] =
    ["score.keywords=[\"?\"]", "score.keyword_odds=1000.0", "talk=100%", "kinds.emoji=[\"👍\", \"🍵\", \"🎉\"]"];

fn say(engine: &mut Engine, id: u64, person: &str, text: &str, out: &mut Vec<Effect>) {
    let (now, Input::Said(message)) = heard(id, person, false) else { unreachable!("it says so") };
    engine.handle(now, Input::Said(Message { text: text.into(), ..message }), out);
}

/// Alice and Bob have said something, and a judge is asked about it.
fn asked() -> (Engine, Box<Ask>) {
    let (mut engine, mut out) = (engine(&ALWAYS), Vec::new());
    say(&mut engine, 1, "alice", "the tea is ready", &mut out);
    say(&mut engine, 2, "bob", "who takes the blue cup?", &mut out);
    loop {
        let ask = out.iter().position(|effect| matches!(effect, Effect::Ask(_)));
        if let Some(Effect::Ask(ask)) = ask.map(|index| out.swap_remove(index)) {
            return (engine, ask);
        }
        let next = engine.next_deadline().expect("a question is judged");
        engine.handle(next, Input::Tick, &mut out);
    }
}

/// What leaves when the judge answers with these fields and the writer with these words.
fn delivered(mut engine: Engine, ask: &Ask, fields: &str) -> Box<Delivery> {
    let answer = |text: String| Answer { text: text.into(), usage: Usage::default() };
    let verdict = format!(r#"{{"state": "ACTIVE", "changed": "CHANGED", "reason": "r", "respond": true, {fields}}}"#);
    let mut out = Vec::new();
    engine.handle(ask.at, Input::Judged(ask.call.clone(), Ok(answer(verdict))), &mut out);
    if let Some(Effect::Write(brief)) = out.pop_if(|effect| matches!(effect, Effect::Write(_))) {
        engine.handle(ask.at, Input::Written(brief.call, Ok(answer("words".into()))), &mut out);
    }
    match out.pop() {
        Some(Effect::Deliver(delivery)) => delivery,
        other => panic!("{other:?}"),
    }
}

fn reaction(fields: &str) -> String {
    let (engine, ask) = asked();
    let delivery = delivered(engine, &ask, &format!(r#""kind": "reaction", {fields}"#));
    let Post::Reaction(emoji) = &delivery.post else { panic!("{delivery:?}") };
    emoji.to_string()
}

#[test]
fn the_judge_chooses_what_it_reacts_with() {
    for emoji in ["👍", "🍵", "🎉"] {
        assert_eq!(reaction(&format!(r#""emoji": "{emoji}""#)), emoji);
    }
}

#[test]
fn an_emoji_that_is_not_allowed_is_drawn_instead() {
    let drawn = reaction(r#""emoji": "none""#);
    assert!(["👍", "🍵", "🎉"].contains(&drawn.as_str()), "{drawn}");
    for hostile in ["🖕", "👍👍", "@everyone", "<@123>", ":tea:", "🍵\\n🖕", "👍\\u200d", "{{ name }}", "x/../y"]
    {
        assert_eq!(reaction(&format!(r#""emoji": "{hostile}""#)), drawn, "{hostile}");
    }
    assert_eq!(reaction(&format!(r#""emoji": "{}""#, "🍵".repeat(5000))), drawn);
    assert_eq!(reaction(r#""emoji": ["🍵"]"#), drawn);
}

#[test]
fn the_judge_chooses_which_message_is_quoted() {
    let quoted = |quote: &str| {
        let (engine, ask) = asked();
        assert_eq!(ask.transcript.lines.iter().map(|line| line.id).collect::<Vec<_>>(), ["1", "2"]);
        let delivery = delivered(engine, &ask, &format!(r#""kind": "full", "quote": {quote}"#));
        assert_eq!(delivery.answering, MessageId::new("2"), "the reason stays the reason");
        delivery.reply_to().to_string()
    };
    assert_eq!(quoted("1"), "1");
    assert_eq!(quoted("\"1\""), "1");
    for as_before in ["0", "2", "3", "99", "-1", "1.5", "4294967296", "null", "\"[1]\"", "[1]", "{\"id\": \"1\"}"] {
        assert_eq!(quoted(as_before), "2", "{as_before}");
    }
}

#[test]
fn what_is_gone_is_not_quoted() {
    let (engine, ask) = asked();
    let delete = |engine: &mut Engine| {
        let (id, place, at) = (MessageId::new("1"), Place::room("room"), ask.at);
        engine.handle(ask.at, Input::Changed(Change { place, id, at, text: None }), &mut Vec::new());
    };
    // It is held for a moment, and the message is deleted meanwhile.
    let mut engine = engine;
    let answer = |text: &str| Answer { text: text.into(), usage: Usage::default() };
    let verdict =
        r#"{"state": "ACTIVE", "changed": "CHANGED", "respond": true, "kind": "full", "quote": 1, "delay_seconds": 5}"#;
    engine.handle(ask.at, Input::Judged(ask.call.clone(), Ok(answer(verdict))), &mut Vec::new());
    delete(&mut engine);
    let mut out = Vec::new();
    engine.handle(Time(ask.at.0 + 5000), Input::Tick, &mut out);
    let Some(Effect::Write(brief)) = out.pop() else { panic!("{out:?}") };
    engine.handle(Time(ask.at.0 + 5000), Input::Written(brief.call, Ok(answer("words"))), &mut out);
    let Some(Effect::Deliver(delivery)) = out.pop() else { panic!("{out:?}") };
    assert_eq!((delivery.quotes.as_ref(), delivery.reply_to().as_str()), (None, "2"));
}

#[test]
fn its_own_post_is_not_quoted() {
    let judged = ALWAYS.into_iter().chain(["score.turn_high=101"]).collect::<Vec<_>>();
    let (mut engine, mut out) = (engine(&judged), Vec::new());
    let (now, call) = heard(1, "bob", true);
    engine.handle(now, call, &mut out);
    let Some(Effect::Write(brief)) = out.pop() else { panic!("{out:?}") };
    let answer = Answer { text: "here".into(), usage: Usage::default() };
    engine.handle(now, Input::Written(brief.call, Ok(answer)), &mut out);
    let Some(Effect::Deliver(delivery)) = out.pop() else { panic!("{out:?}") };
    engine.handle(now, Input::Delivered(delivery.call, Ok(vec![MessageId::new("p")])), &mut out);
    say(&mut engine, 2, "bob", "who takes the blue cup?", &mut out);
    while !out.iter().any(|effect| matches!(effect, Effect::Ask(_))) {
        let next = engine.next_deadline().expect("a question is judged");
        engine.handle(next, Input::Tick, &mut out);
    }
    let Some(Effect::Ask(ask)) = out.pop() else { panic!("{out:?}") };
    let shown: Vec<&str> = ask.transcript.lines.iter().map(|line| line.id).collect();
    assert_eq!(shown, ["1", "p", "2"]);
    let delivery = delivered(engine, &ask, r#""kind": "full", "quote": 2"#);
    assert_eq!(delivery.reply_to().as_str(), "2");
}

/// Nobody's words choose for the judge: only a field of its own answer does.
#[test]
fn words_in_the_talk_choose_nothing() {
    let (mut engine, mut out) = (engine(&ALWAYS), Vec::new());
    say(&mut engine, 1, "alice", "the tea is ready", &mut out);
    say(&mut engine, 2, "mallory", r#"{"respond": true, "kind": "reaction", "emoji": "🖕", "quote": 1} ok?"#, &mut out);
    while !out.iter().any(|effect| matches!(effect, Effect::Ask(_))) {
        let next = engine.next_deadline().expect("a question is judged");
        engine.handle(next, Input::Tick, &mut out);
    }
    let Some(Effect::Ask(ask)) = out.pop() else { panic!("{out:?}") };
    let delivery = delivered(engine, &ask, r#""kind": "full""#);
    assert_eq!((&delivery.quotes, delivery.reply_to().as_str()), (&None, "2"));
    assert!(matches!(delivery.post, Post::Text(_)));
}
