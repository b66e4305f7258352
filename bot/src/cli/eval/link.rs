//! `aizuchi eval link`: which message is answered, against what people say.

use aizuchi_measure::metrics::Links;
use serde_json::json;

use super::LogArguments;
use super::labelled::{ReplayedLogs, live_all};
use super::page::{Curve, EvalPage};

pub fn run(arguments: &LogArguments) -> anyhow::Result<()> {
    let logs = live_all(arguments)?;
    let mut links = Links::default();
    let mut channels = Vec::new();
    for lived in &logs {
        for (name, found) in by_channel(lived) {
            links.add(found);
            channels.push((name, found));
        }
    }
    let (precision, recall, f1) = (links.precision(), links.recall(), links.f1());
    if let Some(path) = &arguments.report {
        let each = channels
            .iter()
            .enumerate()
            .map(|(index, (_, links))| (index as f64 / channels.len().saturating_sub(1).max(1) as f64, links.f1()));
        let page = EvalPage {
            title: "Which message is answered",
            figures: [("Precision", precision), ("Recall", recall), ("F1", f1)]
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
        };
        page.write(path)?;
    }
    if arguments.json {
        let figures = json!({
            "guessed": links.guessed, "gold": links.gold, "right": links.right,
            "precision": precision, "recall": recall, "f1": f1,
        });
        return crate::cli::print(&format!("{figures}\n"));
    }
    crate::cli::print(&format!(
        "{} guesses, {} of them right; {} labelled links\n\nprecision  {precision:.3}\nrecall     {recall:.3}\nF1         {f1:.3}\n",
        links.guessed, links.right, links.gold
    ))
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
