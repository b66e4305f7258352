//! What it would have done, for people.

use std::fmt::Write as _;

use aizuchi_core::Trace;
use aizuchi_core::effect::Outcome;
use aizuchi_core::types::Time;
use comfy_table::{ContentArrangement, Table, presets::UTF8_FULL_CONDENSED};
use jiff::Timestamp;

use super::{Decided, Difference, Differences, Replay, Summary};
use crate::cli::harmless;

/// Moments shown in the table; the rest is in the report.
const ROWS_MAX: usize = 40;
const TEXT_CHARS_MAX: usize = 80;
const NAME_CHARS_MAX: usize = 40;
const REASON_CHARS_MAX: usize = 400;
const WIDTH_WITHOUT_TERMINAL: u16 = 120;

/// The moments it would have acted, and the figures. With `all`, silence too.
pub fn table(replay: &Replay, all: bool) -> String {
    let shown = |decided: &&Decided| all || !matches!(decided.trace.outcome, Outcome::Ignored | Outcome::Silent);
    let moments: Vec<&Decided> = replay.decided.iter().filter(shown).collect();
    let rows_max = if all { usize::MAX } else { ROWS_MAX };
    let mut text = String::new();
    if !moments.is_empty() {
        let mut table = empty_table();
        let one_room = moments.iter().all(|moment| moment.trace.place == moments[0].trace.place);
        table.set_header(["when", "who", "said", "what it does, and why"]);
        for Decided { trace, text } in moments.iter().take(rows_max) {
            let who = cut(&trace.author, NAME_CHARS_MAX);
            let who = if one_room { who } else { format!("{who}\n{}", harmless(&trace.place.to_string())) };
            table.add_row([clock(trace.at), who, cut(text, TEXT_CHARS_MAX), cut(&trace.sentence(), REASON_CHARS_MAX)]);
        }
        let _ = writeln!(text, "{table}");
        if moments.len() > rows_max {
            let _ = writeln!(text, "… and {} more; --report shows them.", moments.len() - rows_max);
        }
    }
    text + &figures(replay)
}

/// The messages whose outcome differs, and how many of each kind.
pub fn differences_table(differences: &Differences<'_>, all: bool) -> String {
    let rows_max = if all { usize::MAX } else { ROWS_MAX };
    let mut text = String::new();
    if !differences.messages.is_empty() {
        let mut table = empty_table();
        table.set_header(["when", "who", "said", "before", "after"]);
        for Difference { before, after } in differences.messages.iter().take(rows_max) {
            let who = format!("{}\n{}", cut(&before.author, NAME_CHARS_MAX), harmless(&before.place.to_string()));
            let sentence = |trace: &Trace| cut(&trace.sentence(), REASON_CHARS_MAX);
            let said = cut(&after.text, TEXT_CHARS_MAX);
            table.add_row([clock(before.at), who, said, sentence(before), sentence(&after.trace)]);
        }
        let _ = writeln!(text, "{table}");
        if differences.messages.len() > rows_max {
            let _ = writeln!(text, "… and {} more; --all shows them.", differences.messages.len() - rows_max);
        }
    }
    let _ = write!(text, "{} of {} outcomes differ", differences.messages.len(), differences.compared);
    let counts = differences.counts.iter().map(|((before, after), count)| format!("{before} → {after} {count}"));
    let counts: Vec<String> = counts.collect();
    let _ = writeln!(text, "{}{}", if counts.is_empty() { "" } else { ": " }, counts.join(", "));
    if differences.missing > 0 {
        let _ = writeln!(text, "  {} messages have no stored decision to compare with", differences.missing);
    }
    text
}

fn empty_table() -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_content_arrangement(ContentArrangement::Dynamic);
    if !table.is_tty() {
        table.set_width(WIDTH_WITHOUT_TERMINAL);
    }
    table
}

pub fn figures(replay: &Replay) -> String {
    let summary = Summary::of(&replay.decided);
    let per = |count| summary.per_1000(count);
    let mut text = String::new();
    let _ = writeln!(text, "{} messages, preset {}, judge {}", summary.messages, replay.preset, replay.judge);
    let _ = writeln!(
        text,
        "  answers {} ({:.1} in 1000) · a word {} ({:.1}) · reactions {} ({:.1}) · ignored {}",
        summary.replies,
        per(summary.replies),
        summary.acknowledgements,
        per(summary.acknowledgements),
        summary.reactions,
        per(summary.reactions),
        summary.ignored,
    );
    let _ = writeln!(
        text,
        "  model asked {} times ({:.1} in 1000), {} answers used again, {} characters, {:.4} dollars",
        summary.judge_calls,
        per(summary.judge_calls),
        summary.cached_answers,
        summary.judge_prompt_chars,
        summary.micros as f64 / 1e6,
    );
    if let Some(remembered) = &replay.remembered {
        let _ = writeln!(
            text,
            "  memory: {} summaries and {} reflections ({:.1} in 1000), {} characters ({:.0} in 1000), {} failed",
            remembered.summaries,
            remembered.reflections,
            per(remembered.calls()),
            remembered.chars,
            per(remembered.chars),
            remembered.failed,
        );
    }
    if replay.bad_lines > 0 {
        let _ = writeln!(text, "  {} lines could not be read and were skipped", replay.bad_lines);
    }
    text
}

fn clock(at: Time) -> String {
    let time = i64::try_from(at.0).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    time.map_or_else(String::new, |time| time.strftime("%Y-%m-%d\n%H:%M:%S").to_string())
}

fn cut(text: &str, chars_max: usize) -> String {
    let text = harmless(text);
    if text.chars().count() <= chars_max {
        return text;
    }
    text.chars().take(chars_max).chain(['…']).collect()
}
