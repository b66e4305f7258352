//! One input handled in one place: what every step of the engine works with.

use crate::effect::{Effect, Line, Trace, Transcript};
use crate::gates::{Case, Closed, Trigger, closed};
use crate::policy::Policy;
use crate::room::{Floor, Pending, Room};
use crate::timers::{Key, Timers};
use crate::trace::{Cause, Outcome, Stage};
use crate::types::{CallId, Place, Span, ThreadId, Time, Voice};

pub struct Turn<'a> {
    pub now: Time,
    pub policy: &'a Policy,
    pub room: &'a mut Room,
    pub room_number: u32,
    pub thread: Option<ThreadId>,
    pub timers: &'a mut Timers,
    pub out: &'a mut Vec<Effect>,
}

impl Turn<'_> {
    pub fn floor(&self) -> &Floor {
        self.room.floor(self.thread.as_ref()).expect("a turn is taken in a known place")
    }

    pub fn floor_mut(&mut self) -> &mut Floor {
        self.room.floor_mut(self.thread.as_ref()).expect("a turn is taken in a known place")
    }

    pub fn place(&self) -> Place {
        Place { room: self.room.id.clone(), thread: self.thread.clone() }
    }

    /// The decision is final.
    pub fn conclude(&mut self, trace: Trace) {
        self.out.push(Effect::Trace(Box::new(trace)));
    }

    pub fn stay_silent(&mut self, mut trace: Trace, stage: Stage, cause: Cause) {
        (trace.outcome, trace.stage, trace.cause) = (Outcome::Silent, stage, cause);
        self.conclude(trace);
    }

    pub fn hold_back(&mut self, mut trace: Trace, stage: Stage, (gate, found): (&'static str, Closed)) {
        trace.gate = Some(gate.into());
        self.stay_silent(trace, stage, Cause::Closed(found));
    }

    /// Calls off what is pending here, with everything that was to be answered together.
    pub fn call_off(&mut self, cause: &Cause) {
        let Some(pending) = self.floor_mut().pending.take() else { return };
        self.abandon(&pending);
        let stage = pending.stage();
        for trace in pending.together.into_iter().chain([pending.trace]) {
            self.stay_silent(trace, stage, cause.clone());
        }
    }

    /// A call in flight is no longer wanted. Its cost is not known, so what was reserved for it is spent.
    pub fn abandon(&mut self, pending: &Pending) {
        if let Some(call) = pending.call() {
            self.out.push(Effect::Abort(call.clone()));
            self.settle(call, None);
        }
    }

    pub fn settle(&mut self, call: &CallId, bill: Option<&crate::effect::Usage>) {
        if let Some(spent) = &mut self.room.spent {
            spent.settle(self.policy, self.now, call.serial, bill);
        }
    }

    /// The first closed gate for what is pending here, at this instant.
    pub fn closed_for(&self, pending: &Pending, paid: bool) -> Option<(&'static str, Closed)> {
        closed(&self.case(self.trigger_of(pending, paid)))
    }

    pub fn trigger_of<'b>(&self, pending: &'b Pending, paid: bool) -> Trigger<'b> {
        Trigger {
            id: pending.trace.message.as_str(),
            author: self.room.speakers.key(&pending.author),
            by_bot: pending.by_bot,
            addressed: pending.addressed.is_some(),
            for_somebody_else: false,
            paid,
        }
    }

    pub fn case<'b>(&'b self, trigger: Trigger<'b>) -> Case<'b> {
        Case { now: self.now, policy: self.policy, room: self.room, floor: self.floor(), trigger }
    }

    /// The last messages of this place as a model reads them.
    pub fn transcript(&self, messages: u32) -> Transcript {
        Transcript { lines: self.lines(messages), ..Transcript::default() }
    }

    pub fn lines(&self, messages: u32) -> Vec<Line> {
        let recent: Vec<_> = self.floor().recent(self.policy, self.now).take(messages as usize).collect();
        let line = |heard: crate::room::Heard<'_>| {
            let voice = heard.voice();
            let name = if voice == Voice::Me {
                &self.policy.settings.bot.name
            } else {
                self.room.speakers.name(heard.speaker)
            };
            Line { id: heard.id.into(), name: name.into(), voice, text: heard.text.into() }
        };
        recent.into_iter().rev().map(line).collect()
    }

    /// Makes sure the timers look here when something is due, or when the talk is old enough to be let go.
    pub fn set_alarm(&mut self) {
        let life = self.policy.buffer_life();
        let key = Key { room: self.room_number, thread: self.thread.clone() };
        let floor = self.room.floor_mut(self.thread.as_ref()).expect("a turn is taken in a known place");
        let expires = life.and_then(|life| floor.buffer.latest().map(|latest| latest + life));
        let due = floor.pending.as_ref().and_then(|pending| pending.due());
        if let Some(earliest) = due.into_iter().chain(expires).min() {
            self.timers.arm(&mut floor.alarm, earliest, || key);
        }
    }

    pub fn history_life(&self) -> Span {
        Span::seconds(self.policy.settings.judge.history_seconds.into())
    }
}
