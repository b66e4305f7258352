//! From a verdict to a post: the words, the last look at the gates, the delivery, and what is remembered of it.

use crate::effect::{Brief, Delivery, Effect, Excuse, Failure, Kind, Lines, Outcome, Post, Transcript};
use crate::engine::pay::{Estimate, micros_of};
use crate::engine::turn::Turn;
use crate::gates::Closed;
use crate::input::Answer;
use crate::memory::Memories;
use crate::reply::{clean, emoji_for, is_repeat, is_silence, split};
use crate::room::{Answered, BotState, Delivering, Entry, Intervention, Pending, Phase};
use crate::settings::OwnPosts;
use crate::trace::{Cause, Stage, Trace};
use crate::types::{CallId, Flags, MessageId, Span, Time, Voice, stable_hash};

/// A post of its own, once people see it.
#[derive(Clone, Copy)]
pub(super) struct Own<'a> {
    pub at: Time,
    /// Time of the message that gave the reason.
    pub cause_at: Time,
    pub id: Option<&'a MessageId>,
    /// A reaction has no words.
    pub text: Option<&'a str>,
    pub addressed: bool,
}

/// How often a room hears that too many called.
const TOO_MANY_EVERY: Span = Span::minutes(5);

impl Turn<'_> {
    pub(super) fn write_pending(&mut self) {
        let pending = self.take_pending().expect("only what is pending is written");
        self.write(Box::new(pending));
    }

    /// The moment has come: a reaction leaves at once, words are to be written from the talk as it is now.
    pub(super) fn write(&mut self, pending: Box<Pending>) {
        self.conversation = pending.conversation;
        if let Some(closed) = self.closed_for(&pending, false) {
            return self.withhold(*pending, closed);
        }
        if pending.kind == Kind::Reaction {
            let emoji = emoji_for(self.policy, &pending.trace.message);
            return self.deliver(*pending, Post::Reaction(emoji), None);
        }
        let reply = &self.policy.settings.reply;
        let answering: Vec<MessageId> =
            pending.together.iter().chain([&*pending.trace]).map(|trace| trace.message.clone()).collect();
        let lines = self.lines_to_answer(reply.window_messages, &answering);
        let transcript = Transcript { lines, ..Transcript::default() };
        let model = self.policy.settings.models.main.as_str();
        let tokens_max = match pending.kind {
            Kind::Full => reply.tokens_full,
            Kind::Acknowledgement | Kind::Reaction => reply.tokens_acknowledge,
        };
        let call = self.room.next_call();
        let tokens_in = transcript.tokens();
        let estimate = Estimate { model, calls: 1, tokens_in, tokens_max, looked_up: Some(tokens_in) };
        if let Err(closed) = self.reserve(&call, estimate) {
            return match pending.addressed {
                Some(_) => self.excuse(*pending, Excuse::BudgetSpent, "the budget of the day is spent"),
                None => self.withhold(*pending, ("budget", closed)),
            };
        }
        let brief = Brief {
            call: call.clone(),
            at: self.now,
            place: self.place_id(),
            kind: pending.kind,
            model: model.into(),
            tokens_max,
            answering,
            addressed: pending.addressed.is_some(),
            transcript,
            memories: Memories::default(),
            telling: pending.tells(),
        };
        let phase = Phase::Writing { call, asked_at: self.now };
        self.put_back(Box::new(Pending { phase, ..*pending }));
        self.out.push(Effect::Write(Box::new(brief)));
    }

    pub(super) fn written(&mut self, call: &CallId, draft: Result<Answer, Failure>) {
        self.settle_answer(call, &draft);
        let Some(mut pending) = self.take_writing(call) else { return };
        let owed = pending.addressed.is_some();
        pending.trace.micros += micros_of(&draft);
        match draft {
            Err(failure) => self.fail(pending, &failure.what),
            Ok(answer) => self.say(pending, &answer.text),
        }
        if owed {
            self.write_next();
        }
    }

    /// A model's words on their way to a post: what leaked around them is taken off, and silence put into words is silence.
    fn say(&mut self, pending: Pending, draft: &str) {
        let settings = &self.policy.settings;
        let owed = pending.addressed.is_some();
        let names: Vec<&str> =
            std::iter::once(&settings.bot.name).chain(&settings.bot.aliases).map(String::as_str).collect();
        let words = clean(draft, &names);
        let parts = split(words, settings.reply.part_chars as usize, settings.reply.numbered);
        if parts.is_empty() || is_silence(words, owed) {
            return match owed {
                true => self.fail(pending, "an empty answer"),
                false => self.end_silent(pending, &Cause::NothingToSay),
            };
        }
        if let Some(closed) = self.closed_for(&pending, false) {
            return self.withhold(pending, closed);
        }
        // Who asks twice is answered twice.
        if !owed && self.has_said(words) {
            return self.end_silent(pending, &Cause::Repeated);
        }
        let text = parts.join("\n").into();
        self.deliver(pending, Post::Text(parts), Some(text));
    }

    /// Whether it said nearly this here lately, or is about to.
    fn has_said(&self, words: &str) -> bool {
        let place = self.place();
        let said = place.recent(self.policy, self.now).filter(|heard| heard.voice() == Voice::Me);
        let on_its_way = place.bot.iter().flat_map(|bot| &bot.delivering).filter_map(|sent| sent.text.as_deref());
        let similarity = self.policy.settings.reply.repeat_similarity;
        is_repeat(words, said.map(|heard| heard.text()).chain(on_its_way), similarity)
    }

    /// What is being written under this call, if anything is.
    pub(super) fn take_writing(&mut self, call: &CallId) -> Option<Pending> {
        let current = |slot: &Pending| matches!(&slot.phase, Phase::Writing { call: current, .. } if current == call);
        let place = self.place_mut();
        let index = place.pending.iter().position(current);
        let unasked = index.map(|index| place.pending.remove(index));
        let owed = |bot: &mut BotState| bot.answering.take_if(|pending| current(pending)).map(|pending| *pending);
        let writing = unasked.or_else(|| place.bot.as_deref_mut().and_then(owed))?;
        self.conversation = writing.conversation;
        Some(writing)
    }

    /// Whoever addressed it meanwhile has waited long enough.
    pub(super) fn write_next(&mut self) {
        while let Some(bot) = self.place_mut().bot.as_mut().filter(|bot| bot.answering.is_none())
            && let Some(next) = bot.take_next()
        {
            if let Some(next) = self.without_lost(next) {
                self.write(next);
            }
        }
    }

    /// Without the messages that so much was said after that they can no longer be shown to a writer: whoever wrote them
    /// hears so.
    fn without_lost(&mut self, next: Box<Pending>) -> Option<Box<Pending>> {
        let buffer = &self.place().buffer;
        let is_lost = |trace: &Trace| buffer.find(trace.message.as_str()).is_none();
        if !self.policy.settings.listen.addressed_kept || !next.together.iter().chain([&*next.trace]).any(is_lost) {
            return Some(next);
        }
        let parts = |pending: &Pending, traces: Vec<Trace>| {
            let mut traces = traces;
            let trace = Box::new(traces.pop()?);
            Some(Pending { trace, together: traces, ..pending.clone() })
        };
        let (lost, shown): (Vec<Trace>, Vec<Trace>) = (*next).clone().traces().partition(is_lost);
        let (lost, shown) = (parts(&next, lost), parts(&next, shown));
        if let Some(lost) = lost {
            self.tell_too_many(lost);
        }
        shown.map(Box::new)
    }

    /// More called than can be answered: one line for all of them, and not again for a while.
    pub(super) fn tell_too_many(&mut self, pending: Pending) {
        if let Some(closed) = self.closed_for(&pending, false) {
            return self.withhold(pending, closed);
        }
        if self.room.excused_at.is_some_and(|at| self.now.since(at) < TOO_MANY_EVERY) {
            return self.end_silent(pending, &Cause::TooMany);
        }
        self.room.excused_at = Some(self.now);
        self.excuse(pending, Excuse::TooMany, "too many addressed it at once");
    }

    /// No words to be had: unasked it stays silent, addressed it says so in one friendly line.
    fn fail(&mut self, pending: Pending, what: &str) {
        if pending.addressed.is_none() {
            return self.end_silent(pending, &Cause::Failed { what: what.into() });
        }
        match self.closed_for(&pending, false) {
            Some(closed) => self.withhold(pending, closed),
            None => self.excuse(pending, Excuse::NoWords, what),
        }
    }

    pub(super) fn excuse(&mut self, mut pending: Pending, excuse: Excuse, what: &str) {
        pending.trace.cause = Cause::Excused { what: what.into() };
        self.deliver(pending, Post::Excuse(excuse), Some("…".into()));
    }

    fn end_silent(&mut self, pending: Pending, cause: &Cause) {
        for trace in pending.traces() {
            self.stay_silent(Box::new(trace), Stage::Post, cause.clone());
        }
    }

    /// A gate has closed since the decision.
    pub(super) fn withhold(&mut self, pending: Pending, closed: (&'static str, Closed)) {
        for trace in pending.traces() {
            self.hold_back(Box::new(trace), Stage::Post, closed);
        }
    }

    fn deliver(&mut self, pending: Pending, post: Post, text: Option<Box<str>>) {
        let call = self.room.next_call();
        let answering = pending.trace.message.clone();
        let answered_with = Some(answering.clone());
        let telling = pending.tells();
        let delivery = Delivery { call, at: self.now, place: self.place_id(), post, answering, telling };
        self.out.push(Effect::Deliver(Box::new(delivery.clone())));
        let kind = pending.kind;
        let cause = pending.trace.cause.clone();
        let (addressed, conversation) = (pending.addressed.is_some(), pending.conversation);
        let mut traces: Vec<_> = pending.traces().collect();
        for trace in &mut traces {
            (trace.outcome, trace.stage) = (Outcome::from(kind), Stage::Post);
            // Whoever is answered together gets the same excuse.
            if trace.cause == Cause::Undecided || matches!(cause, Cause::Excused { .. }) {
                trace.cause = cause.clone();
            }
            if Some(&trace.message) != answered_with.as_ref() {
                trace.answered_with = answered_with.clone();
            }
        }
        let bot = self.place_mut().bot_mut();
        // Should the same message be told again, it is not answered again.
        traces.iter().for_each(|trace| bot.note_known(stable_hash(0, trace.message.as_str())));
        bot.delivering.push(Delivering { delivery, text, addressed, conversation, traces });
    }

    pub(super) fn delivered(&mut self, call: &CallId, ids: Result<Vec<MessageId>, Failure>) {
        let Some(bot) = &mut self.place_mut().bot else { return };
        let Some(index) = bot.delivering.iter().position(|sent| sent.delivery.call == *call) else { return };
        let sent = bot.delivering.remove(index);
        let ids = match ids {
            Ok(ids) => ids,
            Err(Failure { what, .. }) => {
                for trace in sent.traces {
                    self.stay_silent(Box::new(trace), Stage::Post, Cause::Failed { what: what.clone() });
                }
                return;
            }
        };
        let cause_at = sent.traces.last().map_or(self.now, |trace| trace.at);
        self.conversation = sent.conversation;
        let own =
            Own { at: self.now, cause_at, id: ids.first(), text: sent.text.as_deref(), addressed: sent.addressed };
        self.record_own(&own, Some(&sent.delivery.answering));
        for id in &ids {
            self.place_mut().bot_mut().note_own(stable_hash(0, id.as_str()));
        }
        for mut trace in sent.traces {
            let person = self.room.speakers.key(&trace.author_id);
            self.room.note_answer(Answered { person, at: self.now, addressed: sent.addressed });
            trace.acted_at = Some(self.now);
            if sent.text.is_some() && !sent.addressed {
                self.follow_up(Box::new(trace.clone()), &ids);
            }
            self.conclude(Box::new(trace));
        }
    }

    /// Remembers that it spoke: counted from the delivery, with the talk it stepped into.
    pub(super) fn record_own(&mut self, own: &Own<'_>, answering: Option<&MessageId>) {
        let Own { at, cause_at, id, text, addressed } = *own;
        self.hear_own_words(own, answering);
        let settings = &self.policy.settings;
        let lines = if addressed { Lines::default() } else { self.lines(settings.judge.history_messages) };
        let conversation = self.conversation;
        let bot = self.place_mut().bot_mut();
        bot.acted_at = Some(at);
        if !addressed {
            bot.spoke_up_at = Some(at);
            if bot.interventions.len() >= settings.judge.history_max as usize {
                bot.interventions.pop_front();
            }
            bot.interventions.push_back(Intervention { at, conversation, lines });
        }
        if let (false, Some(_), Some((talk, _))) = (addressed, text, self.room.talk_mut(self.policy)) {
            talk.note_spoke();
        }
        let kept = !addressed || (settings.listen.own_posts == OwnPosts::All && settings.listen.addressed_kept);
        let Some(text) = text.filter(|_| kept) else { return };
        let at = if settings.listen.own_posts == OwnPosts::Unasked { cause_at } else { at };
        let (place, speakers) = self.room.split(self.thread.as_ref());
        let speaker = speakers.hold("@me", &settings.bot.name);
        let id = id.map_or("", |id| id.as_str());
        let entry = Entry { at, speaker, flags: Flags::OWN, conversation, id, text };
        let messages_max = place.messages_max(settings.listen.buffer_messages as usize);
        place.buffer.push(&entry, messages_max, |speaker| speakers.release(speaker));
    }
}
