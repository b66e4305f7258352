//! Who is answered, in which order, and what is shown of the talk.

use crate::effect::Effect;
use crate::trace::Outcome;
use crate::types::{Author, Message, MessageId, PersonId, Place, Time, Visibility, Voice};
use crate::{Engine, Input, Policies, Trace};

fn said(id: u64, person: &str, name: &str) -> Input {
    Input::Said(Message {
        id: MessageId::new(id.to_string()),
        place: Place::room("room"),
        at: Time(id * 1000),
        author: Author { id: PersonId::new(person), name: name.into(), voice: Voice::Person },
        text: "hello".into(),
        reply: None,
        mentions: Vec::new(),
        mentions_me: false,
        visibility: Visibility::Public,
        backfilled: false,
        heard: None,
    })
}

#[test]
fn who_takes_the_name_of_another_is_told_apart() {
    let mut layers = crate::settings::Layers::default();
    layers.add_assignment("preset=kotonoha");
    layers.suggest_for_replay();
    let policies: Policies = layers.resolve(&|_| None).unwrap();
    let mut engine = Engine::new(policies);
    let mut out = Vec::new();
    let people = [("u1", "alice"), ("u2", "alice"), ("u3", "alice #2"), ("u4", "aizuchi"), ("u1", "alice")];
    for (id, (person, name)) in (1..).zip(people) {
        out.clear();
        engine.handle(Time(id * 1000), said(id, person, name), &mut out);
    }
    let Some(Effect::Ask(ask)) = out.iter().find(|effect| matches!(effect, Effect::Ask(_))) else { panic!("{out:?}") };
    let names: Vec<&str> = ask.transcript.lines.iter().map(|line| line.name).collect();
    assert_eq!(names, ["alice", "alice #2", "alice #2 #2", "aizuchi #2", "alice"]);
}

#[test]
fn what_is_answered_is_shown_however_much_was_said_since() {
    let mut layers = crate::settings::Layers::default();
    layers.add_assignment("reply.window_messages=3");
    layers.add_assignment("listen.conversations=false");
    layers.add_assignment("score.learned=false");
    layers.suggest_for_replay();
    let policies: Policies = layers.resolve(&|_| None).unwrap();
    let mut engine = Engine::new(policies);
    let mut out = Vec::new();
    let call = |id, person| match said(id, person, person) {
        Input::Said(message) => Input::Said(Message { mentions_me: true, text: "@aizuchi?".into(), ..message }),
        other => other,
    };
    engine.handle(Time(1000), call(1, "alice"), &mut out);
    engine.handle(Time(2000), call(2, "bob"), &mut out);
    let Some(Effect::Write(first)) = out.pop() else { panic!("{out:?}") };
    for id in 3..20 {
        engine.handle(Time(id * 1000), said(id, "carol", "carol"), &mut out);
    }
    out.clear();
    let words = crate::input::Answer { text: "hm".into(), usage: crate::effect::Usage::default() };
    engine.handle(Time(21_000), Input::Written(first.call, Ok(words)), &mut out);
    let Some(Effect::Write(next)) = out.pop() else { panic!("{out:?}") };
    assert_eq!(next.transcript.lines.iter().next().map(|line| line.id), Some("2"), "{:?}", next.transcript);
}

pub(super) fn engine(settings: &[&str]) -> Engine {
    let mut layers = crate::settings::Layers::default();
    settings.iter().for_each(|setting| layers.add_assignment(setting));
    layers.suggest_for_replay();
    let policies: Policies = layers.resolve(&|_| None).unwrap();
    Engine::new(policies)
}

pub(super) fn heard(id: u64, person: &str, calls: bool) -> (Time, Input) {
    let Input::Said(message) = said(id, person, person) else { unreachable!("it says so") };
    let text = if calls { "@aizuchi?" } else { "hello" };
    let (at, heard) = (message.at, Some(message.at));
    (at, Input::Said(Message { mentions_me: calls, text: text.into(), heard, ..message }))
}

/// Runs until nothing is asked for any more: the messages each answer is for, all of which its writer is shown.
fn answers(engine: &mut Engine, out: &mut Vec<Effect>) -> Vec<Vec<String>> {
    let (mut answers, mut now) = (Vec::new(), Time(10_000_000));
    while let Some(effect) = (!out.is_empty()).then(|| out.remove(0)) {
        now = now + crate::types::Span(10);
        match effect {
            Effect::Write(brief) => {
                let shown: Vec<&str> = brief.transcript.lines.iter().map(|line| line.id).collect();
                let missing = brief.answering.iter().find(|id| !shown.contains(&id.as_str()));
                assert_eq!(missing, None, "{shown:?}");
                answers.push(brief.answering.iter().map(ToString::to_string).collect());
                let words = crate::input::Answer { text: "hm".into(), usage: crate::effect::Usage::default() };
                engine.handle(now, Input::Written(brief.call, Ok(words)), out);
            }
            Effect::Deliver(delivery) => {
                let ids = vec![MessageId::new(delivery.call.to_string())];
                engine.handle(now, Input::Delivered(delivery.call, Ok(ids)), out);
            }
            _ => (),
        }
    }
    answers
}

#[test]
fn anyone_who_calls_during_one_answer_is_answered_and_shown() {
    let mut engine = engine(&["listen.buffer_minutes=0"]);
    let mut out = Vec::new();
    for id in 1..=300 {
        // Much is said between the calls: more than is kept otherwise.
        let calls = id == 1 || id % 6 == 0;
        let (at, input) = heard(id, &format!("p{}", id % 40), calls);
        engine.handle(at, input, &mut out);
    }
    out.retain(|effect| matches!(effect, Effect::Write(_)));
    let answers = answers(&mut engine, &mut out);
    let mut answered: Vec<u64> = answers.concat().iter().map(|id| id.parse().unwrap()).collect();
    answered.sort_unstable();
    assert_eq!(answered, [1].into_iter().chain((1..=50).map(|nth| nth * 6)).collect::<Vec<u64>>());
    assert!(answers.iter().all(|together| together.len() <= 9), "{answers:?}");
}

/// The decisions about three calls of which the last two are answered together, with these words.
fn three_calls(words: &str) -> Vec<Trace> {
    let (mut engine, mut out) = (engine(&["listen.buffer_minutes=0"]), Vec::new());
    let mut traces = Vec::new();
    for id in 1..=3 {
        let (at, input) = heard(id, &format!("p{id}"), true);
        engine.handle(at, input, &mut out);
    }
    while let Some(effect) = (!out.is_empty()).then(|| out.remove(0)) {
        let now = Time(10_000_000);
        match effect {
            Effect::Write(brief) => {
                let words = crate::input::Answer { text: words.into(), usage: crate::effect::Usage::default() };
                engine.handle(now, Input::Written(brief.call, Ok(words)), &mut out);
            }
            Effect::Deliver(delivery) => {
                let ids = vec![MessageId::new(delivery.call.to_string())];
                engine.handle(now, Input::Delivered(delivery.call, Ok(ids)), &mut out);
            }
            Effect::Trace(trace) => traces.push(*trace),
            _ => (),
        }
    }
    traces
}

#[test]
fn who_was_answered_together_with_others_is_told_where() {
    let told: Vec<(Outcome, Option<MessageId>)> =
        three_calls("hm").into_iter().map(|trace| (trace.outcome, trace.answered_with)).collect();
    let alone = (Outcome::Replies, None);
    assert_eq!(told, [alone.clone(), (Outcome::Replies, Some(MessageId::new("3"))), alone]);
}

#[test]
fn an_excuse_to_several_is_an_excuse_to_each() {
    let traces = three_calls("None");
    assert_eq!(traces.len(), 3);
    for trace in traces {
        assert!(matches!(trace.cause, crate::trace::Cause::Excused { .. }), "{trace:?}");
    }
}

#[test]
fn one_line_covers_those_who_are_too_many_and_not_again_for_five_minutes() {
    let mut engine = engine(&["listen.buffer_minutes=0"]);
    let mut out = Vec::new();
    for id in 1..=400 {
        let (at, input) = heard(id, &format!("p{id}"), true);
        engine.handle(at, input, &mut out);
    }
    let excuses: Vec<Time> = out
        .iter()
        .filter_map(|effect| match effect {
            Effect::Deliver(delivery) => Some(delivery.at),
            _ => None,
        })
        .collect();
    assert_eq!(excuses.len(), 1, "{excuses:?}");
    let (at, input) = heard(excuses[0].0 / 1000 + 300, "later", true);
    engine.handle(at, input, &mut out);
    let excuses = out.iter().filter(|effect| matches!(effect, Effect::Deliver(_))).count();
    assert_eq!(excuses, 2);
}

#[test]
fn a_question_that_nobody_will_answer_any_more_is_not_kept() {
    let hours = ["gates.quiet_hours=00:05-03:00", "gates.quiet_hours_addressed=false"];
    let mut engine = engine(&[hours[0], hours[1], "reply.turns_per_person=3"]);
    let mut out = Vec::new();
    let (at, input) = heard(1, "alice", true);
    engine.handle(at, input, &mut out);
    let Some(Effect::Write(brief)) = out.pop() else { panic!("{out:?}") };
    let questions = |engine: &Engine| {
        let bot = engine.rooms[0].place(None).and_then(|place| place.bot.as_deref());
        bot.map_or(0, |bot| bot.exchanges.iter().count())
    };
    assert_eq!(questions(&engine), 1);
    let spent = crate::input::TotalSpent { have: 1, limit: 1, for_today: true };
    engine.handle(Time(6 * 60_000), Input::Refused(brief.call, spent), &mut out);
    assert!(matches!(out.pop(), Some(Effect::Trace(trace)) if trace.gate.as_deref() == Some("quiet_hours")));
    assert_eq!(questions(&engine), 0);
}

#[test]
fn records_of_earlier_versions_decide_as_they_did() {
    use crate::listen::Unheard;
    use crate::trace::Cause;
    let mut engine = engine(&[]);
    let mut out = Vec::new();
    let (now, Input::Said(ahead)) = heard(1, "alice", false) else { unreachable!("it says so") };
    let noted_then = |message: Message| Input::Said(Message { heard: None, ..message });
    let ahead = Message { at: now + crate::types::Span::minutes(60), ..ahead };
    engine.handle(now, noted_then(ahead), &mut out);
    let (now, Input::Said(call)) = heard(2, "bob", true) else { unreachable!("it says so") };
    engine.handle(now, noted_then(call), &mut out);
    let Some(Effect::Trace(trace)) = out.pop() else { panic!("{out:?}") };
    assert_eq!(trace.cause, Cause::Unheard(Unheard::Late));
    let (now, call) = heard(3, "carol", true);
    engine.handle(now, call, &mut out);
    assert!(matches!(out.pop(), Some(Effect::Write(_))), "what is said since is heard");
}

mod withdrawn {
    use super::*;
    use crate::effect::{Delivery, Usage};
    use crate::input::Answer;
    use crate::types::Change;

    fn engine(settings: &[&str]) -> Engine {
        let mut layers = crate::settings::Layers::default();
        settings.iter().for_each(|setting| layers.add_assignment(setting));
        layers.suggest_for_replay();
        Engine::new(layers.resolve(&|_| None).unwrap())
    }

    fn calls(id: u64, person: &str) -> Input {
        match said(id, person, person) {
            Input::Said(message) => Input::Said(Message { mentions_me: true, text: "@aizuchi?".into(), ..message }),
            other => other,
        }
    }

    /// Has the newest call answered up to the post.
    fn post(engine: &mut Engine, at: Time, out: &mut Vec<Effect>) -> Box<Delivery> {
        let brief = out.drain(..).find_map(|effect| match effect {
            Effect::Write(brief) => Some(brief),
            _ => None,
        });
        let answer = Answer { text: "The oven is hot.".into(), usage: Usage::default() };
        engine.handle(at, Input::Written(brief.expect("it writes").call, Ok(answer)), out);
        let index = out.iter().position(|effect| matches!(effect, Effect::Deliver(_))).expect("it posts");
        match out.remove(index) {
            Effect::Deliver(delivery) => delivery,
            other => panic!("{other:?}"),
        }
    }

    fn delivered(engine: &mut Engine, at: Time, delivery: &Delivery, out: &mut Vec<Effect>) {
        let ids = Ok(vec![MessageId::new("post 1"), MessageId::new("post 2")]);
        engine.handle(at, Input::Delivered(delivery.call.clone(), ids), out);
    }

    fn delete(engine: &mut Engine, at: Time, id: &str, out: &mut Vec<Effect>) {
        let change = Change { place: Place::room("room"), id: MessageId::new(id), at, text: None };
        engine.handle(at, Input::Changed(change), out);
    }

    fn withdrawn(out: &mut Vec<Effect>) -> Vec<String> {
        let posts = out.drain(..).filter_map(|effect| match effect {
            Effect::Withdraw(withdrawal) => Some(withdrawal.posts),
            _ => None,
        });
        posts.flatten().map(|post| post.to_string()).collect()
    }

    /// What is taken back when the question is deleted so many minutes after the answer.
    fn after(minutes: u64, settings: &[&str]) -> (Vec<String>, bool) {
        let (mut engine, mut out) = (engine(settings), Vec::new());
        engine.handle(Time(1000), calls(1, "alice"), &mut out);
        let delivery = post(&mut engine, Time(2000), &mut out);
        delivered(&mut engine, Time(3000), &delivery, &mut out);
        delete(&mut engine, Time(3000 + minutes * 60_000), "1", &mut out);
        let left = serde_json::to_string(&engine.snapshot()).unwrap().contains("The oven is hot");
        (withdrawn(&mut out), left)
    }

    #[test]
    fn an_answer_is_taken_back_with_its_question() {
        let both = vec!["post 1".to_owned(), "post 2".to_owned()];
        assert_eq!(after(10, &[]), (both.clone(), false));
        assert_eq!(after(61, &["listen.buffer_minutes=0"]), (Vec::new(), true), "it is too late");
        assert_eq!(after(61, &["listen.buffer_minutes=0", "reply.withdraw_minutes=90"]), (both, false));
        assert_eq!(after(10, &["reply.withdraw_minutes=0"]).0, Vec::<String>::new());
        for preset in ["sphene", "kotonoha", "myao2"] {
            assert_eq!(after(1, &[&format!("preset={preset}")]).0, Vec::<String>::new(), "{preset}");
        }
    }

    #[test]
    fn a_question_that_is_deleted_while_the_answer_is_on_its_way_takes_it_back() {
        let (mut engine, mut out) = (engine(&[]), Vec::new());
        engine.handle(Time(1000), calls(1, "alice"), &mut out);
        let delivery = post(&mut engine, Time(2000), &mut out);
        delete(&mut engine, Time(2500), "1", &mut out);
        assert!(withdrawn(&mut out).is_empty(), "there is nothing to take back yet");
        delivered(&mut engine, Time(3000), &delivery, &mut out);
        assert_eq!(withdrawn(&mut out), ["post 1", "post 2"]);
    }

    #[test]
    fn an_answer_to_several_goes_with_the_message_that_it_repeats() {
        for (deleted, gone) in [("2", vec!["post 1".to_owned(), "post 2".to_owned()]), ("3", Vec::new())] {
            let (mut engine, mut out) = (engine(&[]), Vec::new());
            let says = |id: u64, person: &str, text: &str| match calls(id, person) {
                Input::Said(message) => Input::Said(Message { text: text.into(), ..message }),
                other => other,
            };
            engine.handle(Time(1000), calls(1, "alice"), &mut out);
            engine.handle(Time(1500), says(2, "bob", "@aizuchi my glockenspiel is out of tune"), &mut out);
            engine.handle(Time(1600), says(3, "carol", "@aizuchi when is dinner?"), &mut out);
            drop(post(&mut engine, Time(2000), &mut out));
            let brief = out.drain(..).find_map(|effect| match effect {
                Effect::Write(brief) => Some(brief),
                _ => None,
            });
            let answer = Answer { text: "Tune the glockenspiel soon.".into(), usage: Usage::default() };
            engine.handle(Time(2500), Input::Written(brief.expect("it writes").call, Ok(answer)), &mut out);
            let both = out.drain(..).find_map(|effect| match effect {
                Effect::Deliver(delivery) => Some(delivery),
                _ => None,
            });
            delivered(&mut engine, Time(3000), &both.expect("it posts"), &mut out);
            out.clear();
            delete(&mut engine, Time(4000), deleted, &mut out);
            assert_eq!(withdrawn(&mut out), gone, "{deleted}");
        }
    }

    #[test]
    fn an_answer_to_several_stays_as_long_as_one_of_them_does() {
        let (mut engine, mut out) = (engine(&[]), Vec::new());
        engine.handle(Time(1000), calls(1, "alice"), &mut out);
        engine.handle(Time(1500), calls(2, "bob"), &mut out);
        engine.handle(Time(1600), calls(3, "carol"), &mut out);
        let first = post(&mut engine, Time(2000), &mut out);
        let both = post(&mut engine, Time(2500), &mut out);
        delivered(&mut engine, Time(3000), &both, &mut out);
        drop(first);
        out.clear();
        delete(&mut engine, Time(4000), "2", &mut out);
        assert!(withdrawn(&mut out).is_empty());
        delete(&mut engine, Time(5000), "3", &mut out);
        assert_eq!(withdrawn(&mut out), ["post 1", "post 2"]);
    }
}
