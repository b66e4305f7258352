//! `aizuchi-learn`: trains the models that are compiled into the core, and measures them.

use std::path::{Path, PathBuf};
use std::time::Instant;

use aizuchi_core::conversations::{Conversations, pairs};
use aizuchi_core::likelihood::{self, steps};
use aizuchi_learn::card;
use aizuchi_learn::card::{Figures, Measurements, Sheet};
use aizuchi_learn::lives::Talk;
use aizuchi_learn::models::Models;
use aizuchi_learn::rows::Rows;
use aizuchi_learn::train::{Plan, told, train};
use aizuchi_learn::words::heard;
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
    /// Trains and writes words.txt, links.txt, join.txt and usual.txt
    Train {
        /// Transcript with gold_reply_to, JSON Lines, may be gzipped
        log: PathBuf,
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
        Command::Train { log, out, card, check } => {
            let channels = logs::read(&log)?;
            let learnt = train(&channels, &Plan::default(), &tell);
            let write = |name: &str, text: &str| {
                std::fs::write(out.join(name), text).with_context(|| format!("writing {name} to {}", out.display()))
            };
            write("words.txt", &learnt.words)?;
            write("links.txt", &learnt.models.link.trees.write(&pairs::FEATURES))?;
            write("join.txt", &learnt.models.join.trees.write(&likelihood::FEATURES))?;
            write("usual.txt", &steps::write(&learnt.models.join.usual))?;
            let mut checks = Vec::new();
            for log in check {
                let name = log.file_name().unwrap_or_default().to_string_lossy();
                let name = name.split('.').next().unwrap_or_default().to_owned();
                checks.push((name, figures(&log, &learnt.models)?));
            }
            for (name, figures) in &checks {
                println!("{name}");
                show(figures);
            }
            let (models, held_out) = (&learnt.models, &learnt.held_out);
            let sheet = Sheet { channels: &channels, models, held_out, checks: &checks };
            std::fs::write(&card, card::write(&sheet)).with_context(|| format!("writing {}", card.display()))?;
            tell("written");
            Ok(())
        }
        Command::Measure { log, time } => {
            show(&figures(&log, &Models::built_in())?);
            if time { clock(&log) } else { Ok(()) }
        }
    }
}

fn figures(log: &Path, models: &Models) -> Result<Figures> {
    let channels = logs::read(log)?;
    let lives = Talk::of(&channels).live(|_| models);
    let measured = |rows: &Rows| Measurements {
        links: rows.score,
        join: rows.guesses.iter().copied().zip(rows.joined.iter().copied()).collect(),
    };
    let [known, wordless, nameless] = lives.all().map(measured);
    Ok(Figures { known, wordless, nameless })
}

fn show(figures: &Figures) {
    for (life, Measurements { links, join }) in figures.lives() {
        println!("{life}, {} messages", join.len());
        println!("  links  P {:.4} R {:.4} F1 {:.4}", links.precision(), links.recall(), links.f1());
        println!("  join   {}", told(join));
    }
    for (messages, guess, happened) in reliability(&figures.known.join) {
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
                    let guess = likelihood::estimate_join(&mut conversations, &heard(said), &models.link, &models.join);
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
