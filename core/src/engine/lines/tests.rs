//! What a judge and a writer are shown, and of whom.

use crate::Engine;
use crate::effect::{Effect, Usage};
use crate::engine::tests::{engine as engine_of, heard};
use crate::input::{Answer, Input};
use crate::types::{Change, Message, MessageId, Place, Reply, ThreadId, Time};

/// Somebody tells something, others talk about something else, and then they ask about it in the middle of that talk.
struct AskedAmongOthers {
    told: &'static str,
    beside: [&'static str; 3],
    asks: &'static str,
    thread: Option<&'static str>,
    /// Whether the question is a platform's reply to somebody of the other talk.
    replies: bool,
}

const ASKED_AMONG_OTHERS: [AskedAmongOthers; 5] = [
    AskedAmongOthers {
        told: "my secret word is delta",
        beside: ["the deploy of the api fails", "which step of the deploy fails?", "the migration of the deploy"],
        asks: "@aizuchi what is my word?",
        thread: None,
        replies: true,
    },
    AskedAmongOthers {
        told: "my secret word is delta",
        beside: ["the deploy of the api fails", "which step of the deploy fails?", "the migration of the deploy"],
        asks: "@aizuchi what is my word?",
        thread: Some("t"),
        replies: true,
    },
    AskedAmongOthers {
        told: "合言葉は delta です",
        beside: ["APIのデプロイが失敗する", "デプロイのどこで？", "デプロイのマイグレーションで"],
        asks: "@aizuchi わたしの合言葉は？",
        thread: None,
        replies: true,
    },
    AskedAmongOthers {
        told: "合言葉は delta です",
        beside: ["APIのデプロイが失敗する", "デプロイのどこで？", "デプロイのマイグレーションで"],
        asks: "@aizuchi わたしの合言葉は？",
        thread: Some("t"),
        replies: true,
    },
    AskedAmongOthers {
        told: "my secret word is delta",
        beside: ["alice: the deploy of the api fails", "which step fails, alice?", "alice: the migration"],
        asks: "@aizuchi bob and carol are at the deploy, but what is my word?",
        thread: None,
        replies: false,
    },
];

impl AskedAmongOthers {
    /// What comes of the question.
    fn play(&self, settings: &[&str], mention: bool) -> Vec<Effect> {
        let (mut engine, mut out) = (engine_of(settings), Vec::new());
        let mut say = |id: u64, person: &str, text: &str, mentions_me: bool, reply: Option<u64>| {
            let (now, Input::Said(message)) = heard(id, person, false) else { unreachable!("it says so") };
            let to = |id: u64| Reply { to: Some(MessageId::new(id.to_string())), to_me: false, to_person: None };
            let place = Place { thread: self.thread.map(ThreadId::new), ..message.place };
            out.clear();
            let said = Message { place, text: text.into(), mentions_me, reply: reply.map(to), ..message };
            engine.handle(now, Input::Said(said), &mut out);
        };
        say(1, "alice", self.told, false, None);
        for nth in 2..=31u64 {
            let reply = (nth > 2).then(|| nth - 1);
            say(nth, ["bob", "carol"][nth as usize % 2], self.beside[nth as usize % 3], false, reply);
        }
        let asks = if mention { self.asks } else { self.asks.trim_start_matches("@aizuchi ") };
        say(32, "alice", asks, mention, self.replies.then_some(31));
        while !mention && !out.iter().any(|effect| matches!(effect, Effect::Ask(_))) {
            let next = engine.next_deadline().expect("a question is judged");
            engine.handle(next, Input::Tick, &mut out);
        }
        out
    }
}

#[test]
fn who_asks_is_read_whatever_conversation_they_are_put_into() {
    for asked in &ASKED_AMONG_OTHERS {
        let out = asked.play(&[], true);
        let Some(Effect::Write(brief)) = out.last() else { panic!("{out:?}") };
        let talk = brief.transcript.lines.plain();
        assert!(talk.contains("delta"), "{}: {talk}", asked.asks);
        assert_eq!(brief.transcript.lines.len(), 10, "no more than reply.window_messages: {talk}");
        let ids: Vec<u64> = brief.transcript.lines.iter().map(|line| line.id.parse().unwrap()).collect();
        assert!(ids.is_sorted() && ids.last() == Some(&32), "{ids:?}");
    }
}

#[test]
fn a_judge_reads_who_asks_whatever_conversation_they_are_put_into() {
    for asked in &ASKED_AMONG_OTHERS {
        let always = ["score.keywords=[\"?\", \"？\"]", "score.keyword_odds=1000.0", "talk=100%"];
        let out = asked.play(&[&always[..], &["gates.addressed_elsewhere=false"]].concat(), false);
        let Some(Effect::Ask(ask)) = out.iter().find(|effect| matches!(effect, Effect::Ask(_))) else {
            panic!("{out:?}")
        };
        let talk = ask.transcript.lines.plain();
        assert!(talk.contains("delta"), "{}: {talk}", asked.asks);
        assert!(ask.transcript.lines.len() <= 20, "no more than judge.window_messages: {talk}");
    }
}

/// Mentions it, and answers with these words, a second apart.
fn mention(engine: &mut Engine, id: u64, person: &str, text: &str, answer: Option<&str>) -> String {
    let (now, Input::Said(message)) = heard(id, person, true) else { unreachable!("it says so") };
    let mut out = Vec::new();
    engine.handle(now, Input::Said(Message { text: text.into(), ..message }), &mut out);
    let Some(Effect::Write(brief)) = out.pop() else { panic!("{out:?}") };
    if let Some(words) = answer {
        let words = Answer { text: words.into(), usage: Usage::default() };
        engine.handle(now, Input::Written(brief.call, Ok(words)), &mut out);
        let Some(Effect::Deliver(delivery)) = out.pop() else { panic!("{out:?}") };
        let ids = Ok(vec![MessageId::new(format!("p{id}"))]);
        engine.handle(now, Input::Delivered(delivery.call, ids), &mut out);
    }
    brief.transcript.lines.plain()
}

#[test]
fn kotonoha_reads_the_question_it_answers_and_keeps_nothing_of_it() {
    for asks in ["@aizuchi what is a quokka?", "@aizuchi クオッカって何？"] {
        let mut engine = engine_of(&["preset=kotonoha"]);
        let talk = mention(&mut engine, 1, "alice", asks, Some("an animal"));
        assert_eq!(talk, format!("alice: {asks}"));
        let mut out = Vec::new();
        for id in 2..=4 {
            let (at, input) = heard(id, "bob", false);
            engine.handle(at, input, &mut out);
        }
        let Some(Effect::Ask(ask)) = out.iter().find(|effect| matches!(effect, Effect::Ask(_))) else {
            panic!("{out:?}")
        };
        assert_eq!(ask.transcript.lines.plain(), "bob: hello\nbob: hello\nbob: hello");
        assert!(!serde_json::to_string(&engine.snapshot()).unwrap().contains(asks));
        // Behind the talk, in the order in which it was said.
        let talk = mention(&mut engine, 5, "alice", asks, None);
        assert_eq!(talk, format!("bob: hello\nbob: hello\nbob: hello\nalice: {asks}"));
    }
}

#[test]
fn kotonoha_answers_an_edited_question_and_not_a_deleted_one() {
    let change = |text: Option<&str>| {
        let mut engine = engine_of(&["preset=kotonoha"]);
        mention(&mut engine, 1, "alice", "@aizuchi what is a quokka?", None);
        let change =
            Change { id: MessageId::new("1"), place: Place::room("room"), text: text.map(Into::into), at: Time(2000) };
        let mut out = Vec::new();
        engine.handle(Time(2000), Input::Changed(change), &mut out);
        let left = serde_json::to_string(&engine.snapshot()).unwrap();
        assert!(!left.contains("quokka"), "{left}");
        out
    };
    let out = change(Some("@aizuchi what is a wombat?"));
    let Some(Effect::Write(brief)) = out.last() else { panic!("{out:?}") };
    assert_eq!(brief.transcript.lines.plain(), "alice: @aizuchi what is a wombat?");
    let out = change(None);
    assert!(!out.iter().any(|effect| matches!(effect, Effect::Write(_))), "{out:?}");
}

#[test]
fn sphene_reads_ten_turns_with_the_person_within_half_an_hour() {
    let mut engine = engine_of(&["preset=sphene"]);
    // A turn a minute; others talk in between, more than the ten messages that are read otherwise.
    let mut last = String::new();
    for nth in 0..14u64 {
        let minute = nth * 60;
        for other in 1..=12 {
            let (at, input) = heard(minute + other, "bob", false);
            engine.handle(at, input, &mut Vec::new());
        }
        let (asks, says) = (format!("@aizuchi question {nth}."), format!("answer {nth}."));
        last = mention(&mut engine, minute + 30, "alice", &asks, Some(&says));
    }
    let turns: Vec<&str> = last.lines().filter(|line| !line.starts_with("bob: ")).collect();
    let expected: Vec<String> = (3..13)
        .flat_map(|nth| [format!("alice: @aizuchi question {nth}."), format!("aizuchi: answer {nth}.")])
        .chain(["alice: @aizuchi question 13.".to_owned()])
        .collect();
    assert_eq!(turns, expected);
    // To others these are not shown; half an hour later not to her either.
    let carol = mention(&mut engine, 900, "carol", "@aizuchi hello?", None);
    assert!(!carol.contains("answer 3."), "{carol}");
    let mut engine = engine_of(&["preset=sphene"]);
    mention(&mut engine, 1, "alice", "@aizuchi one?", Some("first"));
    mention(&mut engine, 1000, "alice", "@aizuchi two?", Some("second"));
    let later = mention(&mut engine, 1801, "alice", "@aizuchi three?", None);
    assert_eq!(later, "alice: @aizuchi two?\naizuchi: second\nalice: @aizuchi three?");
}

#[test]
fn sphene_reads_its_answers_to_others_where_it_reads_their_questions() {
    let mut engine = engine_of(&["preset=sphene"]);
    mention(&mut engine, 1, "alice", "@aizuchi one?", Some("first"));
    let talk = mention(&mut engine, 2, "bob", "@aizuchi and two?", None);
    assert_eq!(talk, "alice: @aizuchi one?\naizuchi: first\nbob: @aizuchi and two?");
}
