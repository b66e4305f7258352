//! The distribution of the scores, and from which score on the bot acts.

use serde::Serialize;

use super::chart::{self, Hint, Series, Threshold};
use super::tally::Tally;
use super::words;
use crate::language::{Language, say};
use crate::replay::{Decided, Replay};

const BIN: usize = 5;
const BINS: usize = 100 / BIN;

#[derive(Serialize)]
pub struct ScoreSpread {
    pub columns: usize,
    pub scored: String,
    pub median: u8,
    /// The outcomes of the messages in each bin, as counts.
    pub messages: Vec<Series>,
    /// The percentage of the messages in each bin that the bot acted on.
    pub shares: Vec<Series>,
    pub most: String,
    /// The one bar that does not fit and is truncated.
    pub cut: Option<Cut>,
    pub thresholds: Vec<Threshold>,
    pub hints: Vec<Hint>,
    pub bins: Vec<Bin>,
    pub label: String,
    pub share_label: String,
}

#[derive(Serialize)]
pub struct Cut {
    pub column: usize,
    /// Its left edge, in percent of the width.
    pub at: usize,
    pub messages: String,
}

#[derive(Serialize)]
pub struct Bin {
    pub range: String,
    pub messages: String,
    pub acted: String,
    pub share: String,
}

/// What was compared with a threshold: the score, or, if the talk share decides, the likelihood as it counts, in percent.
/// `None` if the bot was addressed, since then nothing is compared.
pub fn score_of(decided: &Decided) -> Option<u8> {
    let trace = &decided.trace;
    let worth = trace.bar.map(|bar| (100.0 * bar.worth).round() as u8);
    worth.or(trace.score).filter(|_| trace.addressed.is_none())
}

/// The threshold of the talk share in percent; `None` if `score.low` decides.
pub fn needed_by(decided: &Decided) -> Option<f64> {
    let trace = &decided.trace;
    trace.bar.filter(|_| trace.addressed.is_none()).map(|bar| 100.0 * f64::from(bar.threshold))
}

/// The thresholds that are constant along the log.
pub fn fixed_thresholds(replay: &Replay) -> Vec<Threshold> {
    let is_low_used = replay.decided.iter().any(|one| score_of(one).is_some() && needed_by(one).is_none());
    let low = is_low_used.then(|| Threshold::low(replay.low, replay.language));
    let thresholds = low.into_iter().chain([Threshold::high(replay.high, replay.language)]);
    thresholds.filter(Threshold::is_in_reach).collect()
}

/// The constant thresholds, and the median of those of the talk share.
fn thresholds(replay: &Replay) -> Vec<Threshold> {
    let mut needed: Vec<f64> = replay.decided.iter().filter_map(needed_by).collect();
    needed.sort_by(f64::total_cmp);
    let middle = needed.get(needed.len() / 2).map(|at| Threshold::needed(at.round() as u32, replay.language));
    middle.into_iter().filter(Threshold::is_in_reach).chain(fixed_thresholds(replay)).collect()
}

/// `None` if no message has a score.
pub fn spread(replay: &Replay) -> Option<ScoreSpread> {
    let mut scores = [0u64; 101];
    let mut bins = [Tally::default(); BINS];
    for decided in &replay.decided {
        if let Some(score) = score_of(decided) {
            scores[usize::from(score).min(100)] += 1;
            bins[bin_of(score)].add(decided.trace.outcome);
        }
    }
    let scored: u64 = scores.iter().sum();
    if scored == 0 {
        return None;
    }
    let language = replay.language;
    let (most, cut) = height(&bins);
    let rows: Vec<Bin> = bins.iter().enumerate().map(|(nth, tally)| row(nth, tally, language)).collect();
    let hint = |(column, row): (usize, &Bin)| Hint {
        column,
        text: say!(
            language,
            "report-hint-bin",
            range = &*row.range,
            messages = &*row.messages,
            acted = &*row.acted,
            share = &*row.share,
        ),
    };
    Some(ScoreSpread {
        columns: BINS,
        scored: words::messages(scored, language),
        median: median(&scores, scored),
        messages: chart::stack(&bins, &Tally::ALL, |_| most),
        shares: chart::stack(&bins, &Tally::ACTED, Tally::all),
        most: words::count(most),
        cut,
        thresholds: thresholds(replay),
        hints: rows.iter().enumerate().filter(|(nth, _)| bins[*nth].all() > 0).map(hint).collect(),
        label: say!(
            language,
            "report-spread-label",
            messages = words::messages(scored, language),
            step = BIN,
            acted = words::count(bins.iter().map(Tally::acted).sum()),
        ),
        share_label: language.text("report-share-label"),
        bins: rows,
    })
}

/// The number of messages that fills the chart. Most messages have no points at all: their bar would make the others too
/// small to see, so it is truncated if it is much higher than the next.
fn height(bins: &[Tally; BINS]) -> (u64, Option<Cut>) {
    let mut heights: Vec<(u64, usize)> = bins.iter().enumerate().map(|(nth, tally)| (tally.all(), nth)).collect();
    heights.sort_unstable();
    let [.., (next, _), (most, tallest)] = heights[..] else { return (1, None) };
    if next > 0 && most > 3 * next {
        return (next * 5 / 4, Some(Cut { column: tallest, at: tallest * BIN, messages: words::count(most) }));
    }
    (most.max(1), None)
}

/// The last bin includes 100.
fn bin_of(score: u8) -> usize {
    (usize::from(score) / BIN).min(BINS - 1)
}

fn row(nth: usize, tally: &Tally, language: Language) -> Bin {
    let last = if nth + 1 == BINS { 100 } else { (nth + 1) * BIN - 1 };
    Bin {
        range: format!("{}–{last}", nth * BIN),
        messages: words::count(tally.all()),
        acted: words::count(tally.acted()),
        share: words::percent(tally.acted(), tally.all(), language),
    }
}

fn median(scores: &[u64; 101], scored: u64) -> u8 {
    let mut seen = 0;
    let is_middle = |count: &u64| {
        seen += count;
        seen * 2 >= scored
    };
    scores.iter().position(is_middle).unwrap_or(0) as u8
}
