//! `aizuchi stats`: what the bot said, how people responded, and what it cost, by room and day.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use aizuchi_core::effect::{Outcome, Response};
use aizuchi_core::room::Cost;
use aizuchi_core::trace::Cause;
use aizuchi_core::{Policies, Time, Trace};
use anyhow::Context as _;
use clap::Args;
use serde_json::{Value, json};

use crate::cli::settings::SettingsArguments;
use crate::cli::show::{harmless, harmless_json};
use crate::cli::{store, when};
use crate::commands::answers::{format_cost, format_price};
use crate::journal::{spent_today_by_room, traces};
use crate::language::Language;
use crate::runtime::{Clock, EstimatedPrice, estimated_prices};

#[derive(Args, Default)]
pub struct StatsArguments {
    /// Only this room, such as web:lobby or lobby
    #[arg(long, value_name = "ROOM")]
    pub room: Option<String>,
    /// The data folder [default: that of the settings]
    #[arg(long, value_name = "DIR")]
    pub folder: Option<String>,
    /// Print one line of JSON for each room and day instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub settings: SettingsArguments,
}

/// One room on one day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct DayStats {
    messages: u64,
    contributions: u64,
    reactions: u64,
    answers: u64,
    excuses: u64,
    calls: u64,
    prompt_chars: u64,
    micros: u64,
    received: BTreeMap<Response, u64>,
    /// Every call of the room on the current day, including those for memory and those that were lost when the program
    /// stopped.
    spent: Option<Cost>,
}

pub fn run(arguments: &StatsArguments) -> anyhow::Result<()> {
    super::print(&run_to_text(arguments)?)
}

/// The output of the command.
pub fn run_to_text(arguments: &StatsArguments) -> anyhow::Result<String> {
    let location = store::location(arguments.folder.as_deref(), &arguments.settings)?;
    let opened = store::open(&location)?;
    let room = arguments.room.as_deref().map(|room| store::find_room(&opened, room)).transpose()?;
    let all = opened
        .wait(traces::all(&*opened.stores.decisions))
        .with_context(|| format!("cannot read the decisions in {}", location.display_name()))?;
    let wanted = all.iter().filter(|trace| room.as_ref().is_none_or(|room| trace.place.room == *room));
    let mut days: BTreeMap<(String, String), DayStats> = BTreeMap::new();
    for trace in wanted.filter(|trace| trace.outcome != Outcome::Ignored) {
        let key = (when::day(trace.at), trace.place.room.as_str().to_owned());
        days.entry(key).or_default().count(trace);
    }
    let (policies, now) = (arguments.settings.policies()?, Clock::Wall.now());
    let by_room = opened
        .wait(spent_today_by_room(&opened.stores, &policies, now))
        .with_context(|| format!("cannot read {}", location.display_name()))?;
    for (id, spent) in &by_room {
        if room.as_ref().is_none_or(|room| id == room) {
            days.entry((when::day(now), id.as_str().to_owned())).or_default().spent = Some(*spent);
        }
    }
    let spent = by_room.values().fold(Cost::default(), |sum, cost| sum + *cost);
    let today = today(spent, &policies, now, arguments.json);
    let text: String = if arguments.json {
        days.iter().map(|((day, room), stats)| format!("{}\n", harmless_json(&stats.json(day, room)))).collect()
    } else {
        table(&days)
    };
    let today = if room.is_none() { today } else { String::new() };
    let estimates = estimates(&policies, arguments.json);
    Ok(format!("{today}{estimates}{text}"))
}

/// What all rooms spent today.
fn today(spent: Cost, policies: &Policies, now: Time, json: bool) -> String {
    let limit = policies.general().settings.budget.of_all_rooms();
    match json {
        true => format!("{}\n", json!({"today": when::day(now), "spent": spent, "limit": limit})),
        false => format!("Spent today in all rooms: {}\n", format_cost(spent, limit, Language::ENGLISH)),
    }
}

/// Which of these prices are estimates.
fn estimates(policies: &Policies, json: bool) -> String {
    let mut text = String::new();
    for EstimatedPrice { model, price: of, .. } in estimated_prices(policies) {
        if json {
            let line = json!({"estimated": model, "input": of.input, "output": of.output});
            let _ = writeln!(text, "{}", harmless_json(&line));
        } else {
            let _ = writeln!(
                text,
                "Estimated: no price is listed for {}; it counts as {}, the most expensive that is known",
                harmless(&model),
                format_price(of)
            );
        }
    }
    text
}

impl DayStats {
    fn count(&mut self, trace: &Trace) {
        self.messages += 1;
        let asked = trace.asked.iter().filter(|asked| !asked.cached);
        for asked in asked {
            self.calls += 1;
            self.prompt_chars += asked.prompt_chars;
        }
        self.micros += trace.micros;
        match (trace.outcome, trace.addressed) {
            (Outcome::Ignored | Outcome::Silent, _) => (),
            _ if matches!(trace.cause, Cause::Excused { .. }) => self.excuses += 1,
            (_, Some(_)) => self.answers += 1,
            (Outcome::Reacts, None) => self.reactions += 1,
            (Outcome::Acknowledges | Outcome::Replies, None) => self.contributions += 1,
        }
        if let Some(response) = trace.received {
            *self.received.entry(response).or_default() += 1;
        }
    }

    fn share(&self) -> f64 {
        self.contributions as f64 / self.messages.max(1) as f64
    }

    fn json(&self, day: &str, room: &str) -> Value {
        let received: serde_json::Map<String, Value> = Response::ALL
            .map(|response| (response.words().replace(' ', "_"), self.of(response).into()))
            .into_iter()
            .collect();
        json!({
            "day": day, "room": room, "messages": self.messages, "contributions": self.contributions,
            "share": self.share(), "reactions": self.reactions, "answers": self.answers, "excuses": self.excuses,
            "received": received,
            "judge_calls": self.calls, "judge_prompt_chars": self.prompt_chars, "dollars": self.micros as f64 / 1e6, "spent": self.spent,
        })
    }

    fn of(&self, response: Response) -> u64 {
        self.received.get(&response).copied().unwrap_or(0)
    }
}

fn table(days: &BTreeMap<(String, String), DayStats>) -> String {
    if days.is_empty() {
        return "No decision is stored yet.\n".into();
    }
    let mut text = String::new();
    for ((day, room), stats) in days {
        let _ = writeln!(text, "{day}  {}", harmless(room));
        let _ = writeln!(
            text,
            "  {} messages, {} contributions ({:.1} %), {} reactions, {} answers when addressed, {} excuses",
            stats.messages,
            stats.contributions,
            100.0 * stats.share(),
            stats.reactions,
            stats.answers,
            stats.excuses
        );
        let told: Vec<String> = Response::ALL
            .into_iter()
            .filter(|response| stats.of(*response) > 0)
            .map(|response| format!("{} {}", stats.of(response), response.words()))
            .collect();
        if !told.is_empty() {
            let _ = writeln!(text, "  its contributions were: {}", told.join(", "));
        }
        let _ = writeln!(
            text,
            "  {} questions to the judge, {} characters; ${:.6} for these decisions",
            stats.calls,
            stats.prompt_chars,
            stats.micros as f64 / 1e6
        );
        if let Some(spent) = stats.spent {
            let _ = writeln!(
                text,
                "  spent today, memory and lost calls included: {}",
                format_cost(spent, Cost::default(), Language::ENGLISH)
            );
        }
    }
    text
}
