//! `aizuchi eval turn`: whether the person who stands in for the bot speaks next, compared with the predicted probability.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use aizuchi_measure::baselines::spoke_just_before;
use aizuchi_measure::conversations::groups;
use aizuchi_measure::labels::{talks, turns};
use aizuchi_measure::logs::{self, Channel, Said};
use aizuchi_measure::metrics::{Outcomes, auc, average_precision, brier};
use aizuchi_measure::silences::{BySilence, happened};
use anyhow::bail;
use clap::Args;
use serde_json::json;

use super::figures::{by_silence, figure, percent, silence_table};
use super::labelled::{by_message, check_labels, decide_as};
use super::rating::Rating;
use crate::cli::outputs;
use crate::cli::settings::SettingsArguments;
use crate::replay::Decided;

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
    outcomes: BySilence,
    /// The same if the person who spoke just before is expected to speak next.
    just_before: Vec<(f32, bool)>,
    /// How many of these were messages at which the stand-in was not recognised as a participant.
    unknown: usize,
}

impl StandIn {
    fn of(name: String, channels: &[Channel], decided: &[Decided], rating: Rating) -> StandIn {
        let decided = by_message(decided);
        let mut stand_in = StandIn { name, outcomes: BySilence::default(), just_before: Vec::new(), unknown: 0 };
        for channel in channels {
            let silences = groups(channel);
            let is_stand_in = |said: &Said| said.name == stand_in.name;
            for (index, next) in turns(channel, is_stand_in) {
                let key = (channel.name.as_str(), channel.said[index].id.as_str());
                let p_turn = decided.get(&key).and_then(|it| rating.turn(&it.trace));
                stand_in.unknown += usize::from(p_turn.is_none());
                stand_in.outcomes.push(silences[index].unwrap_or_default(), p_turn.unwrap_or(0.0), next);
                let before = spoke_just_before(channel, index, is_stand_in);
                stand_in.just_before.push((f32::from(u8::from(before)), next));
            }
        }
        stand_in
    }
}

pub fn run(arguments: &TurnArguments) -> anyhow::Result<()> {
    let inputs: Vec<&str> = arguments.logs.iter().map(String::as_str).collect();
    outputs::check(&inputs, &[])?;
    let (policies, _) = arguments.settings.policies_for_replay()?;
    let rating = Rating::of(&policies);
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
            all.push(StandIn::of(name, channels, &decided, rating));
        }
    }
    tell(arguments, all, rating)
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

fn tell(arguments: &TurnArguments, all: Vec<StandIn>, rating: Rating) -> anyhow::Result<()> {
    let (mut every, mut just_before, mut unknown) = (BySilence::default(), Vec::new(), 0);
    let mut stand_ins = Vec::new();
    for StandIn { name, outcomes, just_before: before, unknown: of_name } in all {
        stand_ins.push((name, outcomes.all().len(), happened(outcomes.all())));
        every.add(outcomes);
        just_before.extend(before);
        unknown += of_name;
    }
    let (outcomes, next) = (every.all(), happened(every.all()));
    if next == 0 || next == outcomes.len() {
        let names: Vec<&str> = stand_ins.iter().map(|(name, ..)| name.as_str()).collect();
        bail!(
            "of {} messages to {} it was the next to speak after {next}: both kinds are needed to measure",
            outcomes.len(),
            names.join(", ")
        );
    }
    if arguments.json {
        let names: Vec<&str> = stand_ins.iter().map(|(name, ..)| name.as_str()).collect();
        let figures = json!({
            "rating": rating.id(), "me": names, "messages": outcomes.len(), "without_p_turn": unknown, "next": next,
            "auc": auc(outcomes), "average_precision": average_precision(outcomes), "brier": brier(outcomes),
            "just_before": {"auc": auc(&just_before), "average_precision": average_precision(&just_before)},
            "by_silence": by_silence(&every),
        });
        return crate::cli::print(&format!("{figures}\n"));
    }
    let mut text = format!(
        "{} messages of others, the next to speak after {next} of them ({}); taking part not found at {unknown}\n\n{}",
        outcomes.len(),
        percent(next, outcomes.len()),
        rating.note()
    );
    text.push_str("                   guessed  who spoke just before\n");
    let mut row = |name: &str, cell: fn(&Outcomes) -> f64| {
        let [guessed, before] = [outcomes, &just_before].map(|outcomes| figure(cell(outcomes)));
        let _ = writeln!(text, "{name:<17}  {guessed:>7}  {before:>21}");
    };
    row("AUC", auc);
    row("average precision", average_precision);
    if rating == Rating::Likelihood {
        let _ = writeln!(text, "Brier              {:>7.4}", brier(outcomes));
    }
    text.push_str("\nmessages     next  stand-in\n");
    for (name, messages, next) in &stand_ins {
        let _ = writeln!(text, "{messages:>8}  {:>7}  {name}", percent(*next, *messages));
    }
    crate::cli::print(&(text + "\n" + &silence_table(&every, "next")))
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
