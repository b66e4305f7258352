//! The questions: asked one after the other, answered by a model or from the cache, until there is a verdict.

use super::pay::{Estimate, micros_of};
use super::turn::Turn;
use super::{alarm, lines, pay, write};
use crate::effect::{Ask, Effect, Failure, Transcript, WhyAsked};
use crate::input::Answer;
use crate::judge::{History, JudgeLadder, Next, NoVerdict, Question, Verdict, cache_key, parse};
use crate::memory::Memories;
use crate::room::{BotState, Phase};
use crate::settings::{JudgeStyle, Settings};
use crate::trace::{Cause, QuestionTrace, Stage, Trace};
use crate::types::{CallId, ConversationId, HeardAs, MessageId, Span, Time};

pub(super) fn judge(turn: &mut Turn<'_>) {
    let pending = turn.pending().expect("only what is pending is judged");
    if !pending.ask {
        return write::write_pending(turn);
    }
    forget_old_interventions(turn);
    let intervened = intervened(turn);
    ask(turn, JudgeLadder::first(turn.policy.settings.judge.style, intervened));
}

/// Expired history is dropped before it is read.
fn forget_old_interventions(turn: &mut Turn<'_>) {
    let (now, life) = (turn.now, history_life(turn));
    if let Some(bot) = &mut turn.place_mut().bot {
        while bot.interventions.front().is_some_and(|oldest| now.since(oldest.at) >= life) {
            bot.interventions.pop_front();
        }
    }
}

/// Asks a question, or uses the cached answer, and continues from there.
fn ask(turn: &mut Turn<'_>, ladder: JudgeLadder) {
    let mut ladder = ladder;
    loop {
        // While models were answering, the last contribution may have become too old to compare with.
        forget_old_interventions(turn);
        let compares = matches!(ladder.question, Question::Same | Question::Changed);
        if compares && !intervened(turn) {
            ladder.question = Question::Judge;
        }
        let mut transcript = question_data(turn, ladder.question);
        transcript.state = ladder.known.state.filter(|_| ladder.question == Question::Judge);
        let settings = &turn.policy.settings;
        let cache = turn.place().bot.as_ref().map(|bot| &bot.cache);
        let key = cache_key(ladder.question, &transcript, settings);
        let remembered = cache.zip(key).and_then(|(cache, key)| cache.get(key, settings, turn.now));
        let cached = remembered.map(Box::<str>::from);
        let Some(answer) = cached else {
            return ask_a_model(turn, ladder, transcript, key);
        };
        let asked = QuestionTrace {
            question: ladder.question,
            at: turn.now,
            prompt_chars: 0,
            answer,
            cached: true,
            failed: false,
        };
        match take_answer(turn, ladder, asked, &[]) {
            Some(next) => ladder = next,
            None => return,
        }
    }
}

fn question_data(turn: &Turn<'_>, question: Question) -> Transcript {
    let judge = &turn.policy.settings.judge;
    let bot = turn.place().bot.as_deref();
    let last_lines = || {
        bot.and_then(|bot| bot.interventions_of(turn.conversation).next_back())
            .map(|last| last.lines.clone())
            .unwrap_or_default()
    };
    match question {
        Question::State => lines::transcript(turn, judge.window_messages),
        Question::Same | Question::Changed => {
            Transcript { earlier: last_lines(), ..lines::transcript(turn, judge.history_messages) }
        }
        Question::Judge | Question::Join => {
            let told = matches!(judge.style, JudgeStyle::Ladder | JudgeStyle::Join);
            let history = bot
                .filter(|_| told)
                .and_then(|bot| history_of(bot, turn.conversation, &turn.policy.settings, turn.now));
            let judged = turn.pending().map(|pending| &pending.trace.message);
            let transcript = lines::transcript_about(turn, judge.window_messages, judged);
            Transcript { history, about: about(turn), ..transcript }
        }
    }
}

/// Why the judge is asked, for its prompt: a learnt reason, the bot's turn, or the bot's name in the message.
fn about(turn: &Turn<'_>) -> Option<WhyAsked> {
    let trace = &turn.pending()?.trace;
    let name = match trace.heard_as {
        Some(HeardAs::NameInPassing) => Some("your name is mentioned in passing, nobody calls you"),
        Some(HeardAs::NameUnclear) => Some("it is unclear whether you are called by your name or only spoken of"),
        Some(HeardAs::TalkAgain) | None => None,
    };
    let learnt = trace.features.0.is_some().then(|| trace.reasons_for(true));
    let its_turn =
        trace.its_turn.then_some("you take part in this conversation, and it probably goes on with what you said");
    if name.is_none() && learnt.is_none() {
        return None;
    }
    // Reasons for a newcomer to join do not apply if the bot is in the conversation already.
    let learnt = learnt.into_iter().flatten().map(|reason| reason.for_judge).filter(|_| !trace.its_turn);
    let because = name.into_iter().chain(its_turn).chain(learnt).collect::<Vec<_>>();
    Some(WhyAsked { message: trace.message.clone(), because: because.join(", ").into() })
}

fn ask_a_model(turn: &mut Turn<'_>, ladder: JudgeLadder, transcript: Transcript, cache_key: Option<u64>) {
    let model = turn.policy.judge_model();
    let tokens_max = ladder.question.tokens_max(&turn.policy.settings);
    let call = turn.room.next_call();
    let tokens_in = transcript.tokens();
    let looked_up = turn.pending().and_then(|pending| pending.tells()).map(|_| tokens_in);
    if let Err(closed) = pay::reserve(turn, &call, Estimate { model, calls: 1, tokens_in, tokens_max, looked_up }) {
        let pending = turn.take_pending().expect("only what is pending is judged");
        return turn.hold_back(pending.trace, Stage::Gate, ("budget", closed));
    }
    let (now, model, prompt_chars) = (turn.now, model.into(), transcript.chars());
    let chooses = ladder.question == Question::Join;
    let shown = transcript.lines.iter().filter(|_| chooses).map(|line| MessageId::new(line.id)).collect();
    let pending = turn.pending_mut().expect("only what is pending is judged");
    let telling = pending.tells();
    pending.phase = Phase::Judging { call: call.clone(), asked_at: now, prompt_chars, ladder, cache_key, shown };
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
    turn.out.push(Effect::Ask(Box::new(ask)));
    if let Some((talk, _)) = turn.room.talk_mut(turn.policy) {
        talk.note_asked();
    }
}

pub(super) fn handle_judged(turn: &mut Turn<'_>, call: &CallId, answer: Result<Answer, Failure>) {
    pay::settle_answer(turn, call, &answer);
    let Some(pending) = turn.place_mut().pending.iter_mut().find(|pending| pending.call() == Some(call)) else {
        return;
    };
    let Phase::Judging { asked_at, prompt_chars: estimate, ladder, cache_key, ref mut shown, .. } = pending.phase
    else {
        return;
    };
    let shown = std::mem::take(shown);
    let conversation = pending.conversation;
    pending.trace.micros += micros_of(&answer);
    turn.conversation = conversation;
    let prompt_chars = answer.as_ref().map_or(estimate, |answer| answer.usage.prompt_chars);
    let asked = |answer, failed| QuestionTrace {
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
                let (now, settings) = (turn.now, &turn.policy.settings);
                turn.place_mut().bot_mut().cache.put(key, settings, now, &text);
            }
            take_answer(turn, ladder, asked(text, false), &shown)
        }
        Err(Failure { what, .. }) => {
            pending_trace(turn).asked.push(asked(what.clone(), true));
            apply_next(turn, ladder.next(None), &what, &[])
        }
    };
    if let Some(next) = next {
        ask(turn, next);
    }
}

/// The effect of an answer: the next question, or an end.
fn take_answer(
    turn: &mut Turn<'_>,
    ladder: JudgeLadder,
    asked: QuestionTrace,
    shown: &[MessageId],
) -> Option<JudgeLadder> {
    let parsed = parse(ladder.style, ladder.question, &asked.answer);
    pending_trace(turn).asked.push(asked);
    match parsed {
        Ok(parsed) => apply_next(turn, ladder.next(Some(parsed)), "", shown),
        Err(what) => apply_next(turn, ladder.next(None), &what, shown),
    }
}

/// The ladder has a next question, or an end.
fn apply_next(
    turn: &mut Turn<'_>,
    next: Result<Next, NoVerdict>,
    failure: &str,
    shown: &[MessageId],
) -> Option<JudgeLadder> {
    let cause = match next {
        Ok(Next::Ask(ladder)) => return Some(ladder),
        Ok(Next::Decided(verdict)) if verdict.respond => {
            said_yes(turn, verdict, shown);
            return None;
        }
        Ok(Next::Decided(verdict)) => Cause::SaidNo { reason: verdict.reason },
        Ok(Next::Ending) => Cause::Ending,
        Ok(Next::Unchanged) => Cause::Unchanged,
        Err(_) => Cause::Failed { what: failure.into() },
    };
    let pending = turn.take_pending().expect("only what is pending is judged");
    turn.stay_silent(pending.trace, Stage::Judge, cause);
    None
}

fn said_yes(turn: &mut Turn<'_>, verdict: Verdict, shown: &[MessageId]) {
    let settings = &turn.policy.settings;
    let style = settings.judge.style;
    let delays = matches!(style, JudgeStyle::Delay | JudgeStyle::Join);
    let delay = if delays { at_most(verdict.delay, settings.response.max_delay_seconds) } else { Span::ZERO };
    let due = turn.now + delay;
    let pending = turn.pending_mut().expect("only what is pending is judged");
    if style == JudgeStyle::Join {
        pending.kind = verdict.kind.unwrap_or(pending.kind);
        // A model's words select among what is allowed, and are not used themselves.
        pending.emoji = verdict.emoji.filter(|said| settings.kinds.emoji.iter().any(|allowed| **allowed == **said));
        pending.quote = verdict.quote.and_then(|number| shown.get(number as usize - 1)).cloned();
    }
    pending.trace.cause = Cause::SaidYes { reason: verdict.reason, delay, state: verdict.state };
    pending.phase = Phase::Holding { due };
    if delay > Span::ZERO { alarm::set_alarm(turn) } else { write::write_pending(turn) }
}

fn pending_trace<'a>(turn: &'a mut Turn<'_>) -> &'a mut Trace {
    &mut turn.pending_mut().expect("only what is pending is judged").trace
}

/// Whether the bot joined this conversation recently.
fn intervened(turn: &Turn<'_>) -> bool {
    turn.place().bot.as_ref().is_some_and(|bot| bot.interventions_of(turn.conversation).next().is_some())
}

fn history_life(turn: &Turn<'_>) -> Span {
    Span::seconds(turn.policy.settings.judge.history_seconds.into())
}

const HALF_AN_HOUR: Span = Span::minutes(30);

/// What the bot did in a conversation recently, for the judge.
fn history_of(bot: &BotState, conversation: Option<ConversationId>, settings: &Settings, now: Time) -> Option<History> {
    let last = bot.interventions_of(conversation).next_back()?;
    let recent = bot.interventions_of(conversation).filter(|each| now.since(each.at) < HALF_AN_HOUR);
    Some(History {
        minutes_since: now.since(last.at).whole_minutes(),
        within_half_an_hour: recent.count() as u64,
        excerpt: last.lines.plain().chars().take(settings.judge.history_chars as usize).collect(),
    })
}

/// The wait that a judge may ask for is limited by the settings.
fn at_most(span: Span, seconds_max: u32) -> Span {
    span.min(Span::seconds(seconds_max.into()))
}

#[cfg(test)]
mod tests;
