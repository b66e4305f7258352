//! The clock was set: converts every time that a room has stored to the new clock, so that durations stay the same.

use super::{Absence, BotState, Mute, Pending, Phase, PlaceState, Room};
use crate::types::{ClockShift, Time, Zone};

impl Room {
    pub(crate) fn set_clock(&mut self, by: ClockShift, now: Time, zone: &Zone) {
        self.newest = self.newest.shifted(by);
        self.excused_at = self.excused_at.map(|at| at.shifted(by));
        self.set_clock_of_mute(by);
        self.answered.iter_mut().for_each(|answered| answered.at = answered.at.shifted(by));
        self.tool_runs.iter_mut().for_each(|run| run.at = run.at.shifted(by));
        if let Some(reminders) = &mut self.reminders {
            reminders.list.iter_mut().for_each(|reminder| reminder.set_clock(by));
            reminders.list.sort_by_key(|reminder| (reminder.set.due, reminder.number));
        }
        if let Some(spent) = &mut self.spent {
            spent.set_clock(now.shifted(ClockShift(by.0.saturating_neg())), now, zone);
        }
        if let Some(digest) = &mut self.digest {
            digest.set_clock(by);
        }
        self.places_mut().for_each(|place| place.set_clock(by));
    }

    /// The program starts: it may have been away since this room last heard something.
    pub(crate) fn note_start(&mut self, now: Time) {
        let Some(known) = self.muted_absence else { return };
        let absence = Absence { from: known.from.max(self.newest), until: now };
        // Of several starts with a clock that is ahead, the first is where it went ahead.
        if known.length() <= absence.length() {
            self.muted_absence = Some(absence);
        }
    }

    /// If the clock goes back by no more than an absence took, it was most likely set ahead meanwhile: then a mute from before
    /// was never off by that.
    fn set_clock_of_mute(&mut self, by: ClockShift) {
        let Some(Mute::Until(until)) = self.mute else { return };
        if let Some(absence) = self.muted_absence
            && by < ClockShift(0)
            && by.size() <= absence.length()
        {
            self.muted_absence = None;
            return;
        }
        self.mute = Some(Mute::Until(until.shifted(by)));
        self.muted_absence = self
            .muted_absence
            .map(|Absence { from, until }| Absence { from: from.shifted(by), until: until.shifted(by) });
    }
}

impl PlaceState {
    fn set_clock(&mut self, by: ClockShift) {
        self.buffer.set_clock(by);
        self.pending.iter_mut().for_each(|pending| pending.set_clock(by));
        if let Some(conversations) = &mut self.conversations {
            conversations.set_clock(by);
        }
        (self.last_heard, self.heard_before) = (self.last_heard.shifted(by), self.heard_before.shifted(by));
        self.alarm = self.alarm.map(|alarm| alarm.shifted(by));
        if let Some(bot) = &mut self.bot {
            bot.set_clock(by);
        }
    }
}

impl BotState {
    fn set_clock(&mut self, by: ClockShift) {
        let owed = self.answering.iter_mut().chain(&mut self.next).map(|pending| &mut **pending);
        owed.chain(&mut self.later).chain(&mut self.awaiting).for_each(|pending| pending.set_clock(by));
        self.acted_at = self.acted_at.map(|at| at.shifted(by));
        self.spoke_up_at = self.spoke_up_at.map(|at| at.shifted(by));
        self.interventions.iter_mut().for_each(|intervention| intervention.at = intervention.at.shifted(by));
        self.sent.iter_mut().for_each(|sent| sent.at = sent.at.shifted(by));
        self.cache.set_clock(by);
        self.exchanges.set_clock(by);
        self.delivering.iter_mut().for_each(|sent| sent.set_clock(by));
        for waiting in &mut self.outbox {
            waiting.due = waiting.due.shifted(by);
            waiting.post.set_clock(by);
        }
        for tracked in &mut self.tracked {
            tracked.at = tracked.at.shifted(by);
            tracked.trace.set_clock(by);
        }
    }
}

impl Pending {
    fn set_clock(&mut self, by: ClockShift) {
        self.trace.set_clock(by);
        self.together.iter_mut().for_each(|trace| trace.set_clock(by));
        self.since = self.since.shifted(by);
        match &mut self.phase {
            Phase::Waiting { due: at }
            | Phase::Holding { due: at }
            | Phase::Judging { asked_at: at, .. }
            | Phase::Writing { asked_at: at, .. } => *at = at.shifted(by),
        }
        if let Some(tools) = &mut self.tools {
            tools.began = tools.began.shifted(by);
            if let Some(approval) = &mut tools.approval {
                approval.until = approval.until.shifted(by);
            }
        }
    }
}
