//! Queries: which facts match, for whom, and why they may know them.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::rank::{self, Corpus, DayRange, Document, SearchQuestion, day_of};
use super::words::search_words;
use super::{Allowed, ChannelMemory, Fact, Origin, OwnPart, Person, PersonMatcher, allowed};
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
    /// The embedding of the text, and the model that made it.
    pub vector: Option<(Box<str>, Vec<f32>)>,
    /// People who are close to the speaker, as far as the reader may know that: what they said, or what is said about them,
    /// counts a little more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub close: Vec<CloseTo>,
}

/// Somebody who is close to the speaker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CloseTo {
    pub person: PersonId,
    /// What they are called.
    pub name: Box<str>,
    /// From 0 for a stranger towards 1.
    pub closeness: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recalled {
    pub fact: Fact,
    pub score: f64,
    pub strength: f64,
    pub allowed: Allowed,
}

/// Which facts are listed; every condition that is set must hold.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Filter {
    pub room: Option<RoomId>,
    pub person: Option<PersonId>,
    /// Words that must all occur in it.
    pub text: Option<String>,
    /// Not yet embedded by this model; oldest first.
    pub without_vector: Option<Box<str>>,
    /// 0 is no limit.
    pub count: usize,
}

/// Everything that is stored about a person.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PersonExport {
    pub person: Option<Person>,
    pub facts: Vec<Fact>,
    pub channels: Vec<ChannelMemory>,
}

impl PersonExport {
    /// Without the words, names and ids of others.
    pub fn new(id: &PersonId, person: Option<Person>, facts: Vec<Fact>, channels: Vec<ChannelMemory>) -> Self {
        let names = person.as_ref().map(Person::all_names).unwrap_or_default();
        let theirs = PersonMatcher::new(std::slice::from_ref(id), &names);
        let own = OwnPart::new(&theirs, &|_, _| false);
        PersonExport {
            person: person.map(|person| own.of_person(person)),
            facts: facts.into_iter().map(|fact| own.of_fact(fact)).collect(),
            channels: channels.into_iter().map(|channel| own.of_channel(channel)).collect(),
        }
    }
}

/// A fact that may match, with its words ([`rank::terms`]) and its vector.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    pub fact: Cow<'a, Fact>,
    pub terms: Cow<'a, str>,
    pub vector: Option<Cow<'a, [f32]>>,
}

impl<'a> Candidate<'a> {
    /// One without stored words.
    pub fn new(fact: &'a Fact) -> Candidate<'a> {
        Candidate { terms: rank::terms(fact).into(), fact: Cow::Borrowed(fact), vector: None }
    }
}

/// How facts are searched, according to the settings of the reader's room.
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

/// The weight of a match in time: for a fact that matches by words, and for any other.
const TIME_FACTOR: f64 = 0.6;
const TIME_ALONE: f64 = 0.05;
/// Lexical scores below this are not scaled up to 1 when they are combined with meaning.
const BEST_MIN: f64 = 0.3;

/// The best of these for this query, within what the reader may know. `corpus` has statistics of all facts, of which these
/// are some; without it, these are all.
pub fn recall<'a>(
    candidates: Vec<Candidate<'a>>,
    corpus: Option<&dyn Corpus>,
    query: &Query,
    manner: SearchOptions,
) -> Vec<Recalled> {
    let allowed = |candidate: Candidate<'a>| {
        let allowed = allowed(&candidate.fact.origin, &query.reader, manner.across_rooms)?;
        let gone = candidate.fact.is_forgotten(query.at, manner.half_life_days);
        (!gone).then_some((candidate, allowed))
    };
    let candidates: Vec<(Candidate<'a>, Allowed)> = candidates.into_iter().filter_map(allowed).collect();
    let fits = fits(&candidates, corpus, query, manner.ranking);
    let asked = rank::asked(&query.text);
    let close = CloseNames::new(query);
    let score = |(at, (candidate, _)): (usize, &(Candidate<'_>, Allowed))| {
        let fact = &candidate.fact;
        let is_source = query.speaker.as_ref().is_some_and(|speaker| fact.people.contains(speaker));
        let (now, days) = (query.at, manner.half_life_days);
        match manner.ranking {
            Ranking::Sphene => rank::sphene(&asked, fact, cosine(candidate, query), is_source, now, days),
            Ranking::Default | Ranking::Bm25 => {
                let score = rank::default(fact, fits[at], is_source, now, days);
                if is_source { score } else { rank::closer(score, close.closeness(candidate)) }
            }
        }
    };
    let scores = candidates.iter().enumerate().map(score);
    let mut found: Vec<(f64, usize)> =
        scores.enumerate().map(|(at, score)| (score, at)).filter(|(score, _)| *score > 0.0).collect();
    let id = |at: usize| candidates[at].0.fact.id;
    found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| id(b.1).cmp(&id(a.1))));
    found.truncate(query.count);
    let recalled = |(score, at): (f64, usize)| {
        let (candidate, allowed) = &candidates[at];
        let fact = candidate.fact.clone().into_owned();
        let strength = fact.strength(query.at, manner.half_life_days);
        Recalled { fact, score, strength, allowed: *allowed }
    };
    found.into_iter().map(recalled).collect()
}

/// People close to the speaker, with their names as index words.
struct CloseNames<'a>(Vec<(&'a CloseTo, Vec<String>)>);

impl<'a> CloseNames<'a> {
    fn new(query: &'a Query) -> CloseNames<'a> {
        CloseNames(query.close.iter().map(|close| (close, search_words(&close.name))).collect())
    }

    /// The closeness of the closest person who said it or whom it mentions.
    fn closeness(&self, candidate: &Candidate<'_>) -> f64 {
        if self.0.is_empty() {
            return 0.0;
        }
        let document = Document::new(&candidate.terms);
        let concerns = |(close, name): &&(&CloseTo, Vec<String>)| {
            candidate.fact.people.contains(&close.person) || document.speaks_of(name)
        };
        self.0.iter().filter(concerns).map(|(close, _)| close.closeness).fold(0.0, f64::max)
    }
}

/// The similarity of its meaning to the question; `None` if the question has no vector.
fn cosine(candidate: &Candidate<'_>, query: &Query) -> Option<f64> {
    let (_, asked) = query.vector.as_ref()?;
    Some(candidate.vector.as_ref().map_or(0.0, |of| rank::cosine(asked, of)))
}

/// How well each matches: by words, time and meaning.
fn fits(
    candidates: &[(Candidate<'_>, Allowed)],
    corpus: Option<&dyn Corpus>,
    query: &Query,
    ranking: Ranking,
) -> Vec<f64> {
    if ranking == Ranking::Sphene {
        return Vec::new();
    }
    let documents: Vec<Document<'_>> =
        candidates.iter().map(|(candidate, _)| Document::new(&candidate.terms)).collect();
    let mut fits = rank::scores(&documents, &SearchQuestion::new(&query.text), ranking, corpus);
    if ranking == Ranking::Default
        && let Some(days) = DayRange::named_in(&query.text, query.at)
    {
        for ((candidate, _), fit) in candidates.iter().zip(&mut fits) {
            let by_time = days.fit(day_of(candidate.fact.said_at()));
            *fit = *fit * (1.0 + TIME_FACTOR * by_time) + TIME_ALONE * by_time;
        }
    }
    if query.vector.is_some() {
        // The best match by words counts as much as an identical meaning. The context of a fact counts by its words alone:
        // adding its meaning found less on conversations with questions.
        let best = fits.iter().copied().fold(BEST_MIN, f64::max);
        for (fit, (candidate, _)) in fits.iter_mut().zip(candidates) {
            *fit = rank::combined(*fit / best, cosine(candidate, query));
        }
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::super::ContextTurn;
    use super::super::fact::tests::fact;
    use super::*;
    use crate::types::MessageId;
    use crate::types::Visibility::{Private, Public};

    fn ask(facts: &[Fact], text: &str, ranking: Ranking) -> Vec<u64> {
        ask_with(facts, text, ranking, Vec::new())
    }

    fn ask_with(facts: &[Fact], text: &str, ranking: Ranking, close: Vec<CloseTo>) -> Vec<u64> {
        let candidates = facts.iter().map(Candidate::new).collect();
        let reader = Origin::new("web:lobby", Public);
        let speaker = Some(PersonId::new("bob"));
        let query = Query { text: text.into(), speaker, reader, at: Time(0), count: 3, vector: None, close };
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
    fn a_fact_is_found_by_its_own_meaning_not_by_that_of_the_message_before_it() {
        let meant = |mut fact: Fact, message: &str, vector: [f32; 2]| {
            fact.messages = vec![MessageId::new(message)];
            Candidate { vector: Some(vector.to_vec().into()), terms: rank::terms(&fact).into(), fact: Cow::Owned(fact) }
        };
        let mut answer = fact(2, "nothing of the kind");
        answer.context = vec![ContextTurn {
            message: MessageId::new("m1"),
            person: PersonId::new("ann"),
            name: "Ann".into(),
            at: Time(0),
            offset: -1,
            text: "my feline naps".into(),
        }];
        let candidates = vec![
            meant(fact(1, "my feline naps"), "m1", [1.0, 0.0]),
            meant(answer, "m2", [0.3, 1.0]),
            meant(fact(3, "the kitten is tired"), "m3", [0.4, 1.0]),
        ];
        let query = Query {
            text: "pussycat".into(),
            speaker: None,
            reader: Origin::new("web:lobby", Public),
            at: Time(0),
            count: 3,
            vector: Some(("m".into(), vec![1.0, 0.0])),
            close: Vec::new(),
        };
        let manner = SearchOptions { ranking: Ranking::Default, across_rooms: true, half_life_days: 30 };
        let found: Vec<u64> =
            recall(candidates, None, &query, manner).iter().map(|recalled| recalled.fact.id.0).collect();
        assert_eq!(found, [1, 3, 2]);
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

    #[test]
    fn of_facts_that_fit_alike_those_of_close_people_come_first() {
        let by =
            |id: u64, person: &str, content: &str| Fact { people: vec![PersonId::new(person)], ..fact(id, content) };
        let facts = [
            by(1, "mia", "the cherry party is at the lake"),
            by(2, "jonas", "the cherry party is at the pool"),
            by(3, "ann", "Zora says the party may be in the barn"),
            by(4, "ann", "Yuri says the party may be in the hall"),
        ];
        let close = |person: &str, name: &str, closeness: f64| CloseTo {
            person: PersonId::new(person),
            name: name.into(),
            closeness,
        };
        let found = |text: &str, ranking, close: &[CloseTo]| ask_with(&facts, text, ranking, close.to_vec());
        for ranking in [Ranking::Default, Ranking::Bm25] {
            assert_eq!(found("cherry", ranking, &[]), [2, 1], "{ranking:?}");
            assert_eq!(found("cherry", ranking, &[close("mia", "Mia", 0.3)]), [1, 2], "{ranking:?}");
            let both = [close("mia", "Mia", 0.3), close("jonas", "Jonas", 0.6)];
            assert_eq!(found("cherry", ranking, &both), [2, 1], "the closer of two: {ranking:?}");
            assert_eq!(found("barn or hall", ranking, &[close("x", "Zora", 0.9)])[0], 3, "{ranking:?}");
        }
        let of_bob = by(5, "bob", "the cherry party is in the shed");
        let all = [facts[0].clone(), of_bob];
        let first = ask_with(&all, "cherry", Ranking::Default, vec![close("mia", "Mia", 1.0)])[0];
        assert_eq!(first, 5, "who speaks comes before those who are close to them");
        assert_eq!(found("cherry", Ranking::Sphene, &[close("mia", "Mia", 0.9)]), [2, 1], "as its original has it");
    }
}
