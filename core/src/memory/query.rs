//! Asking for what fits: which facts, for whom, and why they may know.

use serde::{Deserialize, Serialize};

use super::rank::{self, Corpus};
use super::{Allowed, ChannelMemory, Fact, Origin, Person, allowed};
use crate::settings::{MemorySettings, Ranking};
use crate::types::{PersonId, RoomId, Time};

#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    pub text: String,
    /// Who speaks: facts that rest on their words come first.
    pub speaker: Option<PersonId>,
    /// Where the answer will be read.
    pub reader: Origin,
    pub at: Time,
    pub count: usize,
    /// What the text means to the model that turned the facts into vectors, and which model that is.
    pub vector: Option<(Box<str>, Vec<f32>)>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recalled {
    pub fact: Fact,
    pub score: f64,
    pub strength: f64,
    pub allowed: Allowed,
}

/// Which facts are listed; everything that is set must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    pub room: Option<RoomId>,
    pub person: Option<PersonId>,
    /// Words, each of which is in it.
    pub text: Option<String>,
    /// Not yet turned into a vector by this model.
    pub without_vector: Option<Box<str>>,
    /// 0 is no limit.
    pub count: usize,
}

/// Everything that is kept about a person.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct About {
    pub person: Option<Person>,
    pub facts: Vec<Fact>,
    pub channels: Vec<ChannelMemory>,
}

/// A fact beside a vector of its meaning.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub fact: Fact,
    pub vector: Option<Vec<f32>>,
}

/// How facts are looked for, as the settings of the reader's room have it.
#[derive(Clone, Copy, Debug)]
pub struct Manner {
    pub ranking: Ranking,
    pub across_rooms: bool,
    pub half_life_days: u32,
}

impl From<&MemorySettings> for Manner {
    fn from(settings: &MemorySettings) -> Manner {
        Manner {
            ranking: settings.ranking,
            across_rooms: settings.across_rooms,
            half_life_days: settings.facts_half_life_days,
        }
    }
}

/// The best of these for this query, behind the walls.
pub fn recall(candidates: Vec<Candidate>, corpus: &dyn Corpus, query: &Query, manner: Manner) -> Vec<Recalled> {
    let scorer = rank::Scorer::new(&query.text, manner.ranking, corpus);
    let score = |candidate: Candidate| {
        let Candidate { fact, vector } = candidate;
        let allowed = allowed(&fact.origin, &query.reader, manner.across_rooms)?;
        if fact.is_forgotten(query.at, manner.half_life_days) {
            return None;
        }
        let cosine = query.vector.as_ref().zip(vector.as_ref()).map(|((_, asked), of)| rank::cosine(asked, of));
        let is_source = query.speaker.as_ref().is_some_and(|speaker| fact.people.contains(speaker));
        let score = scorer.fact(&fact, cosine, is_source, query.at, manner.half_life_days);
        let strength = fact.strength(query.at, manner.half_life_days);
        (score > 0.0).then_some(Recalled { fact, score, strength, allowed })
    };
    let mut found: Vec<Recalled> = candidates.into_iter().filter_map(score).collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.fact.id.cmp(&a.fact.id)));
    found.truncate(query.count);
    found
}
