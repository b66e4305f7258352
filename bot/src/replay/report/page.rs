//! The page as a whole: its head, its figures, and the template they go into.

use std::collections::BTreeSet;

use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};
use serde::Serialize;

use super::calls::{Calls, calls};
use super::causes::{Causes, causes};
use super::moments::{Moment, Moments, moments, near_misses};
use super::scores::{Spread, spread};
use super::timeline::{Timeline, timeline};
use super::words;
use crate::replay::{Replay, Summary};

#[derive(Serialize)]
struct Page {
    style: &'static str,
    script: &'static str,
    head: Head,
    figures: Vec<Figure>,
    timeline: Option<Timeline>,
    spread: Option<Spread>,
    causes: Causes,
    calls: Calls,
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
    messages: String,
    replies: String,
    acknowledgements: String,
    reactions: String,
    quiet: String,
}

#[derive(Serialize)]
struct Figure {
    name: &'static str,
    value: String,
    note: String,
    /// The outcome it counts, or "warn"; for its colour.
    class: &'static str,
}

/// The whole report as one HTML file.
pub fn html(replay: &Replay) -> String {
    let summary = Summary::of(&replay.decided);
    let page = Page {
        style: include_str!("page.css"),
        script: include_str!("page.js"),
        head: head(replay, &summary),
        figures: figures(replay, &summary),
        timeline: timeline(replay),
        spread: spread(replay),
        causes: causes(&replay.decided),
        calls: calls(&replay.decided, &summary),
        moments: moments(&replay.decided),
        misses: near_misses(&replay.decided),
    };
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_template("page.html", include_str!("page.html")).expect("the template is well formed");
    let template = environment.get_template("page.html").expect("the template was added");
    template.render(Serde(page)).expect("the template fits its data")
}

fn head(replay: &Replay, summary: &Summary) -> Head {
    let times = || replay.decided.iter().map(|decided| decided.trace.at);
    let rooms: BTreeSet<&str> = replay.decided.iter().map(|decided| decided.trace.place.room.as_str()).collect();
    let rooms = match rooms.first() {
        Some(room) if rooms.len() == 1 => words::harmless_line(room, 60),
        _ => words::of(rooms.len() as u64, "channel"),
    };
    Head {
        log: words::harmless_line(&replay.log, 120),
        preset: words::harmless_line(&replay.preset, 60),
        changes: replay.changes.iter().map(|change| words::harmless_line(change, 200)).collect(),
        judge: words::harmless_line(&replay.judge, 120),
        from: times().min().map(words::time),
        to: times().max().map(words::time),
        rooms,
        messages: words::of(summary.messages, "message"),
        replies: words::count(summary.replies),
        acknowledgements: words::count(summary.acknowledgements),
        reactions: words::count(summary.reactions),
        quiet: words::percent(silent(summary) + summary.ignored, summary.messages),
    }
}

fn silent(summary: &Summary) -> u64 {
    summary.messages - summary.ignored - summary.replies - summary.acknowledgements - summary.reactions
}

fn figures(replay: &Replay, summary: &Summary) -> Vec<Figure> {
    let per_1000 = |count| words::rate(summary.per_1000(count));
    let rated = |name, count, class| {
        let (value, note) = (words::count(count), format!("{} per 1000 messages", per_1000(count)));
        Figure { name, value, note, class }
    };
    let shared = |name, count, class| {
        let (value, note) = (words::count(count), format!("{} of all", words::percent(count, summary.messages)));
        Figure { name, value, note, class }
    };
    let plain = |name, value, note| Figure { name, value, note, class: "" };
    let cost_each = format!("{} per 1000 messages", words::dollars(summary.per_1000(summary.micros).round() as u64));
    let cached =
        format!("{} asked, {} from cache", words::count(summary.judge_calls), words::count(summary.cached_answers));
    let chars = format!("{} in all", words::count(summary.judge_prompt_chars));
    vec![
        rated("Answered", summary.replies, "replies"),
        rated("Said a word", summary.acknowledgements, "acknowledges"),
        rated("Reacted", summary.reactions, "reacts"),
        shared("Stayed silent", silent(summary), "silent"),
        shared("Ignored", summary.ignored, "ignored"),
        plain("Messages", words::count(summary.messages), "in the log".into()),
        plain("Model calls per 1000", per_1000(summary.judge_calls), cached),
        plain("Prompt characters per 1000", per_1000(summary.judge_prompt_chars), chars),
        plain("Cost", words::dollars(summary.micros), cost_each),
        Figure {
            name: "Lines skipped",
            value: words::count(replay.bad_lines),
            note: "could not be read".into(),
            class: if replay.bad_lines > 0 { "warn" } else { "" },
        },
    ]
}
