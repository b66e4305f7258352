//! `aizuchi eval link`: which message each message answers, compared with the labels.

use std::collections::HashMap;
use std::fmt::Write as _;

use aizuchi_measure::addressees::Addressees;
use aizuchi_measure::baselines::{Previous, last_other};
use aizuchi_measure::conversations::{GROUPS, Placements, links_of};
use aizuchi_measure::metrics::Links;
use serde_json::{Value, json};

use super::LogArguments;
use super::figures::figure;
use super::labelled::{ReplayedLogs, live_all};
use super::page::{Curve, EvalPage};
use super::rating::Rating;

/// The guesses of the engine, and simple ones that do not depend on the text.
#[derive(Default)]
struct LinkResults {
    links: Links,
    placements: Placements,
    people: Addressees,
    addressees: Addressees,
    previous: Previous,
    last_other: Addressees,
    /// By channel, where it has labelled links.
    channels: Vec<(String, Links)>,
}

pub fn run(arguments: &LogArguments) -> anyhow::Result<()> {
    let (_, logs) = live_all(arguments, Rating::expect_likelihood)?;
    let mut all = LinkResults::default();
    logs.iter().for_each(|log| all.add(log));
    if let Some(path) = &arguments.report {
        page(&all.links, &all.channels).write(path)?;
    }
    let text = if arguments.json { format!("{}\n", json_line(&all)) } else { text(&all) };
    crate::cli::print(&text)
}

fn json_line(all: &LinkResults) -> Value {
    let LinkResults { links, placements, people, addressees, previous, last_other, .. } = all;
    json!({
        "guessed": links.guessed, "gold": links.gold, "right": links.right,
        "precision": links.precision(), "recall": links.recall(), "f1": links.f1(),
        "in_conversation": placements.share(), "start_f1": placements.start_f1(), "by_silence": by_silence(all),
        "previous": {
            "precision": previous.links.precision(), "recall": previous.links.recall(), "f1": previous.links.f1(),
            "in_conversation": previous.placements.share(), "start_f1": previous.placements.start_f1(),
        },
        "answers": {
            "lines": people.lines, "right_person": people.share(), "previous": previous.people.share(),
        },
        "addressees": {
            "lines": addressees.lines, "right": addressees.right, "share": addressees.share(),
            "last_other": last_other.share(),
        },
    })
}

fn text(all: &LinkResults) -> String {
    let LinkResults { links, placements, people, addressees, previous, last_other, .. } = all;
    let mut text = String::new();
    let row =
        |name: &str, guessed: f64, before: f64| format!("{name:<9}  {:>7}  {:>18}\n", figure(guessed), figure(before));
    let head = "           guessed  the message before\n";
    if links.gold > 0 {
        let _ =
            writeln!(text, "{} guesses, {} of them right; {} labelled links\n", links.guessed, links.right, links.gold);
        text += head;
        text += &row("precision", links.precision(), previous.links.precision());
        text += &row("recall", links.recall(), previous.links.recall());
        text += &row("F1", links.f1(), previous.links.f1());
        text += &row("person", people.share(), previous.people.share());
        text.push('\n');
    }
    let _ = writeln!(text, "{} messages, {} in their own conversation\n", placements.all(), placements.right());
    text += head;
    text += &row("share", placements.share(), previous.placements.share());
    text += &row("starts F1", placements.start_f1(), previous.placements.start_f1());
    text.push_str("\nmessages  guessed  the message before  silent before\n");
    for ((group, (right, all)), (before, _)) in GROUPS.iter().zip(placements.groups).zip(previous.placements.groups) {
        let share = |right: usize| figure(right as f64 / all as f64);
        let _ = writeln!(text, "{all:>8}  {:>7}  {:>18}  {group}", share(right), share(before));
    }
    if addressees.lines > 0 {
        let _ = writeln!(
            text,
            "\n{} lines of three people that name nobody; whom they are for\n\nguessed             {}\nlast other speaker  {}",
            addressees.lines,
            figure(addressees.share()),
            figure(last_other.share())
        );
    }
    text
}

fn page(links: &Links, channels: &[(String, Links)]) -> EvalPage {
    let each = channels
        .iter()
        .enumerate()
        .map(|(index, (_, links))| (index as f64 / channels.len().saturating_sub(1).max(1) as f64, links.f1()));
    EvalPage {
        title: "Which message is answered",
        figures: [("Precision", links.precision()), ("Recall", links.recall()), ("F1", links.f1())]
            .map(|(name, value)| (name.to_owned(), format!("{value:.3}")))
            .to_vec(),
        curves: vec![Curve {
            title: "F1 by channel",
            x: "channels in the order of the log",
            y: "F1",
            points: each.collect(),
            diagonal: false,
        }],
        table: Some((
            ["channel", "messages", "precision", "recall", "F1"].map(String::from).to_vec(),
            channels
                .iter()
                .map(|(name, links)| {
                    let share = |value: f64| format!("{value:.3}");
                    let counts = [name.clone(), links.guessed.to_string()];
                    counts.into_iter().chain([links.precision(), links.recall(), links.f1()].map(share)).collect()
                })
                .collect(),
        )),
    }
}

/// For each group: its name, how many guesses were right, how many there were, and how many the message before would be right for.
fn by_silence(all: &LinkResults) -> Vec<Value> {
    let groups = GROUPS.iter().zip(all.placements.groups).zip(all.previous.placements.groups);
    groups.map(|((group, (right, all)), (before, _))| json!([group, right, all, before])).collect()
}

impl LinkResults {
    fn add(&mut self, log: &ReplayedLogs) {
        let decided = log.by_message();
        for channel in &log.channels {
            let indexes: HashMap<&str, usize> =
                channel.said.iter().enumerate().map(|(index, said)| (said.id.as_str(), index)).collect();
            let guess = |index: usize| {
                let trace = &decided.get(&(channel.name.as_str(), channel.said[index].id.as_str()))?.trace;
                indexes.get(trace.reply_to_guess.as_ref()?.as_str()).copied()
            };
            let links = links_of(channel, guess);
            self.links.add(links);
            self.placements.add(Placements::of(channel, guess));
            self.people.add(Addressees::of_answers(channel, guess));
            self.addressees.add(Addressees::of(channel, guess));
            self.previous.add(Previous::of(channel));
            self.last_other.add(last_other(channel));
            if links.gold > 0 {
                self.channels.push((channel.name.clone(), links));
            }
        }
    }
}
