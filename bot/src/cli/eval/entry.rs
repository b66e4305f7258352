//! `aizuchi eval entry`: where somebody joined, compared with the predicted probability.

use std::fmt::Write as _;

use aizuchi_measure::labels::entries;
use aizuchi_measure::metrics::{auc, average_precision, brier, reliability};
use serde_json::json;

use super::LogArguments;
use super::labelled::{ReplayedLogs, live_all};
use super::page::{Curve, EvalPage};

pub fn run(arguments: &LogArguments) -> anyhow::Result<()> {
    let logs = live_all(arguments)?;
    let outcomes: Vec<(f32, bool)> = logs.iter().flat_map(outcomes).collect();
    let joined = outcomes.iter().filter(|(_, joined)| *joined).count();
    if joined == 0 || joined == outcomes.len() {
        anyhow::bail!(
            "of {} labelled messages somebody joined at {joined}: both kinds are needed to measure",
            outcomes.len()
        );
    }
    let (auc, precision, brier) = (auc(&outcomes), average_precision(&outcomes), brier(&outcomes));
    let table = reliability(&outcomes);
    if let Some(path) = &arguments.report {
        page(&outcomes, &table, auc, precision).write(path)?;
    }
    if arguments.json {
        let table: Vec<_> = table.iter().map(|(count, guess, share)| json!([count, guess, share])).collect();
        let figures = json!({
            "messages": outcomes.len(), "joined": joined, "auc": auc, "average_precision": precision, "brier": brier,
            "reliability": table,
        });
        return crate::cli::print(&format!("{figures}\n"));
    }
    let base = joined as f64 / outcomes.len() as f64;
    let mut text = format!("{} messages, somebody joined at {joined} ({:.1} %)\n\n", outcomes.len(), 100.0 * base);
    let _ = writeln!(
        text,
        "AUC                {auc:.3}\naverage precision  {precision:.3}\nBrier              {brier:.4}\n"
    );
    let _ = writeln!(text, "messages  held likely  happened");
    for (count, guess, share) in &table {
        let _ = writeln!(text, "{count:>8}  {:>9.1} %  {:>6.1} %", 100.0 * guess, 100.0 * share);
    }
    crate::cli::print(&text)
}

/// For each message that counts, the predicted probability that somebody joins, and whether somebody did.
fn outcomes(lived: &ReplayedLogs) -> Vec<(f32, bool)> {
    let decided = lived.by_message();
    let mut outcomes = Vec::new();
    for channel in &lived.channels {
        for (said, joined) in channel.said.iter().zip(entries(channel)) {
            let Some(joined) = joined else { continue };
            let p_join = decided.get(&(channel.name.as_str(), said.id.as_str())).and_then(|it| it.trace.p_join);
            outcomes.push((p_join.unwrap_or(0.0), joined));
        }
    }
    outcomes
}

fn page(outcomes: &[(f32, bool)], table: &[(usize, f64, f64)], auc: f64, precision: f64) -> EvalPage {
    let mut sorted = outcomes.to_vec();
    sorted.sort_by(|a, b| b.0.total_cmp(&a.0));
    let all = sorted.iter().filter(|(_, joined)| *joined).count() as f64;
    let others = sorted.len() as f64 - all;
    let (mut right, mut wrong) = (0.0, 0.0);
    let (mut roc, mut recall) = (vec![(0.0, 0.0)], Vec::new());
    for (_, joined) in &sorted {
        if *joined {
            right += 1.0
        } else {
            wrong += 1.0
        }
        roc.push((wrong / others, right / all));
        recall.push((right / all, right / (right + wrong)));
    }
    let honest = table.iter().map(|(_, guess, share)| (*guess, *share)).collect();
    EvalPage {
        title: "Where somebody joins",
        figures: vec![
            ("Messages".into(), outcomes.len().to_string()),
            ("AUC".into(), format!("{auc:.3}")),
            ("Average precision".into(), format!("{precision:.3}")),
        ],
        curves: vec![
            Curve { title: "Found against false alarms", x: "false alarms", y: "found", points: roc, diagonal: true },
            Curve {
                title: "Precision against recall",
                x: "found",
                y: "of these right",
                points: recall,
                diagonal: false,
            },
            Curve {
                title: "Held likely against happened",
                x: "held likely",
                y: "happened",
                points: honest,
                diagonal: true,
            },
        ],
        table: None,
    }
}
