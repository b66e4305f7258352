//! From a message to the end of its wait: points, gates, what is taken up and what is called off.

use crate::decider::{Decision, assess};
use crate::engine::turn::Turn;
use crate::gates::{Order, Trigger, closed_in};
use crate::listen::speaks_to;
use crate::phrases::is_filler;
use crate::reply::kind_for;
use crate::room::{Pending, Phase};
use crate::trace::{Cause, Stage, Trace};
use crate::types::{Addressed, ConversationId, Kind, Message, Time, Voice};

/// Messages answered together with the one that gave the reason.
const TOGETHER_MAX: usize = 8;
/// Answers that may wait behind the next one.
const GROUPS_MAX: usize = 16;

impl Turn<'_> {
    pub(super) fn was_addressed(&mut self, message: &Message, mut trace: Box<Trace>, addressed: Addressed) {
        trace.addressed = Some(addressed);
        trace.score = self.policy.settings.score.enabled.then(|| addressed.points() as u8);
        let trigger = self.trigger(message, true, false);
        if let Some(closed) = crate::gates::closed(&self.case(trigger)) {
            return self.hold_back(trace, Stage::Gate, closed);
        }
        self.call_off_for(&trace);
        trace.cause = Cause::Addressed(addressed);
        let owed = Box::new(Pending {
            by_bot: message.author.voice == Voice::Bot,
            addressed: Some(addressed),
            conversation: self.conversation,
            together: Vec::new(),
            since: self.now,
            kind: Kind::Full,
            ask: false,
            phase: Phase::Holding { due: self.now },
            telling: None,
            trace,
        });
        if self.place().bot.as_ref().is_some_and(|bot| bot.answering.is_some()) {
            self.answer_next(owed, message.heard.is_some());
        } else {
            self.write(owed);
        }
    }

    /// Who calls gets an answer to that: neither their conversation nor they get another one.
    fn call_off_for(&mut self, trace: &Trace) {
        let conversation = self.conversation;
        let (off, on) = std::mem::take(&mut self.place_mut().pending)
            .into_iter()
            .partition(|pending| pending.conversation == conversation || pending.trace.author_id == trace.author_id);
        self.place_mut().pending = on;
        for pending in Vec::from_iter::<Vec<Pending>>(off) {
            self.end(pending, &Cause::AnsweredInstead(trace.message.clone()));
        }
    }

    /// Somebody addressed it while it writes to somebody else: they are answered right after, as many together as an answer
    /// has room for. Records of earlier versions, which have no `queue`, decide as they did then.
    fn answer_next(&mut self, mut owed: Box<Pending>, queue: bool) {
        let bot = self.place_mut().bot_mut();
        let full = |group: &Pending| group.together.len() >= TOGETHER_MAX;
        let last = bot.later.pop().map(Box::new).or_else(|| bot.next.take());
        match last {
            Some(last) if queue && full(&last) => {
                bot.put_last(last);
                if bot.later.len() >= GROUPS_MAX {
                    return self.tell_too_many(*owed);
                }
            }
            last => owed.together = last.into_iter().flat_map(|group| group.traces()).collect(),
        }
        if owed.together.len() > TOGETHER_MAX {
            let oldest = owed.together.remove(0);
            self.stay_silent(Box::new(oldest), Stage::Post, Cause::AnsweredInstead(owed.trace.message.clone()));
        }
        self.place_mut().bot_mut().put_last(owed);
    }

    fn trigger<'b>(&self, message: &'b Message, addressed: bool, for_somebody_else: bool) -> Trigger<'b> {
        Trigger {
            id: message.id.as_str(),
            author: self.room.speakers.key(&message.author.id),
            by_bot: message.author.voice == Voice::Bot,
            addressed,
            for_somebody_else,
            paid: false,
        }
    }

    pub(super) fn was_not_addressed(&mut self, message: &Message, mut trace: Box<Trace>, for_somebody_else: bool) {
        let assessment = assess(self.policy, self.room, self.thread.as_ref(), trace.p_join, self.glances);
        assessment.note(&mut trace);
        self.answer_by_name(message);
        let since = self.disturb(message, &trace);
        let trigger = self.trigger(message, false, for_somebody_else);
        if let Some(closed) = closed_in(&self.case(trigger), Order::BeforeScore) {
            self.postpone();
            return self.hold_back(trace, Stage::Gate, closed);
        }
        let (ask, cause) = match assessment.decision(self.policy) {
            Decision::SpeakUp { ask, cause } => (ask, cause),
            Decision::StaySilent(cause) if self.may_speak_first(message, trigger) => {
                return self.speak_first(message, trace, cause);
            }
            Decision::StaySilent(cause) => {
                self.postpone();
                return self.stay_silent(trace, Stage::Score, cause);
            }
        };
        let trigger = Trigger { paid: ask, ..trigger };
        if let Some(closed) = closed_in(&self.case(trigger), Order::AfterScore) {
            self.postpone();
            return self.hold_back(trace, Stage::Gate, closed);
        }
        trace.cause = cause;
        self.take_up(message, trace, ask, since);
    }

    /// Who is spoken to by name has an answer, in whatever conversation that seems to be.
    fn answer_by_name(&mut self, message: &Message) {
        if !self.policy.settings.response.bursts {
            return;
        }
        let told = |pending: &Trace| {
            pending.author_id != message.author.id
                && speaks_to(message, &pending.author_id, &pending.author, pending.message.as_str())
        };
        while let Some(index) = self.place().pending.iter().position(|pending| told(&pending.trace)) {
            let pending = self.place_mut().pending.remove(index);
            self.end(pending, &Cause::AnsweredBy(message.id.clone()));
        }
    }

    /// Somebody speaks: what was pending is void, unless the policy is gentle and this is no answer to it. Returns since
    /// when something has been waiting, so that a lively room is judged too.
    fn disturb(&mut self, message: &Message, trace: &Trace) -> Option<Time> {
        let pending = self.pending()?;
        let waiting_since = matches!(pending.phase, Phase::Waiting { .. }).then_some(pending.since);
        if !self.policy.settings.response.bursts {
            self.call_off(&Cause::CancelledBy(message.id.clone()));
            return waiting_since;
        }
        if trace.reply_to_guess.as_ref() == Some(&pending.trace.message)
            && pending.trace.author_id != message.author.id
            && !is_filler(&message.text)
        {
            self.call_off(&Cause::AnsweredBy(message.id.clone()));
            return None;
        }
        waiting_since
    }

    /// A message of little weight: what waits here waits a little longer.
    fn postpone(&mut self) {
        let Some(pending) = self.pending() else { return };
        let due = self.due_after(self.wait_after(&pending.trace.message), pending.since);
        let pending = self.pending_mut().expect("it is still pending");
        match &mut pending.phase {
            Phase::Waiting { due: waits } | Phase::Holding { due: waits } => *waits = due.max(*waits),
            Phase::Judging { .. } | Phase::Writing { .. } => return,
        }
        self.set_alarm();
    }

    /// A message worth acting on. Of a burst, the best reason is kept.
    fn take_up(&mut self, message: &Message, trace: Box<Trace>, ask: bool, since: Option<Time>) {
        match self.take_pending() {
            Some(mut pending) => {
                self.abandon(&mut pending);
                let stage = pending.stage();
                if trace.reason() > pending.trace.reason() {
                    self.stay_silent(pending.trace, stage, Cause::SupersededBy(trace.message.clone()));
                    self.begin_wait(message, trace, ask, since);
                } else {
                    self.stay_silent(trace, Stage::Judge, Cause::PartOf(pending.trace.message.clone()));
                    pending.since = since.unwrap_or(self.now);
                    let due = self.due_after(self.wait_after(&pending.trace.message), pending.since);
                    pending.phase = Phase::Waiting { due };
                    self.place_mut().pending.push(pending);
                    self.set_alarm();
                }
            }
            None => self.begin_wait(message, trace, ask, since),
        }
    }

    fn begin_wait(&mut self, message: &Message, trace: Box<Trace>, ask: bool, since: Option<Time>) {
        let since = since.unwrap_or(self.now);
        let due = self.due_after(self.wait_after(&trace.message), since);
        let pending = self.reason_to_wait(message, trace, ask, since, due);
        self.make_room(&pending);
        self.place_mut().pending.push(pending);
        if due <= self.now { self.judge() } else { self.set_alarm() }
    }

    pub(super) fn reason_to_wait(
        &self,
        message: &Message,
        trace: Box<Trace>,
        ask: bool,
        since: Time,
        due: Time,
    ) -> Pending {
        let engaged = self.place().is_engaged(self.policy, trace.at);
        Pending {
            kind: if trace.p_join.is_some() { Kind::Full } else { kind_for(self.policy, trace.score, engaged) },
            by_bot: message.author.voice == Voice::Bot,
            addressed: None,
            conversation: self.conversation,
            together: Vec::new(),
            since,
            ask,
            phase: Phase::Waiting { due },
            telling: None,
            trace,
        }
    }

    /// Only so many conversations wait at a time: the one with the least reason gives way.
    fn make_room(&mut self, newcomer: &Pending) {
        let most = self.policy.settings.response.conversations_max as usize;
        while self.place().pending.len() >= most {
            let reasons = self.place().pending.iter().enumerate();
            let least = reasons.min_by(|(_, a), (_, b)| a.trace.reason().total_cmp(&b.trace.reason()));
            let (index, _) = least.expect("at least one is allowed");
            let pending = self.place_mut().pending.remove(index);
            self.end(pending, &Cause::SupersededBy(newcomer.trace.message.clone()));
        }
    }

    /// The timers look at this place: something may be due, and old talk may go.
    pub(super) fn ring(&mut self) {
        let at = self.now;
        if self.place().alarm != Some(at) {
            return;
        }
        self.place_mut().alarm = None;
        if let Some(life) = self.policy.buffer_life() {
            let (place, speakers) = self.room.split(self.thread.as_ref());
            place.buffer.expire(at, life, |speaker| speakers.release(speaker));
        }
        self.let_pass();
        while let Some((conversation, waited)) = self.first_due(at) {
            self.conversation = conversation;
            if waited { self.wait_is_over() } else { self.write_pending() }
        }
        self.conversation = None;
        if self.thread.is_none() {
            self.digest();
        }
        self.set_alarm();
    }

    /// The conversation in which something is due, the longest overdue first, and whether it waited for quiet.
    fn first_due(&self, now: Time) -> Option<(Option<ConversationId>, bool)> {
        let due = self.place().pending.iter().filter(|pending| pending.due().is_some_and(|due| due <= now));
        let first = due.min_by_key(|pending| pending.due())?;
        Some((first.conversation, matches!(first.phase, Phase::Waiting { .. })))
    }

    /// Quiet has come. What held a moment ago is looked at again.
    fn wait_is_over(&mut self) {
        if self.found_nothing() {
            return;
        }
        let pending = self.pending().expect("a wait is over where something waits");
        if let Some(closed) = self.closed_for(pending, pending.ask) {
            let pending = self.take_pending().expect("it is still pending");
            return self.hold_back(pending.trace, Stage::Gate, closed);
        }
        self.judge();
    }
}
