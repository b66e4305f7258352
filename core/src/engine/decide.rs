//! From a message to a verdict: points, gates, the wait, the questions.

use crate::effect::{Ask, Effect, Failure, Kind, Transcript};
use crate::engine::at_most;
use crate::engine::turn::Turn;
use crate::gates::{Order, Trigger, closed_in};
use crate::input::Answer;
use crate::judge::{Climb, History, Next, NoVerdict, Question, Verdict, cache_key, parse};
use crate::listen::{Addressed, speaks_to};
use crate::reply::kind_for;
use crate::room::{Floor, Pending, Phase};
use crate::score::{Scene, score};
use crate::settings::JudgeStyle;
use crate::trace::{Asked, Cause, Stage, Trace};
use crate::types::{CallId, Message, Span, Time, Voice};

/// What the score of a message comes to.
enum Weight {
    Nothing(Cause),
    /// Worth acting on, or asking about.
    Something {
        ask: bool,
        cause: Cause,
    },
}

impl Turn<'_> {
    pub(super) fn was_addressed(&mut self, message: &Message, mut trace: Box<Trace>, addressed: Addressed) {
        trace.addressed = Some(addressed);
        trace.score = self.policy.settings.score.enabled.then(|| addressed.points() as u8);
        let trigger = self.trigger(message, true, false);
        if let Some(closed) = crate::gates::closed(&self.case(trigger)) {
            return self.hold_back(trace, Stage::Gate, closed);
        }
        self.call_off(&Cause::AnsweredInstead(trace.message.clone()));
        trace.cause = Cause::Addressed(addressed);
        let owed = Box::new(Pending {
            by_bot: message.author.voice == Voice::Bot,
            addressed: Some(addressed),
            together: Vec::new(),
            since: self.now,
            kind: Kind::Full,
            ask: false,
            phase: Phase::Holding { due: self.now },
            trace,
        });
        if self.floor().past.as_ref().is_some_and(|past| past.answering.is_some()) {
            self.answer_next(owed);
        } else {
            self.write(owed);
        }
    }

    /// Somebody addressed it while it writes to somebody else: they are answered right after, all together.
    fn answer_next(&mut self, mut owed: Box<Pending>) {
        const TOGETHER_MAX: usize = 8;
        let waiting = self.floor_mut().past_mut().next.take();
        owed.together = waiting.into_iter().flat_map(|pending| pending.traces()).collect();
        if owed.together.len() > TOGETHER_MAX {
            let oldest = owed.together.remove(0);
            self.stay_silent(Box::new(oldest), Stage::Post, Cause::AnsweredInstead(owed.trace.message.clone()));
        }
        self.floor_mut().past_mut().next = Some(owed);
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
        self.weigh_score(&mut trace);
        let since = self.disturb(message);
        let trigger = self.trigger(message, false, for_somebody_else);
        if let Some(closed) = closed_in(&self.case(trigger), Order::BeforeScore) {
            self.postpone();
            return self.hold_back(trace, Stage::Gate, closed);
        }
        let (ask, cause) = match self.weight(trace.score) {
            Weight::Something { ask, cause } => (ask, cause),
            Weight::Nothing(cause) => {
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

    fn weigh_score(&self, trace: &mut Trace) {
        if !self.policy.settings.score.enabled {
            return;
        }
        let scene = Scene::of_newest(self.policy, self.floor()).expect("the message was just remembered");
        trace.points = score(&scene);
        trace.score = Some(trace.points.score());
    }

    fn weight(&self, score: Option<u8>) -> Weight {
        let Some(score) = score.map(u32::from) else {
            return Weight::Something { ask: true, cause: Cause::Undecided };
        };
        let settings = &self.policy.settings.score;
        let (low, high, threshold) = (settings.low, settings.high, settings.threshold);
        if score >= high {
            Weight::Something { ask: false, cause: Cause::High { high } }
        } else if score <= low {
            Weight::Nothing(Cause::Low { low })
        } else if self.policy.asks_a_model() {
            Weight::Something { ask: true, cause: Cause::Undecided }
        } else if score >= threshold {
            Weight::Something { ask: false, cause: Cause::OverThreshold { threshold } }
        } else {
            Weight::Nothing(Cause::UnderThreshold { threshold })
        }
    }

    /// Somebody speaks: what was pending is void, unless the policy is gentle and this is no answer to it. Returns since
    /// when something has been waiting, so that a lively room is judged too.
    fn disturb(&mut self, message: &Message) -> Option<Time> {
        let pending = self.floor().pending.as_ref()?;
        let waiting_since = matches!(pending.phase, Phase::Waiting { .. }).then_some(pending.since);
        if !self.policy.settings.response.bursts {
            self.call_off(&Cause::CancelledBy(message.id.clone()));
            return waiting_since;
        }
        let by_another = pending.trace.author_id != message.author.id;
        if by_another && speaks_to(message, &pending.trace.author_id, &pending.trace.author, pending.trace.message.as_str()) {
            self.call_off(&Cause::AnsweredBy(message.id.clone()));
            return None;
        }
        waiting_since
    }

    /// A message of little weight: what waits here waits a little longer.
    fn postpone(&mut self) {
        let Some(pending) = &self.floor().pending else { return };
        let due = self.due_after(self.wait_after(&pending.trace.message), pending.since);
        let pending = self.floor_mut().pending.as_mut().expect("it is still pending");
        match &mut pending.phase {
            Phase::Waiting { due: waits } | Phase::Holding { due: waits } => *waits = due.max(*waits),
            Phase::Judging { .. } | Phase::Writing { .. } => return,
        }
        self.set_alarm();
    }

    /// A message worth acting on. Of a burst, the best reason is kept.
    fn take_up(&mut self, message: &Message, trace: Box<Trace>, ask: bool, since: Option<Time>) {
        match self.floor_mut().pending.take() {
            Some(mut pending) => {
                self.abandon(&mut pending);
                let stage = pending.stage();
                if trace.score > pending.trace.score {
                    self.stay_silent(pending.trace, stage, Cause::SupersededBy(trace.message.clone()));
                    self.begin_wait(message, trace, ask, since);
                } else {
                    self.stay_silent(trace, Stage::Judge, Cause::PartOf(pending.trace.message.clone()));
                    pending.since = since.unwrap_or(self.now);
                    let due = self.due_after(self.wait_after(&pending.trace.message), pending.since);
                    pending.phase = Phase::Waiting { due };
                    self.floor_mut().pending = Some(pending);
                    self.set_alarm();
                }
            }
            None => self.begin_wait(message, trace, ask, since),
        }
    }

    fn begin_wait(&mut self, message: &Message, trace: Box<Trace>, ask: bool, since: Option<Time>) {
        let since = since.unwrap_or(self.now);
        let due = self.due_after(self.wait_after(&trace.message), since);
        let engaged = self.floor().is_engaged(self.policy, trace.at);
        self.floor_mut().pending = Some(Box::new(Pending {
            kind: kind_for(self.policy, trace.score, engaged),
            by_bot: message.author.voice == Voice::Bot,
            addressed: None,
            together: Vec::new(),
            since,
            ask,
            phase: Phase::Waiting { due },
            trace,
        }));
        if due <= self.now { self.judge() } else { self.set_alarm() }
    }

    /// The timers look at this place: something may be due, and old talk may go.
    pub(super) fn ring(&mut self) {
        let at = self.now;
        if self.floor().alarm != Some(at) {
            return;
        }
        self.floor_mut().alarm = None;
        if let Some(life) = self.policy.buffer_life() {
            let (floor, speakers) = self.room.split(self.thread.as_ref());
            floor.buffer.expire(at, life, |speaker| speakers.release(speaker));
        }
        let pending = self.floor().pending.as_ref();
        if let Some((due, waited)) =
            pending.and_then(|p| p.due().map(|due| (due, matches!(p.phase, Phase::Waiting { .. }))))
            && due <= at
        {
            if waited { self.wait_is_over() } else { self.write_pending() }
        }
        self.set_alarm();
    }

    /// Quiet has come. What held a moment ago is looked at again.
    fn wait_is_over(&mut self) {
        let pending = self.floor().pending.as_ref().expect("a wait is over where something waits");
        if let Some(closed) = self.closed_for(pending, pending.ask) {
            let pending = self.floor_mut().pending.take().expect("it is still pending");
            return self.hold_back(pending.trace, Stage::Gate, closed);
        }
        self.judge();
    }

    pub(super) fn judge(&mut self) {
        let pending = self.floor().pending.as_ref().expect("only what is pending is judged");
        if !pending.ask {
            return self.write_pending();
        }
        self.forget_old_interventions();
        let intervened = self.floor().past.as_ref().is_some_and(|past| !past.interventions.is_empty());
        self.ask(Climb::first(self.policy.settings.judge.style, intervened));
    }

    /// History older than its life is gone before it is looked at.
    fn forget_old_interventions(&mut self) {
        let (now, life) = (self.now, self.history_life());
        if let Some(past) = &mut self.floor_mut().past {
            while past.interventions.front().is_some_and(|oldest| now.since(oldest.at) >= life) {
                past.interventions.pop_front();
            }
        }
    }

    /// Asks a question, or takes the answer that is remembered, and goes on from there.
    fn ask(&mut self, climb: Climb) {
        let mut climb = climb;
        loop {
            // While models took their time, the last contribution may have become too old to compare with.
            self.forget_old_interventions();
            let compares = matches!(climb.question, Question::Same | Question::Changed);
            if compares && self.floor().past.as_ref().is_none_or(|past| past.interventions.is_empty()) {
                climb.question = Question::Judge;
            }
            let mut transcript = self.question_data(climb.question);
            transcript.state = climb.known.state.filter(|_| climb.question == Question::Judge);
            let settings = &self.policy.settings;
            let cache = self.floor().past.as_ref().map(|past| &past.cache);
            let key = cache_key(climb.question, &transcript, settings);
            let remembered = cache.zip(key).and_then(|(cache, key)| cache.get(key, settings, self.now));
            let cached = remembered.map(Box::<str>::from);
            let Some(answer) = cached else {
                return self.ask_a_model(climb, transcript, key);
            };
            let asked = Asked { question: climb.question, at: self.now, prompt_chars: 0, answer, cached: true, failed: false };
            match self.take_answer(climb, asked) {
                Some(next) => climb = next,
                None => return,
            }
        }
    }

    fn question_data(&self, question: Question) -> Transcript {
        let judge = &self.policy.settings.judge;
        let past = self.floor().past.as_deref();
        let last_lines =
            || past.and_then(|past| past.interventions.back()).map(|last| last.lines.clone()).unwrap_or_default();
        match question {
            Question::State => self.transcript(judge.window_messages),
            Question::Same | Question::Changed => {
                Transcript { earlier: last_lines(), ..self.transcript(judge.history_messages) }
            }
            Question::Judge | Question::Join => {
                let told = matches!(judge.style, JudgeStyle::Ladder | JudgeStyle::Join);
                let history = past.filter(|_| told).and_then(|past| History::of(past, &self.policy.settings, self.now));
                Transcript { history, ..self.transcript(judge.window_messages) }
            }
        }
    }

    fn ask_a_model(&mut self, climb: Climb, transcript: Transcript, cache_key: Option<u64>) {
        let model = self.policy.judge_model();
        let tokens_max = climb.question.tokens_max(&self.policy.settings);
        let call = self.room.next_call();
        if let Err(closed) = self.reserve(&call, model, transcript.tokens(), tokens_max) {
            let pending = self.floor_mut().pending.take().expect("only what is pending is judged");
            return self.hold_back(pending.trace, Stage::Gate, ("budget", closed));
        }
        let (now, model, prompt_chars) = (self.now, model.into(), transcript.chars());
        let pending = self.floor_mut().pending.as_mut().expect("only what is pending is judged");
        pending.phase = Phase::Judging { call: call.clone(), asked_at: now, prompt_chars, climb, cache_key };
        let ask = Ask { call, at: now, question: climb.question, style: climb.style, model, tokens_max, transcript };
        self.out.push(Effect::Ask(Box::new(ask)));
    }

    pub(super) fn judged(&mut self, call: &CallId, answer: Result<Answer, Failure>) {
        self.settle(call, answer.as_ref().ok().map(|answer| &answer.usage));
        let Some(pending) = &mut self.floor_mut().pending else { return };
        let Phase::Judging { call: current, asked_at, prompt_chars, climb, cache_key } = &pending.phase else { return };
        if current != call {
            return;
        }
        let (asked_at, estimate, climb, cache_key) = (*asked_at, *prompt_chars, *climb, *cache_key);
        pending.trace.micros += answer.as_ref().map_or(0, |answer| answer.usage.micros);
        let prompt_chars = answer.as_ref().map_or(estimate, |answer| answer.usage.prompt_chars);
        let asked = |answer, failed| Asked { question: climb.question, at: asked_at, prompt_chars, answer, cached: false, failed };
        let next = match answer {
            Ok(Answer { text, .. }) => {
                if let Some(key) = cache_key {
                    let (now, settings) = (self.now, &self.policy.settings);
                    self.floor_mut().past_mut().cache.put(key, settings, now, &text);
                }
                self.take_answer(climb, asked(text, false))
            }
            Err(Failure(what)) => {
                pending_trace(self.floor_mut()).asked.push(asked(what.clone(), true));
                self.go_on(climb.next(None), &what)
            }
        };
        if let Some(next) = next {
            self.ask(next);
        }
    }

    /// What an answer leads to: the next question, or an end.
    fn take_answer(&mut self, climb: Climb, asked: Asked) -> Option<Climb> {
        let parsed = parse(climb.style, climb.question, &asked.answer);
        pending_trace(self.floor_mut()).asked.push(asked);
        match parsed {
            Ok(parsed) => self.go_on(climb.next(Some(parsed)), ""),
            Err(what) => self.go_on(climb.next(None), &what),
        }
    }

    fn go_on(&mut self, next: Result<Next, NoVerdict>, failure: &str) -> Option<Climb> {
        let cause = match next {
            Ok(Next::Ask(climb)) => return Some(climb),
            Ok(Next::Decided(verdict)) if verdict.respond => {
                self.said_yes(verdict);
                return None;
            }
            Ok(Next::Decided(verdict)) => Cause::SaidNo { reason: verdict.reason },
            Ok(Next::Ending) => Cause::Ending,
            Ok(Next::Unchanged) => Cause::Unchanged,
            Err(_) => Cause::Failed { what: failure.into() },
        };
        let pending = self.floor_mut().pending.take().expect("only what is pending is judged");
        self.stay_silent(pending.trace, Stage::Judge, cause);
        None
    }

    fn said_yes(&mut self, verdict: Verdict) {
        let settings = &self.policy.settings;
        let style = settings.judge.style;
        let delays = matches!(style, JudgeStyle::Delay | JudgeStyle::Join);
        let delay = if delays { at_most(verdict.delay, settings.response.max_delay_seconds) } else { Span::ZERO };
        let due = self.now + delay;
        let pending = self.floor_mut().pending.as_mut().expect("only what is pending is judged");
        if let Some(kind) = verdict.kind.filter(|_| style == JudgeStyle::Join) {
            pending.kind = kind;
        }
        pending.trace.cause = Cause::SaidYes { reason: verdict.reason, delay, state: verdict.state };
        pending.phase = Phase::Holding { due };
        if delay > Span::ZERO { self.set_alarm() } else { self.write_pending() }
    }
}

fn pending_trace(floor: &mut Floor) -> &mut Trace {
    &mut floor.pending.as_mut().expect("only what is pending is judged").trace
}
