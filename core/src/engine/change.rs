//! What changes afterwards: edits and deletions, orders, and the start after a stop.

use crate::effect::Effect;
use crate::engine::turn::Turn;
use crate::gates::Closed;
use crate::input::Command;
use crate::room::{Flags, Mute, Phase};
use crate::trace::Cause;
use crate::types::{Change, Span, stable_hash};

impl Turn<'_> {
    pub(super) fn change(&mut self, change: &Change) {
        let text = change.text.as_deref().filter(|text| !crate::listen::trim(text).is_empty());
        self.change_memory(change.id.as_str(), text);
        self.change_history(change.id.as_str(), text);
        self.change_pending(change, text.is_some());
    }

    fn change_memory(&mut self, id: &str, text: Option<&str>) {
        let policy = self.policy;
        let (floor, speakers) = self.room.split(self.thread.as_ref());
        let Some(place) = floor.buffer.find(id) else { return };
        match text {
            Some(text) => {
                let heard = floor.buffer.iter().nth(place).expect("it was found at this place");
                let voice = heard.flags;
                let kept = Flags::OWN.when(voice.has(Flags::OWN)) | Flags::BOT.when(voice.has(Flags::BOT));
                let noticed =
                    Flags::NAMED.when(policy.names.found(text)) | Flags::KEYWORD.when(policy.keywords.found(text));
                floor.buffer.replace_text(place, text, kept | noticed);
            }
            None => {
                speakers.release(floor.buffer.remove(place));
                floor.past_mut().note_known(stable_hash(0, id));
            }
        }
    }

    /// The talk it stepped into is remembered apart from the buffer.
    fn change_history(&mut self, id: &str, text: Option<&str>) {
        let Some(past) = &mut self.floor_mut().past else { return };
        for intervention in &mut past.interventions {
            match text {
                Some(text) => {
                    for line in intervention.lines.iter_mut().filter(|line| &*line.id == id) {
                        line.text = text.into();
                    }
                }
                None => intervention.lines.retain(|line| &*line.id != id),
            }
        }
    }

    /// The reason may be gone; or a model is reading what no longer stands there, and is asked anew.
    fn change_pending(&mut self, change: &Change, stands: bool) {
        let Some(pending) = &mut self.floor_mut().pending else { return };
        let is_reason = pending.trace.message == change.id;
        if !stands {
            if let Some(place) = pending.together.iter().position(|trace| trace.message == change.id) {
                let trace = pending.together.remove(place);
                return self.stay_silent(trace, crate::trace::Stage::Post, Cause::Deleted);
            }
            if is_reason {
                return self.call_off(&Cause::Deleted);
            }
        }
        if is_reason || matches!(pending.phase, Phase::Writing { .. }) {
            self.restart();
        }
    }

    /// What was asked for is asked for again, from the talk as it is now.
    fn restart(&mut self) {
        let Some(pending) = self.floor_mut().pending.take() else { return };
        self.abandon(&pending);
        let (judging, writing) =
            (matches!(pending.phase, Phase::Judging { .. }), matches!(pending.phase, Phase::Writing { .. }));
        self.floor_mut().pending = Some(pending);
        if judging {
            self.judge();
        } else if writing {
            self.write();
        }
    }

    pub(super) fn obey(&mut self, command: Command) {
        match command {
            Command::Mute(None) => self.room.mute = Some(Mute::Open),
            Command::Mute(Some(span)) => self.room.mute = Some(Mute::Until(self.now + span)),
            Command::Unmute => self.room.mute = None,
            Command::Listen(on) => self.room.off = !on,
            Command::Reset => (),
        }
    }

    /// What an order makes of what is pending in one place.
    pub(super) fn drop_after(&mut self, command: Command) {
        match command {
            Command::Mute(_) | Command::Listen(false) => self.call_off_as_muted(),
            Command::Reset => self.call_off(&Cause::Forgotten),
            Command::Unmute | Command::Listen(true) => (),
        }
    }

    pub(super) fn call_off_as_muted(&mut self) {
        if let Some(pending) = self.floor_mut().pending.take() {
            self.abandon(&pending);
            self.withhold(*pending, ("mute", Closed::default()));
        }
    }

    /// The program starts again: what is long overdue is dropped, what was in flight is asked for again.
    pub(super) fn resume(&mut self) {
        let sent: Vec<_> =
            self.floor().past.iter().flat_map(|past| &past.delivering).map(|sent| sent.delivery.clone()).collect();
        self.out.extend(sent.into_iter().map(|delivery| Effect::Deliver(Box::new(delivery))));
        let Some(pending) = self.floor().pending.as_ref() else { return };
        let wanted_at = match pending.phase {
            Phase::Waiting { due } | Phase::Holding { due } => due,
            Phase::Judging { asked_at, .. } | Phase::Writing { asked_at, .. } => asked_at,
        };
        let overdue = self.now.since(wanted_at);
        if overdue > Span::seconds(self.policy.settings.response.stale_after_seconds.into()) {
            return self.call_off(&Cause::Stale { overdue });
        }
        self.restart();
    }
}
