//! The model calls and their cost.

use aizuchi_core::Time;
use aizuchi_core::judge::Question;
use serde::Serialize;

use super::chart::{self, Hint, Tick};
use super::words;
use crate::language::{Language, LocalizedMessage, LocalizedValue, message, say};
use crate::replay::{Decided, ReplaySummary};

#[derive(Serialize)]
pub struct CallsSection {
    pub questions: Vec<QuestionRow>,
    pub all: QuestionRow,
    pub spending: Option<Spending>,
}

#[derive(Serialize)]
pub struct QuestionRow {
    pub name: String,
    pub doc: String,
    pub asked: String,
    pub cached: String,
    pub failed: String,
    pub chars: String,
    pub chars_each: String,
}

/// A bar for every hour, day or week, or for every part of the log.
#[derive(Serialize)]
pub struct Spending {
    /// What a bar shows: dollars, or calls if nothing was paid, by hour, day or week.
    pub title: String,
    pub columns: usize,
    pub path: String,
    pub most: String,
    pub ticks: Vec<Tick>,
    pub hints: Vec<Hint>,
    pub label: String,
}

#[derive(Clone, Copy, Default)]
struct CallCount {
    asked: u64,
    cached: u64,
    failed: u64,
    chars: u64,
}

const QUESTIONS: [Question; 5] = [Question::State, Question::Same, Question::Changed, Question::Judge, Question::Join];

fn doc(question: Question) -> LocalizedMessage {
    match question {
        Question::State => message!("report-question-state"),
        Question::Same => message!("report-question-same"),
        Question::Changed => message!("report-question-changed"),
        Question::Judge => message!("report-question-judge"),
        Question::Join => message!("report-question-join"),
    }
}

pub fn calls(decided: &[Decided], summary: &ReplaySummary, language: Language) -> CallsSection {
    let mut counts = [CallCount::default(); QUESTIONS.len()];
    for asked in decided.iter().flat_map(|one| &one.trace.asked) {
        let index = QUESTIONS.iter().position(|question| *question == asked.question);
        let count = &mut counts[index.expect("every question is listed")];
        count.failed += u64::from(asked.failed);
        if asked.cached {
            count.cached += 1;
        } else {
            count.asked += 1;
            count.chars += asked.prompt_chars;
        }
    }
    let all = counts.iter().fold(CallCount::default(), |all, one| CallCount {
        asked: all.asked + one.asked,
        cached: all.cached + one.cached,
        failed: all.failed + one.failed,
        chars: all.chars + one.chars,
    });
    let asked = QUESTIONS.iter().zip(&counts).filter(|(_, count)| count.asked + count.cached > 0);
    CallsSection {
        questions: asked
            .map(|(question, count)| row(question.id().to_owned(), doc(*question).say(language), count))
            .collect(),
        all: row(language.text("report-question-all"), String::new(), &all),
        spending: spending(decided, summary, language),
    }
}

fn row(name: String, doc: String, count: &CallCount) -> QuestionRow {
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
/// Each with the titles of its bars for dollars and for calls.
const UNITS: [(u64, Titles); 4] = [
    (HOUR, ["report-spending-cost-hour", "report-spending-calls-hour"]),
    (24 * HOUR, ["report-spending-cost-day", "report-spending-calls-day"]),
    (7 * 24 * HOUR, ["report-spending-cost-week", "report-spending-calls-week"]),
    (28 * 24 * HOUR, ["report-spending-cost-four-weeks", "report-spending-calls-four-weeks"]),
];
const BY_PART: Titles = ["report-spending-cost-part", "report-spending-calls-part"];

type Titles = [&'static str; 2];

const BARS_MAX: u64 = 100;
const PARTS: usize = 40;

fn spending(decided: &[Decided], summary: &ReplaySummary, language: Language) -> Option<Spending> {
    if summary.micros == 0 && summary.judge_calls == 0 {
        return None;
    }
    let times = || decided.iter().map(|one| one.trace.at.0);
    let (start, end) = (times().min()?, times().max()?);
    let fits = |(length, _): &(u64, Titles)| end / length - start / length < BARS_MAX;
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
        None => say!(language, "report-spending-part", n = column + 1, all = columns),
    };
    let ticks = match unit {
        Some((length, _)) => chart::time_ticks(start / length * length, (end / length + 1).saturating_mul(length)),
        None => chart::count_ticks(decided.len() as u64),
    };
    let is_paid = summary.micros > 0;
    let [cost, calls] = unit.map_or(BY_PART, |(_, titles)| titles);
    let title = language.text(if is_paid { cost } else { calls });
    Some(draw(&bills, is_paid, title, ticks, from, language))
}

fn draw(
    bills: &[Bill],
    is_paid: bool,
    title: String,
    ticks: Vec<Tick>,
    from: impl Fn(usize) -> String,
    language: Language,
) -> Spending {
    let height = |bill: &Bill| if is_paid { bill.micros } else { bill.calls };
    let most = bills.iter().map(height).max().unwrap_or(0);
    let scale = 100.0 / most.max(1) as f64;
    let each = || bills.iter().enumerate();
    let hint = |(column, bill): (usize, &Bill)| Hint {
        column,
        text: [
            from(column),
            words::dollars(bill.micros, language),
            say!(language, "report-calls-made", n = LocalizedValue::Count(bill.calls)),
        ]
        .join(" · "),
    };
    let most = if is_paid { words::dollars(most, language) } else { words::count(most) };
    Spending {
        columns: bills.len(),
        path: chart::bars(bills.len(), each().map(|(nth, bill)| (nth, 0.0, height(bill) as f64 * scale))),
        label: say!(language, "report-spending-label", title = &*title, most = &*most),
        title,
        most,
        ticks,
        hints: each().filter(|(_, bill)| bill.calls + bill.micros > 0).map(hint).collect(),
    }
}
