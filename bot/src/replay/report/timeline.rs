//! Score and outcome along the log, grouped into few enough columns that the page stays small.

use aizuchi_core::types::{Span, Time};
use serde::Serialize;

use super::chart::{self, Hint, Series, Threshold, Tick};
use super::scores::{fixed_thresholds, needed_by, score_of};
use super::tally::Tally;
use super::words;
use crate::language::{Language, say};
use crate::replay::{Decided, Replay};

/// About three pixels each on a desktop screen, one on a phone.
const COLUMNS_MAX: usize = 320;

#[derive(Serialize)]
pub struct Timeline {
    pub columns: usize,
    /// The description of a column.
    pub says: String,
    pub axis: String,
    pub scores: Option<Scores>,
    pub acted: Counts,
    /// The number of messages; only if it differs between columns.
    pub talk: Option<Counts>,
    pub ticks: Vec<Tick>,
    pub hints: Vec<Hint>,
}

#[derive(Serialize)]
pub struct Scores {
    pub highest: String,
    /// Set if a column has several messages.
    pub average: Option<String>,
    pub thresholds: Vec<Threshold>,
    /// The threshold of the talk share, if it decides.
    pub needed: Option<Needed>,
    pub label: String,
}

#[derive(Serialize)]
pub struct Needed {
    pub path: String,
    /// The last value.
    pub last: Threshold,
}

/// Numbers of messages by outcome.
#[derive(Serialize)]
pub struct Counts {
    pub series: Vec<Series>,
    pub most: String,
    pub label: String,
}

#[derive(Clone, Copy, Default)]
struct Column {
    tally: Tally,
    highest: Option<u8>,
    points: u64,
    scored: u64,
    /// The sum of the thresholds of the talk share, and their number.
    needed: f64,
    shared: u64,
    first: usize,
    from: Option<Time>,
}

impl Column {
    /// The average threshold of the talk share.
    fn needed(&self) -> Option<f64> {
        (self.shared > 0).then(|| self.needed / self.shared as f64)
    }
}

/// The horizontal axis.
#[derive(Clone, Copy)]
enum Axis {
    Time { start: u64, end: u64 },
    Order,
}

pub fn timeline(replay: &Replay) -> Option<Timeline> {
    let decided = &replay.decided;
    let columns = decided.len().min(COLUMNS_MAX);
    if columns == 0 {
        return None;
    }
    let (axis, language) = (axis(decided, columns), replay.language);
    let gathered = gather(decided, columns, axis);
    let is_scored = gathered.iter().any(|column| column.scored > 0);
    Some(Timeline {
        columns,
        says: say_column(decided.len(), columns, axis, language),
        axis: language.text(match axis {
            Axis::Time { .. } => "report-axis-time",
            Axis::Order => "report-axis-order",
        }),
        scores: is_scored.then(|| scores(&gathered, replay)),
        acted: acted(&gathered, language),
        talk: matches!(axis, Axis::Time { .. }).then(|| talk(&gathered, language)),
        ticks: match axis {
            Axis::Time { start, end } => chart::time_ticks(start, end),
            Axis::Order => chart::count_ticks(decided.len() as u64),
        },
        hints: hints(&gathered, axis, language),
    })
}

/// Time, if there is only one channel and its talk is not concentrated in a few of the columns.
fn axis(decided: &[Decided], columns: usize) -> Axis {
    let room = &decided[0].trace.place.room;
    let times = || decided.iter().map(|decided| decided.trace.at.0);
    let (start, end) = (times().min().unwrap_or(0), times().max().unwrap_or(0));
    let by_time = Axis::Time { start, end };
    let mut filled = vec![false; columns];
    for at in times() {
        filled[by_time.column(0, at, 1, columns)] = true;
    }
    let is_spread = filled.iter().filter(|filled| **filled).count() * 4 >= columns;
    let is_alone = decided.iter().all(|decided| decided.trace.place.room == *room);
    if is_alone && is_spread && end > start { by_time } else { Axis::Order }
}

impl Axis {
    fn column(self, index: usize, at: u64, messages: usize, columns: usize) -> usize {
        match self {
            Axis::Time { start, end } => {
                let part = u128::from(at - start) * columns as u128 / (u128::from(end - start) + 1);
                part as usize
            }
            Axis::Order => index * columns / messages,
        }
    }

    fn column_start(self, column: usize, columns: usize) -> Option<Time> {
        match self {
            Axis::Time { start, end } => {
                let part = (u128::from(end - start) + 1) * column as u128 / columns as u128;
                Some(Time(start + part as u64))
            }
            Axis::Order => None,
        }
    }
}

fn gather(decided: &[Decided], columns: usize, axis: Axis) -> Vec<Column> {
    let mut gathered = vec![Column::default(); columns];
    for (index, one) in decided.iter().enumerate() {
        let column = &mut gathered[axis.column(index, one.trace.at.0, decided.len(), columns)];
        if column.tally.all() == 0 {
            (column.first, column.from) = (index, Some(one.trace.at));
        }
        column.tally.add(one.trace.outcome);
        if let Some(score) = score_of(one) {
            column.highest = column.highest.max(Some(score));
            column.points += u64::from(score);
            column.scored += 1;
        }
        if let Some(needed) = needed_by(one) {
            column.needed += needed;
            column.shared += 1;
        }
    }
    gathered
}

fn say_column(messages: usize, columns: usize, axis: Axis, language: Language) -> String {
    let said = words::messages(messages as u64, language);
    match axis {
        Axis::Time { start, end } => {
            let span = Span((end - start) / columns as u64);
            say!(language, "report-column-time", messages = said, span = span)
        }
        Axis::Order if columns == messages => say!(language, "report-column-one", messages = said),
        Axis::Order => {
            let each = words::count(messages.div_ceil(columns) as u64);
            say!(language, "report-column-many", messages = said, each = each)
        }
    }
}

fn scores(gathered: &[Column], replay: &Replay) -> Scores {
    let highest = gathered.iter().enumerate();
    let highest = highest.filter_map(|(nth, column)| Some((nth, 0.0, f64::from(column.highest?).max(0.7))));
    let average =
        gathered.iter().map(|column| (column.scored > 0).then(|| column.points as f64 / column.scored as f64));
    let top = gathered.iter().filter_map(|column| column.highest).max().unwrap_or(0);
    let needed = || gathered.iter().map(Column::needed);
    let last = needed().flatten().last().map(|at| Threshold::needed(at.round() as u32, replay.language));
    Scores {
        highest: chart::bars(gathered.len(), highest),
        average: gathered.iter().any(|column| column.scored > 1).then(|| chart::line(average)),
        thresholds: fixed_thresholds(replay),
        needed: last.filter(Threshold::is_in_reach).map(|last| Needed { path: chart::line(needed()), last }),
        label: say!(replay.language, "report-scores-label", top = top),
    }
}

fn acted(gathered: &[Column], language: Language) -> Counts {
    let most = gathered.iter().map(|column| column.tally.acted()).max().unwrap_or(0);
    let mut all = Tally::default();
    for column in gathered {
        all.merge(&column.tally);
    }
    let actions = all.actions(language);
    Counts {
        series: chart::stack(&tallies(gathered), &Tally::ACTED, |_| most),
        most: words::count(most),
        label: match actions.is_empty() {
            true => language.text("report-acted-never"),
            false => say!(language, "report-acted-label", actions = actions),
        },
    }
}

fn talk(gathered: &[Column], language: Language) -> Counts {
    let most = gathered.iter().map(|column| column.tally.all()).max().unwrap_or(0);
    Counts {
        series: chart::stack(&tallies(gathered), &Tally::ALL, |_| most),
        most: words::count(most),
        label: say!(language, "report-talk-label", most = words::count(most)),
    }
}

fn tallies(gathered: &[Column]) -> Vec<Tally> {
    gathered.iter().map(|column| column.tally).collect()
}

fn hints(gathered: &[Column], axis: Axis, language: Language) -> Vec<Hint> {
    let hint = |(nth, column): (usize, &Column)| {
        let from = axis.column_start(nth, gathered.len()).or(column.from)?;
        let mut parts = vec![words::strftime("%Y-%m-%d %H:%MZ", from)];
        let last = column.first as u64 + column.tally.all();
        parts.push(match axis {
            Axis::Order if column.tally.all() > 1 => {
                let first = words::count(column.first as u64 + 1);
                say!(language, "report-hint-messages", first = first, last = words::count(last))
            }
            Axis::Order => say!(language, "report-hint-message", n = words::count(last)),
            Axis::Time { .. } => words::messages(column.tally.all(), language),
        });
        parts.extend(column.highest.map(|score| match column.scored {
            1 => say!(language, "report-hint-score", score = score),
            scored => {
                let average = format!("{:.0}", column.points as f64 / scored as f64);
                say!(language, "report-hint-scores", score = score, average = average)
            }
        }));
        parts.extend(column.needed().map(|at| say!(language, "report-needed-at", at = format!("{at:.0}"))));
        parts.extend(Some(column.tally.actions(language)).filter(|actions| !actions.is_empty()));
        Some(Hint { column: nth, text: parts.join(" · ") })
    };
    gathered.iter().enumerate().filter(|(_, column)| column.tally.all() > 0).filter_map(hint).collect()
}
