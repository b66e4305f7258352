//! Shapes shared by the charts. A chart is as wide as it has columns and 100 high, and the page stretches it to its size;
//! all text around it is HTML, so that it stays readable at any width.

use std::fmt::Write as _;

use aizuchi_core::effect::Outcome;
use aizuchi_core::types::Time;
use serde::Serialize;

use super::tally::Tally;
use super::words;
use crate::language::{Language, say};

/// A mark on an axis, at a percentage of its length.
#[derive(Serialize)]
pub struct Tick {
    pub at: String,
    pub label: String,
}

/// The tooltip of a column.
#[derive(Serialize)]
pub struct Hint {
    pub column: usize,
    pub text: String,
}

/// A threshold of the score.
#[derive(Serialize)]
pub struct Threshold {
    pub at: u32,
    pub name: &'static str,
    pub label: String,
    pub says: String,
}

impl Threshold {
    pub fn low(at: u32, language: Language) -> Threshold {
        Threshold { at, name: "low", label: format!("low {at}"), says: say!(language, "report-threshold-low", at = at) }
    }

    pub fn high(at: u32, language: Language) -> Threshold {
        let says = say!(language, "report-threshold-high", at = at);
        Threshold { at, name: "high", label: format!("high {at}"), says }
    }

    /// The threshold of the talk share, which changes along the log.
    pub fn needed(at: u32, language: Language) -> Threshold {
        let (label, says) =
            (say!(language, "report-needed-at", at = at), say!(language, "report-needed-says", at = at));
        Threshold { at, name: "needed", label, says }
    }

    /// A threshold above 100 is never reached and not drawn.
    pub fn is_in_reach(&self) -> bool {
        self.at <= 100
    }
}

/// One path of upright bars, each (column, from, to) in 0 to 100.
pub fn bars(columns: usize, spans: impl Iterator<Item = (usize, f64, f64)>) -> String {
    // Few bars have gaps between them; with many, gaps would only flicker.
    let (inset, width) = if columns <= 150 { (0.1, "0.8") } else { (0.0, "1") };
    let mut path = String::new();
    for (column, from, to) in spans.filter(|(_, from, to)| to > from) {
        let (left, bottom, top) = (short(column as f64 + inset), short(100.0 - from), short(100.0 - to));
        write!(path, "M{left} {bottom}V{top}h{width}V{bottom}z").expect("a string takes every text");
    }
    path
}

/// The outcomes of the messages of some columns.
#[derive(Serialize)]
pub struct Series {
    pub outcome: Outcome,
    pub path: String,
}

/// The outcomes on top of each other, the first at the bottom; `full` is the number that would fill a column.
pub fn stack(columns: &[Tally], outcomes: &[Outcome], full: impl Fn(&Tally) -> u64) -> Vec<Series> {
    let height = |tally: &Tally, below: &[Outcome]| {
        let count: u64 = below.iter().map(|outcome| tally.of(*outcome)).sum();
        (count as f64 * 100.0 / full(tally).max(1) as f64).min(100.0)
    };
    let series = outcomes.iter().enumerate().map(|(index, outcome)| {
        let span = |(nth, tally)| (nth, height(tally, &outcomes[..index]), height(tally, &outcomes[..=index]));
        Series { outcome: *outcome, path: bars(columns.len(), columns.iter().enumerate().map(span)) }
    });
    series.filter(|series| !series.path.is_empty()).collect()
}

/// A line through the middle of the columns, broken where there is no value.
pub fn line(values: impl Iterator<Item = Option<f64>>) -> String {
    let mut path = String::new();
    let mut is_broken = true;
    for (column, value) in values.enumerate() {
        if let Some(value) = value {
            // A single point is visible as well: the line starts with a dash of no length.
            let (x, y) = (short(column as f64 + 0.5), short(100.0 - value));
            write!(path, "{}{x} {y}", if is_broken { 'M' } else { 'L' }).expect("a string takes every text");
            path.push_str(if is_broken { "h0" } else { "" });
        }
        is_broken = value.is_none();
    }
    path
}

const MINUTE: u64 = 60_000;
const DAY: u64 = 24 * 60 * MINUTE;
const STEPS: [u64; 17] = [
    MINUTE,
    5 * MINUTE,
    15 * MINUTE,
    30 * MINUTE,
    60 * MINUTE,
    3 * 60 * MINUTE,
    6 * 60 * MINUTE,
    12 * 60 * MINUTE,
    DAY,
    2 * DAY,
    7 * DAY,
    14 * DAY,
    28 * DAY,
    91 * DAY,
    182 * DAY,
    364 * DAY,
    3640 * DAY,
];
const TICKS_MAX: u64 = 6;

/// Round times between two others.
pub fn time_ticks(start: u64, end: u64) -> Vec<Tick> {
    let Some(step) = STEPS.into_iter().find(|step| (end - start) / step <= TICKS_MAX) else { return Vec::new() };
    let label = |at| match step {
        _ if step >= 28 * DAY => words::strftime("%b %Y", at),
        _ if at.0.is_multiple_of(DAY) => words::strftime("%b %-d", at),
        _ => words::strftime("%H:%M", at),
    };
    let marks = (start / step..=end / step).map(|nth| nth * step).filter(|at| *at >= start);
    marks.filter_map(|at| tick(at - start, end - start, label(Time(at)))).collect()
}

/// Round numbers of messages.
pub fn count_ticks(messages: u64) -> Vec<Tick> {
    let steps = (0..19).flat_map(|power| [1, 2, 5].map(|digit| digit * 10u64.pow(power)));
    let step = steps.into_iter().find(|step| messages / step <= TICKS_MAX).expect("a step is large enough");
    (1..=messages / step).filter_map(|nth| tick(nth * step, messages, words::count(nth * step))).collect()
}

/// Not at the very ends, where the label would overflow.
fn tick(part: u64, whole: u64, label: String) -> Option<Tick> {
    let at = part as f64 * 100.0 / whole.max(1) as f64;
    (3.0..=96.0).contains(&at).then(|| Tick { at: short(at), label })
}

/// At most two decimals.
pub fn short(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(ticks: Vec<Tick>) -> Vec<String> {
        ticks.into_iter().map(|tick| format!("{} {}", tick.at, tick.label)).collect()
    }

    #[test]
    fn bars_stand_on_each_other() {
        assert_eq!(
            bars(200, [(0, 0.0, 50.0), (1, 50.0, 50.0), (2, 25.0, 75.5)].into_iter()),
            "M0 100V50h1V100zM2 75V24.5h1V75z"
        );
    }

    #[test]
    fn a_line_breaks_where_nothing_is_known() {
        assert_eq!(line([Some(10.0), Some(20.0), None, Some(0.0)].into_iter()), "M0.5 90h0L1.5 80M3.5 100h0");
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(labels(count_ticks(1000)), ["20 200", "40 400", "60 600", "80 800"]);
        let midnight = 1_700_006_400_000;
        let ticks = time_ticks(midnight - 5 * 60 * MINUTE, midnight + 5 * 60 * MINUTE);
        assert_eq!(labels(ticks), ["20 21:00", "50 Nov 15", "80 03:00"]);
        assert_eq!(labels(time_ticks(0, u64::MAX)).len(), 0);
    }

    #[test]
    fn a_threshold_out_of_reach_is_not_drawn() {
        assert!(Threshold::high(100, Language::ENGLISH).is_in_reach());
        assert!(!Threshold::high(101, Language::ENGLISH).is_in_reach());
    }
}
