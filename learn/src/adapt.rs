//! Adapts the built-in models to the history of a room: adds trees trained on its own labels, as many as help on held-out
//! data.
//!
//! Every message is predicted by models that were trained without its part of the log; channels, or stretches of a long
//! one, are distributed over the parts. The number of trees for a part is chosen by the other parts, so that the figures
//! are of messages that had no influence on it. Links come first, because the other models see the conversations that they
//! form. A model that does not improve stays the built-in one.

use aizuchi_core::likelihood::{self, steps, turn};
use aizuchi_core::trees::{Feature, Trees, probability};
use aizuchi_measure::conversations::placements_of;
use aizuchi_measure::logs::Channel;
use aizuchi_measure::metrics::{auc, average_precision};

use crate::boost::{Goal, Growth, Matrix, grow_more};
use crate::models::Models;
use crate::rooms::Room;
use crate::rows::{Example, LinkRows, MissedTurn, Rows, collect};
use crate::train::calibrate;

/// The folds of the cross-validation.
const FOLDS: usize = 5;
/// A channel with this many messages is split into stretches.
const LONG: usize = 500;
/// With fewer labelled messages nothing can be concluded.
pub const LABELLED_MIN: usize = 300;
/// With more labelled messages, a tree is trained on a sample.
const LABELLED_MANY: f64 = 40_000.0;
/// How many additional trees are tried.
const MORE: [usize; 6] = [0, 20, 40, 80, 160, 320];
const MORE_MAX: usize = MORE[MORE.len() - 1];
/// The minimum improvement.
const BETTER: f64 = 0.002;
/// And for links, in multiples of the standard deviation.
const DEVIATIONS: f64 = 2.0;
/// The minimum number of parts of the log that improve.
const PARTS_BETTER: usize = FOLDS - 1;

/// The held-out results of one model, before and after.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub model: &'static str,
    pub measures: &'static [&'static str],
    pub before: Vec<f64>,
    pub after: Vec<f64>,
    pub examples: usize,
    /// How many trees were added; 0 if it stays as it was.
    pub trees: usize,
    pub better: bool,
}

/// The result. A model that does not improve is absent.
#[derive(Clone, Debug)]
pub struct Adaptation {
    pub labelled: usize,
    pub links: Option<Trees>,
    pub join: Option<Trees>,
    pub turn: Option<Trees>,
    pub usual: Option<[f32; steps::STEPS]>,
    pub verdicts: Vec<Verdict>,
}

impl Adaptation {
    pub fn is_better(&self) -> bool {
        self.verdicts.iter().any(|verdict| verdict.better)
    }
}

/// How much of the work is done, from 0 to 1.
struct Progress<'a> {
    done: usize,
    tell: &'a mut dyn FnMut(f64),
}

/// A pass over the log counts as this many trees.
const LIFE: usize = 20;
const ALL: usize = (1 + FOLDS) * LIFE + 3 * (FOLDS + 1) * MORE_MAX;

impl Progress<'_> {
    fn step(&mut self, steps: usize) {
        self.done += steps;
        (self.tell)((self.done as f64 / ALL as f64).min(1.0));
    }
}

/// How many messages have labels.
pub fn labelled(channels: &[Channel]) -> usize {
    channels.iter().flat_map(Channel::answers).flatten().count()
}

/// `tell` gets the progress.
pub fn adapt(channels: &[Channel], tell: &mut dyn FnMut(f64)) -> Adaptation {
    let labelled = labelled(channels);
    let rooms = deal(channels);
    let built_in = Models::built_in();
    let mut progress = Progress { done: 0, tell };
    let before = collect(&rooms, |_| &built_in);
    progress.step(LIFE);
    let rows = 0.5 * (LABELLED_MANY / labelled.max(1) as f64).min(1.0);
    let links = Growth { trees: MORE_MAX, depth: 4, rate: 0.1, ridge: 10.0, rows, columns: 0.5, seed: 11 };
    let others = Growth { trees: MORE_MAX, depth: 3, rate: 0.05, ridge: 20.0, rows, columns: 0.5, seed: 12 };
    let (own_links, after, verdict) = adapt_links(&rooms, &before, &built_in, &links, &mut progress);
    let mut verdicts = vec![verdict];
    let seen = after.as_ref().unwrap_or(&before);
    let join = Yes {
        model: "join",
        trees: &built_in.join.trees,
        features: &likelihood::FEATURES,
        before: (&before.join, &[]),
        after: (&seen.join, &[]),
    };
    let (own_join, verdict, guesses) = join.adapt(&others, &mut progress);
    verdicts.push(verdict);
    let turn = Yes {
        model: "turn",
        trees: &built_in.turn.trees,
        features: &turn::FEATURES,
        before: (&before.turn, &before.turn_missed),
        after: (&seen.turn, &seen.turn_missed),
    };
    let (own_turn, verdict, _) = turn.adapt(&others, &mut progress);
    verdicts.push(verdict);
    (progress.tell)(1.0);
    let changed = own_links.is_some() || own_join.is_some();
    let usual = changed.then(|| steps::per_thousand(guesses.into_iter()));
    Adaptation { labelled, links: own_links, join: own_join, turn: own_turn, usual, verdicts }
}

/// Distributes channels, and the stretches of long ones, over the parts.
fn deal(channels: &[Channel]) -> Vec<Room> {
    let room = |(index, channel): (usize, &Channel)| {
        let stretches = if channel.said.len() >= LONG { FOLDS } else { 1 };
        Room { channel: channel.clone(), kind: 0, fold: index % FOLDS, stretches, wordless: false }
    };
    channels.iter().enumerate().map(room).collect()
}

/// More trees for links; what is seen with them, each message by trees that have not seen its part; and how good they are.
fn adapt_links(
    rooms: &[Room],
    before: &Rows,
    built_in: &Models,
    growth: &Growth,
    progress: &mut Progress<'_>,
) -> (Option<Trees>, Option<Rows>, Verdict) {
    let grow = |wanted: &dyn Fn(usize) -> bool, growth: &Growth, progress: &mut Progress<'_>| {
        let rows = LinkRows::of(&[(before, 1.0)], |_| 1.0, wanted);
        let goal = Goal::OneOf { begins: &rows.begins, right: &rows.right, weight: &rows.weight };
        grow_more(&built_in.link.trees, &rows.matrix, &goal, growth, &mut || progress.step(1))
    };
    let mut grown = Vec::new();
    let mut right = [[0.0; FOLDS]; MORE.len()];
    for fold in 0..FOLDS {
        let trees = grow(&|other| other != fold, growth, progress);
        let held_out = LinkRows::of(&[(before, 1.0)], |_| 1.0, |other| other == fold);
        let sums = sums_by_count(&trees, &held_out.matrix);
        for (right, sums) in right.iter_mut().zip(&sums) {
            right[fold] = picked_right(&held_out, sums) as f64;
        }
        grown.push(trees);
    }
    let best_by = |wanted: &dyn Fn(usize) -> bool| {
        let sum = |right: [f64; FOLDS]| (0..FOLDS).filter(|fold| wanted(*fold)).map(|fold| right[fold]).sum();
        MORE[first_best(&right.map(sum))]
    };
    let more = best_by(&|_| true);
    let mut after = Rows { links: Matrix::new(0), begins: vec![0], ..Rows::default() };
    let mut guesses: Vec<Vec<usize>> = before.guessed.clone();
    for (fold, trees) in grown.into_iter().enumerate() {
        let mut models = built_in.clone();
        let by_others = best_by(&|other| other != fold);
        models.link.trees = first_trees(&trees, built_in.link.trees.trees.len() + by_others).into();
        let rows = collect(rooms, |_| &models);
        after.join.extend(rows.join.into_iter().filter(|example| example.fold == fold));
        after.turn.extend(rows.turn.into_iter().filter(|example| example.fold == fold));
        after.turn_missed.extend(rows.turn_missed.into_iter().filter(|missed| missed.fold == fold));
        for ((room, mine), theirs) in rooms.iter().zip(&mut guesses).zip(&rows.guessed) {
            let of_fold = mine.iter_mut().zip(theirs).enumerate().filter(|(index, _)| room.fold_of(*index) == fold);
            of_fold.for_each(|(_, (mine, theirs))| *mine = *theirs);
        }
        progress.step(LIFE);
    }
    let Compared { all, before: share, after: other, gained, lost } = compare(rooms, &before.guessed, &guesses);
    let by_chance = DEVIATIONS * ((gained + lost) as f64).sqrt();
    let better = more > 0 && other - share >= BETTER && gained as f64 - lost as f64 >= by_chance;
    let final_trees = better.then(|| grow(&|_| true, &Growth { trees: more, ..*growth }, progress));
    let verdict = Verdict {
        model: "links",
        measures: &["share"],
        before: vec![share],
        after: vec![other],
        examples: all,
        trees: if better { more } else { 0 },
        better,
    };
    (final_trees, Some(after).filter(|_| better), verdict)
}

struct Compared {
    all: usize,
    before: f64,
    after: f64,
    gained: usize,
    lost: usize,
}

/// The share of messages in their own conversation, before and after.
fn compare(rooms: &[Room], before: &[Vec<usize>], after: &[Vec<usize>]) -> Compared {
    let (mut all, mut right, mut gained, mut lost) = (0, 0, 0, 0);
    for ((room, before), after) in rooms.iter().zip(before).zip(after) {
        let old = placements_of(&room.channel, |index| Some(before[index]));
        let new = placements_of(&room.channel, |index| Some(after[index]));
        for (old, new) in old.into_iter().flatten().zip(new.into_iter().flatten()) {
            all += 1;
            right += usize::from(old.right);
            gained += usize::from(new.right && !old.right);
            lost += usize::from(old.right && !new.right);
        }
    }
    let share = |right: usize| right as f64 / all.max(1) as f64;
    Compared { all, before: share(right), after: share(right + gained - lost), gained, lost }
}

/// The first `count` trees of a model.
fn first_trees(model: &Trees, count: usize) -> Trees {
    Trees { trees: model.trees[..count].to_vec(), ..model.clone() }
}

/// The sums of all rows with each of [`MORE`] trees more: the last [`MORE_MAX`] of the model are those.
fn sums_by_count(model: &Trees, matrix: &Matrix) -> Vec<Vec<i32>> {
    let known = model.trees.len() - MORE_MAX;
    let mut sums = vec![Vec::with_capacity(matrix.rows); MORE.len()];
    let first = first_trees(model, known);
    let steps: Vec<Trees> = MORE
        .windows(2)
        .map(|ends| Trees { trees: model.trees[known + ends[0]..known + ends[1]].to_vec(), ..Trees::empty() })
        .collect();
    for row in 0..matrix.rows {
        let values = matrix.row(row);
        let mut sum = first.sum(&values);
        sums[0].push(sum);
        for (step, sums) in steps.iter().zip(&mut sums[1..]) {
            sum += step.sum(&values);
            sums.push(sum);
        }
    }
    sums
}

/// In how many groups a right alternative has the highest sum.
fn picked_right(rows: &LinkRows, sums: &[i32]) -> usize {
    let right = |ends: &&[usize]| {
        // Of equal ones the first.
        let best = (ends[0]..ends[1]).rev().max_by_key(|row| sums[*row]);
        best.is_some_and(|best| rows.right[best])
    };
    rows.begins.windows(2).filter(right).count()
}

/// The first of the highest.
fn first_best(values: &[f64]) -> usize {
    let mut best = 0;
    for (index, value) in values.iter().enumerate() {
        if *value > values[best] {
            best = index;
        }
    }
    best
}

/// Examples, and those in which nobody was found to take part.
type Seen<'a, const N: usize> = (&'a [Example<[u8; N]>], &'a [MissedTurn]);

/// A model that says how likely something is.
struct Yes<'a, const N: usize> {
    model: &'static str,
    trees: &'a Trees,
    features: &'static [Feature; N],
    before: Seen<'a, N>,
    after: Seen<'a, N>,
}

/// Log-odds and what happened, by part.
type Guesses = Vec<(usize, f32, bool)>;

impl<const N: usize> Yes<'_, N> {
    /// More trees if they are better, how good they are, and the likelihoods of the examples as they are guessed from now on.
    fn adapt(&self, growth: &Growth, progress: &mut Progress<'_>) -> (Option<Trees>, Verdict, Vec<f32>) {
        let before = with_missed(self.before, self.before.0.iter().map(|example| self.built_in(example)));
        let (examples, _) = self.after;
        let mut tried: Vec<Vec<f32>> = vec![vec![0.0; examples.len()]; MORE.len()];
        for fold in 0..FOLDS {
            let Some(trees) = self.grow(growth, |other| other != fold, progress) else { continue };
            let (held_out, _, _) = matrix(self.features, examples, |other| other == fold);
            let indexes =
                examples.iter().enumerate().filter(|(_, example)| example.fold == fold).map(|(index, _)| index);
            let indexes: Vec<usize> = indexes.collect();
            for (tried, sums) in tried.iter_mut().zip(sums_by_count(&trees, &held_out)) {
                indexes.iter().zip(sums).for_each(|(index, sum)| tried[*index] = sum as f32 / 1000.0);
            }
        }
        // Without additional trees it is the built-in model, not one per part.
        tried[0] = examples.iter().map(|example| self.built_in(example)).collect();
        let best_by = |wanted: &dyn Fn(usize) -> bool| {
            let worth = |guesses: &Vec<f32>| {
                let all = with_missed(self.after, guesses.iter().copied());
                figures(&all.into_iter().filter(|(fold, ..)| wanted(*fold)).collect()).iter().sum()
            };
            first_best(&tried.iter().map(worth).collect::<Vec<f64>>())
        };
        let best = best_by(&|_| true);
        let by_others: Vec<usize> = (0..FOLDS).map(|fold| best_by(&|other| other != fold)).collect();
        let guessed = examples.iter().enumerate().map(|(index, example)| tried[by_others[example.fold]][index]);
        let after = with_missed(self.after, guessed);
        let (old, new) = (figures(&before), figures(&after));
        let parts = (0..FOLDS).filter(|fold| {
            let of =
                |guesses: &Guesses| figures(&guesses.iter().filter(|guess| guess.0 == *fold).copied().collect())[0];
            of(&after) > of(&before)
        });
        let better =
            MORE[best] > 0 && new[0] - old[0] >= BETTER && new[1] - old[1] >= BETTER && parts.count() >= PARTS_BETTER;
        let outcomes: Vec<(f32, bool, f32)> =
            tried[best].iter().zip(examples).map(|(guess, example)| (*guess, example.happened, 1.0)).collect();
        let (factor, term) = calibrate(&outcomes);
        let own = better.then(|| {
            let wanted = Growth { trees: MORE[best], ..*growth };
            let mut trees = self.grow(&wanted, |_| true, progress).expect("there are examples of both kinds");
            trees.calibration = (factor, term);
            trees
        });
        let honest = |guess: &f32| match better {
            true => probability((guess * factor as f32 + term as f32) / 1000.0),
            false => probability(*guess),
        };
        let likely = if better { &tried[best] } else { &tried[0] };
        let likely = likely.iter().map(honest).collect();
        let verdict = Verdict {
            model: self.model,
            measures: &["AUC", "AP"],
            before: old.to_vec(),
            after: new.to_vec(),
            examples: after.len(),
            trees: if better { MORE[best] } else { 0 },
            better,
        };
        (own, verdict, likely)
    }

    fn built_in(&self, example: &Example<[u8; N]>) -> f32 {
        self.trees.calibrated(self.trees.sum(&example.values))
    }

    /// `None` if the wanted examples all have the same label.
    fn grow(&self, growth: &Growth, wanted: impl Fn(usize) -> bool, progress: &mut Progress<'_>) -> Option<Trees> {
        let (matrix, target, weight) = matrix(self.features, self.after.0, wanted);
        if !(target.contains(&true) && target.contains(&false)) {
            return None;
        }
        let goal = Goal::Whether { target: &target, weight: &weight };
        Some(grow_more(self.trees, &matrix, &goal, growth, &mut || progress.step(1)))
    }
}

fn matrix<const N: usize>(
    features: &[Feature; N],
    examples: &[Example<[u8; N]>],
    wanted: impl Fn(usize) -> bool,
) -> (Matrix, Vec<bool>, Vec<f32>) {
    let mut matrix = Matrix::new(features.len());
    let mut target = Vec::new();
    for example in examples.iter().filter(|example| wanted(example.fold)) {
        matrix.push(example.values.iter().copied());
        target.push(example.happened);
    }
    let weight = vec![1.0; target.len()];
    (matrix, target, weight)
}

/// If a participant was not recognised, the prediction is 0.
fn with_missed<const N: usize>((examples, missed): Seen<'_, N>, guesses: impl Iterator<Item = f32>) -> Guesses {
    let found = examples.iter().zip(guesses).map(|(example, guess)| (example.fold, guess, example.happened));
    found.chain(missed.iter().map(|missed| (missed.fold, f32::MIN, missed.happened))).collect()
}

fn figures(guesses: &Guesses) -> [f64; 2] {
    let outcomes: Vec<(f32, bool)> = guesses.iter().map(|(_, guess, happened)| (*guess, *happened)).collect();
    // If all labels are the same, the figure is undefined.
    let of = |figure: f64| if figure.is_finite() { figure } else { 0.0 };
    [of(auc(&outcomes)), of(average_precision(&outcomes))]
}
