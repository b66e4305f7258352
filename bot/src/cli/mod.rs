//! The command line.

mod backup;
mod demo;
pub mod doctor;
mod eval;
mod export;
mod init;
mod install;
mod join;
pub mod logs;
mod memory;
mod outputs;
mod prompt;
mod reader;
mod reload;
mod replay;
mod rooms;
mod run;
mod settings;
mod show;
mod stats;
mod stop_signals;
mod store;
mod tune;
mod web_link;
mod web_rooms;
mod welcome;
mod when;
mod why;

use std::io::ErrorKind;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::config::BadSettings;
use join::joinable_titles;

pub use settings::SettingsArguments;
pub use show::harmless;

/// A chat participant that speaks only where a thoughtful member would.
#[derive(Parser)]
#[command(name = "aizuchi", version = concat!(env!("CARGO_PKG_VERSION"), " (", env!("AIZUCHI_BUILD"), ")"), about, long_about = format!(
    "A chat participant that speaks only where a thoughtful member would.\n\nWithout a command it takes part in a web room on \
     this machine, as `run` does, and on {} if there are tokens.", joinable_titles()
))]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    #[command(about = format!("Take part in the web room, and on {} if there are tokens", joinable_titles()), long_about = format!(
        "Take part in the web room, and on {} if there are tokens\n\nCtrl-C or SIGTERM stops it: posts on their way finish, the \
         rest goes on at the next start. SIGHUP has it read its settings again; a mistake in them is told in the log, and the \
         old ones stay.", joinable_titles()
    ))]
    Run(run::RunArguments),
    /// Ask a few questions and write a settings file
    ///
    /// Enter takes what stands in brackets. Where standard input is not a terminal, the answers are read from its lines. Keys
    /// and tokens are never written: the file names the variable of the environment that holds them.
    Init(init::InitArguments),
    /// Check every part and say how to mend what is wrong
    ///
    /// Looks at settings, data folder, store, models (with one real call each), platforms, prompts and clock, and touches
    /// nothing. Works while the program is running. Exits with 0 if nothing failed, and with 1 otherwise.
    Doctor(doctor::DoctorArguments),
    /// Run a recorded channel through the engine and show what it would have done
    ///
    /// With a LOG: what it would have done there. With --journal: the days that aizuchi itself has recorded, once more. Without
    /// other settings they are lived through exactly as they were, and the decisions are compared with those that were stored.
    /// With --set, --preset, --bot-name or --judge, what people said is heard again under these settings, and the messages that
    /// would have gone otherwise are shown, before and after.
    ///
    /// The journal begins where its retention (store.keep_days) has let go of what came before. How things stood then is kept,
    /// so that the days after it are lived as they were; under other settings they begin with nothing remembered.
    Replay(replay::ReplayArguments),
    /// Explain a decision, silence too
    ///
    /// The sentence, the points by rule, the gate, the questions with their answers, and what it cost. Times are those of this
    /// machine. Works while the program is running, as long as the store keeps the decision (store.keep_days).
    Why(why::WhyArguments),
    /// Show what it said, what people made of it, and what it cost, by room and day
    ///
    /// From the decisions that the store keeps (store.keep_days). A contribution is something said unasked; it is followed for
    /// some messages and minutes (effect.follow_messages, effect.follow_minutes). Works while the program is running.
    Stats(stats::StatsArguments),
    /// Show what it would have said in a recorded channel at a share of the talk
    Tune(tune::TuneArguments),
    /// Write the recorded talk as a transcript
    ///
    /// What people said, edited, deleted and ordered, one JSON line each. Its own posts are among them, as "@me", only where the
    /// platform tells of them; the web room does not. `aizuchi replay` reads it. Works while the program is running.
    Export(export::ExportArguments),
    /// Look at what is remembered, search it, take it along, forget it
    ///
    /// Looking works while the program is running; forgetting and taking in need the data folder for themselves.
    Memory(memory::MemoryArguments),
    /// List the rooms of the web room, or close one
    ///
    /// Listing works while the program is running; closing needs the data folder for itself.
    Rooms(web_rooms::RoomsArguments),
    /// Print the address of the web room with its token
    ///
    /// `run` prints the token only to a terminal, so that it does not end up in the log of a service. Needs the settings that the
    /// running program has, with the variables of its environment.
    WebLink(web_link::WebLinkArguments),
    /// Write a whole copy of the store, also while the program is running
    Backup(backup::BackupArguments),
    /// Measure how well it does
    Eval(eval::EvalArguments),
    /// Play a sample conversation
    Demo(demo::DemoArguments),
    /// Print what a model would see at a point of a recorded talk
    Prompt(prompt::PromptArguments),
    /// Print every setting with its default and a sentence
    Settings,
    /// Print a completion script for a shell
    ///
    /// For bash: aizuchi completions bash > ~/.local/share/bash-completion/completions/aizuchi
    Completions(install::CompletionsArguments),
    /// Print the manual page
    Man(install::ManArguments),
}

pub fn main() -> ExitCode {
    let done = match CommandLine::parse().command {
        Some(Command::Run(arguments)) => run::run(&arguments),
        Some(Command::Init(arguments)) => init::run(&arguments),
        Some(Command::Doctor(arguments)) => doctor::run(&arguments),
        Some(Command::Replay(arguments)) => replay::run(&arguments),
        Some(Command::Why(arguments)) => why::run(&arguments),
        Some(Command::Stats(arguments)) => stats::run(&arguments),
        Some(Command::Tune(arguments)) => tune::run(&arguments),
        Some(Command::Export(arguments)) => export::run(&arguments),
        Some(Command::Memory(arguments)) => memory::run(&arguments),
        Some(Command::Rooms(arguments)) => web_rooms::run(&arguments),
        Some(Command::WebLink(arguments)) => web_link::run(&arguments),
        Some(Command::Backup(arguments)) => backup::run(&arguments),
        Some(Command::Eval(arguments)) => eval::run(&arguments),
        Some(Command::Demo(arguments)) => demo::run(&arguments),
        Some(Command::Prompt(arguments)) => prompt::run(&arguments),
        Some(Command::Settings) => print(crate::config::manual()),
        Some(Command::Completions(arguments)) => install::completions(&arguments),
        Some(Command::Man(arguments)) => install::man(&arguments),
        None => run::run(&run::RunArguments::default()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            show::print_error(&format!("{error:#}"));
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
