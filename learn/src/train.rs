//! From labelled logs to models.

use aizuchi_core::join;
use aizuchi_core::strands::{Models, TELLS};
use aizuchi_core::trees::{Trees, probability};

use crate::boost::{Goal, Growth, Matrix, grow};
use crate::card::Figures;
use crate::logs::Channel;
use crate::metrics::{Outcomes, auc, average_precision, brier};
use crate::rows::{Rows, collect};
use crate::words::{Corpus, labels_of};

pub struct Learnt {
    pub models: Models,
    pub words: String,
    /// Of the training logs, each channel guessed by models that have not seen it.
    pub held_out: Figures,
}

#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub folds: usize,
    pub first: Growth,
    pub links: Growth,
    pub last: Growth,
    pub join: Growth,
    /// Share of the messages shown a second time without their words.
    pub wordless: f32,
}

impl Default for Plan {
    fn default() -> Plan {
        let links = Growth { trees: 250, depth: 6, rate: 0.2, ridge: 10.0, rows: 0.5, columns: 0.5, seed: 1 };
        let first = Growth { trees: 80, rate: 0.3, rows: 0.4, ..links };
        let last = Growth { trees: 300, ..links };
        let join = Growth { trees: 250, depth: 4, rate: 0.06, ridge: 20.0, rows: 0.6, columns: 0.4, seed: 2 };
        Plan { folds: 4, first, links, last, join, wordless: 0.3 }
    }
}

pub fn train(channels: &[Channel], plan: &Plan, tell: &dyn Fn(&str)) -> Learnt {
    let folds = plan.folds;
    let corpus = Corpus::of(channels);
    tell(&format!("{} words and pairs", corpus.names.len()));
    // The last one has seen everything.
    let mut students: Vec<Student> = (0..=folds).map(|fold| Student::new(&corpus, channels, fold, folds)).collect();
    for (round, growth) in [plan.first, plan.links].iter().enumerate() {
        let rows = collect(channels, |channel| &students[channel % folds].models);
        tell(&format!("links {round}: {} rows, {}/{} reachable", rows.links.rows, rows.reachable, rows.score.gold));
        for student in &mut students[..folds] {
            student.models.links = grow_links(&rows, growth, |channel| channel % folds != student.fold);
        }
    }
    let rows = collect(channels, |channel| &students[channel % folds].models);
    tell(&format!(
        "held out: links P {:.4} R {:.4} F1 {:.4}",
        rows.score.precision(),
        rows.score.recall(),
        rows.score.f1()
    ));
    let links = rows.score;
    students[folds].models.links = grow_links(&rows, &plan.last, |_| true);
    let (known, wordless, calibration) = held_out(&rows, plan);
    let (join, wordless) = (outcomes(&rows, &known), outcomes(&rows, &wordless));
    tell(&format!("held out: join {}", told(&join)));
    let Student { mut models, words, .. } = students.pop().expect("one has seen everything");
    models.join = grow_join(&rows, plan, |_| true);
    models.join.calibration = calibration;
    Learnt { models, words, held_out: Figures { links, join, wordless } }
}

/// Models that have not seen every channel.
struct Student {
    fold: usize,
    models: Models,
    words: String,
}

impl Student {
    fn new(corpus: &Corpus, channels: &[Channel], fold: usize, folds: usize) -> Student {
        let counts = corpus.count(|channel| channel % folds != fold);
        let weights = TELLS.map(|what| {
            let labels: Vec<_> = channels.iter().map(|channel| labels_of(channel, what)).collect();
            corpus.weights(&counts, &labels)
        });
        let (lexicon, words) = corpus.lexicon(&counts, &weights);
        Student { fold, models: Models { lexicon, ..Models::empty() }, words }
    }
}

/// Honest log-odds of joining, each channel guessed by a model that has not seen it; those without words; and what made
/// the first honest.
fn held_out(rows: &Rows, plan: &Plan) -> (Vec<f32>, Vec<f32>, (i32, i32)) {
    let (mut known, mut wordless) = (vec![0.0; rows.join.len()], vec![0.0; rows.join.len()]);
    for fold in 0..plan.folds {
        let model = grow_join(rows, plan, |channel| channel % plan.folds != fold);
        for row in (0..known.len()).filter(|row| rows.join_channel[*row] % plan.folds == fold) {
            known[row] = model.calibrated(model.sum(&rows.join[row]));
            wordless[row] = model.calibrated(model.sum(&join::without_words(&rows.join[row])));
        }
    }
    let pairs: Vec<(f32, bool)> = known.iter().copied().zip(rows.joined.iter().copied()).collect();
    let (factor, term) = calibrate(&pairs);
    known.iter_mut().for_each(|known| *known = (*known * factor as f32 + term as f32) / 1000.0);
    (known, wordless, (factor, term))
}

fn outcomes(rows: &Rows, known: &[f32]) -> Vec<(f32, bool)> {
    known.iter().map(|known| probability(*known)).zip(rows.joined.iter().copied()).collect()
}

pub fn told(outcomes: &Outcomes) -> String {
    format!("AUC {:.4} AP {:.4} Brier {:.4}", auc(outcomes), average_precision(outcomes), brier(outcomes))
}

fn grow_links(rows: &Rows, growth: &Growth, wanted: impl Fn(usize) -> bool) -> Trees {
    let (matrix, begins, target) = rows.links_of(wanted);
    grow(&matrix, &Goal::OneOf { begins: &begins, target: &target }, growth)
}

fn grow_join(rows: &Rows, plan: &Plan, wanted: impl Fn(usize) -> bool) -> Trees {
    let mut matrix = Matrix::new(join::FEATURES.len());
    let (mut target, mut weight) = (Vec::new(), Vec::new());
    for row in (0..rows.join.len()).filter(|row| wanted(rows.join_channel[*row])) {
        matrix.push(rows.join[row].iter().copied());
        target.push(rows.joined[row]);
        weight.push(1.0);
        if plan.wordless > 0.0 {
            matrix.push(join::without_words(&rows.join[row]).iter().copied());
            target.push(rows.joined[row]);
            weight.push(plan.wordless);
        }
    }
    grow(&matrix, &Goal::Whether { target: &target, weight: &weight }, &plan.join)
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
