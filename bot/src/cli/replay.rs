//! `aizuchi replay`: what it would have done in a recorded channel.

mod journal;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use aizuchi_core::settings::Layers;
use aizuchi_core::types::Voice;
use aizuchi_core::{Input, Policies};
use aizuchi_formats::{Event, Log};
use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};
use indicatif::ProgressBar;
use serde_json::json;

use crate::cli::outputs;
use crate::cli::reader::ReaderArguments;
use crate::cli::settings::SettingsArguments;
use crate::cli::show::{print_error, progress_bar};
use crate::config::{self, BadSettings};
use crate::models::{self, Models};
use crate::ports::ModelClient;
use crate::prompts::Prompts;
use crate::replay::{
    CountingMemory, Judge, OwnPosts, Replay, ReplayOracle, ReplaySummary, html, run as replay, table, write_decisions,
};

#[derive(Args, Default)]
pub struct ReplayArguments {
    /// A transcript (JSON Lines), a DiscordChatExporter JSON file, a Slack or Zulip export (folder or zip) or an IRC log; - is standard input, gzip is allowed
    #[arg(required_unless_present = "journal", conflicts_with = "journal")]
    pub log: Option<String>,
    /// Replay the journal in this data folder instead of a log [default: that of the settings]
    #[arg(long, value_name = "FOLDER", num_args = 0..=1)]
    pub journal: Option<Option<String>>,
    #[command(flatten)]
    pub settings: SettingsArguments,
    #[command(flatten)]
    pub reader: ReaderArguments,
    /// An id or name in the log that is the bot itself; can be repeated
    #[arg(long, value_name = "ID", conflicts_with = "journal")]
    pub me: Vec<String>,
    /// Who judges where a model would be asked: no, yes, script:FILE, offline (the built-in model), or live (the models of the settings, at their price); for a journal also recorded: the stored answer about the same message, or else no [default: no; for a journal recorded]
    #[arg(long)]
    pub judge: Option<Judge>,
    /// What to do with the bot's own posts in the log
    #[arg(long, value_enum, default_value_t = OwnPostsMode::Ignored)]
    pub own: OwnPostsMode,
    /// Stop at the first line or record that cannot be read, instead of skipping it
    #[arg(long)]
    pub strict: bool,
    /// Count the model calls of long-term memory: summaries and reflections
    #[arg(long, conflicts_with = "journal")]
    pub memory: bool,
    /// Write every decision to this file, one JSON line per message
    #[arg(long, value_name = "OUT.jsonl")]
    pub decisions: Option<String>,
    /// Write an HTML report to this file
    #[arg(long, value_name = "OUT.html")]
    pub report: Option<String>,
    /// Show every message in the table, not only those it acts on
    #[arg(long)]
    pub all: bool,
    /// Print one line of JSON at the end instead of the table
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum OwnPostsMode {
    #[default]
    /// Drop them: its own posts are those of this replay
    Ignored,
    /// Treat them as its own
    Recorded,
}

impl ReplayArguments {
    fn own_posts(&self) -> OwnPosts {
        match self.own {
            OwnPostsMode::Ignored => OwnPosts::Ignored,
            OwnPostsMode::Recorded if self.me.is_empty() => OwnPosts::Recorded,
            OwnPostsMode::Recorded => OwnPosts::StandIn,
        }
    }
}

pub fn run(arguments: &ReplayArguments) -> anyhow::Result<()> {
    super::print(&run_to_text(arguments)?)
}

/// The output of the command.
pub fn run_to_text(arguments: &ReplayArguments) -> anyhow::Result<String> {
    let Some(log) = &arguments.log else {
        return journal::run_to_text(arguments);
    };
    check_outputs(arguments, log)?;
    let judge = arguments.judge.clone().unwrap_or(Judge::No);
    if judge == Judge::Recorded {
        return Err(BadSettings(vec!["--judge recorded needs --journal: a log holds no answers".into()]).into());
    }
    let mut layers = arguments.settings.layers()?;
    layers.suggest_for_replay();
    if arguments.memory {
        layers.suggest_long_memory(true);
    }
    let (policies, preset) = policies(layers, &judge)?;
    let name = name_of(log);
    let log = read(arguments, log)?;
    warn_of_absent(&arguments.me, &log.events, &name);
    let oracle = oracle(&judge, &policies)?;
    let score = policies.general().settings.score.clone();
    let set = policies.general().settings.bot.language.clone();
    let bar = progress_bar(log.events.len() as u64, "deciding");
    let bad_lines = log.bad.len() as u64;
    let started = Instant::now();
    let mut oracle = CountingMemory::new(oracle, &policies, &log.events);
    let decided = replay(policies, &mut oracle, log.events, arguments.own_posts(), &mut steps(&judge, &bar));
    let remembered = arguments.memory.then_some(oracle.remembered);
    let texts = || decided.iter().map(|decided| &*decided.text);
    let reader = arguments.reader.language(&set, texts());
    let language = arguments.reader.language_of_file(&set, texts());
    let elapsed = started.elapsed();
    bar.finish_and_clear();
    let replay = Replay {
        log: name,
        preset,
        changes: arguments.settings.set.clone(),
        judge: judge_name(&judge),
        bad_lines,
        decided,
        low: score.low,
        high: score.high,
        remembered,
        language,
    };
    write_files(arguments, &replay)?;
    if arguments.json {
        return Ok(format!("{}\n", json_summary(&replay, elapsed.as_secs_f64())));
    }
    Ok(table(&replay, arguments.all, reader))
}

fn write_files(arguments: &ReplayArguments, replay: &Replay) -> anyhow::Result<()> {
    if let Some(path) = &arguments.decisions {
        let mut out = BufWriter::new(create(path)?);
        write_decisions(&replay.decided, arguments.reader.language.unwrap_or_default(), &mut out)
            .and_then(|()| out.flush())
            .with_context(|| format!("cannot write {path}"))?;
    }
    if let Some(path) = &arguments.report {
        create(path)?.write_all(html(replay).as_bytes()).with_context(|| format!("cannot write {path}"))?;
    }
    Ok(())
}

/// The settings, with the chosen models if real ones are called.
fn policies(mut layers: Layers, judge: &Judge) -> anyhow::Result<(Policies, String)> {
    if *judge == Judge::Live {
        let choice = models::choose(&mut layers, &variable, None)?;
        if choice.is_offline() {
            return Err(BadSettings(vec![format!("--judge live: {}", choice.told)]).into());
        }
        print_error(&choice.told);
    }
    let preset = layers.preset();
    Ok((config::resolve(&layers)?, preset))
}

fn oracle(judge: &Judge, policies: &Policies) -> anyhow::Result<ReplayOracle> {
    let prompts = Arc::new(Prompts::new(PathBuf::from(&policies.general().settings.prompts.folder)));
    let models = || Ok(Arc::new(Models::new(prompts, policies, &variable)?) as Arc<dyn ModelClient>);
    judge.oracle(policies, models)
}

/// Updating the bar for every message would cost more than the messages do, unless each waits for a model.
fn steps<'a>(judge: &Judge, bar: &'a ProgressBar) -> impl FnMut(u64) + use<'a> {
    let step = if *judge == Judge::Live { 1 } else { 1024 };
    move |done| {
        if done.is_multiple_of(step) {
            bar.set_position(done);
        }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn read(arguments: &ReplayArguments, log: &str) -> anyhow::Result<Log> {
    let options = aizuchi_formats::Options {
        strict: arguments.strict,
        me: arguments.me.clone(),
        ..aizuchi_formats::Options::default()
    };
    let size = std::fs::metadata(log).map_or(0, |file| file.len());
    let bar = progress_bar(size, "reading");
    let name = log;
    let log = aizuchi_formats::read(log, &options, &mut |bytes| bar.set_position(bytes))?;
    bar.finish_and_clear();
    const SHOWN: usize = 5;
    for bad in log.bad.iter().take(SHOWN) {
        print_error(&bad.to_string());
    }
    if log.bad.len() > SHOWN {
        print_error(&format!("… and {} more", log.bad.len() - SHOWN));
    }
    if !log.bad.is_empty() {
        let lines = log.bad.len() as u64 + log.events.len() as u64 + log.reactions;
        print_error(&format!("{} of {lines} lines could not be read and are skipped", log.bad.len()));
    }
    if log.events.is_empty() && !log.bad.is_empty() {
        bail!("nothing in {name} could be read");
    }
    Ok(log)
}

/// Warns about ids and names that do not occur in a log.
fn warn_of_absent(me: &[String], events: &[Event], log: &str) {
    let own: BTreeMap<&str, &str> = events
        .iter()
        .filter_map(|event| if let Input::Said(message) = &event.input { Some(&message.author) } else { None })
        .filter(|author| author.voice == Voice::Me)
        .map(|author| (author.id.as_str(), &*author.name))
        .collect();
    let is_known = |me: &String| own.iter().any(|(id, name)| id == me || name == me);
    let unknown: Vec<&str> = me.iter().filter(|me| !is_known(me)).map(String::as_str).collect();
    // An export may know a person by a further name that its messages do not have.
    let absent = me.len().saturating_sub(own.len());
    if absent >= unknown.len() {
        for me in unknown {
            print_error(&format!("--me {me}: nobody of this id or name is in {log}"));
        }
    } else if absent > 0 {
        print_error(&format!("--me {}: {absent} of them are not in {log}", unknown.join(", ")));
    }
}

/// The file name of the log, without its folder, which is private.
fn name_of(path: &str) -> String {
    Path::new(path).file_name().map_or_else(|| path.to_owned(), |name| name.to_string_lossy().into_owned())
}

fn judge_name(judge: &Judge) -> String {
    match judge {
        Judge::No => "no".into(),
        Judge::Yes => "yes".into(),
        Judge::Recorded => "recorded".into(),
        Judge::Offline => "offline".into(),
        Judge::Live => "live".into(),
        Judge::Script(file) => format!("script:{}", name_of(file)),
    }
}

fn check_outputs(arguments: &ReplayArguments, source: &str) -> anyhow::Result<()> {
    let script = if let Some(Judge::Script(file)) = &arguments.judge { Some(file.as_str()) } else { None };
    let inputs: Vec<&str> =
        [Some(source), arguments.settings.config.as_deref(), script].into_iter().flatten().collect();
    let given = [("--decisions", &arguments.decisions), ("--report", &arguments.report)];
    let outputs: Vec<_> = given.into_iter().filter_map(|(option, path)| Some((option, path.as_deref()?))).collect();
    outputs::check(&inputs, &outputs)
}

fn create(path: &str) -> anyhow::Result<File> {
    File::create(path).with_context(|| format!("cannot write {path}"))
}

fn json_summary(replay: &Replay, seconds: f64) -> serde_json::Value {
    let summary = ReplaySummary::of(&replay.decided);
    let remembered = replay.remembered.clone().unwrap_or_default();
    let mut figures = json!({
        "messages": summary.messages,
        "messages_per_s": (summary.messages as f64 / seconds.max(1e-9)).round(),
        "judge_calls_per_1000": summary.per_1000(summary.judge_calls),
        "judge_prompt_chars_per_1000": summary.per_1000(summary.judge_prompt_chars),
        "replies_per_1000": summary.per_1000(summary.replies),
        "acknowledgements_per_1000": summary.per_1000(summary.acknowledgements),
        "reactions_per_1000": summary.per_1000(summary.reactions),
        "dollars_per_1000": summary.per_1000(summary.micros) / 1e6,
        "bad_lines": replay.bad_lines,
        "rss_bytes": resident_bytes(),
    });
    if replay.remembered.is_some() {
        figures["memory_calls_per_1000"] = summary.per_1000(remembered.calls()).into();
        figures["memory_prompt_chars_per_1000"] = summary.per_1000(remembered.chars).into();
    }
    figures
}

/// Memory in use, if the system reports it.
fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
}
