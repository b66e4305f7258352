//! How the scores are spread, and from which score on it acts.

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
    /// How the messages of each bin ended, in numbers.
    pub messages: Vec<Series>,
    /// Of the messages of each bin, those it acted on, in percent.
    pub shares: Vec<Series>,
    pub most: String,
    /// The one bar that is higher than there is room for.
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

/// The score as the rules gave it: who addresses it is answered without counting.
pub fn score_of(decided: &Decided) -> Option<u8> {
    decided.trace.score.filter(|_| decided.trace.addressed.is_none())
}

/// None where no message was given a score.
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
        thresholds: chart::thresholds(replay.low, replay.high, language),
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

/// The number of messages that fills the chart. Most messages have no points at all: their bar would press the others
/// to the ground, so it is cut where it is much higher than the next.
fn height(bins: &[Tally; BINS]) -> (u64, Option<Cut>) {
    let mut heights: Vec<(u64, usize)> = bins.iter().enumerate().map(|(nth, tally)| (tally.all(), nth)).collect();
    heights.sort_unstable();
    let [.., (next, _), (most, tallest)] = heights[..] else { return (1, None) };
    if next > 0 && most > 3 * next {
        return (next * 5 / 4, Some(Cut { column: tallest, at: tallest * BIN, messages: words::count(most) }));
    }
    (most.max(1), None)
}

/// The last bin holds 100 as well.
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
