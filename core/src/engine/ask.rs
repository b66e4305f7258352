//! The questions: asked one after the other, answered by a model or from memory, until there is a verdict.

use crate::effect::{About, Ask, Effect, Failure, Transcript};
use crate::engine::at_most;
use crate::engine::pay::{Estimate, micros_of};
use crate::engine::turn::Turn;
use crate::input::Answer;
use crate::join::because;
use crate::judge::{Climb, History, Next, NoVerdict, Question, Verdict, cache_key, parse};
use crate::memory::Memories;
use crate::room::Phase;
use crate::settings::JudgeStyle;
use crate::strands::Models;
use crate::trace::{Asked, Cause, Stage, Trace};
use crate::types::{CallId, Span};

impl Turn<'_> {
    pub(super) fn judge(&mut self) {
        let pending = self.pending().expect("only what is pending is judged");
        if !pending.ask {
            return self.write_pending();
        }
        self.forget_old_interventions();
        let intervened = self.intervened();
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
            if compares && !self.intervened() {
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
            let asked =
                Asked { question: climb.question, at: self.now, prompt_chars: 0, answer, cached: true, failed: false };
            match self.take_answer(climb, asked) {
                Some(next) => climb = next,
                None => return,
            }
        }
    }

    fn question_data(&self, question: Question) -> Transcript {
        let judge = &self.policy.settings.judge;
        let past = self.floor().past.as_deref();
        let last_lines = || {
            past.and_then(|past| past.interventions_of(self.strand).next_back())
                .map(|last| last.lines.clone())
                .unwrap_or_default()
        };
        match question {
            Question::State => self.transcript(judge.window_messages),
            Question::Same | Question::Changed => {
                Transcript { earlier: last_lines(), ..self.transcript(judge.history_messages) }
            }
            Question::Judge | Question::Join => {
                let told = matches!(judge.style, JudgeStyle::Ladder | JudgeStyle::Join);
                let history = past
                    .filter(|_| told)
                    .and_then(|past| History::of(past, self.strand, &self.policy.settings, self.now));
                Transcript { history, about: self.about(), ..self.transcript(judge.window_messages) }
            }
        }
    }

    /// Where something learnt led to the question, the judge is told what it was.
    fn about(&self) -> Option<About> {
        let trace = &self.pending()?.trace;
        let values = trace.features.0.as_deref()?;
        let because = because(values, true, Models::built_in()).join(", ").into();
        Some(About { message: trace.message.clone(), because })
    }

    fn ask_a_model(&mut self, climb: Climb, transcript: Transcript, cache_key: Option<u64>) {
        let model = self.policy.judge_model();
        let tokens_max = climb.question.tokens_max(&self.policy.settings);
        let call = self.room.next_call();
        let tokens_in = transcript.tokens();
        let looked_up = self.pending().and_then(|pending| pending.tells()).map(|_| tokens_in);
        if let Err(closed) = self.reserve(&call, Estimate { model, calls: 1, tokens_in, tokens_max, looked_up }) {
            let pending = self.take_pending().expect("only what is pending is judged");
            return self.hold_back(pending.trace, Stage::Gate, ("budget", closed));
        }
        let (now, model, prompt_chars) = (self.now, model.into(), transcript.chars());
        let pending = self.pending_mut().expect("only what is pending is judged");
        let telling = pending.tells();
        pending.phase = Phase::Judging { call: call.clone(), asked_at: now, prompt_chars, climb, cache_key };
        let ask = Ask {
            call,
            at: now,
            question: climb.question,
            style: climb.style,
            model,
            tokens_max,
            transcript,
            telling,
            memories: Memories::default(),
        };
        self.out.push(Effect::Ask(Box::new(ask)));
        if let Some((talk, _)) = self.room.talk_mut(self.policy) {
            talk.note_asked();
        }
    }

    pub(super) fn judged(&mut self, call: &CallId, answer: Result<Answer, Failure>) {
        self.settle_answer(call, &answer);
        let Some(pending) = self.floor_mut().pending.iter_mut().find(|pending| pending.call() == Some(call)) else {
            return;
        };
        let Phase::Judging { asked_at, prompt_chars: estimate, climb, cache_key, .. } = pending.phase else { return };
        let strand = pending.strand;
        pending.trace.micros += micros_of(&answer);
        self.strand = strand;
        let prompt_chars = answer.as_ref().map_or(estimate, |answer| answer.usage.prompt_chars);
        let asked = |answer, failed| Asked {
            question: climb.question,
            at: asked_at,
            prompt_chars,
            answer,
            cached: false,
            failed,
        };
        let next = match answer {
            Ok(Answer { text, .. }) => {
                if let Some(key) = cache_key {
                    let (now, settings) = (self.now, &self.policy.settings);
                    self.floor_mut().past_mut().cache.put(key, settings, now, &text);
                }
                self.take_answer(climb, asked(text, false))
            }
            Err(Failure { what, .. }) => {
                self.pending_trace().asked.push(asked(what.clone(), true));
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
        self.pending_trace().asked.push(asked);
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
        let pending = self.take_pending().expect("only what is pending is judged");
        self.stay_silent(pending.trace, Stage::Judge, cause);
        None
    }

    fn said_yes(&mut self, verdict: Verdict) {
        let settings = &self.policy.settings;
        let style = settings.judge.style;
        let delays = matches!(style, JudgeStyle::Delay | JudgeStyle::Join);
        let delay = if delays { at_most(verdict.delay, settings.response.max_delay_seconds) } else { Span::ZERO };
        let due = self.now + delay;
        let pending = self.pending_mut().expect("only what is pending is judged");
        if let Some(kind) = verdict.kind.filter(|_| style == JudgeStyle::Join) {
            pending.kind = kind;
        }
        pending.trace.cause = Cause::SaidYes { reason: verdict.reason, delay, state: verdict.state };
        pending.phase = Phase::Holding { due };
        if delay > Span::ZERO { self.set_alarm() } else { self.write_pending() }
    }

    fn pending_trace(&mut self) -> &mut Trace {
        &mut self.pending_mut().expect("only what is pending is judged").trace
    }

    /// Whether it stepped into this conversation lately.
    fn intervened(&self) -> bool {
        self.floor().past.as_ref().is_some_and(|past| past.interventions_of(self.strand).next().is_some())
    }
}
