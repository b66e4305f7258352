//! Long memory: when enough talk has gathered, it is to be summed up or thought over. What comes of it is kept elsewhere;
//! here it is only known how much is new.

use crate::effect::{Digesting, Effect, Failure, Remember, Usage};
use crate::engine::pay::Estimate;
use crate::engine::timers::Key;
use crate::engine::turn::Turn;
use crate::policy::Policy;
use crate::room::{Cost, Room};
use crate::types::{CallId, Time};

/// About how many tokens a message has, to set money aside before it is read.
const TOKENS_OF_A_MESSAGE: u64 = 40;
/// Messages that a model reads at once, and calls for one order at most.
const MESSAGES_OF_A_CALL: u32 = 200;
const CALLS_MAX: u32 = 8;

impl Turn<'_> {
    /// Somebody spoke; one message more for long memory.
    pub(super) fn note_for_memory(&mut self) {
        let memory = &self.policy.settings.memory;
        if !memory.enabled || !(memory.channel_context || memory.reflection) {
            return;
        }
        self.room.digest.get_or_insert_default().hear(self.now);
        self.digest();
    }

    /// Starts what is due and sets the alarm for what will be.
    pub(super) fn digest(&mut self) {
        while let Some((_, what)) = self.room.next_digest(self.policy).filter(|(due, _)| *due <= self.now) {
            self.begin_digest(what);
        }
        if let Some((due, _)) = self.room.next_digest(self.policy) {
            let key = Key { room: self.room_number, thread: None };
            let main = self.room.place_mut(None).expect("every room has a main place");
            self.timers.arm(&mut main.alarm, due, || key);
        }
    }

    fn begin_digest(&mut self, what: Digesting) {
        let settings = &self.policy.settings;
        let (model, tokens_max) = match what {
            Digesting::Summary => (self.policy.summary_model(), settings.memory.summary_tokens),
            Digesting::Reflection => (self.policy.reflection_model(), settings.memory.reflection_tokens),
        };
        let call = self.room.next_call();
        let new = self.room.digest.as_ref().map_or(0, |digest| digest.new_for(what));
        let calls = self.reserve_digest(&call, model, new, tokens_max);
        let digest = self.room.digest.get_or_insert_default();
        let Some(calls_max) = calls else { return digest.put_off(what, self.now) };
        digest.begin(what, call.serial);
        let remember = Remember { call, at: self.now, what, model: model.into(), tokens_max, new, calls_max };
        self.out.push(Effect::Remember(Box::new(remember)));
    }

    /// For everything that is new, or else for as much as one call takes in; the rest is left for the next time. How many
    /// calls it may take, if any.
    fn reserve_digest(&mut self, call: &CallId, model: &str, new: u32, tokens_max: u32) -> Option<u32> {
        let budget = &self.policy.settings.budget;
        let unlimited = budget.of_room().is_zero() && budget.of_all_rooms().is_zero();
        let parts = (new / MESSAGES_OF_A_CALL + 1).min(CALLS_MAX);
        let estimate = |calls: u32| {
            let messages = u64::from(new.min(calls * MESSAGES_OF_A_CALL));
            let tokens_in = messages * TOKENS_OF_A_MESSAGE;
            Estimate { model, calls: calls.into(), tokens_in, tokens_max, looked_up: None }
        };
        let calls = [parts, 1].into_iter().find(|calls| self.reserve(call, estimate(*calls)).is_ok())?;
        Some(if unlimited { CALLS_MAX } else { calls })
    }

    pub(super) fn remembered(&mut self, call: &CallId, done: Result<Usage, Failure>) {
        let bill = match &done {
            Ok(usage) => Some(Cost::from(usage)),
            Err(failure) => failure.usage.as_ref().map(Cost::from),
        };
        self.settle(call, bill);
        let now = self.now;
        if self.room.digest.as_mut().is_some_and(|digest| digest.end(call.serial, now, done.is_ok())) {
            self.digest();
        }
    }

    /// The program starts again: nobody is at it any more.
    pub(super) fn resume_digest(&mut self) {
        if let Some(digest) = &mut self.room.digest {
            digest.resume();
        }
        self.digest();
    }
}

impl Room {
    /// What long memory wants next, and when.
    pub(super) fn next_digest(&self, policy: &Policy) -> Option<(Time, Digesting)> {
        let memory = &policy.settings.memory;
        let digest = self.digest.as_ref().filter(|_| memory.enabled)?;
        digest.due(memory, self.newest).min_by_key(|(due, _)| *due)
    }
}
