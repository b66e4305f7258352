//! What is said at a time: in time, late, not while it may not speak, and never twice.

use super::tests::{engine, heard};
use crate::effect::{Delivery, Effect, Post, Usage};
use crate::input::{Answer, Command};
use crate::reminders::{NewReminder, Reminder, ReminderContent};
use crate::tools::{ToolAccess, ToolCall, ToolOutcome, ToolOutput};
use crate::trace::Cause;
use crate::types::{Change, ClockShift, Message, MessageId, Place, RoomId, Span, Time};
use crate::{Engine, Input};

struct ReminderBench {
    engine: Engine,
    now: Time,
    out: Vec<Effect>,
}

const HOUR: Span = Span::minutes(60);

impl ReminderBench {
    /// Somebody calls it, and it asks for the tool that reminds: in an hour, of tea.
    fn reminded(settings: &[&str], by_clock: bool) -> ReminderBench {
        let mut bench = ReminderBench { engine: engine(settings), now: Time(0), out: Vec::new() };
        let (at, said) = heard(1, "mia", true);
        bench.now = at;
        bench.handle(said);
        let Some(Effect::Write(brief)) = bench.out.pop() else { panic!("it is to answer") };
        let call = ToolCall {
            id: "1".into(),
            name: "remind".into(),
            arguments: "{}".into(),
            access: ToolAccess::Writes,
            signatures: Vec::new(),
        };
        bench.handle(Input::ToolCalls(brief.call.clone(), vec![call], Usage::default()));
        let Some(Effect::RunTool(order)) = bench.out.pop() else { panic!("it is allowed: {:?}", bench.out) };
        let content = ReminderContent::Text("tea".into());
        let reminder = NewReminder { due: at + HOUR, by_clock, content, schedule: None };
        let output = ToolOutput { reminder: Some(Box::new(reminder)), ..ToolOutput::own("set") };
        bench.handle(Input::ToolResult(order.call.clone(), Ok(output)));
        let Some(Effect::Write(brief)) = bench.out.pop() else { panic!("it is to answer") };
        let said = match brief.steps[0].outcome.as_ref().unwrap() {
            ToolOutcome::Returned(output) => output.text.to_string(),
            other => format!("{other:?}"),
        };
        let answer = Answer { text: said.into(), usage: Usage::default() };
        bench.handle(Input::Written(brief.call.clone(), Ok(answer)));
        let Some(answer) = bench.delivered() else { panic!("it answers") };
        bench.acknowledge(&answer, "p1");
        bench.out.clear();
        bench
    }

    fn handle(&mut self, input: Input) {
        self.engine.handle(self.now, input, &mut self.out);
    }

    fn wait(&mut self, span: Span) {
        self.now = self.now + span;
        self.handle(Input::Tick);
    }

    fn tell(&mut self, command: Command) {
        self.handle(Input::Told(RoomId::new("room"), command));
    }

    fn delivered(&mut self) -> Option<Box<Delivery>> {
        let index = self.out.iter().position(|effect| matches!(effect, Effect::Deliver(_)))?;
        let Effect::Deliver(delivery) = self.out.remove(index) else { unreachable!("it was found") };
        Some(delivery)
    }

    fn acknowledge(&mut self, delivery: &Delivery, id: &str) {
        self.handle(Input::Delivered(delivery.call.clone(), Ok(vec![MessageId::new(id)])));
    }

    /// What is said of tea, and whether it is late.
    fn said(&mut self) -> Option<(String, bool)> {
        let delivery = self.delivered()?;
        self.acknowledge(&delivery, "r1");
        let Post::Reminder(post) = &delivery.post else { panic!("{delivery:?}") };
        assert_eq!(post.asked_by.as_deref(), Some("mia"));
        assert_eq!(delivery.answering.as_str(), "1");
        Some((post.text.to_string(), post.is_late))
    }

    fn reminders(&self) -> Vec<Reminder> {
        self.engine.view(&RoomId::new("room"), self.now).expect("it is known").reminders
    }
}

fn tea(is_late: bool) -> Option<(String, bool)> {
    Some(("tea".into(), is_late))
}

#[test]
fn it_is_said_in_time_and_once() {
    let mut bench = ReminderBench::reminded(&[], true);
    assert_eq!(bench.reminders().len(), 1);
    bench.wait(Span(HOUR.0 - 1));
    assert_eq!(bench.said(), None);
    assert_eq!(bench.engine.next_deadline(), Some(Time(bench.now.0 + 1)), "it asks to be woken in time");
    bench.wait(Span(1));
    assert_eq!(bench.said(), tea(false));
    bench.wait(HOUR);
    assert_eq!((bench.said(), bench.reminders()), (None, Vec::new()));
}

#[test]
fn one_that_fell_due_while_the_program_was_down_is_said_late() {
    let mut bench = ReminderBench::reminded(&[], true);
    let state = serde_json::to_string(&bench.engine.snapshot()).unwrap();
    let policies = bench.engine.policies().clone();
    bench.engine = Engine::restore(policies, serde_json::from_str(&state).unwrap()).unwrap();
    bench.now = bench.now + Span(5 * HOUR.0);
    bench.handle(Input::Resumed);
    assert_eq!(bench.said(), tea(true));
}

#[test]
fn mute_and_quiet_hours_postpone_it() {
    let mut bench = ReminderBench::reminded(&[], true);
    bench.tell(Command::Mute(Some(Span(2 * HOUR.0))));
    bench.wait(HOUR);
    assert_eq!(bench.said(), None);
    bench.wait(Span::minutes(61));
    assert_eq!(bench.said(), tea(true));

    let mut short = ReminderBench::reminded(&[], true);
    short.wait(Span(HOUR.0 - 5_000));
    short.tell(Command::Mute(Some(Span::seconds(20))));
    short.wait(Span::seconds(19));
    assert_eq!(short.said(), None);
    short.wait(Span::seconds(1));
    assert_eq!(short.said(), tea(false), "as soon as the mute is over");

    // Messages are said at the beginning of 1970, in UTC.
    let mut quiet = ReminderBench::reminded(&["gates.quiet_hours=00:30-03:00"], true);
    quiet.wait(HOUR);
    assert_eq!(quiet.said(), None);
    quiet.wait(HOUR);
    assert_eq!(quiet.said(), None);
    quiet.wait(Span::minutes(62));
    assert_eq!(quiet.said(), tea(true));
}

#[test]
fn a_mute_drops_the_rest_of_an_answer_and_not_the_reminder_behind_it() {
    let mut bench = ReminderBench::reminded(&["reply.chunks=2"], true);
    bench.wait(Span(HOUR.0 - 1));
    let (_, called) = heard(2, "jonas", true);
    let Input::Said(called) = called else { unreachable!("it says so") };
    bench.handle(Input::Said(Message { at: bench.now, heard: Some(bench.now), ..called }));
    let brief = bench.out.iter().find_map(|effect| if let Effect::Write(brief) = effect { Some(brief) } else { None });
    let call = brief.expect("it is to answer").call.clone();
    let paragraph = "and so on ".repeat(25);
    let text = format!("one {}\n\ntwo {}", paragraph.trim(), paragraph.trim()).into();
    bench.handle(Input::Written(call, Ok(Answer { text, usage: Usage::default() })));
    let first = bench.delivered().expect("the first post leaves");
    bench.acknowledge(&first, "p2");
    bench.wait(Span(1));
    assert_eq!((bench.said(), bench.reminders().len()), (None, 1), "the answer is not complete");
    bench.tell(Command::Mute(Some(Span::seconds(60))));
    bench.wait(Span::seconds(60));
    assert_eq!((bench.said(), bench.reminders()), (tea(false), Vec::new()));
}

#[test]
fn a_clock_that_is_set_moves_spans_and_not_times_of_day() {
    let day = ClockShift(86_400_000);
    for (by_clock, waits) in [(true, false), (false, true)] {
        let mut bench = ReminderBench::reminded(&[], by_clock);
        bench.now = bench.now + Span(day.0 as u64);
        bench.handle(Input::ClockSet(day));
        bench.wait(Span::minutes(2));
        assert_eq!(bench.said().is_none(), waits, "by_clock {by_clock}");
        bench.wait(HOUR);
        assert_eq!(bench.said().is_some(), waits);
    }
    // Back by an hour: at that time of day, which is two hours from now.
    let mut bench = ReminderBench::reminded(&[], true);
    bench.now = bench.now + Span(day.0 as u64);
    bench.handle(Input::ClockSet(day));
    assert_eq!(bench.reminders().len() + usize::from(bench.said().is_some()), 1, "never lost");
}

#[test]
fn it_is_cancelled_by_number_and_with_the_message_that_asked() {
    let mut bench = ReminderBench::reminded(&[], true);
    bench.tell(Command::CancelReminder(bench.reminders()[0].number + 1));
    assert_eq!(bench.reminders().len(), 1);
    bench.tell(Command::CancelReminder(bench.reminders()[0].number));
    bench.wait(HOUR);
    assert_eq!(bench.said(), None);

    let mut bench = ReminderBench::reminded(&["reply.withdraw_minutes=0"], true);
    let (place, id, at) = (Place::room("room"), MessageId::new("1"), bench.now);
    bench.handle(Input::Changed(Change { place, id, at, text: None }));
    assert_eq!(bench.reminders(), Vec::new());
}

#[test]
fn there_is_a_limit_and_the_writer_hears_of_it() {
    let bench = ReminderBench::reminded(&["tools.reminders_max=0"], true);
    assert_eq!(bench.reminders(), Vec::new());
}

fn schedule(due: Time, content: ReminderContent) -> Input {
    let reminder = NewReminder { due, by_clock: true, content, schedule: Some("tea".into()) };
    Input::Scheduled(Place::room("room"), Box::new(reminder))
}

#[test]
fn a_schedule_is_said_at_its_times_and_its_next_one_replaces_only_what_is_to_come() {
    let mut bench = ReminderBench { engine: engine(&[]), now: Time(1_000_000), out: Vec::new() };
    let text = || ReminderContent::Text("tea".into());
    let first = bench.now + HOUR;
    bench.handle(schedule(first + HOUR, text()));
    bench.handle(schedule(first, text()));
    assert_eq!(bench.reminders().len(), 1, "its time was changed");
    bench.tell(Command::Mute(Some(Span(2 * HOUR.0))));
    bench.wait(HOUR);
    bench.handle(schedule(first + Span(24 * HOUR.0), text()));
    assert_eq!(bench.reminders().len(), 2, "what is due waits for the end of the mute");
    bench.wait(Span::minutes(61));
    let delivery = bench.delivered().expect("it is said");
    let Post::Reminder(post) = &delivery.post else { panic!("{delivery:?}") };
    assert_eq!((&*post.text, &post.asked_by, post.is_late), ("tea", &None, true));
    bench.handle(Input::Resumed);
    assert_eq!(bench.reminders(), Vec::new(), "the schedules are submitted again");
}

#[test]
fn a_prompt_is_written_by_a_model_and_explained() {
    let mut bench = ReminderBench { engine: engine(&[]), now: Time(1_000_000), out: Vec::new() };
    let due = bench.now + HOUR;
    bench.handle(schedule(due, ReminderContent::Prompt("sum it up".into())));
    bench.wait(HOUR);
    let brief = bench.out.iter().find_map(|effect| if let Effect::Write(brief) = effect { Some(brief) } else { None });
    let brief = brief.expect("it is to be written").clone();
    assert_eq!(brief.errand.as_deref(), Some("sum it up"));
    let answer = Answer { text: "all is well".into(), usage: Usage::default() };
    bench.handle(Input::Written(brief.call.clone(), Ok(answer)));
    let delivery = bench.delivered().expect("it is posted");
    assert_eq!(delivery.answering.as_str(), "", "there is no message that it could point at");
    bench.acknowledge(&delivery, "p1");
    let trace = bench.out.iter().find_map(|effect| if let Effect::Trace(trace) = effect { Some(trace) } else { None });
    assert_eq!(trace.map(|trace| &trace.cause), Some(&Cause::Scheduled));
}
