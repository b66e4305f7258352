//! `aizuchi eval link`: which message each message answers, compared with the labels.

use std::collections::HashMap;
use std::fmt::Write as _;

use aizuchi_measure::conversations::{GROUPS, Placements};
use aizuchi_measure::metrics::Links;
use serde_json::json;

use super::LogArguments;
use super::labelled::{ReplayedLogs, live_all};
use super::page::{Curve, EvalPage};

pub fn run(arguments: &LogArguments) -> anyhow::Result<()> {
    let logs = live_all(arguments)?;
    let (mut links, mut placements) = (Links::default(), Placements::default());
    let mut channels = Vec::new();
    for lived in &logs {
        placements.add(placements_of(lived));
        for (name, found) in by_channel(lived) {
            links.add(found);
            channels.push((name, found));
        }
    }
    let (precision, recall, f1) = (links.precision(), links.recall(), links.f1());
    if let Some(path) = &arguments.report {
        page(&links, &channels).write(path)?;
    }
    if arguments.json {
        let figures = json!({
            "guessed": links.guessed, "gold": links.gold, "right": links.right,
            "precision": precision, "recall": recall, "f1": f1,
            "in_conversation": placements.share(), "start_f1": placements.start_f1(), "by_silence": by_silence(&placements),
        });
        return crate::cli::print(&format!("{figures}\n"));
    }
    let mut text = String::new();
    if links.gold > 0 {
        let _ = write!(
            text,
            "{} guesses, {} of them right; {} labelled links\n\nprecision  {precision:.3}\nrecall     {recall:.3}\nF1         {f1:.3}\n\n",
            links.guessed, links.right, links.gold
        );
    }
    let _ = writeln!(
        text,
        "{} messages, {} in their own conversation\n\nshare      {:.3}\nstarts F1  {:.3}\n",
        placements.all(),
        placements.right(),
        placements.share(),
        placements.start_f1()
    );
    let _ = writeln!(text, "messages  right  silent before");
    for (group, (right, all)) in GROUPS.iter().zip(placements.groups) {
        let _ = writeln!(text, "{all:>8}  {:>5.3}  {group}", right as f64 / all.max(1) as f64);
    }
    crate::cli::print(&text)
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

/// For each group: its name, how many guesses were right, and how many there were.
fn by_silence(placements: &Placements) -> Vec<serde_json::Value> {
    GROUPS.iter().zip(placements.groups).map(|(group, (right, all))| json!([group, right, all])).collect()
}

fn placements_of(lived: &ReplayedLogs) -> Placements {
    let decided = lived.by_message();
    let mut placements = Placements::default();
    for channel in &lived.channels {
        let indexes: HashMap<&str, usize> =
            channel.said.iter().enumerate().map(|(index, said)| (said.id.as_str(), index)).collect();
        placements.add(Placements::of(channel, |index| {
            let trace = &decided.get(&(channel.name.as_str(), channel.said[index].id.as_str()))?.trace;
            indexes.get(trace.reply_to_guess.as_ref()?.as_str()).copied()
        }));
    }
    placements
}

fn by_channel(lived: &ReplayedLogs) -> Vec<(String, Links)> {
    let decided = lived.by_message();
    let of_channel = |channel: &aizuchi_measure::logs::Channel| {
        let mut links = Links::default();
        for said in &channel.said {
            let Some(gold) = &said.gold else { continue };
            links.gold += gold.len() + said.lost;
            let trace = decided.get(&(channel.name.as_str(), said.id.as_str())).map(|it| &it.trace);
            if let Some(guess) = trace.and_then(|trace| trace.reply_to_guess.as_ref()) {
                links.guessed += 1;
                links.right += usize::from(gold.iter().any(|gold| channel.said[*gold].id == *guess));
            }
        }
        (channel.name.clone(), links)
    };
    lived.channels.iter().map(of_channel).filter(|(_, links)| links.gold > 0).collect()
}
