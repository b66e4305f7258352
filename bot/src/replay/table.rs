//! What the bot would have done, as a table for people.

use std::fmt::Write as _;

use aizuchi_core::Trace;
use aizuchi_core::effect::Outcome;
use aizuchi_core::types::Time;
use comfy_table::{ContentArrangement, Table, presets::UTF8_FULL_CONDENSED};
use jiff::Timestamp;

use super::{Decided, Difference, Differences, Replay, ReplaySummary};
use crate::cli::harmless;
use crate::language::{Language, message, say};
use crate::sentences::sentence;

/// The maximum number of rows; the rest is in the report.
const ROWS_MAX: usize = 40;
const TEXT_CHARS_MAX: usize = 80;
const NAME_CHARS_MAX: usize = 40;
const REASON_CHARS_MAX: usize = 400;
const WIDTH_WITHOUT_TERMINAL: u16 = 120;

/// The moments at which the bot would have acted, and the figures. With `all`, silence too.
pub fn table(replay: &Replay, all: bool, language: Language) -> String {
    let shown = |decided: &&Decided| all || !matches!(decided.trace.outcome, Outcome::Ignored | Outcome::Silent);
    let moments: Vec<&Decided> = replay.decided.iter().filter(shown).collect();
    let rows_max = if all { usize::MAX } else { ROWS_MAX };
    let mut text = String::new();
    if !moments.is_empty() {
        let mut table = empty_table();
        let one_room = moments.iter().all(|moment| moment.trace.place == moments[0].trace.place);
        table.set_header(["table-when", "table-who", "table-said", "table-why"].map(|key| language.text(key)));
        for Decided { trace, text } in moments.iter().take(rows_max) {
            let who = cut(&trace.author, NAME_CHARS_MAX);
            let who = if one_room { who } else { format!("{who}\n{}", harmless(&trace.place.to_string())) };
            table.add_row([
                clock(trace.at),
                who,
                cut(text, TEXT_CHARS_MAX),
                cut(&sentence(trace, language), REASON_CHARS_MAX),
            ]);
        }
        let _ = writeln!(text, "{table}");
        if moments.len() > rows_max {
            let _ = writeln!(text, "{}", say!(language, "table-more-report", n = moments.len() - rows_max));
        }
    }
    text + &figures(replay, language)
}

/// The messages whose outcome differs, and how many of each kind.
pub fn differences_table(differences: &Differences<'_>, all: bool, language: Language) -> String {
    let rows_max = if all { usize::MAX } else { ROWS_MAX };
    let mut text = String::new();
    if !differences.messages.is_empty() {
        let mut table = empty_table();
        table.set_header(
            ["table-when", "table-who", "table-said", "table-before", "table-after"].map(|key| language.text(key)),
        );
        for Difference { before, after } in differences.messages.iter().take(rows_max) {
            let who = format!("{}\n{}", cut(&before.author, NAME_CHARS_MAX), harmless(&before.place.to_string()));
            let sentence = |trace: &Trace| cut(&sentence(trace, language), REASON_CHARS_MAX);
            let said = cut(&after.text, TEXT_CHARS_MAX);
            table.add_row([clock(before.at), who, said, sentence(before), sentence(&after.trace)]);
        }
        let _ = writeln!(text, "{table}");
        if differences.messages.len() > rows_max {
            let _ = writeln!(text, "{}", say!(language, "table-more-all", n = differences.messages.len() - rows_max));
        }
    }
    let counts = differences.counts.iter().map(|((before, after), count)| format!("{before} → {after} {count}"));
    let how = counts.collect::<Vec<String>>().join(", ");
    let (n, all) = (differences.messages.len(), differences.compared);
    let differ = match how.is_empty() {
        true => message!("table-differ", n = n, all = all),
        false => message!("table-differ-how", n = n, all = all, how = how),
    };
    let _ = writeln!(text, "{}", differ.say(language));
    if differences.missing > 0 {
        let _ = writeln!(text, "  {}", say!(language, "table-missing", n = differences.missing));
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

pub fn figures(replay: &Replay, language: Language) -> String {
    let summary = ReplaySummary::of(&replay.decided);
    let per = |count| format!("{:.1}", summary.per_1000(count));
    let head = message!("figures-head", n = summary.messages, preset = &*replay.preset, judge = &*replay.judge);
    let acted = message!(
        "figures-acted",
        replies = summary.replies,
        replies_rate = per(summary.replies),
        words = summary.acknowledgements,
        words_rate = per(summary.acknowledgements),
        reactions = summary.reactions,
        reactions_rate = per(summary.reactions),
        ignored = summary.ignored,
    );
    let asked = message!(
        "figures-asked",
        calls = summary.judge_calls,
        calls_rate = per(summary.judge_calls),
        cached = summary.cached_answers,
        chars = summary.judge_prompt_chars,
        dollars = format!("{:.4}", summary.micros as f64 / 1e6),
    );
    let memory = replay.remembered.as_ref().map(|remembered| {
        message!(
            "figures-memory",
            summaries = remembered.summaries,
            reflections = remembered.reflections,
            calls_rate = per(remembered.calls()),
            chars = remembered.chars,
            chars_rate = format!("{:.0}", summary.per_1000(remembered.chars)),
            failed = remembered.failed,
        )
    });
    let bad_lines = (replay.bad_lines > 0).then(|| message!("figures-bad-lines", n = replay.bad_lines));
    let mut text = format!("{}\n", head.say(language));
    for line in [Some(acted), Some(asked), memory, bad_lines].into_iter().flatten() {
        let _ = writeln!(text, "  {}", line.say(language));
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
