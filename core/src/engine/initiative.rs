//! Speaking first: when a silent channel wakes, something it remembers may be worth telling, if it is about what woke it.

use crate::effect::{Effect, Recall};
use crate::engine::turn::Turn;
use crate::gates::{Order, Trigger, closed_in};
use crate::memory::FactId;
use crate::room::{Pending, Phase, Telling};
use crate::trace::{Cause, Stage, Trace};
use crate::types::{CallId, Message, Span, Time, Visibility, Voice};
use crate::usage::tokens_of_bytes;

impl Turn<'_> {
    /// Whether this message wakes a channel in which it may speak first. The same gates hold as for any other contribution.
    pub(super) fn may_speak_first(&self, message: &Message, trigger: Trigger<'_>) -> bool {
        let memory = &self.policy.settings.memory;
        let wanted = memory.enabled && memory.proactive && self.policy.asks_a_model();
        let woke = self.thread.is_none() && message.author.voice == Voice::Person && self.was_silent_before(message);
        wanted
            && woke
            && message.visibility != Visibility::Direct
            && self.place().pending.is_empty()
            && closed_in(&self.case(Trigger { paid: true, ..trigger }), Order::AfterScore).is_none()
    }

    fn was_silent_before(&self, message: &Message) -> bool {
        let before = self.place().heard_before;
        let silence = Span::minutes(self.policy.settings.memory.proactive_silence_minutes.into());
        before != Time(0) && message.at.since(before) >= silence
    }

    /// Looks for something to tell while it waits for quiet, as it would with any other reason.
    pub(super) fn speak_first(&mut self, message: &Message, mut trace: Box<Trace>, otherwise: Cause) {
        let call = self.room.next_call();
        if self.reserve_look_up(&call, tokens_of_bytes(message.text.len())).is_err() {
            return self.stay_silent(trace, Stage::Score, otherwise);
        }
        trace.cause = Cause::Undecided;
        let recall = Recall { call: call.clone(), at: self.now, place: self.place_id(), message: message.id.clone() };
        let telling = Telling::Sought { call: call.serial, otherwise };
        let due = self.due_after(self.wait_after(&trace.message), self.now).max(self.now + Span(1));
        let mut pending = self.reason_to_wait(message, trace, true, self.now, due);
        pending.telling = Some(telling);
        self.place_mut().pending.push(pending);
        self.set_alarm();
        self.out.push(Effect::Recall(Box::new(recall)));
    }

    pub(super) fn recalled(&mut self, call: &CallId, found: Option<FactId>) {
        let Some(index) = self.place().pending.iter().position(|pending| pending.seeks(call)) else { return };
        match found {
            Some(fact) => self.place_mut().pending[index].telling = Some(Telling::Found(fact)),
            None => {
                let pending = self.place_mut().pending.remove(index);
                self.nothing_to_tell(pending);
            }
        }
    }

    /// Quiet has come and nothing was found: silent for the reason it had before.
    pub(super) fn found_nothing(&mut self) -> bool {
        if !self.pending().is_some_and(|pending| matches!(pending.telling, Some(Telling::Sought { .. }))) {
            return false;
        }
        let pending = self.take_pending().expect("it is still pending");
        self.nothing_to_tell(pending);
        true
    }

    fn nothing_to_tell(&mut self, pending: Pending) {
        debug_assert!(matches!(pending.phase, Phase::Waiting { .. }));
        let Some(Telling::Sought { otherwise, .. }) = pending.telling else { return };
        self.stay_silent(pending.trace, Stage::Score, otherwise);
    }
}
