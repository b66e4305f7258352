//! Virtual time: the engine runs as fast as possible, and an oracle replaces models and platforms.

mod stand_in;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::effect::{Ask, Brief, Delivery, Effect, Failure, Recall, Remember, Trace, Usage};
use crate::engine::Engine;
use crate::input::{Answer, Input};
use crate::memory::FactId;
use crate::siblings::Siblings;
use crate::total::TotalBudget;
use crate::types::{CallId, MessageId, Span, Time};

pub use stand_in::{ScriptLine, StandIn};

/// The results of calls, and how long they take.
pub trait Oracle {
    fn judge(&mut self, ask: &Ask) -> (Span, Result<Answer, Failure>);
    /// The same, with the message that the question is about.
    fn judge_about(&mut self, ask: &Ask, _message: &MessageId) -> (Span, Result<Answer, Failure>) {
        self.judge(ask)
    }
    fn write(&mut self, brief: &Brief) -> (Span, Result<Answer, Failure>);
    fn deliver(&mut self, delivery: &Delivery) -> (Span, Result<Vec<MessageId>, Failure>);
    /// Without a memory there is nothing to mention.
    fn recall(&mut self, _recall: &Recall) -> (Span, Option<FactId>) {
        (Span::ZERO, None)
    }
    /// Without a memory there is nothing to store, and no model is called.
    fn remember(&mut self, _remember: &Remember) -> (Span, Result<Usage, Failure>) {
        (Span::ZERO, Ok(Usage::default()))
    }
}

pub struct Sim<O> {
    pub engine: Engine,
    pub oracle: O,
    /// Results that are pending, in the order in which they were requested.
    coming: BinaryHeap<Reverse<(Time, u64, ScheduledInput)>>,
    asked: u64,
    effects: Vec<Effect>,
    /// Final decisions that nobody has taken yet.
    pub traces: Vec<Trace>,
    /// Responses to contributions that nobody has taken yet.
    pub received: Vec<Trace>,
    /// Progress of answers in several posts that nobody has taken yet.
    pub updated: Vec<Trace>,
    /// How late a deadline is noticed, if nothing else happens before.
    pub lateness: Span,
    /// No result arrives earlier than this: before, the program was not running.
    away_until: Time,
    /// What all rooms spent together.
    total: TotalBudget,
    /// What rooms of one kind are like, if new ones are to get it; `None` if a record contains what they got.
    pub siblings: Option<Siblings>,
    /// Everything that happened, in order, if requested: a journal.
    pub journal: Option<Vec<(Time, Input)>>,
}

/// A pending input, compared only by its time.
struct ScheduledInput(Input);

impl PartialEq for ScheduledInput {
    fn eq(&self, _: &ScheduledInput) -> bool {
        true
    }
}
impl Eq for ScheduledInput {}
impl PartialOrd for ScheduledInput {
    fn partial_cmp(&self, other: &ScheduledInput) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for ScheduledInput {
    fn cmp(&self, _: &ScheduledInput) -> std::cmp::Ordering {
        std::cmp::Ordering::Equal
    }
}

impl<O: Oracle> Sim<O> {
    pub fn new(engine: Engine, oracle: O) -> Sim<O> {
        Sim {
            engine,
            oracle,
            coming: BinaryHeap::new(),
            asked: 0,
            effects: Vec::new(),
            traces: Vec::new(),
            received: Vec::new(),
            updated: Vec::new(),
            lateness: Span::ZERO,
            away_until: Time(0),
            total: TotalBudget::default(),
            siblings: None,
            journal: None,
        }
    }

    /// Advances time to `at`, then feeds an input.
    pub fn feed(&mut self, at: Time, input: Input) {
        if let Input::ClockSet(by) = input {
            // By the old clock it is not that late, or later. Pending results take as long as they would have taken.
            let coming = self.coming.drain().map(|Reverse((at, nth, input))| Reverse((at.shifted(by), nth, input)));
            self.coming = coming.collect();
            self.away_until = self.away_until.shifted(by);
        } else {
            self.run_until(at);
        }
        self.handle(at, input);
        self.run_until(at);
    }

    fn handle(&mut self, at: Time, input: Input) {
        if let Some(journal) = &mut self.journal {
            journal.push((at, input.clone()));
        }
        let room = input.room().cloned();
        let said_in = room.clone().filter(|_| self.siblings.is_some() && matches!(input, Input::Said(_)));
        self.engine.handle(at, input, &mut self.effects);
        if self.is_limited() {
            let of_effects = self.effects.iter().filter_map(Effect::call).map(|call| call.room.clone());
            for room in room.into_iter().chain(of_effects) {
                if let Some(spent) = self.engine.spent(&room) {
                    self.total.book(&room, spent);
                }
            }
        }
        self.run_effects(at);
        if let (Some(siblings), Some(room)) = (&self.siblings, said_in)
            && let Some(told) = siblings.introduce(&self.engine, &room)
        {
            self.handle(at, told);
        }
    }

    fn is_limited(&self) -> bool {
        !self.engine.policies().general().settings.budget.of_all_rooms().is_zero()
    }

    /// Advances time until nothing is pending any more.
    pub fn finish(&mut self) {
        while let Some(next) = self.engine.next_deadline().into_iter().chain(self.next_answer()).min() {
            self.run_until(next);
        }
    }

    fn next_answer(&self) -> Option<Time> {
        self.coming.peek().map(|Reverse((at, ..))| *at)
    }

    /// Whether the result of this call is still pending.
    pub fn is_coming(&self, call: &CallId) -> bool {
        self.coming.iter().any(|Reverse((_, _, ScheduledInput(input)))| input.call() == Some(call))
    }

    /// The program was not running until now: no timer fired and no result arrived meanwhile.
    pub fn feed_late(&mut self, at: Time, input: Input) {
        self.away_until = at;
        self.handle(at, input);
        self.run_until(at);
    }

    /// The program stops: all pending results are lost.
    pub fn lose_answers(&mut self) {
        self.coming.clear();
    }

    fn run_until(&mut self, end: Time) {
        loop {
            let answer = self.next_answer().filter(|at| *at <= end);
            let due = self.engine.next_deadline().filter(|due| *due <= end);
            let (at, input) = match (answer, due) {
                (None, None) => return,
                // At the same instant the result comes first, since it was requested before.
                (Some(at), due) if due.is_none_or(|due| at <= due) => (at, self.take_answer()),
                (_, due) => {
                    let noticed = due.map_or(end, |due| due + self.lateness);
                    (noticed.min(end).min(answer.unwrap_or(end)), Input::Tick)
                }
            };
            self.handle(at, input);
        }
    }

    fn take_answer(&mut self) -> Input {
        let Reverse((_, _, ScheduledInput(input))) = self.coming.pop().expect("an answer was seen coming");
        input
    }

    /// The input a room gets instead of an answer, if the budget over all rooms leaves nothing for a call.
    fn refuse(&mut self, at: Time, effect: &Effect) -> Option<Input> {
        let call = effect.call().filter(|_| self.is_limited())?;
        let cost = self.engine.reserved(call)?;
        let why = self.total.admit(self.engine.policies(), at, call, cost).err()?;
        Some(Input::Refused(call.clone(), why))
    }

    fn run_effects(&mut self, at: Time) {
        let mut effects = std::mem::take(&mut self.effects);
        for effect in effects.drain(..) {
            if let Some(refused) = self.refuse(at, &effect) {
                self.expect(at, refused);
                continue;
            }
            match effect {
                Effect::Ask(ask) => {
                    // A call that was cancelled meanwhile is about no message any more.
                    let (latency, answer) = match self.engine.asked_about(&ask.call) {
                        Some(message) => self.oracle.judge_about(&ask, message),
                        None => self.oracle.judge(&ask),
                    };
                    self.expect(ask.at + latency, Input::Judged(ask.call, answer));
                }
                Effect::Write(brief) => {
                    let (latency, draft) = self.oracle.write(&brief);
                    self.expect(brief.at + latency, Input::Written(brief.call, draft));
                }
                Effect::Deliver(delivery) => {
                    let (latency, ids) = self.oracle.deliver(&delivery);
                    self.expect(delivery.at + latency, Input::Delivered(delivery.call, ids));
                }
                Effect::Recall(recall) => {
                    let (latency, found) = self.oracle.recall(&recall);
                    self.expect(recall.at + latency, Input::Recalled(recall.call, found, Usage::default()));
                }
                Effect::Remember(remember) => {
                    let (latency, done) = self.oracle.remember(&remember);
                    self.expect(remember.at + latency, Input::Remembered(remember.call, done));
                }
                // The recorded words already include what was looked up.
                Effect::RunTool(order) => {
                    let failure = Failure::unpaid("tools are not run in a simulation");
                    self.expect(order.at, Input::ToolResult(order.call, Err(failure)));
                }
                Effect::Abort(call) => self.forget(&call),
                // What was withdrawn left the engine with the deletion.
                Effect::Withdraw(_) | Effect::Type(_) => (),
                Effect::Trace(trace) => {
                    if let Some(siblings) = &mut self.siblings {
                        siblings.note(&self.engine, &trace);
                    }
                    self.traces.push(*trace);
                }
                Effect::Received(trace) => self.received.push(*trace),
                Effect::Updated(trace) => self.updated.push(*trace),
            }
        }
        self.effects = effects;
    }

    fn expect(&mut self, at: Time, input: Input) {
        self.asked += 1;
        self.coming.push(Reverse((at.max(self.away_until), self.asked, ScheduledInput(input))));
    }

    /// An aborted call is really cancelled.
    fn forget(&mut self, call: &CallId) {
        self.coming.retain(|Reverse((_, _, ScheduledInput(input)))| input.call() != Some(call));
    }
}
