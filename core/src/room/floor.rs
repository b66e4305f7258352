//! A place where people talk, a channel or a thread: what was said, what is pending, what it said itself.

use std::collections::VecDeque;

use serde::{Deserialize, Deserializer, Serialize};

use super::buffer::{Buffer, Glance, Heard};
use crate::effect::{Delivery, Kind, Lines};
use crate::judge::{Cache, Climb};
use crate::listen::Addressed;
use crate::memory::FactId;
use crate::policy::Policy;
use crate::strands::Strands;
use crate::trace::{Cause, Stage, Trace};
use crate::types::{CallId, Span, Time, stable_hash};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Floor {
    pub buffer: Buffer,
    /// What it may say unasked: at most one thing in a conversation. Where conversations are not told apart, the place is one.
    #[serde(deserialize_with = "one_or_several")]
    pub pending: Vec<Pending>,
    /// Who answers whom here; absent where nobody looks.
    #[serde(default, deserialize_with = "if_readable")]
    pub strands: Option<Box<Strands>>,
    /// The latest two messages of people, also when the buffer has let them go.
    pub last_heard: Time,
    pub heard_before: Time,
    /// What it did here; absent until it does something.
    pub past: Option<Box<Past>>,
    /// When the timers will look at this place next.
    pub alarm: Option<Time>,
}

/// Something it may do, and why.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pending {
    /// The decision on the message that gave the reason, as far as it has come.
    pub trace: Box<Trace>,
    pub addressed: Option<Addressed>,
    /// Number of its conversation; 0 where they are not told apart.
    #[serde(default)]
    pub strand: u32,
    /// Further messages that addressed it meanwhile and will be answered together.
    pub together: Vec<Trace>,
    /// Since when something has been waiting here without a break: the wait's upper bound counts from then.
    pub since: Time,
    pub kind: Kind,
    pub by_bot: bool,
    /// Whether a model has to agree.
    pub ask: bool,
    pub phase: Phase,
    /// Something it remembers, where that is the reason to speak.
    #[serde(default)]
    pub telling: Option<Telling>,
}

/// What it would tell of its own accord.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Telling {
    /// Being looked for; without it, it stays silent for this reason.
    Sought {
        call: u64,
        otherwise: Cause,
    },
    Found(FactId),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Phase {
    /// For quiet.
    Waiting { due: Time },
    /// For a model's answer.
    Judging { call: CallId, asked_at: Time, prompt_chars: u64, climb: Climb, cache_key: Option<u64> },
    /// For the moment the judge chose.
    Holding { due: Time },
    /// For the words.
    Writing { call: CallId, asked_at: Time },
}

impl Pending {
    pub fn call(&self) -> Option<&CallId> {
        match &self.phase {
            Phase::Judging { call, .. } | Phase::Writing { call, .. } => Some(call),
            Phase::Waiting { .. } | Phase::Holding { .. } => None,
        }
    }

    pub fn due(&self) -> Option<Time> {
        match self.phase {
            Phase::Waiting { due } | Phase::Holding { due } => Some(due),
            Phase::Judging { .. } | Phase::Writing { .. } => None,
        }
    }

    /// The decisions it stands for; the last is the one that gave the reason.
    pub fn traces(self) -> impl Iterator<Item = Trace> {
        self.together.into_iter().chain([*self.trace])
    }

    /// Whether this call looks for what it would tell.
    pub fn seeks(&self, call: &CallId) -> bool {
        matches!(&self.telling, Some(Telling::Sought { call: sought, .. }) if *sought == call.serial)
    }

    /// The fact it is about to tell.
    pub fn tells(&self) -> Option<FactId> {
        match self.telling {
            Some(Telling::Found(fact)) => Some(fact),
            Some(Telling::Sought { .. }) | None => None,
        }
    }

    /// How far it has come, if it goes no further.
    pub fn stage(&self) -> Stage {
        match self.phase {
            Phase::Waiting { .. } | Phase::Judging { .. } => Stage::Judge,
            Phase::Holding { .. } | Phase::Writing { .. } => Stage::Hold,
        }
    }
}

/// What it did and owes in a place.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Past {
    /// The answer to somebody who addressed it, being written.
    pub answering: Option<Box<Pending>>,
    /// Who addressed it meanwhile: answered next, together.
    pub next: Option<Box<Pending>>,
    /// More who addressed it meanwhile than one answer has room for: answered after those, as many together; oldest first.
    #[serde(default)]
    pub later: Vec<Pending>,
    /// When it last acted in any way, a reaction too.
    pub acted_at: Option<Time>,
    /// When it last contributed unasked.
    pub spoke_up_at: Option<Time>,
    /// What it contributed unasked, as far as the judge is told; oldest first.
    pub interventions: VecDeque<Intervention>,
    pub cache: Cache,
    /// Posts on their way to the platform.
    pub delivering: Vec<Delivering>,
    /// Ids that were heard but are not in the buffer, so that they are not heard again; newest last.
    pub known: VecDeque<u64>,
    /// Ids of its own posts, newest last.
    pub own: VecDeque<u64>,
    /// Contributions of which it is not known yet what people make of them; oldest first.
    #[serde(default)]
    pub followed: Vec<Followed>,
}

/// A contribution that nobody had asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Followed {
    /// The decision that led to it.
    pub trace: Box<Trace>,
    /// Hashes of the ids of its posts.
    pub ids: Vec<u64>,
    pub at: Time,
    pub strand: u32,
    /// Messages of people since.
    pub heard: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Intervention {
    pub at: Time,
    /// Number of the conversation; 0 where they are not told apart.
    #[serde(default)]
    pub strand: u32,
    /// The talk it stepped into.
    pub lines: Lines,
}

/// A post that left and was not acknowledged yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Delivering {
    pub delivery: Delivery,
    /// What is remembered of it; a reaction leaves no words.
    pub text: Option<Box<str>>,
    pub addressed: bool,
    /// Number of its conversation; 0 where they are not told apart.
    #[serde(default)]
    pub strand: u32,
    /// The decisions it concludes; the last is the one that gave the reason.
    pub traces: Vec<Trace>,
}

const KNOWN_MAX: usize = 64;
/// Messages kept beyond what the settings say, until those among them that call for an answer have one.
const KEPT_FOR_ANSWERS_MAX: usize = 500;

impl Past {
    /// What it contributed to a conversation; 0 is the place as a whole.
    pub fn interventions_of(&self, strand: u32) -> impl DoubleEndedIterator<Item = &Intervention> {
        self.interventions.iter().filter(move |intervention| strand == 0 || intervention.strand == strand)
    }

    /// Who is to be answered next, with those who are answered together with them.
    pub fn take_next(&mut self) -> Option<Box<Pending>> {
        let next = self.next.take()?;
        if !self.later.is_empty() {
            self.next = Some(Box::new(self.later.remove(0)));
        }
        Some(next)
    }

    /// Puts somebody at the end of those who are to be answered.
    pub fn put_last(&mut self, owed: Box<Pending>) {
        match &self.next {
            None => self.next = Some(owed),
            Some(_) => self.later.push(*owed),
        }
    }

    pub fn note_known(&mut self, id_hash: u64) {
        note(&mut self.known, id_hash);
    }

    pub fn note_own(&mut self, id_hash: u64) {
        note(&mut self.own, id_hash);
    }
}

fn note(ring: &mut VecDeque<u64>, id_hash: u64) {
    if ring.len() == KNOWN_MAX {
        ring.pop_front();
    }
    ring.push_back(id_hash);
}

impl Floor {
    pub fn past_mut(&mut self) -> &mut Past {
        self.past.get_or_insert_default()
    }

    pub fn acted_at(&self) -> Option<Time> {
        self.past.as_ref().and_then(|past| past.acted_at)
    }

    /// Whether it acted here a short while before.
    pub fn is_engaged(&self, policy: &Policy, at: Time) -> bool {
        let lasts = Span::seconds(policy.settings.score.engaged_seconds.into());
        self.acted_at().is_some_and(|acted| at.since(acted) < lasts)
    }

    /// What was said here and is not too old, newest first.
    pub fn recent(&self, policy: &Policy, now: Time) -> impl Iterator<Item = Heard<'_>> {
        let young = is_young(policy, now);
        self.buffer.iter().rev().filter(move |heard| young(heard.at))
    }

    /// The same of one conversation alone.
    pub fn recent_of(&self, policy: &Policy, now: Time, strand: u32) -> impl Iterator<Item = Heard<'_>> {
        self.recent(policy, now).filter(move |heard| belongs(heard, strand))
    }

    /// The newest `window` messages that are not too old, newest first.
    pub fn newest(&self, policy: &Policy, now: Time, window: u32) -> Vec<Heard<'_>> {
        self.buffer.newest_of(window as usize, is_young(policy, now))
    }

    /// A glance at the people among them.
    pub fn glance_at_people(&self, policy: &Policy, now: Time, window: u32, glances: &mut Vec<Glance>) {
        self.buffer.glance_at_people(window as usize, is_young(policy, now), glances);
    }

    /// Whether a message was heard: it is remembered, was answered, or is about to be.
    pub fn knows(&self, id: &str) -> bool {
        let noted = |past: &Past| past.known.contains(&stable_hash(0, id));
        let is_reason = |pending: &Pending| {
            pending.together.iter().chain([&*pending.trace]).any(|trace| trace.message.as_str() == id)
        };
        self.buffer.find(id).is_some() || self.past.as_deref().is_some_and(noted) || self.slots().any(is_reason)
    }

    /// Whether this is the id of a post of its own.
    pub fn is_own(&self, id_hash: u64) -> bool {
        self.past.as_ref().is_some_and(|past| past.own.contains(&id_hash))
    }

    pub fn waits_for(&self, call: &CallId) -> bool {
        self.pending.iter().any(|pending| pending.seeks(call))
            || self.slots().any(|pending| pending.call() == Some(call))
            || self.past.as_ref().is_some_and(|past| past.delivering.iter().any(|sent| sent.delivery.call == *call))
    }

    /// Somebody spoke; `waited` is whether others may have been heard before who spoke later.
    pub fn note_person(&mut self, at: Time, waited: bool) {
        if waited && at < self.last_heard {
            self.heard_before = self.heard_before.max(at);
        } else {
            (self.heard_before, self.last_heard) = (self.last_heard, at);
        }
    }

    /// How many messages are kept once there is one more: those to be answered stay, though much is said meanwhile.
    pub fn messages_max(&self, usual: usize) -> usize {
        let first = |owed: &Pending| self.buffer.find(owed.together.first().unwrap_or(&owed.trace).message.as_str());
        let oldest = self.owed().filter_map(first).min();
        oldest.map_or(usual, |oldest| (self.buffer.len() + 1 - oldest).clamp(usual, usual + KEPT_FOR_ANSWERS_MAX))
    }

    /// Everything that may still be said here: unasked, being answered, to be answered next.
    pub fn slots(&self) -> impl Iterator<Item = &Pending> {
        self.pending.iter().chain(self.owed())
    }

    /// Answers to people who addressed it, in the order in which they are given.
    pub fn owed(&self) -> impl Iterator<Item = &Pending> {
        self.past
            .as_deref()
            .into_iter()
            .flat_map(|past| past.answering.iter().chain(&past.next).map(|pending| &**pending).chain(&past.later))
    }

    /// Takes out everything that may still be said here, in that order.
    pub fn take_slots(&mut self) -> impl Iterator<Item = Box<Pending>> + use<> {
        let taken = |past: &mut Box<Past>| (past.answering.take(), past.next.take(), std::mem::take(&mut past.later));
        let (answering, next, later) = self.past.as_mut().map(taken).unwrap_or_default();
        let unasked = std::mem::take(&mut self.pending).into_iter().map(Box::new);
        unasked.chain(answering).chain(next).chain(later.into_iter().map(Box::new))
    }

    /// Forgets what was said here, but not when it spoke, which posts are on their way and which ids are not new.
    pub fn forget(&mut self) {
        self.buffer = Buffer::default();
        if let Some(strands) = &mut self.strands {
            strands.clear();
        }
        (self.last_heard, self.heard_before) = (Time::default(), Time::default());
        if let Some(past) = self.past.take() {
            let Past { acted_at, spoke_up_at, delivering, known, own, .. } = *past;
            let kept = Past { acted_at, spoke_up_at, delivering, known, own, ..Past::default() };
            self.past = Some(Box::new(kept));
        }
    }

    /// Nothing is pending and nothing is on its way.
    pub fn is_at_rest(&self) -> bool {
        self.slots().next().is_none() && self.past.as_ref().is_none_or(|past| past.delivering.is_empty())
    }
}

/// Whether a message is of a conversation; 0 is the place as a whole.
pub fn belongs(heard: &Heard<'_>, strand: u32) -> bool {
    strand == 0 || heard.strand == strand
}

/// What another version of this program noted of conversations may not be readable: they begin anew.
fn if_readable<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<Strands>>, D::Error> {
    let noted = serde_json::Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(noted).unwrap_or_default())
}

/// Snapshots from before conversations were told apart hold one or none.
fn one_or_several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Pending>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Held {
        Several(Vec<Pending>),
        One(Option<Box<Pending>>),
    }
    Ok(match Held::deserialize(deserializer)? {
        Held::Several(pending) => pending,
        Held::One(pending) => pending.into_iter().map(|pending| *pending).collect(),
    })
}

/// Whether something said at a time is still in its life.
fn is_young(policy: &Policy, now: Time) -> impl Fn(Time) -> bool + use<> {
    let life = policy.buffer_life();
    move |at| life.is_none_or(|life| now.since(at) < life)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strands::{Heard, Models};
    use crate::types::MessageId;

    #[test]
    fn conversations_come_back_unless_another_version_noted_them() {
        let mut floor = Floor::default();
        let strands = floor.strands.get_or_insert_default();
        for person in 0..90 {
            let (id, name) = (MessageId::new(person.to_string()), format!("p{person}"));
            let reply = (person > 0).then(|| MessageId::new("0"));
            let heard = Heard {
                id: &id,
                at: Time(person),
                author: person + 1,
                name: &name,
                bot: false,
                text: "to the first",
                reply: reply.as_ref(),
                reply_author: None,
                mentions: &[],
            };
            strands.hear(&heard, Models::built_in());
        }
        let mut noted = serde_json::to_value(&floor).expect("a floor can be written");
        let back: Floor = serde_json::from_value(noted.clone()).expect("a floor can be read");
        assert_eq!(serde_json::to_value(&back).ok().as_ref(), Some(&noted));
        noted["strands"]["lines"][0]["reading"]["width"] = 70_000.into();
        let back: Floor = serde_json::from_value(noted).expect("the rest can be read");
        assert!(back.strands.is_none());
    }
}
