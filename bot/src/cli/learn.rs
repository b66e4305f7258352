//! `aizuchi learn`: adapts the built-in models to the history of a room.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;

use aizuchi_core::learnt::{LearntModels, OwnModels, write};
use aizuchi_core::types::stable_hash;
use aizuchi_learn::adapt::{self, Adaptation, LABELLED_MIN, Verdict, adapt};
use aizuchi_measure::logs::{self, Channel, Said};
use anyhow::{Context as _, bail};
use clap::Args;
use jiff::Zoned;
use serde_json::{Value, json};

use crate::cli::eval::check_labels;
use crate::cli::outputs;
use crate::cli::show::progress_bar;

#[derive(Args)]
pub struct LearnArguments {
    /// Logs of the room, of any format that replay reads, - for standard input; their threads and replies are what is learnt from
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<String>,
    /// Write the models to this file, for score.model_file
    #[arg(long, value_name = "FILE")]
    out: String,
    /// Print one line of JSON instead of text
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &LearnArguments) -> anyhow::Result<()> {
    let inputs: Vec<&str> = arguments.logs.iter().map(String::as_str).collect();
    outputs::check(&inputs, &[("--out", &arguments.out)])?;
    let mut channels: Vec<Channel> = Vec::new();
    let mut heard: HashMap<u64, &str> = HashMap::new();
    for log in &arguments.logs {
        let more = logs::read(Path::new(log))?;
        check_new(log, &more, &mut heard)?;
        channels.extend(more);
    }
    check_writable(&arguments.out)?;
    let labelled = adapt::labelled(&channels);
    if labelled > 0 {
        check_labels(channels.iter())?;
    }
    if labelled < LABELLED_MIN {
        bail!(
            "{labelled} of {} messages have labels (replies, threads, gold_reply_to or gold_conversation); at least \
             {LABELLED_MIN} are needed",
            messages(&channels)
        );
    }
    let bar = progress_bar(1000, "learning");
    let adapted = adapt(&channels, &mut |share| bar.set_position((share * 1000.0) as u64));
    bar.finish_and_clear();
    let written = adapted.is_better().then(|| save(arguments, &channels, &adapted)).transpose()?;
    show(arguments, &channels, &adapted, written.as_deref())?;
    if written.is_none() {
        bail!("nothing is better than the built-in models; {} was not written", arguments.out);
    }
    Ok(())
}

/// Models that were trained on a message could guess it, so no message may occur in two logs.
fn check_new<'a>(log: &'a str, channels: &[Channel], heard: &mut HashMap<u64, &'a str>) -> anyhow::Result<()> {
    let key = |said: &Said| stable_hash(said.at.0, &format!("{}\n{}", said.name, said.text));
    let keys: Vec<u64> = channels.iter().flat_map(|channel| &channel.said).map(key).collect();
    let known: Vec<&str> = keys.iter().filter_map(|key| heard.get(key).copied()).collect();
    // A greeting may occur twice by chance.
    if let Some(other) = known.first().filter(|_| 50 * known.len() > keys.len()) {
        bail!("{} of {} messages of {log} are in {other} too: name each log once", known.len(), keys.len());
    }
    heard.extend(keys.into_iter().map(|key| (key, log)));
    Ok(())
}

/// Reports before the work begins if its result could not be written.
fn check_writable(out: &str) -> anyhow::Result<()> {
    // The result replaces this path by a rename, so anything that is not a regular file would be lost.
    if std::fs::symlink_metadata(out).is_ok_and(|known| !known.is_file()) {
        bail!("cannot write {out}: it exists and is no regular file; name a new file");
    }
    let half = half_of(out);
    std::fs::write(&half, "")
        .and_then(|()| std::fs::remove_file(&half))
        .with_context(|| format!("cannot write {out}"))?;
    Ok(())
}

/// The temporary file that is renamed at the end.
fn half_of(out: &str) -> String {
    format!("{out}.new")
}

fn messages(channels: &[Channel]) -> usize {
    channels.iter().map(|channel| channel.said.len()).sum()
}

/// Writes the file atomically and returns its hash.
fn save(arguments: &LearnArguments, channels: &[Channel], adapted: &Adaptation) -> anyhow::Result<String> {
    let name = |log: &String| Path::new(log).file_name().unwrap_or_default().to_string_lossy().into_owned();
    let names: Vec<String> = arguments.logs.iter().map(name).collect();
    let source = format!("{} labelled of {} messages: {}", adapted.labelled, messages(channels), names.join(", "));
    let text = write(&OwnModels {
        date: &Zoned::now().strftime("%Y-%m-%d").to_string(),
        source: &source,
        links: adapted.links.as_ref(),
        join: adapted.join.as_ref(),
        turn: adapted.turn.as_ref(),
        usual: adapted.usual.as_ref(),
    });
    let hash = LearntModels::parse(&text).map_err(|bad| anyhow::anyhow!("{}:{bad}", arguments.out))?;
    let half = half_of(&arguments.out);
    std::fs::write(&half, text)
        .and_then(|()| std::fs::rename(&half, &arguments.out))
        .with_context(|| format!("cannot write {}", arguments.out))?;
    Ok(hash.hash().unwrap_or_default().to_owned())
}

fn show(
    arguments: &LearnArguments,
    channels: &[Channel],
    adapted: &Adaptation,
    hash: Option<&str>,
) -> anyhow::Result<()> {
    if arguments.json {
        let figures = json!({
            "messages": messages(channels), "labelled": adapted.labelled, "better": adapted.is_better(),
            "file": hash.map(|_| &arguments.out), "hash": hash,
            "models": adapted.verdicts.iter().map(as_json).collect::<Vec<Value>>(),
        });
        return super::print(&format!("{figures}\n"));
    }
    let mut text = format!("{} messages, {} of them labelled; held out:\n\n", messages(channels), adapted.labelled);
    let _ = writeln!(text, "model  measure  examples  before   after  trees");
    for verdict in &adapted.verdicts {
        let rows = verdict.measures.iter().zip(verdict.before.iter().zip(&verdict.after));
        for (row, (measure, (before, after))) in rows.enumerate() {
            let (model, examples) =
                if row == 0 { (verdict.model, verdict.examples.to_string()) } else { Default::default() };
            let told = match (row, verdict.better) {
                (0, true) => format!("+{}", verdict.trees),
                (0, false) => "not better: as built in".to_owned(),
                _ => String::new(),
            };
            let line = format!("{model:<5}  {measure:<7}  {examples:>8}  {before:>6.4}  {after:>6.4}  {told}");
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    if let Some(hash) = hash {
        let _ = writeln!(text, "\n{} (hash {hash}); use it with score.model_file = {:?}", arguments.out, arguments.out);
    }
    super::print(&text)
}

fn as_json(verdict: &Verdict) -> Value {
    let Verdict { model, measures, before, after, examples, trees, better } = verdict;
    let named = |values: &[f64]| -> Value {
        let pairs = measures.iter().zip(values).map(|(name, value)| (name.to_lowercase(), json!(value)));
        Value::Object(pairs.collect())
    };
    json!({
        "model": model, "examples": examples, "before": named(before), "after": named(after), "trees": trees, "better": better,
    })
}
