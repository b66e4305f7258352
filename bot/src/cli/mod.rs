//! The command line.

mod demo;
pub mod doctor;
mod export;
mod init;
mod language;
pub mod logs;
mod outputs;
mod providers;
mod replay;
mod settings;
mod show;
mod store;
mod when;
mod why;

use std::io::ErrorKind;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::config::BadSettings;

pub use settings::SettingsArguments;
pub use show::harmless;

/// A chat participant that speaks only where a thoughtful member would.
///
/// Without a command it plays a sample conversation and shows what it decides, message by message.
#[derive(Parser)]
#[command(name = "aizuchi", version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Ask a few questions and write a settings file
    Init(init::Arguments),
    /// Check every part and say how to mend what is wrong
    Doctor(doctor::Arguments),
    /// Run a recorded channel through the engine and show what it would have done
    Replay(replay::Arguments),
    /// Explain a decision, silence too
    Why(why::Arguments),
    /// Write the recorded talk as a transcript
    Export(export::Arguments),
    /// Play a sample conversation
    Demo(demo::Arguments),
    /// Print every setting with its default and a sentence
    Settings,
}

pub fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Some(Command::Init(arguments)) => init::run(&arguments),
        Some(Command::Doctor(arguments)) => doctor::run(&arguments),
        Some(Command::Replay(arguments)) => replay::run(&arguments),
        Some(Command::Why(arguments)) => why::run(&arguments),
        Some(Command::Export(arguments)) => export::run(&arguments),
        Some(Command::Demo(arguments)) => demo::run(&arguments),
        Some(Command::Settings) => print(aizuchi_core::settings::DEFAULT),
        None => demo::run(&demo::Arguments::default()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            show::complain(&format!("{error:#}"));
            if error.is::<BadSettings>() { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}

/// Writes to standard output, where a reader may have had enough.
fn print(text: &str) -> anyhow::Result<()> {
    use std::io::Write as _;
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}

fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
