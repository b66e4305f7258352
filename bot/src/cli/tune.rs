//! `aizuchi tune`: shows what the bot would have said at a given talk share, and prints the settings for it.

use std::fmt::Write as _;

use aizuchi_core::types::Share;
use clap::Args;

use crate::cli::reader::ReaderArguments;
use crate::cli::settings::SettingsArguments;
use crate::cli::show::harmless;
use crate::cli::when;
use crate::replay::{Decided, Judge, OwnPosts, ReplaySummary, run as replay};
use crate::sentences::sentence;

#[derive(Args)]
pub struct TuneArguments {
    /// A log of any format that replay reads
    log: String,
    /// The share of what people say that it should answer unasked, such as 3% [default: that of the settings]
    #[arg(long, value_name = "SHARE", value_parser = super::eval::share)]
    talk: Option<Share>,
    /// Who judges: yes, no, offline or script:FILE
    #[arg(long, default_value = "yes")]
    judge: Judge,
    #[command(flatten)]
    reader: ReaderArguments,
    #[command(flatten)]
    settings: SettingsArguments,
}

pub fn run(arguments: &TuneArguments) -> anyhow::Result<()> {
    let mut settings = arguments.settings.clone();
    let asked = arguments.talk.map(|share| share.to_string().replace(' ', ""));
    settings.set.extend(asked.iter().map(|share| format!("talk={share}")));
    let (policies, preset) = settings.policies_for_replay()?;
    let log = aizuchi_formats::read(&arguments.log, &aizuchi_formats::Options::default(), &mut |_| ())?;
    let oracle = arguments.judge.oracle(&policies, || anyhow::bail!("--judge live is not for tuning; use replay"))?;
    let share = policies.general().settings.talk;
    let set = policies.general().settings.bot.language.clone();
    let decided = replay(policies, oracle, log.events, OwnPosts::Ignored, &mut |_| ());
    let language = arguments.reader.language(&set, decided.iter().map(|decided| &*decided.text));
    let said: Vec<&Decided> = decided.iter().filter(|decided| super::eval::is_contribution(decided)).collect();
    let mut text = String::new();
    for Decided { trace, text: words } in &said {
        let shown: String = words.chars().take(WORDS_MAX).collect();
        let _ = writeln!(
            text,
            "{}  {}  {}: {}\n    {}",
            when::day_and_clock(trace.acted_at.unwrap_or(trace.at)),
            harmless(trace.place.to_string().as_str()),
            harmless(&trace.author),
            harmless(&shown.replace('\n', " ⏎ ")),
            harmless(&sentence(trace, language)),
        );
    }
    let people = decided.iter().filter(|decided| decided.trace.p_join.is_some()).count();
    let heard = if people > 0 { people } else { decided.len() };
    let summary = ReplaySummary::of(&decided);
    let _ = writeln!(
        text,
        "\n{} contributions to {heard} messages of people: {:.2} %{}",
        said.len(),
        100.0 * said.len() as f64 / heard.max(1) as f64,
        share.map_or_else(String::new, |share| format!(", {share} was requested")),
    );
    let _ = writeln!(
        text,
        "{:.1} questions to the judge and {:.0} characters per 1,000 messages",
        summary.per_1000(summary.judge_calls),
        summary.per_1000(summary.judge_prompt_chars)
    );
    let _ = writeln!(text, "\nSettings for aizuchi.toml:\n\npreset = \"{preset}\"");
    if let Some(share) = share {
        let _ = writeln!(text, "talk = \"{}\"", share.to_string().replace(' ', ""));
    }
    super::print(&text)
}

/// The maximum length of an excerpt of a message.
const WORDS_MAX: usize = 120;
