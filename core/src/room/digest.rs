//! Which part of the talk long-term memory has yet to process: counted here, read and stored elsewhere.

use serde::{Deserialize, Serialize};

use super::Room;
use crate::effect::Digesting;
use crate::policy::Policy;
use crate::settings::MemorySettings;
use crate::types::{ClockShift, Span, Time};

/// The summary and the reflection, each made when enough talk has accumulated.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Digest {
    summary: Task,
    reflection: Task,
}

/// One of them: how much is new, and the result of the last attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Task {
    /// Messages since the last success.
    new: u32,
    /// The time of the last success; before the first one, of the first new message.
    since: Time,
    /// The call in flight, and how many messages it processes.
    under_way: Option<(u64, u32)>,
    failures: u32,
    /// The earliest time of the next attempt, after a failure.
    again: Time,
}

/// When it is due.
struct Rhythm {
    /// With this many new messages, at once ...
    many: u32,
    /// ... or with this many ...
    few: u32,
    /// ... at this time.
    at: Time,
}

/// After this many failures it is not tried until somebody speaks again.
const FAILURES_MAX: u32 = 6;
const AGAIN_FIRST: Span = Span::minutes(1);
const AGAIN_LAST: Span = Span::minutes(60);

impl Task {
    fn hear(&mut self, at: Time) {
        if self.since == Time(0) {
            self.since = at;
        }
        self.new = self.new.saturating_add(1);
        self.failures = self.failures.min(FAILURES_MAX - 1);
    }

    fn due(&self, rhythm: &Rhythm) -> Option<Time> {
        if self.under_way.is_some() || self.failures >= FAILURES_MAX || self.new == 0 {
            return None;
        }
        if self.new >= rhythm.many {
            return Some(self.again);
        }
        (self.new >= rhythm.few).then(|| rhythm.at.max(self.again))
    }

    fn begin(&mut self, serial: u64) {
        self.under_way = Some((serial, self.new));
    }

    fn put_off(&mut self, now: Time) {
        self.failures += 1;
        let doubled = Span(AGAIN_FIRST.0 << (self.failures - 1).min(16));
        self.again = now + doubled.min(AGAIN_LAST);
    }

    /// Returns whether this was the call in flight.
    fn end(&mut self, serial: u64, now: Time, done: bool) -> bool {
        let Some((_, taken)) = self.under_way.filter(|(waits_for, _)| *waits_for == serial) else { return false };
        self.under_way = None;
        if done {
            *self = Task { new: self.new - taken.min(self.new), since: now, ..Task::default() };
        } else {
            self.put_off(now);
        }
        true
    }
}

impl Digest {
    pub(crate) fn hear(&mut self, at: Time) {
        self.summary.hear(at);
        self.reflection.hear(at);
    }

    /// What is to be done next and when, if nobody speaks any more. `newest` is when somebody last spoke.
    pub(crate) fn due(&self, memory: &MemorySettings, newest: Time) -> impl Iterator<Item = (Time, Digesting)> + use<> {
        let summary = Rhythm {
            many: memory.summarize_messages,
            few: memory.summarize_messages_min,
            at: self.summary.since + Span::minutes(memory.summarize_minutes.into()),
        };
        let reflection = Rhythm {
            many: memory.reflection_messages_max,
            few: memory.reflection_messages_min,
            at: newest + Span::minutes(memory.reflection_lull_minutes.into()),
        };
        let wanted = |wanted: bool, due: Option<Time>, what| due.filter(|_| wanted).map(|due| (due, what));
        let summary = wanted(memory.channel_context, self.summary.due(&summary), Digesting::Summary);
        let reflection = wanted(memory.reflection, self.reflection.due(&reflection), Digesting::Reflection);
        summary.into_iter().chain(reflection)
    }

    /// How many messages the call would process.
    pub(crate) fn new_for(&self, what: Digesting) -> u32 {
        match what {
            Digesting::Summary => self.summary.new,
            Digesting::Reflection => self.reflection.new,
        }
    }

    fn task(&mut self, what: Digesting) -> &mut Task {
        match what {
            Digesting::Summary => &mut self.summary,
            Digesting::Reflection => &mut self.reflection,
        }
    }

    pub(crate) fn begin(&mut self, what: Digesting, serial: u64) {
        self.task(what).begin(serial);
    }

    /// There is no money for it now.
    pub(crate) fn put_off(&mut self, what: Digesting, now: Time) {
        self.task(what).put_off(now);
    }

    pub(crate) fn end(&mut self, serial: u64, now: Time, done: bool) -> bool {
        self.summary.end(serial, now, done) || self.reflection.end(serial, now, done)
    }

    /// No call is in flight any more: it is due as before.
    pub(crate) fn resume(&mut self) {
        (self.summary.under_way, self.reflection.under_way) = (None, None);
    }

    pub(crate) fn set_clock(&mut self, by: ClockShift) {
        for task in [&mut self.summary, &mut self.reflection] {
            (task.since, task.again) = (task.since.shifted(by), task.again.shifted(by));
        }
    }

    /// The summary contains something that has to be deleted: it is made again from the rest.
    pub(crate) fn summarize_again(&mut self, messages: u32, now: Time) {
        let since = if messages == 0 { Time(0) } else { now };
        self.summary = Task { new: messages, since, ..Task::default() };
    }
}

impl Room {
    /// What long-term memory needs next, and when.
    pub(crate) fn next_digest(&self, policy: &Policy) -> Option<(Time, Digesting)> {
        let memory = &policy.settings.memory;
        let digest = self.digest.as_ref().filter(|_| memory.enabled)?;
        digest.due(memory, self.newest).min_by_key(|(due, _)| *due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Policies;

    fn memory(preset: &str) -> MemorySettings {
        let policies = Policies::preset(preset).unwrap();
        MemorySettings { channel_context: true, reflection: true, ..policies.general().settings.memory.clone() }
    }

    fn minute(minute: u64) -> Time {
        Time(1_700_000_000_000 + minute * 60_000)
    }

    fn due(digest: &Digest, memory: &MemorySettings, newest: Time) -> Vec<(Time, Digesting)> {
        digest.due(memory, newest).collect()
    }

    #[test]
    fn a_summary_is_due_by_count_or_by_time() {
        let (memory, mut digest) = (memory("sphene"), Digest::default());
        digest.hear(minute(0));
        assert_eq!(due(&digest, &memory, minute(0)), [(minute(15), Digesting::Summary)]);
        (1..20).for_each(|_| digest.hear(minute(1)));
        let at_once = due(&digest, &memory, minute(1));
        assert_eq!(at_once, [(Time(0), Digesting::Summary), (minute(11), Digesting::Reflection)]);
    }

    #[test]
    fn what_comes_during_a_call_is_left_for_the_next() {
        let (memory, mut digest) = (memory("sphene"), Digest::default());
        (0..20).for_each(|_| digest.hear(minute(0)));
        digest.begin(Digesting::Summary, 7);
        assert!(
            due(&digest, &memory, minute(0)).iter().all(|(_, what)| *what == Digesting::Reflection),
            "one at a time"
        );
        digest.hear(minute(1));
        assert!(!digest.end(8, minute(2), true), "another call");
        assert!(digest.end(7, minute(2), true));
        assert_eq!(digest.new_for(Digesting::Summary), 1);
        assert_eq!(due(&digest, &memory, minute(1))[0], (minute(17), Digesting::Summary));
    }

    #[test]
    fn failures_are_farther_and_farther_apart_and_come_to_an_end() {
        let (memory, mut digest) = (memory("sphene"), Digest::default());
        (0..200).for_each(|_| digest.hear(minute(0)));
        let mut pauses = Vec::new();
        let mut now = minute(0);
        while let Some((at, what)) =
            due(&digest, &memory, minute(0)).into_iter().find(|due| due.1 == Digesting::Reflection)
        {
            pauses.push(at.max(now).since(now).0 / 60_000);
            now = at.max(now);
            digest.begin(what, 1);
            digest.end(1, now, false);
        }
        assert_eq!(pauses, [0, 1, 2, 4, 8, 16]);
        digest.hear(now);
        assert!(due(&digest, &memory, now).iter().any(|due| due.1 == Digesting::Reflection && due.0 > now));
    }
}
