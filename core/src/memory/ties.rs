//! Who answers whom in a room, how often and about what: a tie for each direction, learnt from talk.
//!
//! A tie has a count and a few single words, never a text. Each word keeps the messages that contain it: when the last of
//! them is deleted, so is the word. A tie that is not repeated fades within months.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::MemoryChange;
use super::walls::{Origin, allowed, narrower};
use crate::types::{MessageId, PersonId, Span, Time};

/// The maximum number of ties of a room.
pub const TIES_MAX: usize = 200;
/// The maximum number of words that are shown of two people.
pub const WORDS_SHOWN: usize = 8;

/// Words of a tie: some more than are shown, so that a word that is used again can rise.
const WORDS_MAX: usize = 2 * WORDS_SHOWN;
/// How many messages are remembered for a word.
const MESSAGES_MAX: usize = 6;
const WORD_CHARS_MAX: usize = 24;
const HALF_LIFE: Span = Span::minutes(60 * 24 * 60);
/// A tie with a lower weight has faded: a single answer does after more than half a year.
const FADED: f64 = 0.1;
/// From this weight on, two people answer each other often.
const OFTEN: f64 = 6.0;
/// Below this weight a tie is ignored.
const SOME: f64 = 2.0;

/// One person of a room answers another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tie {
    #[serde(flatten)]
    pub origin: Origin,
    pub from: PersonId,
    pub to: PersonId,
    /// How often `from` answered `to`.
    pub answers: u64,
    /// The same with a decay over time, as of `last`.
    pub weight: f64,
    pub last: Time,
    /// Sorted by weight, descending.
    pub words: Vec<TieWord>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TieWord {
    pub word: Box<str>,
    pub weight: f64,
    /// Messages that contain it, latest first.
    pub messages: Vec<MessageId>,
}

/// Somebody answered somebody.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answered {
    pub origin: Origin,
    pub from: PersonId,
    pub to: PersonId,
    pub at: Time,
    /// Words of the answer and of the message it answers, each with its message.
    pub words: Vec<(Box<str>, MessageId)>,
}

impl Tie {
    pub fn new(answered: &Answered) -> Tie {
        let Answered { origin, from, to, at, .. } = answered.clone();
        Tie { origin, from, to, answers: 0, weight: 0.0, last: at, words: Vec::new() }
    }

    pub fn answer(&mut self, answered: &Answered) {
        let kept = decay(self.last, answered.at);
        self.answers += 1;
        self.weight = self.weight * kept + 1.0;
        self.words.iter_mut().for_each(|word| word.weight *= kept);
        self.last = self.last.max(answered.at);
        // A tie keeps the narrowest audience of what it was learnt from.
        self.origin.visibility = narrower(self.origin.visibility, answered.origin.visibility);
        for (word, message) in answered.words.iter().filter(|(word, _)| word.chars().count() <= WORD_CHARS_MAX) {
            self.use_word(word, message);
        }
        self.words.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        self.words.truncate(WORDS_MAX);
    }

    fn use_word(&mut self, word: &str, message: &MessageId) {
        match self.words.iter_mut().find(|known| *known.word == *word) {
            Some(known) if known.messages.contains(message) => (),
            Some(known) => {
                known.weight += 1.0;
                known.messages.insert(0, message.clone());
                known.messages.truncate(MESSAGES_MAX);
            }
            None => self.words.insert(0, TieWord { word: word.into(), weight: 1.0, messages: vec![message.clone()] }),
        }
    }

    pub fn weight_at(&self, at: Time) -> f64 {
        self.weight * decay(self.last, at)
    }

    pub fn has_faded(&self, at: Time) -> bool {
        self.weight_at(at) < FADED
    }

    pub fn is_of(&self, person: &PersonId) -> bool {
        self.from == *person || self.to == *person
    }

    /// Whether it may be known where `reader` is, by the same rules as for facts.
    pub fn is_known_to(&self, reader: &Origin, across_rooms: bool) -> bool {
        allowed(&self.origin, reader, across_rooms).is_some()
    }

    /// Applies a change that affects the words of this tie. Returns whether anything changed.
    pub fn apply(&mut self, change: &MemoryChange) -> bool {
        if let MemoryChange::MessageGone { room, message } = change {
            return self.origin.room == *room && self.lose_message(message);
        }
        if let MemoryChange::Narrowed { origin } = change
            && origin.room == self.origin.room
        {
            let before = self.origin.visibility;
            self.origin.visibility = narrower(before, origin.visibility);
            return self.origin.visibility != before;
        }
        false
    }

    fn lose_message(&mut self, message: &MessageId) -> bool {
        let rests = self.words.iter().any(|word| word.messages.contains(message));
        self.words.iter_mut().for_each(|word| word.messages.retain(|of| of != message));
        self.words.retain(|word| !word.messages.is_empty());
        rests
    }

    /// Deletes words that name a person.
    pub fn unmention(&mut self, mentions: &dyn Fn(&str) -> bool) -> bool {
        let before = self.words.len();
        self.words.retain(|word| !mentions(&word.word));
        self.words.len() != before
    }
}

/// The tie to delete if a room has one too many: the weakest, but not the one that was just learnt.
pub fn weakest<'a>(ties: &'a [Tie], new: &Tie, at: Time) -> Option<&'a Tie> {
    let others = ties.iter().filter(|tie| (&tie.from, &tie.to) != (&new.from, &new.to));
    others.min_by(|a, b| a.weight_at(at).total_cmp(&b.weight_at(at)))
}

/// Two people and the ties between them, both directions together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// Ordered by id.
    pub people: [PersonId; 2],
    /// How often the first answered the second, and the second the first.
    pub answers: [u64; 2],
    pub weight: f64,
    pub last: Time,
    pub words: Vec<Box<str>>,
}

impl Pair {
    pub fn other_than(&self, person: &PersonId) -> &PersonId {
        if self.people[0] == *person { &self.people[1] } else { &self.people[0] }
    }

    /// How often they answer each other; `None` if that is negligible.
    pub fn frequency(&self) -> Option<Frequency> {
        match self.weight {
            weight if weight >= OFTEN => Some(Frequency::Often),
            weight if weight >= SOME => Some(Frequency::Sometimes),
            _ => None,
        }
    }

    /// From 0 for strangers towards 1.
    pub fn closeness(&self) -> f64 {
        self.weight / (self.weight + OFTEN)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Frequency {
    Sometimes,
    Often,
}

/// The ties combined by pair of people, closest first.
pub fn pairs(ties: &[Tie], at: Time) -> Vec<Pair> {
    let mut by_people: BTreeMap<[&PersonId; 2], Vec<&Tie>> = BTreeMap::new();
    for tie in ties {
        let mut people = [&tie.from, &tie.to];
        people.sort();
        by_people.entry(people).or_default().push(tie);
    }
    let pair = |(people, ties): ([&PersonId; 2], Vec<&Tie>)| {
        let answers = |from: &PersonId| ties.iter().filter(|tie| tie.from == *from).map(|tie| tie.answers).sum();
        Pair {
            people: people.map(PersonId::clone),
            answers: people.map(answers),
            weight: ties.iter().map(|tie| tie.weight_at(at)).sum(),
            last: ties.iter().map(|tie| tie.last).max().unwrap_or(at),
            words: words_of(&ties, at),
        }
    };
    let mut pairs: Vec<Pair> = by_people.into_iter().map(pair).collect();
    pairs.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    pairs
}

fn words_of(ties: &[&Tie], at: Time) -> Vec<Box<str>> {
    let mut words: BTreeMap<&str, f64> = BTreeMap::new();
    for tie in ties {
        for TieWord { word, weight, .. } in &tie.words {
            *words.entry(word).or_default() += weight * decay(tie.last, at);
        }
    }
    let mut words: Vec<(&str, f64)> = words.into_iter().collect();
    words.sort_by(|a, b| b.1.total_cmp(&a.1));
    words.into_iter().take(WORDS_SHOWN).map(|(word, _)| word.into()).collect()
}

/// The decay of a weight; none if the clock was set back.
fn decay(from: Time, to: Time) -> f64 {
    0.5_f64.powf(to.since(from).0 as f64 / HALF_LIFE.0 as f64)
}

/// What a writer is shown of two participants of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownPair {
    pub name: Box<str>,
    /// `None` is the bot.
    pub other: Option<Box<str>>,
    pub frequency: Frequency,
    pub words: Vec<Box<str>>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::RoomId;
    use crate::types::Visibility::{self, Private, Public};

    fn answered(from: &str, to: &str, day: u64, words: &[(&str, &str)]) -> Answered {
        Answered {
            origin: Origin::new("web:lobby", Public),
            from: PersonId::new(from),
            to: PersonId::new(to),
            at: Time(0) + Span::minutes(day * 24 * 60),
            words: words.iter().map(|(word, message)| ((*word).into(), MessageId::new(message))).collect(),
        }
    }

    fn tie(all: &[Answered]) -> Tie {
        let mut tie = Tie::new(&all[0]);
        all.iter().for_each(|answered| tie.answer(answered));
        tie
    }

    fn words(tie: &Tie) -> Vec<&str> {
        tie.words.iter().map(|word| &*word.word).collect()
    }

    #[test]
    fn answers_are_counted_and_fade_within_months() {
        let tie = tie(&[answered("mia", "jonas", 0, &[]), answered("mia", "jonas", 60, &[])]);
        let at = |day: u64| tie.weight_at(Time(0) + Span::minutes(day * 24 * 60));
        assert_eq!((tie.answers, at(60), at(120)), (2, 1.5, 0.75));
        assert_eq!(at(0), 1.5, "a clock that was set back adds nothing");
        assert!(!tie.has_faded(Time(0) + Span::minutes(200 * 24 * 60)));
        assert!(tie.has_faded(Time(0) + Span::minutes(400 * 24 * 60)));
    }

    #[test]
    fn the_words_that_come_again_come_first_and_are_few() {
        let mut all: Vec<Answered> = Vec::new();
        for number in 0..40 {
            let (rare, message) = (format!("rare{number}"), format!("m{number}"));
            all.push(answered("mia", "jonas", 0, &[(&rare, &message), ("frost", &message), ("frost", &message)]));
        }
        all.push(answered("mia", "jonas", 0, &[(&"x".repeat(25), "m99")]));
        let tie = tie(&all);
        assert_eq!((words(&tie)[0], tie.words[0].weight, words(&tie)[1]), ("frost", 40.0, "rare39"));
        assert_eq!((tie.words.len(), tie.words[0].messages.len()), (WORDS_MAX, MESSAGES_MAX));
        assert_eq!(pairs(&[tie], Time(0))[0].words.len(), WORDS_SHOWN);
    }

    #[test]
    fn a_word_goes_with_the_last_message_that_holds_it() {
        let mut tie = tie(&[
            answered("mia", "jonas", 0, &[("frost", "m1"), ("tomatoes", "m1")]),
            answered("mia", "jonas", 0, &[("frost", "m2")]),
        ]);
        let gone = |room: &str, message: &str| MemoryChange::MessageGone {
            room: RoomId::new(room),
            message: MessageId::new(message),
        };
        assert!(!tie.apply(&gone("web:garden", "m1")) && !tie.apply(&gone("web:lobby", "m7")));
        assert!(tie.apply(&gone("web:lobby", "m1")));
        assert_eq!(words(&tie), ["frost"]);
        assert!(tie.apply(&gone("web:lobby", "m2")) && tie.words.is_empty());
        assert_eq!(tie.answers, 2, "that somebody answered stays counted");
    }

    #[test]
    fn a_tie_is_never_seen_by_more_than_before() {
        let narrow = |to: Visibility| MemoryChange::Narrowed { origin: Origin::new("web:lobby", to) };
        let mut tie = tie(&[answered("mia", "jonas", 0, &[])]);
        assert!(tie.apply(&narrow(Private)) && !tie.apply(&narrow(Public)));
        tie.answer(&answered("mia", "jonas", 1, &[]));
        assert_eq!(tie.origin.visibility, Private, "what was said in public later does not open it");
    }

    #[test]
    fn both_directions_make_one_pair() {
        let there = tie(&vec![answered("mia", "jonas", 0, &[("frost", "m1")]); 4]);
        let back = tie(&[answered("jonas", "mia", 1, &[("frost", "m2"), ("tomatoes", "m2")])]);
        let other = tie(&[answered("ann", "mia", 0, &[])]);
        let found = pairs(&[other, there, back], Time(0));
        assert_eq!(found[0].people, ["jonas", "mia"].map(PersonId::new));
        assert_eq!((found[0].answers, found[0].words[0].as_ref()), ([1, 4], "frost"));
        assert_eq!(found[0].frequency(), Some(Frequency::Sometimes));
        assert_eq!(found[1].frequency(), None);
        assert!(found[0].closeness() > found[1].closeness() && found[0].closeness() < 1.0);
    }

    #[test]
    fn the_weakest_makes_room_and_the_newest_stays() {
        let old = tie(&vec![answered("mia", "jonas", 0, &[]); 2]);
        let new = tie(&[answered("ann", "mia", 0, &[])]);
        let ties = [old.clone(), new.clone()];
        assert_eq!(weakest(&ties, &new, Time(0)), Some(&old));
        assert_eq!(weakest(&ties, &old, Time(0)), Some(&new));
    }
}
