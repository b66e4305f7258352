//! The clock was set: converts every time that a room has stored to the new clock, so that durations stay the same.

use super::{BotState, Mute, Pending, Phase, PlaceState, Room};
use crate::types::{ClockShift, Time, Zone};

impl Room {
    pub(crate) fn set_clock(&mut self, by: ClockShift, now: Time, zone: &Zone) {
        self.newest = self.newest.shifted(by);
        self.excused_at = self.excused_at.map(|at| at.shifted(by));
        self.mute = self.mute.map(|mute| match mute {
            Mute::Until(until) => Mute::Until(until.shifted(by)),
            Mute::Open => Mute::Open,
        });
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
