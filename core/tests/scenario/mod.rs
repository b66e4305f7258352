//! Reads a scenario, lives it in virtual time, and tells the decisions in the words of its `expect` block.
//!
//! A scenario is a title, what it shows, and blocks: `toml` (settings), `judge` (what models answer and what fails),
//! `talk` (see [`talk`]), `expect` (a line for each message) and, where it matters, `posted` (what people see of it),
//! `received` (what they made of it) and `progress` (how far answers in several posts came).

mod platform;
mod talk;

use aizuchi_core::effect::{Cause, Outcome, RestStopped, Trace};
use aizuchi_core::listen::Unheard;
use aizuchi_core::settings::Layers;
use aizuchi_core::sim::{ScriptLine, Sim, StandIn};
use aizuchi_core::types::{HeardAs, Place, Span, Time};
use aizuchi_core::{Engine, Input};

pub struct Ran {
    pub expected: Vec<String>,
    pub decided: Vec<String>,
}

/// The text between "```kind" and "```".
fn block<'a>(text: &'a str, kind: &str) -> Option<&'a str> {
    let opening = format!("```{kind}\n");
    let start = text.find(&opening)? + opening.len();
    let length = text[start..].find("```")?;
    Some(&text[start..start + length])
}

fn squeeze(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

pub fn run(text: &str) -> Result<Ran, String> {
    let mut layers = Layers::default();
    layers.add_file("settings", block(text, "toml").unwrap_or_default());
    layers.suggest_for_replay();
    let policies = layers.resolve(&|_| None).map_err(|problems| problems[0].to_string())?;
    let script = script(block(text, "judge").unwrap_or_default())?;
    let world = platform::Platform::new(script, StandIn::new(false, Vec::new(), &policies));
    let mut sim = Sim::new(Engine::new(policies.clone()), world);
    let events = talk::parse(block(text, "talk").ok_or("no talk block")?)?;
    let mut decided: Vec<Option<String>> = Vec::new();
    let mut said = Vec::new();
    for event in events {
        match event {
            talk::Event::Restart(at) => {
                let kept = serde_json::to_string(&sim.engine.snapshot()).map_err(|error| error.to_string())?;
                let snapshot = serde_json::from_str(&kept).map_err(|error| error.to_string())?;
                sim.engine = Engine::restore(policies.clone(), snapshot)?;
                sim.lose_answers();
                sim.feed_late(at, Input::Resumed);
            }
            talk::Event::Happens(at, Input::Said(message)) => {
                said.push(message.id.clone());
                decided.push(None);
                sim.feed(at, Input::Said(message));
            }
            talk::Event::Happens(at, input) => sim.feed(at, input),
        }
        collect(&mut sim.traces, &said, &mut decided)?;
    }
    sim.finish();
    collect(&mut sim.traces, &said, &mut decided)?;
    let decided: Option<Vec<String>> = decided.into_iter().collect();
    let decided = decided.ok_or("a message was never decided")?;
    let expected: Vec<String> = block(text, "expect").unwrap_or_default().lines().map(squeeze).collect();
    let posted: Vec<String> = sim.oracle.told().iter().map(|line| squeeze(line)).collect();
    let received = |trace: &Trace| Some(format!("{} {}", trace.message, trace.received?.words()));
    let received: Vec<String> = sim.received.iter().filter_map(received).collect();
    if let Some(wanted) = block(text, "received")
        && received.iter().ne(&wanted.lines().map(squeeze).collect::<Vec<_>>())
    {
        return Err(format!("received was\n{}", received.join("\n")));
    }
    let progress: Vec<String> = sim.updated.iter().filter_map(progress).collect();
    if let Some(wanted) = block(text, "progress")
        && progress.iter().ne(&wanted.lines().map(squeeze).collect::<Vec<_>>())
    {
        return Err(format!("progress was\n{}", progress.join("\n")));
    }
    match block(text, "posted") {
        Some(wanted) if decided == expected && posted.iter().ne(&wanted.lines().map(squeeze).collect::<Vec<_>>()) => {
            Err(format!("posted was\n{}", posted.join("\n")))
        }
        _ => Ok(Ran { expected, decided }),
    }
}

/// How far the answer to a message came.
fn progress(trace: &Trace) -> Option<String> {
    let progress = trace.chunks.as_ref()?;
    let stopped = match &progress.stopped {
        None => String::new(),
        Some(RestStopped::Muted) => ", muted".into(),
        Some(RestStopped::Deleted) => ", deleted".into(),
        Some(RestStopped::Forgotten) => ", forgotten".into(),
        Some(RestStopped::Overdue(_)) => ", overdue".into(),
        Some(RestStopped::Failed(what)) => format!(", failed: {what}"),
    };
    Some(format!("{} {} of {}{stopped}", trace.message, progress.posted(), progress.of))
}

/// Each decision belongs to its message; a repeated one to the latest of that id.
fn collect(
    traces: &mut Vec<Trace>,
    said: &[aizuchi_core::types::MessageId],
    decided: &mut [Option<String>],
) -> Result<(), String> {
    for trace in traces.drain(..) {
        let open = (0..said.len()).rev().find(|index| said[*index] == trace.message && decided[*index].is_none());
        let index = open.ok_or_else(|| format!("{} was decided twice: {}", trace.message, tell(&trace)))?;
        decided[index] = Some(tell(&trace));
    }
    Ok(())
}

fn clock(at: Time) -> String {
    let seconds = at.0 / 1000 % 86_400;
    let millis = at.0 % 1000;
    let plain = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if millis == 0 { plain } else { format!("{plain}.{millis:03}") }
}

/// Where it happened, if not in the channel itself.
fn place(place: &Place) -> String {
    if *place == Place::room("room") { String::new() } else { format!("[{place}] ") }
}

/// Longest answer of a model that is shown in full.
const ANSWER_CHARS_MAX: usize = 60;

/// One decision as one line.
fn tell(trace: &Trace) -> String {
    let points: Vec<String> = trace.given().map(|(rule, points)| format!("{rule} {points}")).collect();
    let score = match trace.score {
        None => "-".to_owned(),
        // What was learnt changes with every lesson; what follows from it stays.
        Some(_) if let Some(bar) = trace.bar => {
            if bar.worth >= bar.threshold { "likely" } else { "unlikely" }.to_owned()
        }
        Some(score) if points.is_empty() => score.to_string(),
        Some(score) => format!("{score} = {}", points.join(", ")),
    };
    let who = format!("{}{}", place(&trace.place), trace.author);
    let mut line = format!("{} {who} {score} {}", clock(trace.at), outcome(trace.outcome));
    if let Some(at) = trace.acted_at.filter(|at| *at != trace.at) {
        line += &format!(" at {}", clock(at));
    }
    if let Some(why) = why(trace) {
        line += &format!(" ({why})");
    }
    let asked: Vec<String> = trace
        .asked
        .iter()
        .map(|asked| {
            let answer: String = asked.answer.chars().take(ANSWER_CHARS_MAX).collect();
            let more = if answer.len() < asked.answer.len() { "…" } else { "" };
            let again = if asked.cached { " again" } else { "" };
            let failed = if asked.failed { "failed: " } else { "" };
            format!("{}{again}: {failed}{answer}{more}", asked.question.id())
        })
        .collect();
    if !asked.is_empty() {
        line += &format!(" | {}", asked.join(" | "));
    }
    squeeze(&line)
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ignored => "ignored",
        Outcome::Silent => "silent",
        Outcome::Reacts => "reacts",
        Outcome::Acknowledges => "acknowledges",
        Outcome::Replies => "replies",
    }
}

fn passed_over(unheard: Unheard) -> String {
    match unheard {
        Unheard::Itself => "its own".into(),
        Unheard::Empty => "empty".into(),
        Unheard::Direct => "direct message".into(),
        Unheard::ChannelOff => "channel off".into(),
        Unheard::OtherBot => "another bot".into(),
        Unheard::BotNotAnswered => "another bot, heard".into(),
        Unheard::Repeated => "heard before".into(),
        Unheard::Late => "late, remembered".into(),
        Unheard::TooLate { late, limit, away: false } => format!("{late} late, limit {limit}; remembered"),
        Unheard::TooLate { late, limit, away: true } => format!("missed {late} ago, limit {limit}; remembered"),
        Unheard::Missed { late } => format!("missed {late} ago, remembered"),
    }
}

/// What was made of words about it, and the cause where the score and the answers do not tell it already.
fn why(trace: &Trace) -> Option<String> {
    let heard_as = trace.heard_as.map(|heard| match heard {
        HeardAs::NameInPassing => "name in passing",
        HeardAs::NameUnclear => "name unclear",
        HeardAs::TalkAgain => "may talk again",
    });
    match (heard_as, cause(trace)) {
        (Some(heard), Some(cause)) => Some(format!("{heard}; {cause}")),
        (Some(heard), None) => Some(heard.to_owned()),
        (None, cause) => cause,
    }
}

fn cause(trace: &Trace) -> Option<String> {
    match &trace.cause {
        Cause::Unlikely
        | Cause::Likely
        | Cause::Low { .. }
        | Cause::UnderThreshold { .. }
        | Cause::High { .. }
        | Cause::OverThreshold { .. } => None,
        Cause::SaidNo { .. } | Cause::SaidYes { .. } => None,
        Cause::Unheard(unheard) => Some(passed_over(*unheard)),
        Cause::Addressed(addressed) => Some(addressed.id().to_owned()),
        Cause::Closed(_) => trace.gate.as_ref().map(|gate| format!("gate {gate}")),
        Cause::Scheduled => Some("scheduled".into()),
        Cause::Ending => Some("ending".into()),
        Cause::Unchanged => Some("unchanged".into()),
        Cause::ToldToBeQuiet(span) => Some(format!("told to be quiet for {span}")),
        Cause::Thanked => Some("thanked".into()),
        Cause::ToldToBeQuietUntilLifted => Some("told to be quiet until it is lifted".into()),
        Cause::Failed { what } => Some(format!("failed: {what}")),
        Cause::Excused { what } => Some(format!("excused: {what}")),
        Cause::CancelledBy(by) => Some(format!("cancelled by {by}")),
        Cause::SupersededBy(by) => Some(format!("superseded by {by}")),
        Cause::PartOf(by) => Some(format!("part of {by}")),
        Cause::AnsweredBy(by) => Some(format!("answered by {by}")),
        Cause::AnsweredInstead(by) => Some(format!("answers {by} instead")),
        Cause::TooMany => Some("too many called".into()),
        Cause::Deleted => Some("deleted".into()),
        Cause::Forgotten => Some("forgotten".into()),
        Cause::Stale { overdue } => Some(format!("overdue by {overdue}")),
        Cause::NothingToSay => Some("nothing to say".into()),
        Cause::Repeated => Some("nearly the same again".into()),
        Cause::Undecided => Some("undecided".into()),
    }
}

/// `QUESTION ["where it holds"] [(latency)]: answer`, an answer beginning with `!` being a failure.
fn script(text: &str) -> Result<Vec<ScriptLine>, String> {
    text.lines().filter(|line| !line.trim().is_empty()).map(script_line).collect()
}

fn script_line(line: &str) -> Result<ScriptLine, String> {
    let wrong = || format!("judge line {line:?}: expected QUESTION [\"part of the talk\"] [(2s)]: answer");
    let end = line.find(|c: char| !c.is_alphabetic()).ok_or_else(wrong)?;
    let (question, mut rest) = line.split_at(end);
    let mut holds = None;
    let mut latency = Span::ZERO;
    loop {
        rest = rest.trim_start();
        if let Some(quoted) = rest.strip_prefix('"') {
            let (part, after) = quoted.split_once('"').ok_or_else(wrong)?;
            (holds, rest) = (Some(part.to_owned()), after);
        } else if let Some(timed) = rest.strip_prefix('(') {
            let (span, after) = timed.split_once(')').ok_or_else(wrong)?;
            (latency, rest) = (talk::span(span).ok_or_else(wrong)?, after);
        } else {
            break;
        }
    }
    let answer = rest.strip_prefix(':').ok_or_else(wrong)?.trim();
    let answer = answer.strip_prefix('!').map_or_else(|| Ok(answer.to_owned()), |failure| Err(failure.to_owned()));
    Ok(ScriptLine { question: question.to_owned(), holds, answer, latency })
}

pub fn with_expectation(text: &str, decided: &[String]) -> String {
    let lines: String = decided.iter().map(|line| format!("{line}\n")).collect();
    match block(text, "expect") {
        Some(_) => {
            let start = text.find("```expect\n").expect("the block was found") + "```expect\n".len();
            let end = start + text[start..].find("```").expect("the block was found");
            format!("{}{lines}{}", &text[..start], &text[end..])
        }
        None => format!("{}\n```expect\n{lines}```\n", text.trim_end()),
    }
}

pub fn difference(ran: &Ran) -> String {
    let longest = ran.expected.len().max(ran.decided.len());
    let lines = (0..longest).map(|place| match (ran.expected.get(place), ran.decided.get(place)) {
        (Some(expected), Some(decided)) if expected == decided => format!("  {expected}"),
        (expected, decided) => {
            let show =
                |sign: &str, line: Option<&String>| line.map_or_else(String::new, |line| format!("{sign} {line}"));
            [show("-", expected), show("+", decided)].join("\n")
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}
