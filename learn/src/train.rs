//! From labelled logs to models.

use aizuchi_core::join;
use aizuchi_core::strands::Models;
use aizuchi_core::trees::{Trees, probability};

use crate::boost::{Goal, Growth, Matrix, grow};
use crate::logs::Channel;
use crate::metrics::{Outcomes, auc, average_precision, brier};
use crate::rows::{Rows, collect};
use crate::words::{Corpus, Labels};

pub struct Learnt {
    pub models: Models,
    pub words: String,
    /// Of the training logs, each channel guessed by models that have not seen it.
    pub links: crate::metrics::Links,
    pub join: Vec<(f32, bool)>,
}

#[derive(Clone, Copy, Debug)]
pub struct Plan {
    pub folds: usize,
    pub first: Growth,
    pub links: Growth,
    pub join: Growth,
    /// Share of the messages shown a second time without their words.
    pub wordless: f32,
}

impl Default for Plan {
    fn default() -> Plan {
        let links = Growth { trees: 150, depth: 6, rate: 0.15, ridge: 10.0, rows: 0.5, columns: 0.5, seed: 1 };
        let first = Growth { trees: 60, rate: 0.25, rows: 0.3, ..links };
        let join = Growth { trees: 250, depth: 4, rate: 0.06, ridge: 20.0, rows: 0.6, columns: 0.4, seed: 2 };
        Plan { folds: 4, first, links, join, wordless: 0.3 }
    }
}

pub fn train(channels: &[Channel], plan: &Plan, tell: &dyn Fn(&str)) -> Learnt {
    let folds = plan.folds;
    let corpus = Corpus::of(channels);
    let labels: Vec<Labels> = channels.iter().map(Labels::of).collect();
    tell(&format!("{} words and pairs", corpus.names.len()));
    let mut fold_models: Vec<Models> = (0..folds)
        .map(|fold| Models { lexicon: corpus.learn(&labels, |channel| channel % folds != fold).0, ..Models::empty() })
        .collect();
    let (lexicon, words) = corpus.learn(&labels, |_| true);
    for (round, growth) in [plan.first, plan.links].iter().enumerate() {
        let rows = collect(channels, |channel| &fold_models[channel % folds]);
        tell(&format!(
            "round {round}: {} rows, {} of {} links reachable",
            rows.links.rows, rows.reachable, rows.score.gold
        ));
        for (fold, models) in fold_models.iter_mut().enumerate() {
            models.links = grow_links(&rows, growth, |channel| channel % folds != fold);
        }
    }
    let rows = collect(channels, |channel| &fold_models[channel % folds]);
    tell(&format!("held out: links {:?} F1 {:.4}", rows.score, rows.score.f1()));
    let mut join = Vec::new();
    for fold in 0..folds {
        let model = grow_join(&rows, plan, |channel| channel % folds != fold);
        for row in (0..rows.join.len()).filter(|row| rows.join_channel[*row] % folds == fold) {
            join.push((model.calibrated(model.sum(&rows.join[row])), rows.joined[row]));
        }
    }
    let calibration = calibrate(&join);
    for (guess, _) in &mut join {
        *guess = probability(*guess * calibration.0 as f32 / 1000.0 + calibration.1 as f32 / 1000.0);
    }
    tell(&format!("held out: join {}", told(&join)));
    let mut model = grow_join(&rows, plan, |_| true);
    model.calibration = calibration;
    let links = grow_links(&rows, &plan.links, |_| true);
    Learnt { models: Models { lexicon, links, join: model }, words, links: rows.score, join }
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
