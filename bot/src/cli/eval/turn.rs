//! `aizuchi eval turn`: whether the person who stands in for the bot speaks next, compared with the predicted probability.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use aizuchi_measure::labels::{talks, turns};
use aizuchi_measure::logs::{self, Channel};
use aizuchi_measure::metrics::{auc, average_precision, brier};
use anyhow::bail;
use clap::Args;
use serde_json::json;

use super::labelled::{by_message, check_labels, decide_as};
use crate::cli::outputs;
use crate::cli::settings::SettingsArguments;

#[derive(Args)]
pub struct TurnArguments {
    /// Transcripts with labels, or exports with threads or replies; - is standard input, gzip is allowed
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<String>,
    /// The person who stands in for the bot; can be repeated [default: one after the other, the five who say most]
    #[arg(long, value_name = "NAME")]
    me: Vec<String>,
    /// Print one line of JSON instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArguments,
}

/// How many people stand in if none is named.
const STAND_INS: usize = 5;

/// The results for one stand-in.
struct StandIn {
    name: String,
    outcomes: Vec<(f32, bool)>,
    /// How many of these were messages at which the stand-in was not recognised as a participant.
    unknown: usize,
}

pub fn run(arguments: &TurnArguments) -> anyhow::Result<()> {
    let inputs: Vec<&str> = arguments.logs.iter().map(String::as_str).collect();
    outputs::check(&inputs, &[])?;
    let (policies, _) = arguments.settings.policies_for_replay()?;
    if !policies.general().settings.score.learned {
        bail!("nothing to measure: score.learned is false in these settings");
    }
    let mut all: Vec<StandIn> = Vec::new();
    let mut logs: Vec<(&str, Vec<Channel>)> = Vec::new();
    for path in outputs::distinct(&arguments.logs) {
        let channels = logs::read(Path::new(path))?;
        check_labels(channels.iter())?;
        logs.push((path, channels));
    }
    let named = stand_ins(&arguments.me, &logs)?;
    for (path, channels) in &logs {
        let names = if named.is_empty() { who_says_most(channels) } else { named.clone() };
        for name in names {
            let decided = decide_as(&policies, path, &name)?;
            let decided = by_message(&decided);
            let mut stand_in = StandIn { name, outcomes: Vec::new(), unknown: 0 };
            for channel in channels {
                for (index, next) in turns(channel, |said| said.name == stand_in.name) {
                    let key = (channel.name.as_str(), channel.said[index].id.as_str());
                    let p_turn = decided.get(&key).and_then(|it| it.trace.p_turn);
                    stand_in.unknown += usize::from(p_turn.is_none());
                    stand_in.outcomes.push((p_turn.unwrap_or(0.0), next));
                }
            }
            all.push(stand_in);
        }
    }
    tell(arguments, all)
}

/// The stand-ins without duplicates; each must speak in one of the logs.
fn stand_ins(named: &[String], logs: &[(&str, Vec<Channel>)]) -> anyhow::Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for name in named {
        let speaks = |(_, channels): &(&str, Vec<Channel>)| {
            channels.iter().flat_map(|channel| &channel.said).any(|said| said.name == *name)
        };
        if !logs.iter().any(speaks) {
            let most = logs.iter().flat_map(|(_, channels)| who_says_most(channels));
            let most: Vec<String> = most.take(STAND_INS).collect();
            bail!("--me {name}: nobody of that name speaks in these logs; {} say most", most.join(", "));
        }
        if !names.contains(name) {
            names.push(name.clone());
        }
    }
    Ok(names)
}

fn tell(arguments: &TurnArguments, all: Vec<StandIn>) -> anyhow::Result<()> {
    let outcomes: Vec<(f32, bool)> = all.iter().flat_map(|stand_in| stand_in.outcomes.iter().copied()).collect();
    let next = outcomes.iter().filter(|(_, next)| *next).count();
    if next == 0 || next == outcomes.len() {
        let names: Vec<&str> = all.iter().map(|stand_in| stand_in.name.as_str()).collect();
        bail!(
            "of {} messages to {} it was the next to speak after {next}: both kinds are needed to measure",
            outcomes.len(),
            names.join(", ")
        );
    }
    let unknown: usize = all.iter().map(|stand_in| stand_in.unknown).sum();
    let (auc, precision, brier) = (auc(&outcomes), average_precision(&outcomes), brier(&outcomes));
    if arguments.json {
        let names: Vec<&str> = all.iter().map(|stand_in| stand_in.name.as_str()).collect();
        let figures = json!({
            "me": names, "messages": outcomes.len(), "without_p_turn": unknown, "next": next,
            "auc": auc, "average_precision": precision, "brier": brier,
        });
        return crate::cli::print(&format!("{figures}\n"));
    }
    let share = |part: usize, all: usize| 100.0 * part as f64 / all.max(1) as f64;
    let mut text = format!(
        "{} messages of others, the next to speak after {next} of them ({:.1} %); taking part not found at {unknown}\n\n",
        outcomes.len(),
        share(next, outcomes.len())
    );
    let _ = writeln!(
        text,
        "AUC                {auc:.3}\naverage precision  {precision:.3}\nBrier              {brier:.4}\n"
    );
    let _ = writeln!(text, "messages    next  stand-in");
    for StandIn { name, outcomes, .. } in &all {
        let next = outcomes.iter().filter(|(_, next)| *next).count();
        let _ = writeln!(text, "{:>8}  {:>4.1} %  {name}", outcomes.len(), share(next, outcomes.len()));
    }
    crate::cli::print(&text)
}

/// The people who say most in labelled conversations, in descending order.
fn who_says_most(channels: &[Channel]) -> Vec<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for channel in channels {
        for index in talks(channel).into_iter().flatten() {
            *counts.entry(channel.said[index].name.as_str()).or_default() += 1;
        }
    }
    let mut names: Vec<(&str, usize)> = counts.into_iter().collect();
    names.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
    names.into_iter().take(STAND_INS).map(|(name, _)| name.to_owned()).collect()
}
