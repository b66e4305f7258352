//! From labelled logs to models.

use aizuchi_core::conversations::{TELLS, WordSignal};
use aizuchi_core::likelihood::steps;
use aizuchi_core::trees::probability;
use aizuchi_measure::logs::Channel;
use aizuchi_measure::metrics::{Outcomes, auc, average_precision, brier};

use crate::boost::Growth;
use crate::card::{Figures, Measurements};
use crate::lives::{Lives, Shares, Talk};
use crate::models::Models;
use crate::rows::Rows;
use crate::words::{Corpus, Counts, Label, labels_of};

pub struct TrainingResult {
    pub models: Models,
    pub words: String,
    /// Of the training logs, each channel guessed by models that have not seen it.
    pub held_out: Figures,
}

#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub folds: usize,
    /// How often links are learnt in haste before they are learnt in earnest.
    pub looks: usize,
    pub first: Growth,
    pub links: Growth,
    pub join: Growth,
    pub shares: Shares,
    /// How much a guessed label counts for what words tell, where nobody looked.
    pub guessed: f32,
}

impl Default for Plan {
    fn default() -> Plan {
        let links = Growth { trees: 300, depth: 5, rate: 0.2, ridge: 10.0, rows: 0.5, columns: 0.5, seed: 1 };
        let first = Growth { trees: 40, rate: 0.4, rows: 0.4, columns: 0.4, ..links };
        let join = Growth { trees: 500, depth: 3, rate: 0.05, ridge: 20.0, rows: 0.6, columns: 0.4, seed: 2 };
        Plan {
            folds: 4,
            looks: 2,
            first,
            links,
            join,
            shares: Shares { wordless: 0.3, nameless: 1.0, paused: 0.15 },
            guessed: 0.5,
        }
    }
}

pub fn train(channels: &[Channel], plan: &Plan, tell: &dyn Fn(&str)) -> TrainingResult {
    let folds = plan.folds;
    let corpus = Corpus::of(channels);
    tell(&format!("{} words and pairs", corpus.names.len()));
    // The last one has seen everything.
    let mut students: Vec<FoldModels> = (0..=folds).map(|fold| FoldModels::new(&corpus, fold, folds)).collect();
    let talk = Talk::of(channels);
    let live = |students: &[FoldModels]| talk.live(|channel| &students[channel % folds].models);
    let labels = TELLS.map(|what| known_labels(channels, what));
    students.iter_mut().for_each(|student| student.learn_words(&corpus, &labels));
    let mut lives = live(&students);
    // What a model sees depends on what it guessed before: it has to settle.
    for look in 1..=plan.looks {
        for student in &mut students[..folds] {
            let unseen = |channel: usize| channel % folds != student.fold;
            student.models.link.trees = lives.grow_links(&plan.shares, &plan.first, unseen);
        }
        lives = live(&students);
        tell(&format!("look {look}: {}", links_told(&lives)));
    }
    let labels = TELLS.map(|what| all_labels(channels, &lives.known.guessed, what, plan.guessed));
    students.iter_mut().for_each(|student| student.learn_words(&corpus, &labels));
    let lives = live(&students);
    tell(&format!("with more words: {}", links_told(&lives)));
    for student in &mut students[..folds] {
        student.models.link.trees =
            lives.grow_links(&plan.shares, &plan.links, |channel| channel % folds != student.fold);
    }
    let lives = live(&students);
    tell(&format!("held out: {}", links_told(&lives)));
    let FoldModels { mut models, words, .. } = students.pop().expect("one has seen everything");
    models.link.trees = lives.grow_links(&plan.shares, &plan.links, |_| true);
    let (held_out, calibration) = held_out(&lives, plan);
    for (life, measured) in held_out.lives() {
        tell(&format!("held out, {life}: join {}", told(&measured.join)));
    }
    models.join.trees = lives.grow_join(&plan.shares, &plan.join, |_| true);
    models.join.trees.calibration = calibration;
    models.join.usual = steps::per_thousand(held_out.known.join.iter().map(|(likely, _)| *likely));
    TrainingResult { models, words, held_out }
}

/// Models that have not seen every channel.
struct FoldModels {
    fold: usize,
    counts: Counts,
    models: Models,
    words: String,
}

impl FoldModels {
    fn new(corpus: &Corpus, fold: usize, folds: usize) -> FoldModels {
        let counts = corpus.count(|channel| channel % folds != fold);
        FoldModels { fold, counts, models: Models::empty(), words: String::new() }
    }

    /// Labels are given for each of [`TELLS`].
    fn learn_words(&mut self, corpus: &Corpus, labels: &[Labels; TELLS.len()]) {
        let weights = labels.each_ref().map(|labels| corpus.weights(&self.counts, labels));
        (self.models.link.lexicon, self.words) = corpus.lexicon(&self.counts, &weights);
    }
}

/// By channel, then by message; absent where nothing is known.
type Labels = Vec<Vec<Option<Label>>>;

fn known_labels(channels: &[Channel], what: WordSignal) -> Labels {
    let label = |yes: Option<bool>| yes.map(|yes| Label { yes, weight: 1.0 });
    channels.iter().map(|channel| labels_of(channel, what).into_iter().map(label).collect()).collect()
}

/// The same, and where nobody looked what follows from the guessed links: most of a log is not annotated, and what
/// people answered later tells much about a message.
fn all_labels(channels: &[Channel], guessed: &[Vec<usize>], what: WordSignal, weight: f32) -> Labels {
    let mut labels = known_labels(channels, what);
    for ((channel, guessed), labels) in channels.iter().zip(guessed).zip(&mut labels) {
        let mut all = channel.clone();
        for (said, guessed) in all.said.iter_mut().zip(guessed) {
            said.gold.get_or_insert_with(|| vec![*guessed]);
        }
        let unseen = channel.said.iter().zip(labels).filter(|(said, _)| said.gold.is_none());
        let found = labels_of(&all, what).into_iter().zip(&channel.said).filter(|(_, said)| said.gold.is_none());
        for ((_, label), (yes, _)) in unseen.zip(found) {
            *label = yes.map(|yes| Label { yes, weight });
        }
    }
    labels
}

/// Honest guesses of each life, each channel guessed by a model that has not seen it; and what made them honest.
fn held_out(lives: &Lives, plan: &Plan) -> (Figures, (i32, i32)) {
    let mut guesses = lives.all().map(|rows| vec![0.0; rows.join.len()]);
    for fold in 0..plan.folds {
        let model = lives.grow_join(&plan.shares, &plan.join, |channel| channel % plan.folds != fold);
        for (rows, guesses) in lives.all().iter().zip(&mut guesses) {
            for row in (0..guesses.len()).filter(|row| rows.join_channel[*row] % plan.folds == fold) {
                guesses[row] = model.calibrated(model.sum(&rows.join[row]));
            }
        }
    }
    let happened = || lives.known.joined.iter().copied();
    let (factor, term) = calibrate(&guesses[0].iter().copied().zip(happened()).collect::<Vec<_>>());
    let honest = |log_odds: &f32| probability((log_odds * factor as f32 + term as f32) / 1000.0);
    let measured = |rows: &Rows, guesses: &[f32]| Measurements {
        links: rows.score,
        join: guesses.iter().map(honest).zip(happened()).collect(),
    };
    let figures = Figures {
        known: measured(&lives.known, &guesses[0]),
        wordless: measured(&lives.wordless, &guesses[1]),
        nameless: measured(&lives.nameless, &guesses[2]),
    };
    (figures, (factor, term))
}

fn links_told(lives: &Lives) -> String {
    let Rows { reachable, score, .. } = &lives.known;
    let [known, wordless, nameless] = lives.all().map(|rows| rows.score.f1());
    let reached = format!("{reachable}/{} links reachable", score.gold);
    format!("{reached}, F1 {known:.4}, without words {wordless:.4}, without names {nameless:.4}")
}

pub fn told(outcomes: &Outcomes) -> String {
    format!("AUC {:.4} AP {:.4} Brier {:.4}", auc(outcomes), average_precision(outcomes), brier(outcomes))
}

/// A factor and a term, in thousandths, that make held-out log-odds honest.
fn calibrate(outcomes: &Outcomes) -> (i32, i32) {
    let (mut factor, mut term) = (1.0f64, 0.0f64);
    for _ in 0..50 {
        let (mut g, mut h) = ([0.0f64; 2], [1e-9f64, 0.0, 1e-9]);
        for (log_odds, happened) in outcomes {
            let x = f64::from(*log_odds);
            let p = 1.0 / (1.0 + (-(factor * x + term)).exp());
            let (error, slope) = (p - f64::from(u8::from(*happened)), p * (1.0 - p));
            g = [g[0] + error * x, g[1] + error];
            h = [h[0] + slope * x * x, h[1] + slope * x, h[2] + slope];
        }
        let det = h[0] * h[2] - h[1] * h[1];
        factor -= (h[2] * g[0] - h[1] * g[1]) / det;
        term -= (h[0] * g[1] - h[1] * g[0]) / det;
    }
    ((factor * 1000.0).round() as i32, (term * 1000.0).round() as i32)
}
