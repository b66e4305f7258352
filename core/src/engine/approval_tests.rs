//! Questions whether a tool may run: what they show, who answers them, and what takes them back.

use super::tests::{engine, heard};
use super::tools_tests::{READS, ToolBench, WRITES, outcomes};
use crate::Input;
use crate::effect::{Brief, Effect, Post, Usage};
use crate::input::{Answer, Command};
use crate::reminders::{NewReminder, ReminderContent};
use crate::tools::{Denial, ToolCall, ToolOutcome};
use crate::types::{Change, ClockShift, MessageId, PersonId, Place, RoomId, Span, Time};

#[test]
fn the_question_is_taken_back_with_the_message_it_is_about() {
    let gone = Change { place: Place::room("room"), id: MessageId::new("1"), at: Time(1000), text: None };
    let withdrawn = |bench: &mut ToolBench| {
        bench.take(|effect| if let Effect::Withdraw(gone) = effect { Some(gone.posts.clone()) } else { None })
    };
    let (mut bench, brief) = ToolBench::asked(&[]);
    bench.wants(&brief, &[("notes__add", WRITES)]);
    bench.is_asked("q1");
    bench.handle(Input::Changed(gone.clone()));
    assert_eq!(withdrawn(&mut bench), Some(vec![MessageId::new("q1")]), "the question has words of the message");

    let (mut bench, brief) = ToolBench::asked(&[]);
    bench.wants(&brief, &[("notes__add", WRITES)]);
    bench.handle(Input::Changed(gone.clone()));
    assert_eq!(withdrawn(&mut bench), None, "nobody has seen it yet");
    bench.is_asked("q1");
    assert_eq!(withdrawn(&mut bench), Some(vec![MessageId::new("q1")]), "it was on its way");

    let (mut bench, brief) = ToolBench::asked(&["reply.withdraw_minutes=0"]);
    bench.wants(&brief, &[("notes__add", WRITES)]);
    bench.is_asked("q1");
    bench.handle(Input::Changed(gone));
    assert_eq!(withdrawn(&mut bench), None, "what is posted stays here");
}

#[test]
fn a_question_is_open_for_its_time_whatever_becomes_of_the_clock() {
    for by in [86_400_000, -86_400_000] {
        let mut bench = ToolBench::new(&["tools.approval_minutes=10"]);
        bench.now = Time(200_000_000);
        let (_, said) = heard(1, "mia", true);
        bench.handle(said);
        let brief = bench.brief();
        bench.wants(&brief, &[("notes__add", WRITES)]);
        bench.is_asked("q1");
        bench.now = bench.now.shifted(ClockShift(by));
        bench.handle(Input::ClockSet(ClockShift(by)));
        bench.now = bench.now + Span::minutes(9);
        bench.handle(Input::Tick);
        assert!(bench.out.iter().all(|effect| !matches!(effect, Effect::Write(_))), "it is still open: {by}");
        bench.now = bench.now + Span::minutes(2);
        bench.handle(Input::Tick);
        assert_eq!(outcomes(&bench.brief()), [ToolOutcome::Denied(Denial::Expired)], "{by}");
    }
}

#[test]
fn the_decision_says_who_agreed_and_who_refused() {
    for (emoji, ended) in [("✅", "returned"), ("❌", "denied")] {
        let (mut bench, brief) = ToolBench::asked(&[]);
        bench.wants(&brief, &[("notes__add", WRITES)]);
        bench.is_asked("q1");
        bench.reacts("q1", emoji, "jonas");
        if let Some(order) = bench.order() {
            bench.returns(&order, false);
        }
        let brief = bench.brief();
        bench.writes(&brief);
        let delivery = bench.delivery().expect("it is posted");
        bench.handle(Input::Delivered(delivery.call, Ok(vec![MessageId::new("p1")])));
        let trace = |effect: &Effect| if let Effect::Trace(trace) = effect { Some(trace.clone()) } else { None };
        let mut trace = bench.take(trace).unwrap();
        assert_eq!((&*trace.tools[0].ended, &trace.tools[0].decided_by), (ended, &Some(PersonId::new("jonas"))));
        trace.forget_words();
        assert_eq!(trace.tools[0].decided_by, None);
    }
}

impl ToolBench {
    fn withdrawn(&mut self) -> Option<Vec<MessageId>> {
        self.take(|effect| if let Effect::Withdraw(gone) = effect { Some(gone.posts.clone()) } else { None })
    }

    fn trace(&mut self) -> Box<crate::Trace> {
        let trace = |effect: &Effect| if let Effect::Trace(trace) = effect { Some(trace.clone()) } else { None };
        self.take(trace).expect("it was decided")
    }
}

#[test]
fn who_edits_what_was_asked_for_is_asked_anew() {
    let edit = |text: &str| {
        let text = Some(text.into());
        Input::Changed(Change { place: Place::room("room"), id: MessageId::new("1"), at: Time(1000), text })
    };
    let (mut bench, brief) = ToolBench::asked(&[]);
    bench.wants(&brief, &[("notes__add", WRITES)]);
    bench.is_asked("q1");
    bench.handle(edit("@aizuchi never mind"));
    assert_eq!(bench.withdrawn(), Some(vec![MessageId::new("q1")]), "it is about other words now");
    bench.reacts("q1", "✅", "mia");
    assert!(bench.order().is_none(), "nobody asked for that any more");
    assert_eq!(bench.brief().steps.len(), 0, "it is written anew");
}

#[test]
fn what_people_cannot_be_shown_they_are_not_asked_about() {
    let (mut bench, brief) = ToolBench::asked(&[]);
    let call = ToolCall {
        id: "1".into(),
        name: "notes__add".into(),
        arguments: format!("{{\"harmless\": \"{}\", \"line\": \"hidden\"}}", "so ".repeat(1000)).into(),
        access: WRITES,
        signatures: Vec::new(),
    };
    bench.handle(Input::ToolCalls(brief.call.clone(), vec![call], Usage { calls: 1, ..Usage::default() }));
    assert!(bench.delivery().is_none() && bench.order().is_none());
    assert_eq!(outcomes(&bench.brief()), [ToolOutcome::Denied(Denial::TooLong)]);
}

#[test]
fn only_the_sign_that_the_question_names_agrees() {
    let (mut bench, brief) = ToolBench::asked(&[]);
    bench.wants(&brief, &[("notes__add", WRITES)]);
    bench.is_asked("q1");
    for emoji in ["👍", "☑\u{fe0f}", "🆗", "⭕", "✔"] {
        bench.reacts("q1", emoji, "mia");
        assert!(bench.order().is_none(), "{emoji}");
    }
    bench.reacts("q1", "✅", "mia");
    assert!(bench.order().is_some());
}

#[test]
fn the_decision_names_a_call_that_was_cut_off() {
    let deleted = Change { place: Place::room("room"), id: MessageId::new("1"), at: Time(1000), text: None };
    for stop in [Input::Told(RoomId::new("room"), Command::Mute(None)), Input::Changed(deleted)] {
        let (mut bench, brief) = ToolBench::asked(&[]);
        bench.wants(&brief, &[("slow", READS)]);
        assert!(bench.order().is_some());
        bench.handle(stop);
        let trace = bench.trace();
        assert_eq!((trace.tools.len(), &*trace.tools[0].ended), (1, "interrupted"));
    }
    let (mut bench, brief) = ToolBench::asked(&["tools.allow=slow"]);
    bench.wants(&brief, &[("slow", WRITES)]);
    assert!(bench.order().is_some());
    bench.handle(Input::Resumed);
    let brief = bench.brief();
    bench.writes(&brief);
    let delivery = bench.delivery().expect("it is posted");
    bench.handle(Input::Delivered(delivery.call, Ok(vec![MessageId::new("p1")])));
    assert_eq!(&*bench.trace().tools[0].ended, "interrupted", "after a crash");
}

#[test]
fn what_was_looked_up_is_let_go_of_while_people_are_asked() {
    let (mut bench, brief) = ToolBench::asked(&[]);
    bench.wants(&brief, &[("history", READS), ("notes__add", WRITES)]);
    let order = bench.order().unwrap();
    bench.returns(&order, false);
    bench.is_asked("q1");
    let other = Change { place: Place::room("room"), id: MessageId::new("0"), at: Time(1000), text: None };
    bench.handle(Input::Changed(other));
    let state = serde_json::to_string(&bench.engine.snapshot()).unwrap();
    assert!(!state.contains("result of history"), "it may quote what was deleted: {state}");
    bench.reacts("q1", "✅", "mia");
    assert!(bench.order().is_some(), "the question is still open");
}

#[test]
fn who_agreed_is_forgotten_while_the_tool_runs() {
    let (mut bench, brief) = ToolBench::asked(&[]);
    bench.wants(&brief, &[("notes__add", WRITES)]);
    bench.is_asked("q1");
    bench.reacts("q1", "✅", "web:bob");
    assert!(bench.order().is_some());
    let request = crate::memory::ForgetRequest { ids: vec![PersonId::new("web:bob")], ..Default::default() };
    bench.engine.forget(bench.now, &request.recognizer(), &mut bench.out);
    let state = serde_json::to_string(&bench.engine.snapshot()).unwrap();
    assert!(!state.contains("web:bob"), "{state}");
}

#[test]
fn who_agreed_to_what_the_settings_forbid_has_not_refused_it() {
    let (mut bench, brief) = ToolBench::asked(&[]);
    bench.wants(&brief, &[("notes__add", WRITES)]);
    bench.is_asked("q1");
    bench.handle(Input::PolicyChanged(Box::new(engine(&["tools.deny=notes__add"]).policies().stated())));
    bench.reacts("q1", "✅", "mia");
    assert!(bench.order().is_none());
    let brief = bench.brief();
    assert_eq!((outcomes(&brief), &brief.steps[0].decided_by), (vec![ToolOutcome::Denied(Denial::Policy)], &None));
}

impl ToolBench {
    /// It is addressed by a person at this second: the order for an answer, if it is to be written at once.
    fn addressed(&mut self, id: u64, person: &str) -> Option<Box<Brief>> {
        let (at, said) = heard(id, person, true);
        self.now = at;
        self.handle(said);
        self.take(|effect| if let Effect::Write(brief) = effect { Some(brief.clone()) } else { None })
    }

    /// It has written these words, and people see them.
    fn answers(&mut self, brief: &Brief, words: &str) {
        let answer = Answer { text: words.into(), usage: Usage::default() };
        self.handle(Input::Written(brief.call.clone(), Ok(answer)));
        let delivery = self.delivery().expect("it is posted");
        assert!(matches!(delivery.post, Post::Text(_)), "{delivery:?}");
        self.handle(Input::Delivered(delivery.call.clone(), Ok(vec![MessageId::new(delivery.call.to_string())])));
    }
}

#[test]
fn what_people_agreed_to_is_done_however_much_was_said_meanwhile() {
    let (mut bench, brief) = ToolBench::asked(&["listen.buffer_messages=5"]);
    bench.wants(&brief, &[("notes__add", WRITES)]);
    bench.is_asked("q1");
    for id in 2..60 {
        let (at, said) = heard(id, "ken", false);
        bench.now = at;
        bench.handle(said);
    }
    let other = bench.addressed(60, "jonas").expect("nobody waits for the question");
    bench.reacts("q1", "✅", "mia");
    assert!(bench.order().is_none(), "one after the other");
    bench.answers(&other, "here it is");
    let order = bench.order().unwrap_or_else(|| panic!("she agreed: {:?}", bench.out));
    bench.returns(&order, false);
    let brief = bench.brief();
    assert_eq!(brief.answering, [MessageId::new("1")]);
    assert_eq!(brief.transcript.lines.iter().filter(|line| line.id == "1").count(), 1, "its writer sees the question");
}

#[test]
fn what_people_agreed_to_for_a_schedule_is_done_after_another_answer() {
    let mut bench = ToolBench::new(&[]);
    bench.now = Time(1_000_000);
    let (due, content) = (bench.now + Span::minutes(1), ReminderContent::Prompt("sum it up".into()));
    let reminder = NewReminder { due, by_clock: true, content, schedule: Some("daily".into()) };
    bench.handle(Input::Scheduled(Place::room("room"), Box::new(reminder)));
    bench.now = due;
    bench.handle(Input::Tick);
    let brief = bench.brief();
    bench.wants(&brief, &[("notes__add", WRITES)]);
    bench.is_asked("q1");
    let other = bench.addressed(1_100, "jonas").expect("nobody waits for the question");
    bench.reacts("q1", "✅", "mia");
    bench.answers(&other, "here it is");
    let order = bench.order().unwrap_or_else(|| panic!("she agreed: {:?}", bench.out));
    bench.returns(&order, false);
    assert_eq!(bench.brief().errand.as_deref(), Some("sum it up"));
}

#[test]
fn what_people_agreed_to_is_not_mixed_with_what_others_ask() {
    let (mut bench, brief) = ToolBench::asked(&[]);
    bench.wants(&brief, &[("notes__add", WRITES)]);
    bench.is_asked("q1");
    let other = bench.addressed(30, "jonas").expect("nobody waits for the question");
    bench.reacts("q1", "✅", "mia");
    assert!(bench.addressed(31, "ken").is_none(), "he is answered after that");
    bench.answers(&other, "here it is");
    let order = bench.order().unwrap_or_else(|| panic!("she agreed: {:?}", bench.out));
    bench.returns(&order, false);
    let brief = bench.brief();
    assert_eq!(brief.answering, [MessageId::new("1")]);
    bench.answers(&brief, "it is noted");
    assert_eq!(bench.brief().answering, [MessageId::new("31")]);
}

#[test]
fn what_people_agreed_to_late_is_not_stale_after_a_restart() {
    let (mut bench, brief) = ToolBench::asked(&["tools.approval_minutes=60"]);
    bench.wants(&brief, &[("notes__add", WRITES)]);
    bench.is_asked("q1");
    bench.addressed(1_800, "jonas").expect("nobody waits for the question");
    bench.reacts("q1", "✅", "mia");
    bench.handle(Input::Resumed);
    let other = bench.brief();
    assert_eq!(other.answering, [MessageId::new("1800")]);
    bench.answers(&other, "here it is");
    assert_eq!(bench.brief().answering, [MessageId::new("1")]);
}

#[test]
fn what_people_agreed_to_waits_for_the_last_post_of_an_answer() {
    let (mut bench, brief) = ToolBench::asked(&["reply.chunks=2"]);
    bench.wants(&brief, &[("notes__add", WRITES)]);
    bench.is_asked("q1");
    let other = bench.addressed(30, "jonas").expect("nobody waits for the question");
    let paragraph = "and so on ".repeat(25);
    bench.answers(&other, &format!("one {}\n\ntwo {}", paragraph.trim(), paragraph.trim()));
    bench.reacts("q1", "✅", "mia");
    assert!(bench.order().is_none(), "the second post has not left yet");
    bench.now = bench.engine.next_deadline().expect("the second post is due");
    bench.handle(Input::Tick);
    let delivery = bench.delivery().expect("the second post leaves");
    bench.handle(Input::Delivered(delivery.call.clone(), Ok(vec![MessageId::new("p2")])));
    assert!(bench.order().is_some(), "she agreed");
}
