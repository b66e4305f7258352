//! The handling of one input in one place: the context of every step of the engine.

use super::timers::Timers;
use crate::effect::{Delivery, Effect, Post, Trace};
use crate::policy::Policy;
use crate::room::{MessageSummary, Pending, PlaceState, Room};
use crate::trace::{Cause, Closed, Outcome, Stage};
use crate::types::{ConversationId, MessageId, Place, ThreadId, Time};

pub(super) struct Turn<'a> {
    pub(super) now: Time,
    pub(super) policy: &'a Policy,
    pub(super) room: &'a mut Room,
    pub(super) room_index: u32,
    pub(super) thread: Option<ThreadId>,
    /// The conversation it is about; `None` is the place as a whole.
    pub(super) conversation: Option<ConversationId>,
    pub(super) timers: &'a mut Timers,
    /// A scratch buffer for looking back, reused for every message.
    pub(super) summaries: &'a mut Vec<MessageSummary>,
    pub(super) out: &'a mut Vec<Effect>,
}

impl Turn<'_> {
    pub(super) fn place(&self) -> &PlaceState {
        self.room.place(self.thread.as_ref()).expect("a turn is taken in a known place")
    }

    pub(super) fn place_mut(&mut self) -> &mut PlaceState {
        self.room.place_mut(self.thread.as_ref()).expect("a turn is taken in a known place")
    }

    /// What the bot may say unasked in this conversation.
    pub(super) fn pending(&self) -> Option<&Pending> {
        self.place().pending.iter().find(|pending| pending.conversation == self.conversation)
    }

    pub(super) fn pending_mut(&mut self) -> Option<&mut Pending> {
        let conversation = self.conversation;
        self.place_mut().pending.iter_mut().find(|pending| pending.conversation == conversation)
    }

    pub(super) fn take_pending(&mut self) -> Option<Pending> {
        let conversation = self.conversation;
        let place = self.place_mut();
        let index = place.pending.iter().position(|pending| pending.conversation == conversation)?;
        Some(place.remove_pending(index))
    }

    pub(super) fn place_id(&self) -> Place {
        Place { room: self.room.id.clone(), thread: self.thread.clone() }
    }

    /// A post in this place, as a reply to the message it answers.
    pub(super) fn new_delivery(&mut self, post: Post, answering: MessageId) -> Delivery {
        let (call, at, place) = (self.room.next_call(), self.now, self.place_id());
        Delivery { call, at, place, post, answering, quotes: None, telling: None, continues: false }
    }

    /// The decision is final.
    pub(super) fn conclude(&mut self, trace: Box<Trace>) {
        self.out.push(Effect::Trace(trace));
    }

    pub(super) fn stay_silent(&mut self, mut trace: Box<Trace>, stage: Stage, cause: Cause) {
        (trace.outcome, trace.stage, trace.cause) = (Outcome::Silent, stage, cause);
        self.conclude(trace);
    }

    pub(super) fn hold_back(&mut self, mut trace: Box<Trace>, stage: Stage, (gate, found): (&'static str, Closed)) {
        trace.gate = Some(gate.into());
        self.stay_silent(trace, stage, Cause::Closed(found));
    }
}
