//! From labelled logs to models.

use aizuchi_core::conversations::{TELLS, WordSignal, pairs};
use aizuchi_core::likelihood::{self, steps, turn};
use aizuchi_core::trees::{Trees, probability};
use aizuchi_measure::logs::Channel;
use aizuchi_measure::metrics::{Outcomes, auc, average_precision, brier};

use crate::boost::{Goal, Growth, Matrix, grow};
use crate::card::Measurements;
use crate::models::Models;
use crate::rooms::{Kind, LogVariant, Room, Shares, as_it_is, lives};
use crate::rows::{Example, LinkRows, Rows, collect};
use crate::words::{Corpus, Counts, Label, labels_of};

pub struct TrainingResult {
    pub models: Models,
    pub words: String,
    /// For the training logs, by kind, each channel predicted by models that have not seen it.
    pub held_out: Vec<Measurements>,
}

#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub folds: usize,
    /// How many quick rounds of training links precede the final one.
    pub looks: usize,
    pub first: Growth,
    pub links: Growth,
    pub join: Growth,
    pub turn: Growth,
    pub shares: Shares,
    /// The weight of a predicted label for words, for unlabelled messages.
    pub guessed: f32,
    /// A kind with few labels counts more: the ratio of labels to this power.
    pub balance: f32,
}

impl Default for Plan {
    fn default() -> Plan {
        let links = Growth { trees: 350, depth: 5, rate: 0.17, ridge: 10.0, rows: 0.35, columns: 0.4, seed: 1 };
        let first = Growth { trees: 40, rate: 0.4, rows: 0.3, columns: 0.4, ..links };
        let join = Growth { trees: 500, depth: 3, rate: 0.05, ridge: 20.0, rows: 0.4, columns: 0.4, seed: 2 };
        let turn = Growth { trees: 400, depth: 3, seed: 3, ..join };
        Plan {
            folds: 3,
            looks: 2,
            first,
            links,
            join,
            turn,
            shares: Shares {
                wordless: 0.3,
                nameless: 0.7,
                paused: 0.15,
                paced: 0.4,
                mixed: 0.4,
                hinted: 0.3,
                fresh: 0.3,
            },
            guessed: 0.5,
            balance: 0.5,
        }
    }
}

pub fn train(kinds: &[Kind], plan: &Plan, tell: &dyn Fn(&str)) -> TrainingResult {
    let known = as_it_is(kinds, plan.folds);
    let corpus = Corpus::of(&known);
    tell(&format!("{} words and pairs", corpus.names.len()));
    let mut school = School { kinds, plan, lives: lives(&known, &plan.shares), weights: weights(kinds, plan.balance) };
    // The last one has seen everything.
    let mut students: Vec<FoldModels> = (0..=plan.folds).map(|fold| FoldModels::new(&corpus, &known, fold)).collect();
    let labels = TELLS.map(|what| known_labels(&known, what));
    students.iter_mut().for_each(|student| student.learn_words(&corpus, &labels));
    let mut rows = school.live(&students);
    // What a model sees depends on its earlier predictions, so they have to converge.
    for look in 1..=plan.looks {
        school.learn_links(&mut students[..plan.folds], &rows, &plan.first);
        rows = school.live(&students);
        school.tell_links(&format!("look {look}"), &rows, tell);
    }
    let labels = TELLS.map(|what| all_labels(&known, &rows[0].guessed, what, plan.guessed));
    students.iter_mut().for_each(|student| student.learn_words(&corpus, &labels));
    let rows = school.live(&students);
    school.tell_links("with more words", &rows, tell);
    school.learn_links(&mut students[..plan.folds], &rows, &plan.links);
    let rows = school.live(&students);
    school.tell_links("held out", &rows, tell);
    let FoldModels { mut models, words, .. } = students.pop().expect("one has seen everything");
    models.link.trees = school.grow_links(&rows, &plan.links, |_| true).into();
    let (join, calibration) = school.held_out(&rows, |rows| &rows.join, &likelihood::FEATURES, &plan.join);
    let trees = school.grow(&rows, |rows| &rows.join, &likelihood::FEATURES, &plan.join, |_| true);
    models.join.trees = Trees { calibration, ..trees }.into();
    let (turn, calibration) = school.held_out(&rows, |rows| &rows.turn, &turn::FEATURES, &plan.turn);
    let trees = school.grow(&rows, |rows| &rows.turn, &turn::FEATURES, &plan.turn, |_| true);
    models.turn.trees = Trees { calibration, ..trees }.into();
    let held_out: Vec<Measurements> =
        (0..kinds.len()).map(|kind| Measurements::of(&rows[0], kind, &join, &turn)).collect();
    for (kind, measured) in kinds.iter().zip(&held_out) {
        tell(&format!(
            "held out, {}: join {}; turn {}",
            kind.name,
            format_outcomes(measured.join.all()),
            format_outcomes(measured.turn.all())
        ));
    }
    models.join.usual = steps::per_thousand(join.iter().copied());
    school.lives.clear();
    TrainingResult { models, words, held_out }
}

/// The weight of each kind.
fn weights(kinds: &[Kind], balance: f32) -> Vec<f32> {
    let labelled = |kind: &Kind| kind.channels.iter().flat_map(Channel::answers).flatten().count().max(1) as f32;
    let most = kinds.iter().map(labelled).fold(1.0, f32::max);
    kinds.iter().map(|kind| (most / labelled(kind)).powf(balance)).collect()
}

/// The training data and plan.
struct School<'a> {
    kinds: &'a [Kind],
    plan: &'a Plan,
    lives: Vec<LogVariant>,
    weights: Vec<f32>,
}

impl School<'_> {
    fn live(&self, students: &[FoldModels]) -> Vec<Rows> {
        self.lives.iter().map(|life| collect(&life.rooms, |fold| &students[fold].models)).collect()
    }

    fn learn_links(&self, students: &mut [FoldModels], rows: &[Rows], growth: &Growth) {
        for student in students {
            student.models.link.trees = self.grow_links(rows, growth, |fold| fold != student.fold).into();
        }
    }

    fn grow_links(&self, rows: &[Rows], growth: &Growth, wanted: impl Fn(usize) -> bool) -> Trees {
        let shared: Vec<(&Rows, f32)> = rows.iter().zip(&self.lives).map(|(rows, life)| (rows, life.share)).collect();
        let all = LinkRows::of(&shared, |kind| self.weights[kind], wanted);
        let goal = Goal::OneOf { begins: &all.begins, right: &all.right, weight: &all.weight };
        grow(&all.matrix, &goal, growth)
    }

    fn grow<const N: usize>(
        &self,
        rows: &[Rows],
        examples: impl Fn(&Rows) -> &Vec<Example<[u8; N]>>,
        features: &[aizuchi_core::trees::Feature; N],
        growth: &Growth,
        wanted: impl Fn(usize) -> bool,
    ) -> Trees {
        let mut matrix = Matrix::new(features.len());
        let (mut target, mut weight) = (Vec::new(), Vec::new());
        for (rows, life) in rows.iter().zip(&self.lives).filter(|(_, life)| life.joins) {
            for example in examples(rows).iter().filter(|example| wanted(example.fold)) {
                matrix.push(example.values.iter().copied());
                target.push(example.happened);
                weight.push(life.share * self.weights[example.kind]);
            }
        }
        grow(&matrix, &Goal::Whether { target: &target, weight: &weight }, growth)
    }

    /// Held-out predictions on the original talk, each channel by a model that has not seen it; and their calibration.
    fn held_out<const N: usize>(
        &self,
        rows: &[Rows],
        examples: impl Fn(&Rows) -> &Vec<Example<[u8; N]>> + Copy,
        features: &[aizuchi_core::trees::Feature; N],
        growth: &Growth,
    ) -> (Vec<f32>, (i32, i32)) {
        let mut guesses = vec![0.0; examples(&rows[0]).len()];
        for fold in 0..self.plan.folds {
            let model = self.grow(rows, examples, features, growth, |other| other != fold);
            for (guess, example) in guesses.iter_mut().zip(examples(&rows[0])).filter(|(_, it)| it.fold == fold) {
                *guess = model.calibrated(model.sum(&example.values));
            }
        }
        let weighed: Vec<(f32, bool, f32)> = guesses
            .iter()
            .zip(examples(&rows[0]))
            .map(|(guess, example)| (*guess, example.happened, self.weights[example.kind]))
            .collect();
        let (factor, term) = calibrate(&weighed);
        let honest = |log_odds: f32| probability((log_odds * factor as f32 + term as f32) / 1000.0);
        (guesses.into_iter().map(honest).collect(), (factor, term))
    }

    fn tell_links(&self, when: &str, rows: &[Rows], tell: &dyn Fn(&str)) {
        for (kind, logs) in self.kinds.iter().enumerate() {
            let score = &rows[0].scores[kind];
            let placements = &score.placements;
            let groups = placements.groups.map(|(right, all)| format!("{:.3}", right as f64 / all.max(1) as f64));
            let others = rows[1..].iter().filter_map(|rows| rows.scores.get(kind));
            let others: Vec<String> = others.map(|score| format!("{:.4}", score.placements.share())).collect();
            tell(&format!(
                "{when}, {}: F1 {:.4}, in their conversation {:.4} ({}), start F1 {:.3}, {}/{} reachable; lives {}",
                logs.name,
                score.links.f1(),
                placements.share(),
                groups.join(" "),
                placements.start_f1(),
                score.reachable,
                placements.all(),
                others.join(" "),
            ));
        }
    }
}

/// Models that have not seen every channel.
struct FoldModels {
    fold: usize,
    counts: Counts,
    models: Models,
    words: String,
}

impl FoldModels {
    fn new(corpus: &Corpus, known: &[Room], fold: usize) -> FoldModels {
        let counts = corpus.count(|room| known[room].fold != fold);
        FoldModels { fold, counts, models: Models::empty(), words: String::new() }
    }

    /// Labels are given for each of [`TELLS`].
    fn learn_words(&mut self, corpus: &Corpus, labels: &[Labels; TELLS.len()]) {
        let weights = labels.each_ref().map(|labels| corpus.weights(&self.counts, labels));
        (self.models.link.lexicon, self.words) = corpus.lexicon(&self.counts, &weights);
    }
}

/// By room, then by message; absent if unknown.
type Labels = Vec<Vec<Option<Label>>>;

fn known_labels(rooms: &[Room], what: WordSignal) -> Labels {
    let label = |yes: Option<bool>| yes.map(|yes| Label { yes, weight: 1.0 });
    rooms.iter().map(|room| labels_of(&room.channel, what).into_iter().map(label).collect()).collect()
}

/// The same, and for unlabelled messages what follows from the predicted links: most of a log is not annotated, and later
/// answers reveal much about a message.
fn all_labels(rooms: &[Room], guessed: &[Vec<usize>], what: WordSignal, weight: f32) -> Labels {
    let mut labels = known_labels(rooms, what);
    for ((room, guessed), labels) in rooms.iter().zip(guessed).zip(&mut labels) {
        let mut all = room.channel.clone();
        for ((said, answers), guessed) in all.said.iter_mut().zip(room.channel.answers()).zip(guessed) {
            said.conversation = None;
            said.gold = Some(answers.unwrap_or_else(|| vec![*guessed]));
        }
        let nobody_looked = |said: &aizuchi_measure::logs::Said| said.gold.is_none() && said.conversation.is_none();
        for ((label, yes), said) in labels.iter_mut().zip(labels_of(&all, what)).zip(&room.channel.said) {
            if nobody_looked(said) {
                *label = yes.map(|yes| Label { yes, weight });
            }
        }
    }
    labels
}

pub fn format_outcomes(outcomes: &Outcomes) -> String {
    format!("AUC {:.4} AP {:.4} Brier {:.4}", auc(outcomes), average_precision(outcomes), brier(outcomes))
}

/// A factor and a term, in thousandths, that calibrate held-out log-odds. Each comes with what happened and its weight.
pub(crate) fn calibrate(outcomes: &[(f32, bool, f32)]) -> (i32, i32) {
    let (mut factor, mut term) = (1.0f64, 0.0f64);
    for _ in 0..50 {
        let (mut g, mut h) = ([0.0f64; 2], [1e-9f64, 0.0, 1e-9]);
        for (log_odds, happened, weight) in outcomes {
            let (x, weight) = (f64::from(*log_odds), f64::from(*weight));
            let p = 1.0 / (1.0 + (-(factor * x + term)).exp());
            let (error, slope) = (weight * (p - f64::from(u8::from(*happened))), weight * p * (1.0 - p));
            g = [g[0] + error * x, g[1] + error];
            h = [h[0] + slope * x * x, h[1] + slope * x, h[2] + slope];
        }
        let det = h[0] * h[2] - h[1] * h[1];
        factor -= (h[2] * g[0] - h[1] * g[1]) / det;
        term -= (h[0] * g[1] - h[1] * g[0]) / det;
    }
    ((factor * 1000.0).round() as i32, (term * 1000.0).round() as i32)
}

/// The features of links, for those who write models.
pub fn write(models: &Models) -> [(&'static str, String); 3] {
    [
        ("links.txt", models.link.trees.write(&pairs::FEATURES)),
        ("join.txt", models.join.trees.write(&likelihood::FEATURES)),
        ("turn.txt", models.turn.trees.write(&turn::FEATURES)),
    ]
}
