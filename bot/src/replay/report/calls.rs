//! What was asked of models, and what it cost.

use aizuchi_core::Time;
use aizuchi_core::judge::Question;
use serde::Serialize;

use super::chart::{self, Hint, Tick};
use super::words;
use crate::replay::{Decided, Summary};

#[derive(Serialize)]
pub struct Calls {
    pub questions: Vec<QuestionRow>,
    pub all: QuestionRow,
    pub spending: Option<Spending>,
}

#[derive(Serialize)]
pub struct QuestionRow {
    pub name: &'static str,
    pub doc: &'static str,
    pub asked: String,
    pub cached: String,
    pub failed: String,
    pub chars: String,
    pub chars_each: String,
}

/// A bar for every hour, day or week, or for every part of the log.
#[derive(Serialize)]
pub struct Spending {
    /// What a bar shows: dollars, or calls where nothing was paid.
    pub what: &'static str,
    pub unit: &'static str,
    pub columns: usize,
    pub path: String,
    pub most: String,
    pub ticks: Vec<Tick>,
    pub hints: Vec<Hint>,
    pub label: String,
}

#[derive(Clone, Copy, Default)]
struct Count {
    asked: u64,
    cached: u64,
    failed: u64,
    chars: u64,
}

const QUESTIONS: [(Question, &str); 5] = [
    (Question::State, "In which state is the talk?"),
    (Question::Same, "Is it still the talk it stepped into last?"),
    (Question::Changed, "Has anything changed since?"),
    (Question::Judge, "Should it step in?"),
    (Question::Join, "State, change and stepping in, all at once."),
];

pub fn calls(decided: &[Decided], summary: &Summary) -> Calls {
    let mut counts = [Count::default(); QUESTIONS.len()];
    for asked in decided.iter().flat_map(|one| &one.trace.asked) {
        let place = QUESTIONS.iter().position(|(question, _)| *question == asked.question);
        let count = &mut counts[place.expect("every question is listed")];
        count.failed += u64::from(asked.failed);
        if asked.cached {
            count.cached += 1;
        } else {
            count.asked += 1;
            count.chars += asked.prompt_chars;
        }
    }
    let all = counts.iter().fold(Count::default(), |all, one| Count {
        asked: all.asked + one.asked,
        cached: all.cached + one.cached,
        failed: all.failed + one.failed,
        chars: all.chars + one.chars,
    });
    let asked = QUESTIONS.iter().zip(&counts).filter(|(_, count)| count.asked + count.cached > 0);
    Calls {
        questions: asked.map(|((question, doc), count)| row(question.id(), doc, count)).collect(),
        all: row("all", "", &all),
        spending: spending(decided, summary),
    }
}

fn row(name: &'static str, doc: &'static str, count: &Count) -> QuestionRow {
    QuestionRow {
        name,
        doc,
        asked: words::count(count.asked),
        cached: words::count(count.cached),
        failed: words::count(count.failed),
        chars: words::count(count.chars),
        chars_each: words::count(count.chars.checked_div(count.asked).unwrap_or(0)),
    }
}

#[derive(Clone, Copy, Default)]
struct Bill {
    micros: u64,
    calls: u64,
}

const HOUR: u64 = 3_600_000;
const UNITS: [(u64, &str); 4] =
    [(HOUR, "hour"), (24 * HOUR, "day"), (7 * 24 * HOUR, "week"), (28 * 24 * HOUR, "four weeks")];
const BARS_MAX: u64 = 100;
const PARTS: usize = 40;

fn spending(decided: &[Decided], summary: &Summary) -> Option<Spending> {
    if summary.micros == 0 && summary.judge_calls == 0 {
        return None;
    }
    let times = || decided.iter().map(|one| one.trace.at.0);
    let (start, end) = (times().min()?, times().max()?);
    let fits = |(length, _): &(u64, &str)| end / length - start / length < BARS_MAX;
    let unit = UNITS.into_iter().find(fits);
    let columns = match unit {
        Some((length, _)) => (end / length - start / length + 1) as usize,
        None => PARTS.min(decided.len()),
    };
    let mut bills = vec![Bill::default(); columns];
    for (index, one) in decided.iter().enumerate() {
        let column = match unit {
            Some((length, _)) => (one.trace.at.0 / length - start / length) as usize,
            None => index * columns / decided.len(),
        };
        bills[column].micros += one.trace.micros;
        bills[column].calls += one.trace.asked.iter().filter(|asked| !asked.cached).count() as u64;
    }
    let from = |column: usize| match unit {
        Some((length, _)) => {
            let pattern = if length == HOUR { "%Y-%m-%d %H:00Z" } else { "%Y-%m-%d" };
            words::strftime(pattern, Time((start / length + column as u64) * length))
        }
        None => format!("part {} of {columns}", column + 1),
    };
    let ticks = match unit {
        Some((length, _)) => chart::time_ticks(start / length * length, (end / length + 1).saturating_mul(length)),
        None => chart::count_ticks(decided.len() as u64),
    };
    Some(draw(&bills, summary.micros > 0, unit.map_or("part of the log", |(_, name)| name), ticks, from))
}

fn draw(
    bills: &[Bill],
    is_paid: bool,
    unit: &'static str,
    ticks: Vec<Tick>,
    from: impl Fn(usize) -> String,
) -> Spending {
    let height = |bill: &Bill| if is_paid { bill.micros } else { bill.calls };
    let most = bills.iter().map(height).max().unwrap_or(0);
    let scale = 100.0 / most.max(1) as f64;
    let each = || bills.iter().enumerate();
    let hint = |(column, bill): (usize, &Bill)| Hint {
        column,
        text: format!("{} · {} · {}", from(column), words::dollars(bill.micros), words::of(bill.calls, "call")),
    };
    let what = if is_paid { "Cost" } else { "Calls" };
    let most = if is_paid { words::dollars(most) } else { words::count(most) };
    Spending {
        what,
        unit,
        columns: bills.len(),
        path: chart::bars(bills.len(), each().map(|(nth, bill)| (nth, 0.0, height(bill) as f64 * scale))),
        label: format!("{what} by {unit}, at most {most}."),
        most,
        ticks,
        hints: each().filter(|(_, bill)| bill.calls + bill.micros > 0).map(hint).collect(),
    }
}
