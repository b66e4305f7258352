//! Asking for what fits: which facts, for whom, and why they may know.

use serde::{Deserialize, Serialize};

use super::rank::{self, Collection, Corpus, SearchQuestion};
use super::{Allowed, ChannelMemory, Fact, Origin, Person, allowed};
use crate::settings::{MemorySettings, Ranking};
use crate::types::{PersonId, RoomId, Time};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Not yet turned into a vector by this model; the oldest first.
    pub without_vector: Option<Box<str>>,
    /// 0 is no limit.
    pub count: usize,
}

/// Everything that is kept about a person.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PersonExport {
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
pub struct SearchOptions {
    pub ranking: Ranking,
    pub across_rooms: bool,
    pub half_life_days: u32,
}

impl From<&MemorySettings> for SearchOptions {
    fn from(settings: &MemorySettings) -> SearchOptions {
        SearchOptions {
            ranking: settings.ranking,
            across_rooms: settings.across_rooms,
            half_life_days: settings.facts_half_life_days,
        }
    }
}

/// The best of these for this query, behind the walls. `corpus` knows all facts, of which these are some; without it, these
/// are all.
pub fn recall(
    candidates: Vec<Candidate>,
    corpus: Option<&dyn Corpus>,
    query: &Query,
    manner: SearchOptions,
) -> Vec<Recalled> {
    let allowed = |candidate: Candidate| {
        let allowed = allowed(&candidate.fact.origin, &query.reader, manner.across_rooms)?;
        let gone = candidate.fact.is_forgotten(query.at, manner.half_life_days);
        (!gone).then_some((candidate, allowed))
    };
    let candidates: Vec<(Candidate, Allowed)> = candidates.into_iter().filter_map(allowed).collect();
    let fits = fits(&candidates, corpus, query, manner.ranking);
    let asked = rank::asked(&query.text);
    let score = |((candidate, allowed), fit): ((Candidate, Allowed), f64)| {
        let Candidate { fact, vector } = candidate;
        let cosine = query.vector.as_ref().map(|(_, asked)| vector.map_or(0.0, |of| rank::cosine(asked, &of)));
        let is_source = query.speaker.as_ref().is_some_and(|speaker| fact.people.contains(speaker));
        let (now, days) = (query.at, manner.half_life_days);
        let score = match manner.ranking {
            Ranking::Sphene => rank::sphene(&asked, &fact, cosine, is_source, now, days),
            Ranking::Default | Ranking::Bm25 => rank::default(&fact, rank::combined(fit, cosine), is_source, now, days),
        };
        let strength = fact.strength(now, days);
        (score > 0.0).then_some(Recalled { fact, score, strength, allowed })
    };
    let mut found: Vec<Recalled> = candidates.into_iter().zip(fits).filter_map(score).collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.fact.id.cmp(&a.fact.id)));
    found.truncate(query.count);
    found
}

/// How well the words of each fit.
fn fits(candidates: &[(Candidate, Allowed)], corpus: Option<&dyn Corpus>, query: &Query, ranking: Ranking) -> Vec<f64> {
    let mut fits = vec![0.0; candidates.len()];
    if ranking != Ranking::Sphene {
        let documents = candidates.iter().map(|(candidate, _)| (&candidate.fact).into()).collect();
        let collection = Collection::new(documents);
        let found = collection.search(&SearchQuestion::new(&query.text), ranking, corpus.unwrap_or(&collection));
        found.into_iter().for_each(|found| fits[found.document] = found.score);
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::super::fact::tests::fact;
    use super::*;
    use crate::types::Visibility::{Private, Public};

    fn ask(facts: &[Fact], text: &str, ranking: Ranking) -> Vec<u64> {
        let candidates = facts.iter().map(|fact| Candidate { fact: fact.clone(), vector: None }).collect();
        let reader = Origin::new("web:lobby", Public);
        let speaker = Some(PersonId::new("bob"));
        let query = Query { text: text.into(), speaker, reader, at: Time(0), count: 3, vector: None };
        let manner = SearchOptions { ranking, across_rooms: true, half_life_days: 30 };
        recall(candidates, None, &query, manner).into_iter().map(|recalled| recalled.fact.id.0).collect()
    }

    #[test]
    fn a_japanese_question_finds_english_and_japanese_facts() {
        let mut english = fact(1, "Ann explained how async works in Rust");
        english.keywords = vec!["Rust".into(), "async".into(), "非同期".into()];
        let japanese = fact(2, "田中さんはRustで非同期処理を書いている");
        let facts = [english, japanese, fact(3, "今日の昼はカレーだった")];
        for ranking in [Ranking::Default, Ranking::Bm25, Ranking::Sphene] {
            let mut found = ask(&facts, "Rustの非同期処理について教えて", ranking);
            found.sort();
            assert_eq!(found, [1, 2], "{ranking:?}");
        }
    }

    #[test]
    fn walls_hold_and_the_speaker_comes_first() {
        let mut private = fact(1, "the party is on Friday");
        private.origin = Origin::new("web:garden", Private);
        let mut of_bob = fact(2, "the party is at the lake");
        of_bob.people = vec![PersonId::new("bob")];
        let facts = [private, of_bob, fact(3, "the party is at the pool")];
        for ranking in [Ranking::Default, Ranking::Bm25, Ranking::Sphene] {
            assert_eq!(ask(&facts, "party", ranking), [2, 3], "{ranking:?}");
        }
    }
}
