//! `aizuchi-learn`: trains the models that are compiled into the core, and measures them.

use std::path::{Path, PathBuf};
use std::time::Instant;

use aizuchi_core::join;
use aizuchi_core::strands::{Models, Strands, pairs};
use aizuchi_learn::metrics::reliability;
use aizuchi_learn::rows::collect;
use aizuchi_learn::train::{Plan, told, train};
use aizuchi_learn::words::heard;
use aizuchi_learn::{logs, metrics};
use anyhow::{Context, Result};
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Learns from labelled logs who answers whom, and where somebody joins")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Trains and writes words.txt, links.txt and join.txt
    Train {
        /// Transcript with gold_reply_to, JSON Lines, may be gzipped
        log: PathBuf,
        /// Folder of the models
        #[arg(long, default_value = "core/models")]
        out: PathBuf,
        /// A log to measure on afterwards: nothing is learnt from it
        #[arg(long)]
        check: Option<PathBuf>,
    },
    /// Measures the models that are compiled in
    Measure {
        /// Transcript with gold_reply_to, JSON Lines, may be gzipped
        log: PathBuf,
        /// Also tells the time a message takes
        #[arg(long)]
        time: bool,
    },
}

fn main() -> Result<()> {
    let started = Instant::now();
    let tell = |line: &str| eprintln!("{:6.1} s  {line}", started.elapsed().as_secs_f32());
    match Arguments::parse().command {
        Command::Train { log, out, check } => {
            let learnt = train(&logs::read(&log)?, &Plan::default(), &tell);
            let write = |name: &str, text: &str| {
                std::fs::write(out.join(name), text).with_context(|| format!("writing {name} to {}", out.display()))
            };
            write("words.txt", &learnt.words)?;
            write("links.txt", &learnt.models.links.write(&pairs::FEATURES))?;
            write("join.txt", &learnt.models.join.write(&join::FEATURES))?;
            tell("written");
            if let Some(check) = check {
                measure(&check, &learnt.models)?;
            }
            Ok(())
        }
        Command::Measure { log, time } => {
            measure(&log, Models::built_in())?;
            if time { clock(&log) } else { Ok(()) }
        }
    }
}

fn measure(log: &Path, models: &Models) -> Result<()> {
    let channels = logs::read(log)?;
    let rows = collect(&channels, |_| models);
    let score = rows.score;
    println!("links      P {:.4}  R {:.4}  F1 {:.4}", score.precision(), score.recall(), score.f1());
    let outcomes: Vec<(f32, bool)> = rows.guesses.iter().copied().zip(rows.joined.iter().copied()).collect();
    println!("join       {}  ({} messages)", told(&outcomes), outcomes.len());
    let wordless: Vec<(f32, bool)> = rows
        .join
        .iter()
        .map(|values| models.join.sum(&join::without_words(values)) as f32)
        .zip(rows.joined.iter().copied())
        .collect();
    println!("wordless   AUC {:.4} AP {:.4}", metrics::auc(&wordless), metrics::average_precision(&wordless));
    for (messages, guess, happened) in reliability(&outcomes) {
        println!("  {messages:6}  guessed {guess:.3}  happened {happened:.3}");
    }
    Ok(())
}

/// The time of one message, all on one core.
fn clock(log: &Path) -> Result<()> {
    let channels = logs::read(log)?;
    let models = Models::built_in();
    let mut messages = 0;
    let begun = Instant::now();
    for channel in &channels {
        let mut strands = Strands::default();
        for said in &channel.said {
            std::hint::black_box(strands.hear(&heard(said), models));
            messages += 1;
        }
    }
    println!("{:.2} µs a message", begun.elapsed().as_secs_f64() * 1e6 / f64::from(messages));
    Ok(())
}
