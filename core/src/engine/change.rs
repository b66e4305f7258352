//! What changes afterwards: edits and deletions, orders, and the start after a stop.

use crate::effect::Effect;
use crate::engine::turn::Turn;
use crate::gates::Closed;
use crate::input::Command;
use crate::phrases::trim;
use crate::room::{Mute, Pending, Phase};
use crate::trace::Cause;
use crate::types::{Change, MessageId, Span, stable_hash};

impl Turn<'_> {
    pub(super) fn change(&mut self, change: &Change) {
        let text = change.text.as_deref().filter(|text| !trim(text).is_empty());
        self.change_history(change.id.as_str(), text);
        let remembered = self.change_memory(change.id.as_str(), text);
        self.change_conversations(&change.id, text);
        if text.is_none() {
            self.note_deletion(&change.id);
        }
        for pending in self.place_mut().take_slots() {
            self.change_pending(pending, &change.id, text.is_some(), remembered);
        }
        self.write_next();
    }

    /// Whether anything is different now.
    fn change_memory(&mut self, id: &str, text: Option<&str>) -> bool {
        let policy = self.policy;
        let (place, speakers) = self.room.split(self.thread.as_ref());
        let Some(index) = place.buffer.find(id) else { return false };
        let heard = place.buffer.iter().nth(index).expect("it was found at this place");
        match text {
            // Platforms tell of an edit when they have merely added a preview.
            Some(text) if heard.text() == text => return false,
            Some(text) => {
                let flags = heard.flags.voice_only() | policy.notice.of(text);
                place.buffer.replace_text(index, text, flags);
            }
            None => {
                speakers.release(place.buffer.remove(index));
                place.bot_mut().note_known(stable_hash(0, id));
            }
        }
        true
    }

    /// The talk it stepped into is remembered apart from the buffer.
    fn change_history(&mut self, id: &str, text: Option<&str>) {
        let Some(bot) = &mut self.place_mut().bot else { return };
        for intervention in &mut bot.interventions {
            if intervention.lines.iter().any(|line| line.id == id) {
                intervention.lines = intervention.lines.with_changed(id, text);
            }
        }
    }

    /// The reason may be gone; or a model is reading what no longer stands there, and is asked anew.
    fn change_pending(&mut self, mut pending: Box<Pending>, id: &MessageId, stands: bool, remembered: bool) {
        let is_reason = pending.trace.message == *id;
        let also = pending.together.iter().position(|trace| trace.message == *id);
        if let (false, Some(index)) = (stands, also) {
            let trace = pending.together.remove(index);
            self.stay_silent(Box::new(trace), pending.stage(), Cause::Deleted);
        } else if !stands && is_reason {
            let Some(other) = pending.together.pop() else { return self.end(*pending, &Cause::Deleted) };
            let gone = std::mem::replace(&mut *pending.trace, other);
            self.stay_silent(Box::new(gone), pending.stage(), Cause::Deleted);
        }
        let rereads = match pending.phase {
            Phase::Judging { .. } => remembered && (is_reason || !stands),
            Phase::Writing { .. } => remembered || (!stands && (is_reason || also.is_some())),
            Phase::Waiting { .. } | Phase::Holding { .. } => false,
        };
        if rereads { self.start_over(pending) } else { self.put_back(pending) }
    }

    pub(super) fn put_back(&mut self, pending: Box<Pending>) {
        let place = self.place_mut();
        match (pending.addressed, &pending.phase) {
            (None, _) => place.pending.push(*pending),
            (Some(_), Phase::Writing { .. }) => place.bot_mut().answering = Some(pending),
            (Some(_), _) => place.bot_mut().put_last(pending),
        }
    }

    /// What was asked for is asked for again, from the talk as it is now.
    pub(super) fn start_over(&mut self, mut pending: Box<Pending>) {
        self.abandon(&mut pending);
        self.conversation = pending.conversation;
        match pending.phase {
            Phase::Writing { .. } => self.write(pending),
            Phase::Judging { .. } => {
                self.put_back(pending);
                self.judge();
            }
            Phase::Waiting { .. } | Phase::Holding { .. } => self.put_back(pending),
        }
    }

    pub(super) fn obey(&mut self, command: Command) {
        match command {
            Command::Mute(None) => self.room.mute = Some(Mute::Open),
            Command::Mute(Some(span)) => self.room.mute = Some(Mute::Until(self.now + span)),
            Command::Unmute => self.room.mute = None,
            Command::Listen(on) => self.room.off = !on,
            Command::Talk(share) => self.room.talk.get_or_insert_default().asked = share,
            Command::Reset | Command::Left => (),
        }
    }

    /// What an order makes of what is pending in one place.
    pub(super) fn drop_after(&mut self, command: Command) {
        match command {
            Command::Mute(_) | Command::Listen(false) => self.call_off_as_muted(),
            Command::Reset | Command::Left => {
                for pending in self.place_mut().take_slots() {
                    self.end(*pending, &Cause::Forgotten);
                }
            }
            Command::Unmute | Command::Talk(_) | Command::Listen(true) => (),
        }
    }

    pub(super) fn call_off_as_muted(&mut self) {
        for mut pending in self.place_mut().take_slots() {
            self.abandon(&mut pending);
            self.withhold(*pending, ("mute", Closed::default()));
        }
    }

    /// The program starts again: what is long overdue is dropped, what was in flight is asked for again.
    pub(super) fn resume(&mut self) {
        let sent: Vec<_> =
            self.place().bot.iter().flat_map(|bot| &bot.delivering).map(|sent| sent.delivery.clone()).collect();
        self.out.extend(sent.into_iter().map(|delivery| Effect::Deliver(Box::new(delivery))));
        let stale_after = Span::seconds(self.policy.settings.response.stale_after_seconds.into());
        for pending in self.place_mut().take_slots() {
            let wanted_at = match pending.phase {
                Phase::Waiting { due } | Phase::Holding { due } => due,
                Phase::Judging { asked_at, .. } | Phase::Writing { asked_at, .. } => asked_at,
            };
            let overdue = self.now.since(wanted_at);
            if overdue > stale_after {
                self.end(*pending, &Cause::Stale { overdue });
            } else {
                self.start_over(pending);
            }
        }
        self.write_next();
    }
}
