//! The questions: asked one after the other, answered by a model or from memory, until there is a verdict.

use crate::effect::{About, Ask, Effect, Failure, Transcript};
use crate::engine::at_most;
use crate::engine::pay::{Estimate, micros_of};
use crate::engine::turn::Turn;
use crate::input::Answer;
use crate::judge::{History, JudgeLadder, Next, NoVerdict, Question, Verdict, cache_key, parse};
use crate::likelihood::{JoinModel, because};
use crate::memory::Memories;
use crate::room::{BotState, Phase};
use crate::settings::{JudgeStyle, Settings};
use crate::trace::{Asked, Cause, Stage, Trace};
use crate::types::{CallId, ConversationId, Span, Time};

impl Turn<'_> {
    pub(super) fn judge(&mut self) {
        let pending = self.pending().expect("only what is pending is judged");
        if !pending.ask {
            return self.write_pending();
        }
        self.forget_old_interventions();
        let intervened = self.intervened();
        self.ask(JudgeLadder::first(self.policy.settings.judge.style, intervened));
    }

    /// History older than its life is gone before it is looked at.
    fn forget_old_interventions(&mut self) {
        let (now, life) = (self.now, self.history_life());
        if let Some(bot) = &mut self.place_mut().bot {
            while bot.interventions.front().is_some_and(|oldest| now.since(oldest.at) >= life) {
                bot.interventions.pop_front();
            }
        }
    }

    /// Asks a question, or takes the answer that is remembered, and goes on from there.
    fn ask(&mut self, ladder: JudgeLadder) {
        let mut ladder = ladder;
        loop {
            // While models took their time, the last contribution may have become too old to compare with.
            self.forget_old_interventions();
            let compares = matches!(ladder.question, Question::Same | Question::Changed);
            if compares && !self.intervened() {
                ladder.question = Question::Judge;
            }
            let mut transcript = self.question_data(ladder.question);
            transcript.state = ladder.known.state.filter(|_| ladder.question == Question::Judge);
            let settings = &self.policy.settings;
            let cache = self.place().bot.as_ref().map(|bot| &bot.cache);
            let key = cache_key(ladder.question, &transcript, settings);
            let remembered = cache.zip(key).and_then(|(cache, key)| cache.get(key, settings, self.now));
            let cached = remembered.map(Box::<str>::from);
            let Some(answer) = cached else {
                return self.ask_a_model(ladder, transcript, key);
            };
            let asked =
                Asked { question: ladder.question, at: self.now, prompt_chars: 0, answer, cached: true, failed: false };
            match self.take_answer(ladder, asked) {
                Some(next) => ladder = next,
                None => return,
            }
        }
    }

    fn question_data(&self, question: Question) -> Transcript {
        let judge = &self.policy.settings.judge;
        let bot = self.place().bot.as_deref();
        let last_lines = || {
            bot.and_then(|bot| bot.interventions_of(self.conversation).next_back())
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
                let history = bot
                    .filter(|_| told)
                    .and_then(|bot| history_of(bot, self.conversation, &self.policy.settings, self.now));
                Transcript { history, about: self.about(), ..self.transcript(judge.window_messages) }
            }
        }
    }

    /// Where something learnt led to the question, the judge is told what it was.
    fn about(&self) -> Option<About> {
        let trace = &self.pending()?.trace;
        let values = trace.features.0.as_deref()?;
        let because = because(values, true, JoinModel::built_in()).join(", ").into();
        Some(About { message: trace.message.clone(), because })
    }

    fn ask_a_model(&mut self, ladder: JudgeLadder, transcript: Transcript, cache_key: Option<u64>) {
        let model = self.policy.judge_model();
        let tokens_max = ladder.question.tokens_max(&self.policy.settings);
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
        pending.phase = Phase::Judging { call: call.clone(), asked_at: now, prompt_chars, ladder, cache_key };
        let ask = Ask {
            call,
            at: now,
            question: ladder.question,
            style: ladder.style,
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
        let Some(pending) = self.place_mut().pending.iter_mut().find(|pending| pending.call() == Some(call)) else {
            return;
        };
        let Phase::Judging { asked_at, prompt_chars: estimate, ladder, cache_key, .. } = pending.phase else { return };
        let conversation = pending.conversation;
        pending.trace.micros += micros_of(&answer);
        self.conversation = conversation;
        let prompt_chars = answer.as_ref().map_or(estimate, |answer| answer.usage.prompt_chars);
        let asked = |answer, failed| Asked {
            question: ladder.question,
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
                    self.place_mut().bot_mut().cache.put(key, settings, now, &text);
                }
                self.take_answer(ladder, asked(text, false))
            }
            Err(Failure { what, .. }) => {
                self.pending_trace().asked.push(asked(what.clone(), true));
                self.go_on(ladder.next(None), &what)
            }
        };
        if let Some(next) = next {
            self.ask(next);
        }
    }

    /// What an answer leads to: the next question, or an end.
    fn take_answer(&mut self, ladder: JudgeLadder, asked: Asked) -> Option<JudgeLadder> {
        let parsed = parse(ladder.style, ladder.question, &asked.answer);
        self.pending_trace().asked.push(asked);
        match parsed {
            Ok(parsed) => self.go_on(ladder.next(Some(parsed)), ""),
            Err(what) => self.go_on(ladder.next(None), &what),
        }
    }

    fn go_on(&mut self, next: Result<Next, NoVerdict>, failure: &str) -> Option<JudgeLadder> {
        let cause = match next {
            Ok(Next::Ask(ladder)) => return Some(ladder),
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
        self.place().bot.as_ref().is_some_and(|bot| bot.interventions_of(self.conversation).next().is_some())
    }
}

const HALF_AN_HOUR: Span = Span::minutes(30);

/// What it did in a conversation lately, as the judge is told.
fn history_of(bot: &BotState, conversation: Option<ConversationId>, settings: &Settings, now: Time) -> Option<History> {
    let last = bot.interventions_of(conversation).next_back()?;
    let recent = bot.interventions_of(conversation).filter(|each| now.since(each.at) < HALF_AN_HOUR);
    Some(History {
        minutes_since: now.since(last.at).whole_minutes(),
        within_half_an_hour: recent.count() as u64,
        excerpt: last.lines.plain().chars().take(settings.judge.history_chars as usize).collect(),
    })
}
