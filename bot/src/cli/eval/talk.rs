//! `aizuchi eval talk`: compares the talk share that was set with the one reached, and counts the judge calls of each
//! preset.

use std::fmt::Write as _;

use aizuchi_core::effect::Outcome;
use aizuchi_core::settings::PRESETS;
use aizuchi_core::types::{Share, Voice};
use aizuchi_core::{Input, Policies};
use clap::Args;
use serde_json::{Value, json};

use super::labelled::{decide, events};
use super::page::{Curve, EvalPage};
use crate::cli::outputs;
use crate::cli::settings::SettingsArguments;
use crate::replay::{Decided, Judge, ReplaySummary};

#[derive(Args)]
pub struct TalkArguments {
    /// Logs of any format that replay reads; several are counted together
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<String>,
    /// The shares to ask for
    #[arg(long, value_delimiter = ',', default_value = "1%,3%,10%", value_name = "SHARES", value_parser = share)]
    shares: Vec<Share>,
    /// Messages at the beginning of each log that do not count
    #[arg(long, default_value_t = 500, value_name = "MESSAGES")]
    skip: usize,
    /// Print one line of JSON instead of text
    #[arg(long)]
    json: bool,
    /// Write an HTML page with the curves to this file
    #[arg(long, value_name = "OUT.html")]
    report: Option<String>,
    #[command(flatten)]
    settings: SettingsArguments,
}

pub fn share(text: &str) -> Result<Share, String> {
    Share::parse(text).ok_or_else(|| "expected a share such as 3%".into())
}

struct ShareResult {
    share: Share,
    heard: usize,
    spoke: usize,
}

impl ShareResult {
    fn achieved(&self) -> f64 {
        self.spoke as f64 / self.heard.max(1) as f64
    }
}

struct PresetCost {
    preset: &'static str,
    judge: &'static str,
    calls: f64,
    chars: f64,
    replies: f64,
}

pub fn run(arguments: &TalkArguments) -> anyhow::Result<()> {
    let inputs: Vec<&str> = arguments.logs.iter().map(String::as_str).collect();
    let report: Vec<_> = arguments.report.iter().map(|path| ("--report", path.as_str())).collect();
    outputs::check(&inputs, &report)?;
    let logs = outputs::distinct(&arguments.logs);
    let asked =
        arguments.shares.iter().map(|share| ask(arguments, &logs, *share)).collect::<anyhow::Result<Vec<_>>>()?;
    let mut costs = Vec::new();
    for (preset, _) in PRESETS {
        for (judge, name) in [(Judge::Yes, "yes"), (Judge::No, "no")] {
            costs.push(cost(arguments, &logs, preset, (&judge, name))?);
        }
    }
    if let Some(path) = &arguments.report {
        page(&asked, &costs).write(path)?;
    }
    if arguments.json {
        return crate::cli::print(&format!("{}\n", figures(&asked, &costs)));
    }
    let mut text = String::from("asked    achieved  messages  contributions\n");
    for each in &asked {
        let achieved = 100.0 * each.achieved();
        let _ =
            writeln!(text, "{:<8} {achieved:>6.2} %  {:>8}  {:>13}", each.share.to_string(), each.heard, each.spoke);
    }
    text.push_str("\nper 1,000 messages, all of them counted\npreset     judge     calls  characters  contributions\n");
    for PresetCost { preset, judge, calls, chars, replies } in &costs {
        let _ = writeln!(text, "{preset:<9}  {judge:<5}  {calls:>8.1}  {chars:>10.0}  {replies:>13.1}");
    }
    crate::cli::print(&text)
}

/// The settings with a different share or preset.
fn policies(arguments: &TalkArguments, assignments: &[String], preset: Option<&str>) -> anyhow::Result<Policies> {
    let mut settings = arguments.settings.clone();
    settings.set.extend_from_slice(assignments);
    if let Some(preset) = preset {
        settings.preset = Some(preset.to_owned());
    }
    Ok(settings.policies_for_replay()?.0)
}

fn ask(arguments: &TalkArguments, logs: &[&str], share: Share) -> anyhow::Result<ShareResult> {
    let policies = policies(arguments, &[format!("talk={}", share.to_string().replace(' ', ""))], None)?;
    let mut asked = ShareResult { share, heard: 0, spoke: 0 };
    for path in logs {
        let events = events(path)?;
        let by_person: Vec<bool> = events
            .iter()
            .filter_map(|event| {
                let Input::Said(message) = &event.input else { return None };
                Some(message.author.voice == Voice::Person)
            })
            .collect();
        let decided = decide(&policies, &Judge::Yes, events)?;
        for (decided, _) in decided.iter().zip(by_person).skip(arguments.skip).filter(|(_, by_person)| *by_person) {
            asked.heard += 1;
            asked.spoke += usize::from(is_contribution(decided));
        }
    }
    Ok(asked)
}

/// Whether it joins a conversation unasked.
pub fn is_contribution(decided: &Decided) -> bool {
    let trace = &decided.trace;
    let joins = trace.addressed.is_none() && !trace.its_turn;
    matches!(trace.outcome, Outcome::Replies | Outcome::Acknowledges) && joins
}

fn cost(
    arguments: &TalkArguments,
    logs: &[&str],
    preset: &'static str,
    (judge, name): (&Judge, &'static str),
) -> anyhow::Result<PresetCost> {
    let policies = policies(arguments, &[], Some(preset))?;
    let mut decided = Vec::new();
    for path in logs {
        decided.extend(decide(&policies, judge, events(path)?)?);
    }
    let summary = ReplaySummary::of(&decided);
    let spoke = decided.iter().filter(|decided| is_contribution(decided)).count() as u64;
    Ok(PresetCost {
        preset,
        judge: name,
        calls: summary.per_1000(summary.judge_calls),
        chars: summary.per_1000(summary.judge_prompt_chars),
        replies: summary.per_1000(spoke),
    })
}

fn figures(asked: &[ShareResult], costs: &[PresetCost]) -> Value {
    let asked: Vec<Value> = asked
        .iter()
        .map(|each| {
            json!({
                "asked": each.share.of(1.0), "achieved": each.achieved(), "messages": each.heard,
                "contributions": each.spoke,
            })
        })
        .collect();
    let costs: Vec<Value> = costs
        .iter()
        .map(|cost| {
            json!({
                "preset": cost.preset, "judge": cost.judge, "judge_calls_per_1000": cost.calls,
                "judge_prompt_chars_per_1000": cost.chars, "contributions_per_1000": cost.replies,
            })
        })
        .collect();
    json!({"talk": asked, "presets": costs})
}

fn page(asked: &[ShareResult], costs: &[PresetCost]) -> EvalPage {
    let most = asked.iter().map(|each| each.share.of(1.0).max(each.achieved())).fold(f64::MIN_POSITIVE, f64::max);
    let head = ["preset", "judge", "calls per 1,000", "characters per 1,000", "contributions per 1,000"];
    let row = |cost: &PresetCost| {
        let rates = [format!("{:.1}", cost.calls), format!("{:.0}", cost.chars), format!("{:.1}", cost.replies)];
        [cost.preset.to_owned(), cost.judge.to_owned()].into_iter().chain(rates).collect()
    };
    EvalPage {
        title: "As much as it was asked to",
        figures: asked
            .iter()
            .map(|each| (format!("asked {}", each.share), format!("{:.2} %", 100.0 * each.achieved())))
            .collect(),
        curves: vec![Curve {
            title: "Asked against achieved",
            x: "asked",
            y: "achieved",
            points: std::iter::once((0.0, 0.0))
                .chain(asked.iter().map(|each| (each.share.of(1.0) / most, each.achieved() / most)))
                .collect(),
            diagonal: true,
        }],
        table: Some((head.map(String::from).to_vec(), costs.iter().map(row).collect())),
    }
}
