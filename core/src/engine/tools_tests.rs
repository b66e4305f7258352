//! Which calls run, who is asked, and what becomes of them when something comes between.

use super::tests::{engine, heard};
use crate::effect::{Brief, Delivery, Effect, Post, Usage};
use crate::input::{Answer, Command};
use crate::tools::{Denial, ToolAccess, ToolCall, ToolOffer, ToolOrder, ToolOutcome, ToolOutput};
use crate::types::{Change, MessageId, PersonId, Place, Reaction, RoomId, Span, Time};
use crate::{Engine, Input};

pub(super) struct ToolBench {
    pub(super) engine: Engine,
    pub(super) now: Time,
    pub(super) out: Vec<Effect>,
}

impl ToolBench {
    pub(super) fn new(settings: &[&str]) -> ToolBench {
        ToolBench { engine: engine(settings), now: Time(0), out: Vec::new() }
    }

    /// Somebody calls it: the order for an answer.
    pub(super) fn asked(settings: &[&str]) -> (ToolBench, Box<Brief>) {
        let mut bench = ToolBench::new(settings);
        let (at, said) = heard(1, "mia", true);
        bench.now = at;
        bench.handle(said);
        let brief = bench.brief();
        (bench, brief)
    }

    pub(super) fn handle(&mut self, input: Input) {
        self.engine.handle(self.now, input, &mut self.out);
    }

    pub(super) fn take<T>(&mut self, pick: impl Fn(&Effect) -> Option<T>) -> Option<T> {
        let index = self.out.iter().position(|effect| pick(effect).is_some())?;
        pick(&self.out.remove(index))
    }

    pub(super) fn brief(&mut self) -> Box<Brief> {
        let brief = |effect: &Effect| if let Effect::Write(brief) = effect { Some(brief.clone()) } else { None };
        self.take(brief).unwrap_or_else(|| panic!("nothing is to be written: {:?}", self.out))
    }

    pub(super) fn order(&mut self) -> Option<Box<ToolOrder>> {
        self.take(|effect| if let Effect::RunTool(order) = effect { Some(order.clone()) } else { None })
    }

    pub(super) fn delivery(&mut self) -> Option<Box<Delivery>> {
        self.take(|effect| if let Effect::Deliver(delivery) = effect { Some(delivery.clone()) } else { None })
    }

    pub(super) fn wants(&mut self, brief: &Brief, calls: &[(&str, ToolAccess)]) {
        let call = |(number, (name, access)): (usize, &(&str, ToolAccess))| ToolCall {
            id: number.to_string().into(),
            name: (*name).into(),
            arguments: "{}".into(),
            access: *access,
            signatures: Vec::new(),
        };
        let calls = calls.iter().enumerate().map(call).collect();
        self.handle(Input::ToolCalls(brief.call.clone(), calls, Usage { calls: 1, ..Usage::default() }));
    }

    pub(super) fn returns(&mut self, order: &ToolOrder, from_outside: bool) {
        self.now = self.now + Span::seconds(1);
        let output = ToolOutput { from_outside, ..ToolOutput::own(format!("result of {}", order.tool.name)) };
        self.handle(Input::ToolResult(order.call.clone(), Ok(output)));
    }

    pub(super) fn writes(&mut self, brief: &Brief) {
        let answer = Answer { text: "here it is".into(), usage: Usage::default() };
        self.handle(Input::Written(brief.call.clone(), Ok(answer)));
    }

    /// The question whether a tool may run is out, under this id.
    pub(super) fn is_asked(&mut self, id: &str) {
        let question = self.delivery().expect("somebody is asked");
        assert!(matches!(question.post, Post::Approval(_)), "{question:?}");
        self.handle(Input::Delivered(question.call.clone(), Ok(vec![MessageId::new(id)])));
    }

    pub(super) fn reacts(&mut self, id: &str, emoji: &str, by: &str) {
        self.handle(Input::Reacted(Reaction {
            place: Place::room("room"),
            message: MessageId::new(id),
            at: self.now,
            by: PersonId::new(by),
            emoji: emoji.into(),
            on: true,
        }));
    }
}

pub(super) fn outcomes(brief: &Brief) -> Vec<ToolOutcome> {
    brief.steps.iter().map(|step| step.outcome.clone().expect("a writer sees what has ended")).collect()
}

pub(super) const READS: ToolAccess = ToolAccess::Reads;
pub(super) const WRITES: ToolAccess = ToolAccess::Writes;

#[test]
fn what_was_looked_up_is_in_the_next_order_and_in_the_decision() {
    let (mut bench, brief) = ToolBench::asked(&[]);
    assert_eq!(brief.tools, ToolOffer::All);
    bench.wants(&brief, &[("time", READS), ("recall", READS)]);
    for name in ["time", "recall"] {
        let order = bench.order().expect("it may be run");
        assert_eq!(&*order.tool.name, name);
        assert!(bench.order().is_none(), "one after the other");
        bench.returns(&order, false);
    }
    let brief = bench.brief();
    assert_eq!(brief.steps.len(), 2);
    assert_eq!(brief.steps[1].took, Span::seconds(1));
    bench.writes(&brief);
    let delivery = bench.delivery().expect("it is posted");
    bench.handle(Input::Delivered(delivery.call, Ok(vec![MessageId::new("p1")])));
    let trace =
        bench.take(|effect| if let Effect::Trace(trace) = effect { Some(trace.clone()) } else { None }).unwrap();
    let told: Vec<(&str, &str)> = trace.tools.iter().map(|tool| (&*tool.name, &*tool.result)).collect();
    assert_eq!(told, [("time", "result of time"), ("recall", "result of recall")]);
}

#[test]
fn rounds_calls_time_and_people_have_their_limits() {
    let (mut bench, mut brief) = ToolBench::asked(&["tools.rounds_max=2", "tools.calls_max=3"]);
    bench.wants(&brief, &[("time", READS), ("time", READS)]);
    for _ in 0..2 {
        let order = bench.order().unwrap();
        bench.returns(&order, false);
    }
    brief = bench.brief();
    assert_eq!(brief.tools, ToolOffer::All, "one more round");
    bench.wants(&brief, &[("time", READS), ("time", READS)]);
    let order = bench.order().unwrap();
    bench.returns(&order, false);
    brief = bench.brief();
    assert_eq!(outcomes(&brief)[3], ToolOutcome::Denied(Denial::TooMany));
    assert_eq!(brief.tools, ToolOffer::None, "now it has to answer");

    let (mut bench, brief) = ToolBench::asked(&["tools.seconds_max=5"]);
    bench.wants(&brief, &[("slow", READS), ("slow", READS)]);
    let order = bench.order().unwrap();
    assert_eq!(order.timeout, Span::seconds(5));
    bench.now = bench.now + Span::seconds(6);
    bench.returns(&order, false);
    let brief = bench.brief();
    assert_eq!(outcomes(&brief)[1], ToolOutcome::Denied(Denial::TooMany));
    assert_eq!(brief.tools, ToolOffer::None);

    let (mut bench, brief) = ToolBench::asked(&["tools.person_per_hour=1"]);
    bench.wants(&brief, &[("time", READS), ("time", READS)]);
    let order = bench.order().unwrap();
    bench.returns(&order, false);
    assert_eq!(outcomes(&bench.brief())[1], ToolOutcome::Denied(Denial::TooMany));
}

#[test]
fn the_settings_of_a_room_decide_and_off_is_off() {
    let (mut bench, brief) = ToolBench::asked(&["tools.deny=[\"git__*\"]", "tools.allow=[\"remind\"]"]);
    bench.wants(&brief, &[("git__log", READS), ("remind", WRITES), ("nonsense", ToolAccess::Invalid)]);
    let order = bench.order().unwrap();
    assert_eq!(&*order.tool.name, "remind", "what is allowed runs though it writes");
    bench.returns(&order, false);
    let brief = bench.brief();
    assert_eq!(outcomes(&brief)[0], ToolOutcome::Denied(Denial::Policy));
    assert_eq!(outcomes(&brief)[2], ToolOutcome::Denied(Denial::Invalid));

    let (_, brief) = ToolBench::asked(&["tools.enabled=false"]);
    assert_eq!(brief.tools, ToolOffer::None);
}

#[test]
fn what_writes_waits_for_a_yes_and_nobody_waits_for_it() {
    let (mut bench, brief) = ToolBench::asked(&[]);
    bench.wants(&brief, &[("notes__add", WRITES)]);
    assert!(bench.order().is_none());
    bench.is_asked("q1");
    // Others are answered meanwhile.
    let (at, said) = heard(30, "jonas", true);
    bench.now = at;
    bench.handle(said);
    let other = bench.brief();
    assert_eq!(other.answering, [MessageId::new("30")]);
    bench.writes(&other);
    let delivery = bench.delivery().unwrap();
    bench.handle(Input::Delivered(delivery.call, Ok(vec![MessageId::new("p1")])));
    bench.reacts("q1", "👀", "mia");
    assert!(bench.order().is_none(), "that says nothing");
    bench.reacts("q1", "✅", "mia");
    let order = bench.order().expect("she agreed");
    bench.returns(&order, false);
    let brief = bench.brief();
    assert_eq!(brief.answering, [MessageId::new("1")]);
    assert!(matches!(outcomes(&brief)[..], [ToolOutcome::Returned(_)]));
    bench.reacts("q1", "✅", "mia");
    assert!(bench.order().is_none(), "a second yes runs nothing");
}

#[test]
fn a_no_nobody_and_a_stranger() {
    let (mut bench, brief) = ToolBench::asked(&["tools.approvers=[\"web:ken\"]"]);
    bench.wants(&brief, &[("notes__add", WRITES)]);
    bench.is_asked("q1");
    bench.reacts("q1", "✅", "mia");
    assert!(bench.order().is_none(), "she may not");
    bench.reacts("q1", "❌", "web:ken");
    assert_eq!(outcomes(&bench.brief()), [ToolOutcome::Denied(Denial::Refused)]);

    let (mut bench, brief) = ToolBench::asked(&["tools.approval_minutes=10"]);
    bench.wants(&brief, &[("notes__add", WRITES)]);
    bench.is_asked("q1");
    bench.now = bench.now + Span::minutes(10);
    assert!(bench.engine.next_deadline().is_some_and(|due| due <= bench.now));
    bench.handle(Input::Tick);
    assert_eq!(outcomes(&bench.brief()), [ToolOutcome::Denied(Denial::Expired)]);
}

#[test]
fn after_strangers_words_what_is_allowed_to_write_asks_too() {
    let (mut bench, brief) = ToolBench::asked(&["tools.allow=[\"remind\"]"]);
    bench.wants(&brief, &[("fetch", READS), ("remind", WRITES), ("time", READS)]);
    let order = bench.order().unwrap();
    bench.returns(&order, true);
    assert!(bench.order().is_none(), "a page may have asked for it");
    bench.is_asked("q1");
    bench.reacts("q1", "✅".trim_end_matches('🏽'), "mia");
    assert_eq!(&*bench.order().unwrap().tool.name, "remind");
}

#[test]
fn what_was_under_way_when_it_crashed_is_not_run_again_if_it_writes() {
    let (mut bench, brief) = ToolBench::asked(&["tools.allow=[\"notes__add\"]"]);
    bench.wants(&brief, &[("notes__add", WRITES), ("time", READS)]);
    let order = bench.order().unwrap();
    bench.handle(Input::Resumed);
    assert!(bench.order().is_none());
    let brief = bench.brief();
    assert_eq!(outcomes(&brief), [ToolOutcome::Interrupted]);
    // The result of before comes too late.
    bench.returns(&order, false);
    assert!(bench.out.iter().all(|effect| !matches!(effect, Effect::Write(_) | Effect::RunTool(_))), "{:?}", bench.out);
}

#[test]
fn a_question_that_is_open_survives_a_crash() {
    let (mut bench, brief) = ToolBench::asked(&[]);
    bench.wants(&brief, &[("notes__add", WRITES)]);
    bench.is_asked("q1");
    bench.handle(Input::Resumed);
    assert!(bench.delivery().is_none(), "nobody is asked twice");
    bench.reacts("q1", "✅", "mia");
    assert!(bench.order().is_some());
}

#[test]
fn who_mutes_it_or_deletes_the_question_stops_the_tools() {
    for stop in [
        Input::Told(RoomId::new("room"), Command::Mute(None)),
        Input::Changed(Change { place: Place::room("room"), id: MessageId::new("1"), at: Time(1000), text: None }),
    ] {
        let (mut bench, brief) = ToolBench::asked(&["reply.withdraw_minutes=0"]);
        bench.wants(&brief, &[("slow", READS), ("slow", READS)]);
        let order = bench.order().unwrap();
        bench.handle(stop.clone());
        let aborted = bench.take(|effect| if let Effect::Abort(call) = effect { Some(call.clone()) } else { None });
        assert_eq!(aborted, Some(order.call.clone()));
        bench.returns(&order, false);
        assert!(bench.order().is_none() && bench.delivery().is_none(), "{:?}", bench.out);

        let (mut bench, brief) = ToolBench::asked(&["reply.withdraw_minutes=0"]);
        bench.wants(&brief, &[("notes__add", WRITES)]);
        bench.is_asked("q1");
        bench.handle(stop);
        bench.reacts("q1", "✅", "mia");
        assert!(bench.order().is_none(), "{:?}", bench.out);
    }
}

/// A model that keeps to no limit does not flood a room.
#[test]
fn an_answer_without_end_is_cut() {
    let (mut bench, brief) = ToolBench::asked(&["reply.tokens_full=100"]);
    let answer = Answer { text: "so it goes on ".repeat(10_000).into(), usage: Usage::default() };
    bench.handle(Input::Written(brief.call.clone(), Ok(answer)));
    let Post::Text(parts) = bench.delivery().expect("it is posted").post else { panic!("it is text") };
    let chars: usize = parts.iter().map(|part| part.chars().count()).sum();
    assert!(chars <= 1_700 && parts.last().unwrap().ends_with('…'), "{chars} characters");
}

#[test]
fn who_agrees_before_the_question_is_acknowledged_has_agreed() {
    let (mut bench, brief) = ToolBench::asked(&[]);
    bench.wants(&brief, &[("lamp", WRITES)]);
    let question = bench.delivery().expect("somebody is asked");
    bench.reacts("q1", "✅", "mia");
    assert!(bench.order().is_none(), "nobody knows yet what that was about");
    bench.handle(Input::Delivered(question.call.clone(), Ok(vec![MessageId::new("q1")])));
    assert!(bench.order().is_some(), "it is known now");
}
