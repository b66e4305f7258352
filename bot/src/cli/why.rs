//! `aizuchi why`: explains a decision from its stored trace.

use std::fmt::Write as _;

use aizuchi_core::gates::GATES;
use aizuchi_core::likelihood::Contribution;
use aizuchi_core::settings;
use aizuchi_core::trace::{QuestionTrace, ToolTrace};
use aizuchi_core::types::{Message, MessageId, RoomId};
use aizuchi_core::{Input, Trace};
use anyhow::{Context as _, bail};
use clap::Args;

use crate::cli::reader::ReaderArguments;
use crate::cli::settings::SettingsArguments;
use crate::cli::show::{harmless, harmless_json};
use crate::cli::{store, when};
use crate::journal::{Records, traces};
use crate::language::{Language, LocalizedMessage, message, say};
use crate::ports::{Selection, Stores};
use crate::replay::decision;
use crate::sentences::sentence;
use crate::stores::StoreError;

#[derive(Args, Default)]
pub struct WhyArguments {
    /// The id of the message
    #[arg(value_name = "MESSAGE-ID", required_unless_present = "last", conflicts_with = "last")]
    pub message: Option<String>,
    /// Explain the latest decision
    #[arg(long)]
    pub last: bool,
    /// Only in this room, such as web:lobby or lobby
    #[arg(long, value_name = "ROOM")]
    pub room: Option<String>,
    /// The data folder [default: that of the settings]
    #[arg(long, value_name = "DIR")]
    pub folder: Option<String>,
    /// Print one line of JSON instead of text
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub reader: ReaderArguments,
    #[command(flatten)]
    pub settings: SettingsArguments,
}

pub fn run(arguments: &WhyArguments) -> anyhow::Result<()> {
    super::print(&run_to_text(arguments)?)
}

/// The output of the command.
pub fn run_to_text(arguments: &WhyArguments) -> anyhow::Result<String> {
    let location = store::location(arguments.folder.as_deref(), &arguments.settings)?;
    let opened = store::open(&location)?;
    let room = arguments.room.as_deref().map(|room| store::find_room(&opened, room)).transpose()?;
    let unreadable = || format!("cannot read the decisions in {}", location.display_name());
    let decisions = &*opened.stores.decisions;
    let trace = match &arguments.message {
        Some(id) => {
            let message = MessageId::new(id);
            match opened.wait(traces::find(decisions, room.as_ref(), &message)).with_context(unreadable)? {
                Some(trace) => trace,
                None => {
                    bail!(opened.wait(unknown(&opened.stores, room.as_ref(), &message)).with_context(unreadable)?)
                }
            }
        }
        None => match opened.wait(traces::last(decisions, room.as_ref())).with_context(unreadable)? {
            Some(trace) => trace,
            None => bail!("no decision is stored yet"),
        },
    };
    if arguments.json {
        return Ok(format!("{}\n", harmless_json(&decision(&trace))));
    }
    let said = opened.wait(find_message(&opened.stores, &trace)).with_context(unreadable)?;
    let language = opened.wait(language(arguments, &opened.stores, &trace)).with_context(unreadable)?;
    Ok(explain(&trace, said.as_ref().map(|message| &*message.text), language))
}

/// The maximum number of records searched for a message.
const SEARCHED_MAX: u32 = 5000;
const SHOWN_IDS: u32 = 5;

async fn unknown(stores: &Stores, room: Option<&RoomId>, id: &MessageId) -> Result<String, StoreError> {
    let is_it = |message: &Message| message.id == *id && room.is_none_or(|room| message.place.room == *room);
    let mut records = Records::last(&*stores.journal, SEARCHED_MAX).await?;
    while let Some(record) = records.next_whole().await? {
        if let Input::Said(message) = record.input
            && is_it(&message)
        {
            return Ok(format!("{id} was received at {} and has no decision yet", when::day_and_clock(message.at)));
        }
    }
    let latest = stores.decisions.latest(room, "", SHOWN_IDS).await?;
    let alike = stores.decisions.latest(room, id.as_str(), SHOWN_IDS).await?;
    let listed = |ids: &[MessageId]| store::join_names(&ids.iter().map(|id| id.as_str()).collect::<Vec<_>>());
    let mut told = format!("nothing is known about a message {id}");
    if !alike.is_empty() {
        let _ = write!(told, "; there is {}", listed(&alike));
    }
    let _ = write!(told, "; the latest are {}", listed(&latest));
    Ok(told)
}

/// The message itself, if the journal still has it.
async fn find_message(stores: &Stores, trace: &Trace) -> Result<Option<Message>, StoreError> {
    let seqs = stores.index.select(&selection_of(trace)).await?;
    let records = stores.index.read(&seqs).await?;
    Ok(records.into_iter().find_map(|record| {
        let Input::Said(message) = record.ok()?.input else { return None };
        Some(message).filter(|message| message.place == trace.place)
    }))
}

fn selection_of(trace: &Trace) -> Selection {
    Selection::Messages(vec![(trace.place.room.clone(), trace.message.clone())])
}

/// How many messages of the room are used to detect its language.
const TALK_MAX: usize = 20;

/// The reader's language, or else the room's: as set, or as people last talked there.
async fn language(arguments: &WhyArguments, stores: &Stores, trace: &Trace) -> Result<Language, StoreError> {
    let room = trace.place.room.as_str();
    let policies = arguments.settings.policies().ok();
    let set = policies
        .map_or(settings::LanguageSetting::Auto, |policies| policies.for_room(room).settings.bot.language.clone());
    let mut talk = Vec::new();
    let mut records = Records::last(&*stores.journal, SEARCHED_MAX).await?;
    while let Some(record) = records.next_whole().await? {
        if let Input::Said(message) = record.input
            && message.place.room.as_str() == room
        {
            talk.push(message.text);
        }
    }
    let last = talk.iter().rev().take(TALK_MAX).map(|text| &**text);
    Ok(arguments.reader.language(&set, last))
}

fn explain(trace: &Trace, said: Option<&str>, language: Language) -> String {
    let mut text = String::new();
    let place = trace.place.to_string();
    let head = [&*place, &*when::day_and_clock(trace.at), &*trace.author, trace.message.as_str()];
    let _ = writeln!(text, "{}", head.map(harmless).join(" · "));
    for line in said.unwrap_or_default().lines() {
        let _ = writeln!(text, "  {}", harmless(line));
    }
    let _ = writeln!(text, "\n{}\n", harmless(&sentence(trace, language)));
    let label = |key: &str| padded(&language.text(key));
    let given: Vec<(&str, i16)> = trace.given().collect();
    if trace.score.is_some() || !given.is_empty() {
        let score = trace.score.map_or_else(|| language.text("why-no-score"), |score| score.to_string());
        let _ = writeln!(text, "{}{score}", label("why-score"));
    }
    for (rule, points) in given {
        let _ = writeln!(text, "  {points:>+4}  {:16} {}", rule, language.text(&format!("rule-{rule}.doc")));
    }
    text.push_str(&likelihood(trace, language));
    if let Some(gate) = &trace.gate {
        let known = GATES.iter().find(|known| known.id == gate);
        let doc = known.map_or_else(String::new, |known| language.text(&format!("gate-{}.doc", known.id)));
        let _ =
            writeln!(text, "{}{}", label("why-gate"), say!(language, "why-gate-doc", gate = harmless(gate), doc = doc));
    }
    for asked in &trace.asked {
        let _ = writeln!(text, "{}{}", label("why-asked"), question(asked).say(language));
        for line in asked.answer.lines() {
            let _ = writeln!(text, "  {}", harmless(line));
        }
    }
    for tool in &trace.tools {
        let _ = writeln!(text, "{}{}", label("why-tool"), tool_call(tool, language));
        for line in tool.result.lines() {
            let _ = writeln!(text, "  {}", harmless(line));
        }
    }
    if let Some(at) = trace.acted_at {
        let (time, span) = (when::day_and_clock(at), at.since(trace.at));
        let _ = writeln!(text, "{}{}", label("why-acted"), say!(language, "why-acted-after", time = time, span = span));
    }
    if trace.micros > 0 || !trace.asked.is_empty() {
        let amount = format!("{:.6}", trace.micros as f64 / 1e6);
        let _ = writeln!(text, "{}{}", label("why-cost"), say!(language, "why-dollars", amount = amount));
    }
    text
}

fn question(asked: &QuestionTrace) -> LocalizedMessage {
    let (id, time, chars) = (asked.question.id(), when::clock(asked.at), asked.prompt_chars);
    match (asked.cached, asked.failed) {
        (true, _) => message!("why-asked-cached", question = id, time = time),
        (false, true) => message!("why-asked-failed", question = id, time = time, chars = chars),
        (false, false) => message!("why-asked-shown", question = id, time = time, chars = chars),
    }
}

/// A tool call: its arguments, how it ended and how long it took.
fn tool_call(tool: &ToolTrace, language: Language) -> String {
    let (name, arguments) = (harmless(&tool.name), harmless(&tool.arguments));
    let call =
        say!(language, "why-tool-call", name = name, arguments = arguments, ended = &*tool.ended, span = tool.took);
    let id = if tool.ended == "denied" { "why-tool-refused" } else { "why-tool-approved" };
    match &tool.decided_by {
        Some(person) => call + &say!(language, id, person = harmless(person.as_str())),
        None => call,
    }
}

/// A label before its value, padded so that all values align.
fn padded(label: &str) -> String {
    const COLUMNS: usize = 7;
    let columns: usize = label.chars().map(|c| if c.is_ascii() { 1 } else { 2 }).sum();
    format!("{label}{}", " ".repeat(COLUMNS.saturating_sub(columns).max(1)))
}

/// What multiplied the odds that somebody joins, feature by feature.
fn likelihood(trace: &Trace, language: Language) -> String {
    /// Features that change the odds by less are summed up in one line.
    const LEAST: f32 = 0.03;
    let all = trace.contributions();
    let (Some(p_join), false) = (trace.p_join, all.is_empty()) else { return String::new() };
    let mut text = format!("{}{:.1} %\n", padded(&language.text("why-likely")), p_join * 100.0);
    let (told, rest): (Vec<&Contribution>, Vec<&Contribution>) =
        all.iter().partition(|part| part.log_odds.abs() >= LEAST);
    for part in told {
        let doc = language.text(&format!("feature-{}", part.feature.id));
        let _ = writeln!(text, "  ×{:4.2}  {:16} {doc}", part.factor(), part.feature.id);
    }
    let others: f32 = rest.iter().map(|part| part.factor()).product();
    let _ = writeln!(text, "  ×{others:4.2}  {}", say!(language, "why-others", n = rest.len()));
    text
}
