//! Turns rooms into rows of features, by running the core over them.

use std::collections::BTreeSet;
use std::ops::Range;

use aizuchi_core::conversations::{Conversations, Lexicon, pairs};
use aizuchi_core::likelihood::{self, turn};
use aizuchi_measure::addressees::Addressees;
use aizuchi_measure::baselines::{Previous, last_other, spoke_just_before};
use aizuchi_measure::conversations::{Placements, groups, links_of};
use aizuchi_measure::labels::{entries, entries_by_next, talks};
use aizuchi_measure::logs::Channel;
use aizuchi_measure::metrics::Links;

use crate::boost::Matrix;
use crate::models::Models;
use crate::rooms::Room;
use crate::words::to_utterance;

/// A row of features with its label and origin.
#[derive(Clone, Debug)]
pub struct Example<V> {
    pub values: V,
    pub happened: bool,
    /// The prediction of the models themselves.
    pub guess: f32,
    pub kind: usize,
    pub fold: usize,
    /// Which of the groups of silences its message is in.
    pub silence: usize,
}

/// An example of a turn in which the participant was not recognised.
#[derive(Clone, Copy, Debug)]
pub struct MissedTurn {
    pub kind: usize,
    pub fold: usize,
    /// Whether they spoke next.
    pub happened: bool,
    pub silence: usize,
    /// Whether they spoke just before, in the room.
    pub just_before: bool,
}

/// Rows for all models.
#[derive(Default)]
pub struct Rows {
    pub links: Matrix,
    pub begins: Vec<usize>,
    pub right: Vec<bool>,
    /// Of each group, its kind and fold.
    pub group: Vec<(usize, usize)>,
    pub join: Vec<Example<likelihood::Values>>,
    /// Of each example of joining, whether the next to speak in the conversation was somebody new.
    pub join_by_next: Vec<bool>,
    pub turn: Vec<Example<turn::TurnValues>>,
    /// Of each example of turns, whether the participant spoke just before, in the room.
    pub turn_just_before: Vec<bool>,
    pub turn_missed: Vec<MissedTurn>,
    /// By room, the index of the message that each message was taken to answer.
    pub guessed: Vec<Vec<usize>>,
    /// The results of the models themselves, by kind.
    pub scores: Vec<Score>,
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Score {
    /// Exact targets, and whether the conversation is right.
    pub links: Links,
    pub placements: Placements,
    /// Whom answers are for, and whom lines of three are for that name nobody.
    pub people: Addressees,
    pub addressees: Addressees,
    /// The same by simple guesses that do not depend on the text.
    pub previous: Previous,
    pub last_other: Addressees,
    /// Labelled messages with a right alternative among the candidates.
    pub reachable: usize,
}

impl Score {
    fn add(&mut self, channel: &Channel, guess: impl Fn(usize) -> Option<usize>) {
        self.links.add(links_of(channel, &guess));
        self.placements.add(Placements::of(channel, &guess));
        self.people.add(Addressees::of_answers(channel, &guess));
        self.addressees.add(Addressees::of(channel, &guess));
        self.previous.add(Previous::of(channel));
        self.last_other.add(last_other(channel));
    }
}

/// Processes every room with its models.
pub fn collect<'m>(rooms: &[Room], models: impl Fn(usize) -> &'m Models) -> Rows {
    let mut rows = Rows { links: Matrix::new(pairs::FEATURES.len()), begins: vec![0], ..Rows::default() };
    let kinds = rooms.iter().map(|room| room.kind + 1).max().unwrap_or(0);
    rows.scores = vec![Score::default(); kinds];
    for room in rooms {
        let models = models(room.fold);
        if room.wordless {
            let mut wordless = models.clone();
            wordless.link.lexicon = Lexicon::default();
            rows.live(room, &wordless);
        } else {
            rows.live(room, models);
        }
    }
    rows
}

impl Rows {
    fn live(&mut self, room: &Room, models: &Models) {
        let (channel, kind) = (&room.channel, room.kind);
        let mut conversations = Conversations::default();
        let joined = entries(channel).into_iter().zip(entries_by_next(channel));
        let joined: Vec<Option<(bool, bool)>> = joined.map(|(answered, next)| answered.zip(next)).collect();
        let silences: Vec<usize> = groups(channel).into_iter().map(Option::unwrap_or_default).collect();
        let turns = turns(room);
        let numbers = channel.conversations();
        let mut begun = BTreeSet::new();
        let mut guesses = Vec::new();
        for (index, said) in channel.said.iter().enumerate() {
            let fold = room.fold_of(index);
            let watched: Vec<u64> = turns[index].iter().map(|(person, _)| *person).collect();
            let view = likelihood::hear_for_training(
                &mut conversations,
                &to_utterance(said),
                &models.link,
                &models.join,
                &watched,
            );
            let (estimate, weighed) = (view.estimate, view.weighed);
            let candidates = &weighed.candidates[..weighed.used];
            let mut indexes = candidates.iter().map(|candidate| *candidate as usize);
            let guessed = indexes.find(|candidate| channel.said[*candidate].id == estimate.reply_to).unwrap_or(index);
            guesses.push(guessed);
            let silence = silences[index];
            if let Some((happened, by_next)) = joined[index] {
                let (values, guess) = (estimate.features, estimate.p_join);
                self.join.push(Example { values, happened, guess, kind, fold, silence });
                self.join_by_next.push(by_next);
            }
            for (&(person, happened), values) in turns[index].iter().zip(view.turns) {
                let just_before = spoke_just_before(channel, index, |said| said.author == person);
                match values {
                    Some(values) => {
                        let guess = models.turn.likelihood(&values);
                        self.turn.push(Example { values, happened, guess, kind, fold, silence });
                        self.turn_just_before.push(just_before);
                    }
                    None => self.turn_missed.push(MissedTurn { kind, fold, happened, silence, just_before }),
                }
            }
            let is_right = |candidate: usize| match (said.conversation, &said.gold) {
                (Some(_), _) if candidate == index => !begun.contains(&numbers[index]),
                (Some(_), _) => numbers[candidate] == numbers[index],
                (None, Some(gold)) => gold.contains(&candidate),
                (None, None) => false,
            };
            let right: Vec<bool> = candidates.iter().map(|candidate| is_right(*candidate as usize)).collect();
            begun.insert(numbers[index]);
            if right.contains(&true) {
                self.scores[kind].reachable += 1;
                for (lane, right) in right.into_iter().enumerate() {
                    self.right.push(right);
                    self.links.push(weighed.columns.iter().map(|column| column[lane]));
                }
                self.begins.push(self.links.rows);
                self.group.push((kind, fold));
            }
        }
        self.scores[kind].add(channel, |index| Some(guesses[index]));
        self.guessed.push(guesses);
    }
}

/// The maximum number of participants of a conversation that are examples at one message: those who spoke last.
const WATCHED_MAX: usize = 6;

/// For each message the earlier participants of its conversation, and whether each spoke next in it.
fn turns(room: &Room) -> Vec<Vec<(u64, bool)>> {
    let said = &room.channel.said;
    let mut examples = vec![Vec::new(); said.len()];
    for talk in talks(&room.channel) {
        // The latest speaker is last.
        let mut people: Vec<u64> = Vec::new();
        for pair in talk.windows(2) {
            let (author, next) = (said[pair[0]].author, said[pair[1]].author);
            let others = people.iter().rev().filter(|person| **person != author).take(WATCHED_MAX);
            examples[pair[0]] = others.map(|person| (*person, *person == next)).collect();
            people.retain(|person| *person != author);
            people.push(author);
        }
    }
    examples
}

/// Links of several variants, each group with its weight, in some of the folds.
#[derive(Default)]
pub struct LinkRows {
    pub matrix: Matrix,
    pub begins: Vec<usize>,
    pub right: Vec<bool>,
    pub weight: Vec<f32>,
}

impl LinkRows {
    /// `weight` gets the kind.
    pub fn of(lives: &[(&Rows, f32)], weight: impl Fn(usize) -> f32, wanted: impl Fn(usize) -> bool) -> LinkRows {
        let matrix = Matrix::new(pairs::FEATURES.len());
        let mut all = LinkRows { matrix, begins: vec![0], ..LinkRows::default() };
        for &(rows, share) in lives {
            for (group, ends) in rows.begins.windows(2).enumerate() {
                let (kind, fold) = rows.group[group];
                if wanted(fold) {
                    all.take(rows, ends[0]..ends[1], share * weight(kind));
                }
            }
        }
        all
    }

    fn take(&mut self, rows: &Rows, group: Range<usize>, weight: f32) {
        for (to, from) in self.matrix.columns.iter_mut().zip(&rows.links.columns) {
            to.extend_from_slice(&from[group.clone()]);
        }
        self.matrix.rows += group.len();
        self.right.extend_from_slice(&rows.right[group]);
        self.begins.push(self.matrix.rows);
        self.weight.push(weight);
    }
}
