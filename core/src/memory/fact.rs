//! A fact: something learnt from what people said, with a confidence that fades.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ContextTurn, Origin};
use crate::types::{MessageId, PersonId, RoomId, Time};

/// Assigned by the store, and never used twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FactId(pub u64);

impl fmt::Display for FactId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A fact that is weaker than this is forgotten.
pub(super) const FORGOTTEN_BELOW: f64 = 0.05;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fact {
    pub id: FactId,
    #[serde(flatten)]
    pub origin: Origin,
    pub content: Box<str>,
    pub keywords: Vec<Box<str>>,
    /// The people on whose words it rests.
    pub people: Vec<PersonId>,
    /// The messages it rests on.
    pub messages: Vec<MessageId>,
    /// Its context.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<ContextTurn>,
    /// 0 to 1.
    pub confidence: f64,
    /// Whether it may be mentioned unasked.
    pub shareable: bool,
    pub at: Time,
    pub used_at: Option<Time>,
    pub uses: u32,
    /// Pinned by a person: it does not fade and is never replaced by newer facts.
    pub pinned: bool,
    /// Rooms in which it was mentioned unasked.
    pub told_in: Vec<RoomId>,
    /// The fact that replaced it, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub former: Option<Former>,
    /// The drafts it was merged from; empty if there was only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wordings: Vec<Wording>,
}

/// A fact no longer holds: another one does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Former {
    pub by: FactId,
    pub since: Time,
}

/// The text of one draft, and its sources: a merged fact is reduced to these when messages are deleted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wording {
    pub content: Box<str>,
    pub keywords: Vec<Box<str>>,
    pub people: Vec<PersonId>,
    pub messages: Vec<MessageId>,
}

/// A fact that was found and is not stored yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FactDraft {
    #[serde(flatten)]
    pub origin: Origin,
    pub content: Box<str>,
    #[serde(default)]
    pub keywords: Vec<Box<str>>,
    /// The people on whose words it rests: at least the author of every message below.
    #[serde(default)]
    pub people: Vec<PersonId>,
    #[serde(default)]
    pub messages: Vec<MessageId>,
    #[serde(default)]
    pub context: Vec<ContextTurn>,
    pub confidence: f64,
    #[serde(default)]
    pub shareable: bool,
    pub at: Time,
    /// The fact of the same room that is no longer true.
    #[serde(default)]
    pub replaces: Option<FactId>,
}

impl FactDraft {
    pub fn keep(self, id: FactId) -> Fact {
        Fact {
            id,
            origin: self.origin,
            content: self.content,
            keywords: self.keywords,
            people: self.people,
            messages: self.messages,
            context: self.context,
            confidence: self.confidence,
            shareable: self.shareable,
            at: self.at,
            used_at: None,
            uses: 0,
            pinned: false,
            told_in: Vec::new(),
            former: None,
            wordings: Vec::new(),
        }
    }
}

const DAY_MS: f64 = 24.0 * 3600.0 * 1000.0;
/// With every use it fades this much more slowly ...
const SLOWER_BY_USE: f64 = 0.25;
/// ... up to this.
const SLOWER_MAX: f64 = 2.0;
/// The factor for a former fact.
const FORMER_STRENGTH: f64 = 0.5;

impl Fact {
    /// The current strength: the confidence, halved with every half-life. A use halves its age and slows the fading down;
    /// but it does fade.
    pub fn strength(&self, now: Time, half_life_days: u32) -> f64 {
        if self.pinned {
            return self.confidence;
        }
        let born = self.used_at.map_or(self.at, |used| Time(self.at.0 + used.since(self.at).0 / 2));
        let slower = (1.0 + SLOWER_BY_USE * f64::from(self.uses)).min(SLOWER_MAX);
        let holds = if self.former.is_some() { FORMER_STRENGTH } else { 1.0 };
        holds * self.confidence * half(now.since(born).0 as f64 / DAY_MS, f64::from(half_life_days) * slower)
    }

    pub fn is_forgotten(&self, now: Time, half_life_days: u32) -> bool {
        !self.pinned && self.strength(now, half_life_days) < FORGOTTEN_BELOW
    }

    /// From its age alone.
    pub fn decay(&self, now: Time, half_life_days: u32) -> f64 {
        half(now.since(self.at).0 as f64 / DAY_MS, f64::from(half_life_days))
    }

    /// Whether it is found by the same words, people and messages.
    pub fn is_indexed_like(&self, other: &Fact) -> bool {
        (&self.content, &self.keywords, &self.people, &self.messages, &self.context, &self.origin)
            == (&other.content, &other.keywords, &other.people, &other.messages, &other.context, &other.origin)
    }

    /// Everything it says, in every wording.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        let own = std::iter::once(&self.content).chain(&self.keywords);
        let merged =
            self.wordings.iter().flat_map(|wording| std::iter::once(&wording.content).chain(&wording.keywords));
        own.chain(merged).map(|text| &**text)
    }

    pub fn use_at(&mut self, at: Time) {
        self.used_at = Some(self.used_at.map_or(at, |before| before.max(at)));
        self.uses = self.uses.saturating_add(1);
    }
}

fn half(days: f64, half_life_days: f64) -> f64 {
    0.5_f64.powf(days / half_life_days.max(f64::MIN_POSITIVE))
}

/// Facts of a room that have to be deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FadedFacts {
    /// Those too weak to count.
    pub weak: Vec<FactId>,
    /// The weakest beyond what the room may keep.
    pub beyond_max: Vec<FactId>,
}

/// Which of a room's facts have to be deleted: those too weak to count, and beyond `facts_max` the weakest.
pub fn to_forget(facts: &[Fact], now: Time, facts_max: u32, half_life_days: u32) -> FadedFacts {
    let (weak, kept): (Vec<&Fact>, Vec<&Fact>) = facts.iter().partition(|fact| fact.is_forgotten(now, half_life_days));
    let beyond_max = weakest_beyond(kept, now, facts_max, half_life_days);
    FadedFacts { weak: weak.into_iter().map(|fact| fact.id).collect(), beyond_max }
}

/// The weakest facts beyond `facts_max`, the strongest of them first. However late it is by this clock, no others go.
pub fn weakest_beyond<'a>(
    facts: impl IntoIterator<Item = &'a Fact>,
    now: Time,
    facts_max: u32,
    half_life_days: u32,
) -> Vec<FactId> {
    let ranked = facts.into_iter().map(|fact| (fact.pinned, fact.strength(now, half_life_days), fact.id));
    let mut ranked: Vec<(bool, f64, FactId)> = ranked.collect();
    // Of two equal ones the newer is stronger.
    ranked.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(b.2.cmp(&a.2)));
    ranked.into_iter().skip(facts_max as usize).filter(|(pinned, ..)| !pinned).map(|(.., id)| id).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::types::{Span, Visibility};

    const DAY: u64 = 24 * 60;

    pub(crate) fn fact(id: u64, content: &str) -> Fact {
        let draft = FactDraft {
            origin: Origin::new("web:lobby", Visibility::Public),
            content: content.into(),
            keywords: Vec::new(),
            people: Vec::new(),
            messages: Vec::new(),
            context: Vec::new(),
            confidence: 0.8,
            shareable: true,
            at: Time(0),
            replaces: None,
        };
        draft.keep(FactId(id))
    }

    fn days(days: u64) -> Time {
        Time(0) + Span::minutes(days * DAY)
    }

    #[test]
    fn a_fact_has_half_its_strength_after_a_half_life_and_is_forgotten_at_last() {
        let fact = fact(1, "the door code changed");
        assert!((fact.strength(days(30), 30) - 0.4).abs() < 1e-9);
        assert!(!fact.is_forgotten(days(119), 30) && fact.is_forgotten(days(121), 30));
    }

    #[test]
    fn what_is_used_fades_more_slowly_but_fades() {
        let unused = fact(1, "x");
        let mut used = fact(2, "x");
        used.use_at(days(10));
        assert!(used.strength(days(40), 30) > unused.strength(days(40), 30));
        for day in 0..2000 {
            used.use_at(days(day));
        }
        assert!(used.is_forgotten(days(2000), 30), "{}", used.strength(days(2000), 30));
    }

    #[test]
    fn the_weakest_make_room_and_what_is_pinned_stays() {
        let mut facts: Vec<Fact> = (1..=5).map(|id| fact(id, "x")).collect();
        facts[0].pinned = true;
        facts[0].confidence = 0.01;
        facts[1].confidence = 0.1;
        facts[4].confidence = 0.02;
        let gone = to_forget(&facts, Time(0), 2, 30);
        assert_eq!((gone.weak, gone.beyond_max), (vec![FactId(5)], vec![FactId(3), FactId(2)]));
        assert_eq!(to_forget(&facts[..1], days(10_000), 0, 30), FadedFacts::default());
        assert_eq!(weakest_beyond(&facts, days(10_000), 4, 30), [FactId(5)], "what is weak is not gone for that");
    }
}
