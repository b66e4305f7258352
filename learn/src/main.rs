//! `aizuchi-learn`: trains the models that are compiled into the core, and measures them.

use std::path::{Path, PathBuf};
use std::time::Instant;

use aizuchi_core::conversations::Conversations;
use aizuchi_core::likelihood::{self, steps};
use aizuchi_learn::card::{self, Measurements, Sheet};
use aizuchi_learn::models::Models;
use aizuchi_learn::rooms::{Kind, as_it_is};
use aizuchi_learn::rows::{Score, collect};
use aizuchi_learn::train::{self, Plan, format_outcomes, train};
use aizuchi_learn::words::to_utterance;
use aizuchi_measure::conversations::GROUPS;
use aizuchi_measure::logs;
use aizuchi_measure::metrics::reliability;
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
    /// Trains and writes words.txt, links.txt, join.txt, turn.txt and usual.txt
    Train {
        /// Transcripts with gold_reply_to or gold_conversation, JSON Lines, may be gzipped; each is a kind of its own
        #[arg(required = true)]
        logs: Vec<PathBuf>,
        /// Folder of the models
        #[arg(long, default_value = "core/models")]
        out: PathBuf,
        /// Where the model card goes
        #[arg(long, default_value = "docs/model-card.md")]
        card: PathBuf,
        /// A log to measure on afterwards, may be given several times: nothing is learnt from it
        #[arg(long)]
        check: Vec<PathBuf>,
    },
    /// Measures the models that are compiled in
    Measure {
        /// Transcript with gold_reply_to or gold_conversation, JSON Lines, may be gzipped
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
        Command::Train { logs, out, card, check } => {
            let kinds = logs.iter().map(|log| kind(log)).collect::<Result<Vec<Kind>>>()?;
            let learnt = train(&kinds, &Plan::default(), &tell);
            let write = |name: &str, text: &str| {
                std::fs::write(out.join(name), text).with_context(|| format!("writing {name} to {}", out.display()))
            };
            write("words.txt", &learnt.words)?;
            for (name, text) in train::write(&learnt.models) {
                write(name, &text)?;
            }
            write("usual.txt", &steps::write(&learnt.models.join.usual))?;
            let mut checks = Vec::new();
            for log in check {
                let kind = kind(&log)?;
                let measured = measure(&kind, &learnt.models);
                println!("{}", kind.name);
                show(&measured);
                checks.push((kind.name, measured));
            }
            let (models, held_out) = (&learnt.models, &learnt.held_out);
            let sheet = Sheet { kinds: &kinds, models, held_out, checks: &checks };
            std::fs::write(&card, card::write(&sheet)).with_context(|| format!("writing {}", card.display()))?;
            tell("written");
            Ok(())
        }
        Command::Measure { log, time } => {
            show(&measure(&kind(&log)?, &Models::built_in()));
            if time { clock(&log) } else { Ok(()) }
        }
    }
}

fn kind(log: &Path) -> Result<Kind> {
    let name = log.file_name().unwrap_or_default().to_string_lossy();
    let name = name.split('.').next().unwrap_or_default().to_owned();
    Ok(Kind { name, channels: logs::read(log)? })
}

fn measure(kind: &Kind, models: &Models) -> Measurements {
    Measurements::of_itself(&collect(&as_it_is(std::slice::from_ref(kind), 1), |_| models), 0)
}

fn show(Measurements { score, join, join_by_next, turn, turn_just_before }: &Measurements) {
    let Score { links, placements, people, addressees, previous, last_other, .. } = score;
    println!("  links  P {:.4} R {:.4} F1 {:.4}", links.precision(), links.recall(), links.f1());
    let groups = GROUPS.iter().zip(placements.groups);
    let groups: Vec<String> =
        groups.map(|(name, (right, all))| format!("{name} {:.3} of {all}", right as f64 / all.max(1) as f64)).collect();
    println!("  in their conversation {:.4}: {}", placements.share(), groups.join(", "));
    println!(
        "  previous message: F1 {:.4}, in their conversation {:.4}",
        previous.links.f1(),
        previous.placements.share()
    );
    let (person, before) = (people.share(), previous.people.share());
    println!("  the right person: {person:.4} of {}, previous {before:.4}", people.lines);
    println!(
        "  whom it is for: {:.4} of {}, last other {:.4}",
        addressees.share(),
        addressees.lines,
        last_other.share()
    );
    println!("  join   {}\n  next   {}", format_outcomes(join.all()), format_outcomes(join_by_next));
    println!("  turn   {}\n  before {}", format_outcomes(turn.all()), format_outcomes(turn_just_before));
    for (messages, guess, happened) in reliability(join.all()) {
        println!("  {messages:6}  guessed {guess:.3}  happened {happened:.3}");
    }
}

/// The time of one message on one core: of several runs, stretch by stretch, the one that was disturbed least.
fn clock(log: &Path) -> Result<()> {
    const STRETCH: usize = 50;
    const RUNS: usize = 9;
    let channels = logs::read(log)?;
    let models = Models::built_in();
    let (mut total, mut messages) = (0.0, 0);
    for channel in &channels {
        let mut best = vec![f64::INFINITY; channel.said.len().div_ceil(STRETCH)];
        for _ in 0..RUNS {
            let mut conversations = Conversations::default();
            for (best, stretch) in best.iter_mut().zip(channel.said.chunks(STRETCH)) {
                let begun = Instant::now();
                for said in stretch {
                    let Models { link, join, turn } = &models;
                    let guess = likelihood::estimate_join(&mut conversations, &to_utterance(said), link, join, turn, 0);
                    std::hint::black_box(guess);
                }
                *best = best.min(begun.elapsed().as_secs_f64());
            }
        }
        total += best.iter().sum::<f64>();
        messages += channel.said.len();
    }
    println!("{:.2} µs a message", total * 1e6 / messages as f64);
    Ok(())
}
