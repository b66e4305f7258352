//! Somebody said something: heard or passed over, remembered, and found to be for the bot or not.

use crate::effect::Effect;
use crate::engine::Engine;
use crate::engine::follow::Guess;
use crate::engine::speak::Own;
use crate::engine::turn::Turn;
use crate::listen::{Address, addressee, asks_for_quiet, filter};
use crate::policy::Policy;
use crate::room::Entry;
use crate::settings::OtherBots;
use crate::trace::{Cause, Features, Stage, Trace, Unheard};
use crate::types::{Addressed, Flags, Message, Span, Time, Voice, stable_hash};

impl Engine {
    pub(super) fn hear(&mut self, now: Time, mut message: Message, out: &mut Vec<Effect>) {
        message.at = message.counted_at(now);
        let policy = self.policies.for_room(message.place.room.as_str());
        let known = self.index.get(&message.place.room).map(|room| *room as usize);
        let off = known.is_some_and(|room| self.rooms[room].off);
        if let Err(unheard) = filter(policy, &message, off) {
            return out.push(Effect::Trace(passed_over(&mut message, unheard)));
        }
        let threads_max = policy.settings.listen.threads_max as usize;
        let room = known.unwrap_or_else(|| self.new_room(&message.place.room));
        self.rooms[room].open(message.place.thread.as_ref(), threads_max);
        let thread = message.place.thread.clone();
        self.turn_at(room, thread, now, out).hear(message);
    }
}

/// The name moves into the trace: a message gets one, when everything else has been done with it.
fn new_trace(message: &mut Message) -> Box<Trace> {
    let name = std::mem::take(&mut message.author.name);
    Box::new(Trace::undecided(message, name))
}

fn passed_over(message: &mut Message, unheard: Unheard) -> Box<Trace> {
    let mut trace = new_trace(message);
    trace.pass_over(unheard);
    trace
}

/// What was made of it before anything was decided.
fn guessed(mut trace: Box<Trace>, guess: Option<Guess>) -> Box<Trace> {
    if let Some(guess) = guess {
        trace.p_join = guess.p_join;
        trace.reply_to_guess = Some(guess.reply_to);
        trace.features = Features(guess.features.map(Box::new));
    }
    trace
}

/// What is noticed once about a message.
fn notice(policy: &Policy, text: &str, voice: Voice) -> Flags {
    Flags::OWN.when(voice == Voice::Me) | Flags::BOT.when(voice == Voice::Bot) | policy.notice.of(text)
}

impl Turn<'_> {
    fn hear(&mut self, mut message: Message) {
        if message.author.voice == Voice::Me {
            return self.hear_itself(&mut message);
        }
        if self.is_repeated(&message) {
            return self.conclude(passed_over(&mut message, Unheard::Repeated));
        }
        let flags = notice(self.policy, &message.text, message.author.voice);
        let address = self.addressee(&message, flags);
        if let Some(late) = self.too_late(&message, matches!(address, Address::Me(_))) {
            let guess = self.hear_late(&message, flags);
            return self.conclude(guessed(passed_over(&mut message, late), guess));
        }
        self.note_newest(&message);
        let guess = self.follow(&message);
        if message.author.voice == Voice::Person {
            let answered = guess.as_ref().map(|guess| &guess.reply_to);
            self.note_reception(&message, answered, matches!(address, Address::Me(_)));
        }
        let listen = &self.policy.settings.listen;
        if matches!(address, Address::Me(_)) && !listen.addressed_kept {
            let id = stable_hash(0, message.id.as_str());
            self.place_mut().bot_mut().note_known(id);
        } else {
            self.remember(&message, flags);
        }
        self.note_for_memory();
        if message.author.voice == Voice::Person
            && let Some((talk, share)) = self.room.talk_mut(self.policy)
        {
            talk.note_heard(share, self.policy.settings.judge.calls_per_contribution);
        }
        if message.author.voice == Voice::Bot && listen.other_bots != OtherBots::Answered {
            return self.conclude(guessed(passed_over(&mut message, Unheard::BotNotAnswered), guess));
        }
        let trace = guessed(new_trace(&mut message), guess);
        match address {
            Address::Me(addressed) if self.is_told_to_be_quiet(&message.text) => self.be_quiet(trace, addressed),
            Address::Me(addressed) => self.was_addressed(&message, trace, addressed),
            Address::SomebodyElse => self.was_not_addressed(&message, trace, true),
            Address::TheRoom => self.was_not_addressed(&message, trace, false),
        }
    }

    fn addressee(&self, message: &Message, flags: Flags) -> Address {
        let replies_to_me = message.reply.as_ref().is_some_and(|reply| {
            reply.to_me || reply.to.as_ref().is_some_and(|to| self.place().is_own(stable_hash(0, to.as_str())))
        });
        addressee(self.policy, message, flags.has(Flags::NAMED), replies_to_me, &self.room.speakers)
    }

    /// Whether it was heard before. What is dated ahead of its arrival comes with another time when it is told again.
    fn is_repeated(&self, message: &Message) -> bool {
        let place = self.place();
        place.buffer.find(message.id.as_str()).is_some()
            || ((message.heard.is_some() || message.at <= self.room.newest) && place.knows(message.id.as_str()))
    }

    /// Why it is remembered and not answered, if it comes too late: the platform's own stragglers soon, what came late
    /// because we were away and addresses us only after a longer while.
    fn too_late(&self, message: &Message, addressed: bool) -> Option<Unheard> {
        let settings = &self.policy.settings;
        let late_after = Span::seconds(settings.listen.late_after_seconds.into());
        if message.heard.is_none() {
            // Records of earlier versions decide as they did then.
            let late = self.room.newest.max(self.now).since(message.at) > late_after;
            return (message.backfilled || late).then_some(Unheard::Late);
        }
        let late = self.now.since(message.at);
        if late <= late_after {
            return None;
        }
        let limit = match (message.backfilled, addressed) {
            (true, true) => Span::minutes(settings.response.late_answer_minutes.into()).max(late_after),
            (true, false) => return Some(Unheard::Missed { late }),
            (false, _) => late_after,
        };
        let away = message.backfilled;
        (late > limit).then_some(Unheard::TooLate { late, limit, away })
    }

    fn note_newest(&mut self, message: &Message) {
        // Nothing is newer than now; earlier versions thought so of what was dated ahead.
        let newest = if message.heard.is_some() { self.room.newest.min(self.now) } else { self.room.newest };
        self.room.newest = newest.max(message.at);
    }

    fn remember(&mut self, message: &Message, flags: Flags) {
        let listen = &self.policy.settings.listen;
        let (place, speakers) = self.room.split(self.thread.as_ref());
        let speaker = speakers.hold(message.author.id.as_str(), &message.author.name);
        let conversation = self.conversation;
        let entry =
            Entry { at: message.at, speaker, flags, conversation, id: message.id.as_str(), text: &message.text };
        let messages_max = place.messages_max(listen.buffer_messages as usize);
        // What waited for us is read where its time belongs, unless it would be the first to go again.
        let late_after = Span::seconds(listen.late_after_seconds.into());
        let waited = message.heard.is_some() && self.now.since(message.at) > late_after;
        if !(waited && place.buffer.insert_by_time(&entry, messages_max, |speaker| speakers.release(speaker))) {
            place.buffer.push(&entry, messages_max, |speaker| speakers.release(speaker));
        }
        if message.author.voice == Voice::Person {
            place.note_person(message.at, waited);
        }
        if place.alarm.is_none() && listen.buffer_minutes > 0 {
            self.set_alarm();
        }
    }

    fn hear_late(&mut self, message: &Message, flags: Flags) -> Option<Guess> {
        let guess = self.follow(message);
        self.note_for_memory();
        let usual_max = self.policy.settings.listen.buffer_messages as usize;
        let (place, speakers) = self.room.split(self.thread.as_ref());
        let messages_max = place.messages_max(usual_max);
        let speaker = speakers.hold(message.author.id.as_str(), &message.author.name);
        let conversation = self.conversation;
        let entry =
            Entry { at: message.at, speaker, flags, conversation, id: message.id.as_str(), text: &message.text };
        if !place.buffer.insert_by_time(&entry, messages_max, |speaker| speakers.release(speaker)) {
            speakers.release(speaker);
        }
        guess
    }

    /// A post of its own comes back from the platform. What it has just sent is recorded when it is acknowledged; what
    /// it does not know (from before a crash, or from a record) is taken as its own.
    fn hear_itself(&mut self, message: &mut Message) {
        let place = self.place();
        let is_known = place.is_own(stable_hash(0, message.id.as_str())) || place.knows(message.id.as_str());
        let on_its_way = place.bot.as_ref().is_some_and(|bot| !bot.delivering.is_empty());
        if !is_known && !on_its_way {
            self.note_newest(message);
            let asked = message.reply.is_some();
            let (at, cause_at, id, text) = (message.at, message.at, Some(&message.id), Some(&*message.text));
            let answering = message.reply.as_ref().and_then(|reply| reply.to.as_ref());
            self.record_own(&Own { at, cause_at, id, text, addressed: asked }, answering);
        }
        self.conclude(passed_over(message, Unheard::Itself));
    }

    fn is_told_to_be_quiet(&self, text: &str) -> bool {
        if self.policy.settings.address.be_quiet_minutes == 0 {
            return false;
        }
        let mut rest = text.to_owned();
        while let Some(start) = rest.find("<@") {
            let Some(end) = rest[start..].find('>') else { break };
            rest.replace_range(start..start + end + 1, " ");
        }
        if let Some(name) = self.policy.names.find(&rest) {
            rest.replace_range(name, " ");
        }
        asks_for_quiet(rest.trim().trim_start_matches(['@', '＠']))
    }

    fn be_quiet(&mut self, mut trace: Box<Trace>, addressed: Addressed) {
        let span = Span::minutes(self.policy.settings.address.be_quiet_minutes.into());
        self.room.mute_at_least_until(self.now + span);
        let threads = self.room.thread_ids();
        let here = self.thread.clone();
        for thread in threads {
            self.thread = thread;
            self.call_off_as_muted();
        }
        self.thread = here;
        trace.addressed = Some(addressed);
        trace.gate = Some("mute".into());
        self.stay_silent(trace, Stage::Gate, Cause::ToldToBeQuiet(span));
    }
}
