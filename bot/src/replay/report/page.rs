//! The whole page: its head, its figures, and the template they go into.

use std::collections::BTreeSet;

use aizuchi_core::effect::Outcome;
use minijinja::value::{Kwargs, Serde};
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;

use super::calls::{CallsSection, calls};
use super::causes::{Causes, causes};
use super::moments::{Moment, Moments, moments, near_misses};
use super::scores::{ScoreSpread, spread};
use super::timeline::{Timeline, timeline};
use super::words;
use crate::language::{Language, LocalizedMessage, LocalizedValue, say};
use crate::replay::{Replay, ReplaySummary};
use crate::sentences;

#[derive(Serialize)]
struct ReportPage {
    language: &'static str,
    style: &'static str,
    script: &'static str,
    head: Head,
    figures: Vec<Figure>,
    timeline: Option<Timeline>,
    spread: Option<ScoreSpread>,
    causes: Causes,
    calls: CallsSection,
    moments: Moments,
    misses: Vec<Moment>,
}

#[derive(Serialize)]
struct Head {
    log: String,
    preset: String,
    changes: Vec<String>,
    judge: String,
    /// First and last message.
    from: Option<String>,
    to: Option<String>,
    rooms: String,
    /// What the bot would have done, as HTML that contains only numbers.
    lead: String,
}

#[derive(Serialize)]
struct Figure {
    name: String,
    value: String,
    note: String,
    /// The outcome it counts, or "warn"; sets the colour.
    class: &'static str,
}

/// The whole report as one HTML file.
pub fn html(replay: &Replay) -> String {
    let (summary, language) = (ReplaySummary::of(&replay.decided), replay.language);
    let page = ReportPage {
        language: language.id(),
        style: include_str!("page.css"),
        script: include_str!("page.js"),
        head: head(replay, &summary),
        figures: figures(replay, &summary),
        timeline: timeline(replay),
        spread: spread(replay),
        causes: causes(&replay.decided, language),
        calls: calls(&replay.decided, &summary, language),
        moments: moments(&replay.decided, language),
        misses: near_misses(&replay.decided, language),
    };
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_function("t", move |key: String, arguments: Kwargs| translate(language, key, &arguments));
    environment.add_template("page.html", include_str!("page.html")).expect("the template is well formed");
    let template = environment.get_template("page.html").expect("the template was added");
    template.render(Serde(page)).expect("the template fits its data")
}

/// A sentence of the language files for the template; its arguments are numbers and texts.
fn translate(language: Language, key: String, arguments: &Kwargs) -> Result<String, minijinja::Error> {
    let mut message = LocalizedMessage::new(key);
    for name in arguments.args().map(str::to_owned).collect::<Vec<_>>() {
        let value: minijinja::Value = arguments.get(&name)?;
        let number = u64::try_from(value.clone()).ok().filter(|_| value.is_number());
        message =
            message.with(name, number.map_or_else(|| LocalizedValue::Text(value.to_string()), LocalizedValue::Count));
    }
    Ok(message.say(language))
}

fn head(replay: &Replay, summary: &ReplaySummary) -> Head {
    let times = || replay.decided.iter().map(|decided| decided.trace.at);
    let rooms: BTreeSet<&str> = replay.decided.iter().map(|decided| decided.trace.place.room.as_str()).collect();
    let rooms = match rooms.first() {
        Some(room) if rooms.len() == 1 => words::harmless_line(room, 60),
        _ => say!(replay.language, "report-channels", n = LocalizedValue::Count(rooms.len() as u64)),
    };
    Head {
        log: words::harmless_line(&replay.log, 120),
        preset: words::harmless_line(&replay.preset, 60),
        changes: replay.changes.iter().map(|change| words::harmless_line(change, 200)).collect(),
        judge: words::harmless_line(&replay.judge, 120),
        from: times().min().map(words::time),
        to: times().max().map(words::time),
        rooms,
        lead: lead(summary, replay.language),
    }
}

fn lead(summary: &ReplaySummary, language: Language) -> String {
    let bold = |class: &str, key: &'static str, number: u64| {
        format!("<b class=\"{class}\">{}</b>", say!(language, key, n = words::count(number)))
    };
    say!(
        language,
        "report-lead",
        messages = words::messages(summary.messages, language),
        answered = bold("replies", "report-lead-answered", summary.replies),
        said = bold("acknowledges", "report-lead-said", summary.acknowledgements),
        reacted = bold("reacts", "report-lead-reacted", summary.reactions),
        quiet = words::percent(silent(summary) + summary.ignored, summary.messages, language),
    )
}

fn silent(summary: &ReplaySummary) -> u64 {
    summary.messages - summary.ignored - summary.replies - summary.acknowledgements - summary.reactions
}

fn figures(replay: &Replay, summary: &ReplaySummary) -> Vec<Figure> {
    let language = replay.language;
    let per_1000 = |count| words::format_rate(summary.per_1000(count));
    let rated = |outcome: Outcome, count, class| {
        let (value, note) = (words::count(count), say!(language, "report-per-1000", rate = per_1000(count)));
        Figure { name: sentences::outcome_name(outcome).say(language), value, note, class }
    };
    let shared = |outcome: Outcome, count, class| {
        let share = words::percent(count, summary.messages, language);
        let (value, note) = (words::count(count), say!(language, "report-figure-of-all", share = share));
        Figure { name: sentences::outcome_name(outcome).say(language), value, note, class }
    };
    let plain = |key: &str, value, note| Figure { name: language.text(key), value, note, class: "" };
    let cost_each = words::dollars(summary.per_1000(summary.micros).round() as u64, language);
    let (asked, cached) = (words::count(summary.judge_calls), words::count(summary.cached_answers));
    let calls = say!(language, "report-figure-calls-note", asked = asked, cached = cached);
    let chars = say!(language, "report-figure-chars-note", n = words::count(summary.judge_prompt_chars));
    vec![
        rated(Outcome::Replies, summary.replies, "replies"),
        rated(Outcome::Acknowledges, summary.acknowledgements, "acknowledges"),
        rated(Outcome::Reacts, summary.reactions, "reacts"),
        shared(Outcome::Silent, silent(summary), "silent"),
        shared(Outcome::Ignored, summary.ignored, "ignored"),
        plain("report-figure-messages", words::count(summary.messages), language.text("report-figure-in-log")),
        plain("report-figure-calls", per_1000(summary.judge_calls), calls),
        plain("report-figure-chars", per_1000(summary.judge_prompt_chars), chars),
        plain(
            "report-figure-cost",
            words::dollars(summary.micros, language),
            say!(language, "report-per-1000", rate = cost_each),
        ),
        Figure {
            name: language.text("report-figure-bad"),
            value: words::count(replay.bad_lines),
            note: language.text("report-figure-bad-note"),
            class: if replay.bad_lines > 0 { "warn" } else { "" },
        },
    ]
}
