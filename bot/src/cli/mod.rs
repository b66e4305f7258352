//! The command line.

mod backup;
#[cfg(feature = "cluster")]
mod cluster;
mod demo;
pub mod doctor;
mod effective_settings;
mod eval;
mod export;
mod init;
mod install;
mod join;
mod learn;
pub mod logs;
#[cfg(feature = "mcp")]
mod mcp;
mod memory;
mod memory_copy;
pub mod no_model;
mod opted_out;
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
mod store_copy;
mod tools;
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
     this machine, like `run`, and on {} if there are tokens.", joinable_titles()
))]
struct CommandLine {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    #[command(about = format!("Take part in the web room, and on {} if there are tokens", joinable_titles()), long_about = format!(
        "Take part in the web room, and on {} if there are tokens\n\nCtrl-C or SIGTERM stops it: unfinished posts complete, the \
         rest continues at the next start. SIGHUP reloads the settings; a mistake in them is logged, and the old ones stay in \
         effect.", joinable_titles()
    ))]
    Run(run::RunArguments),
    /// Serve the rooms of a cluster to Restate
    ///
    /// Any number of them, behind one address (cluster.worker_url). Needs PostgreSQL (store.url) and Restate (the section [cluster]).
    #[cfg(feature = "cluster")]
    Worker(cluster::ClusterProcessArguments),
    /// Run the web room and the platforms of a cluster
    ///
    /// What people say is acknowledged once Restate has it. Of several gateways, one has the connection of each platform; another
    /// one takes over when it ends.
    #[cfg(feature = "cluster")]
    Gateway(cluster::ClusterProcessArguments),
    /// Show the state of a cluster: its database, Restate, workers and rooms
    #[cfg(feature = "cluster")]
    Cluster(cluster::ClusterArguments),
    /// Ask a few questions and write a settings file
    ///
    /// Enter accepts the value in brackets. Where standard input is not a terminal, the answers are read from its lines. Keys
    /// and tokens are never written: the file only names the environment variable that holds them.
    Init(init::InitArguments),
    /// Check the setup and say how to fix what is wrong
    ///
    /// Checks settings, data folder, store, models (with one real call each), platforms, MCP servers (each is started once),
    /// prompts and clock, and changes nothing. Works while the program is running. Exits with 0 if nothing failed, and with 1 otherwise.
    Doctor(doctor::DoctorArguments),
    /// Run a recorded channel through the engine and show what it would have done
    ///
    /// With a LOG: what it would have done there. With --journal: what aizuchi itself has recorded, once more. Without other
    /// settings everything is replayed exactly as it happened, and the decisions are compared with those that were stored.
    /// With --set, --preset, --bot-name or --judge, what people said is replayed under these settings, and the messages that
    /// would have been decided differently are shown, before and after.
    ///
    /// Older records are removed from the journal (store.keep_days). A snapshot of the state at that point is kept, so that what
    /// follows is replayed as it happened; under other settings the replay starts with an empty memory.
    Replay(replay::ReplayArguments),
    /// Explain a decision, including silence
    ///
    /// Shows the sentence, the points by rule, the gate, the questions with their answers, and the cost. Times are in the local
    /// time zone. Works while the program is running, as long as the store keeps the decision (store.keep_days).
    Why(why::WhyArguments),
    /// Show what it said, how people responded, and what it cost, by room and day
    ///
    /// From the decisions that the store keeps (store.keep_days). A contribution is something said unasked; it is followed for
    /// some messages and minutes (effect.follow_messages, effect.follow_minutes). Works while the program is running.
    Stats(stats::StatsArguments),
    /// Show what it would have said in a recorded channel with a given talk share
    Tune(tune::TuneArguments),
    /// Export the recorded conversations as a transcript
    ///
    /// Messages, edits, deletions and commands, one JSON line each. The bot's own posts are included, as "@me", only where the
    /// platform reports them; the web room does not. `aizuchi replay` reads it. Works while the program is running.
    Export(export::ExportArguments),
    /// Show, search, export, import or forget what is remembered
    ///
    /// Reading works while the program is running; `forget` and `import` need exclusive use of the data folder.
    Memory(memory::MemoryArguments),
    /// List the tools that a model may use while it writes, or try one
    ///
    /// For each: whether it only reads or changes something, and whether it is allowed in the room, asked for or denied.
    Tools(tools::ToolsArguments),
    /// Offer decisions and memory to an assistant, over MCP
    ///
    /// For an operator's assistant, which starts it and speaks the Model Context Protocol on its standard input and output.
    /// Its tools are `why`, `stats`, `replay` and `memory_search`; they say what these commands print, and change nothing.
    /// Works while the program is running.
    #[cfg(feature = "mcp")]
    Mcp(mcp::McpArguments),
    /// List the rooms of the web room, or close one
    ///
    /// Listing works while the program is running; closing needs exclusive use of the data folder.
    Rooms(web_rooms::RoomsArguments),
    /// Print the URL of the web room with its token
    ///
    /// `run` prints the token only to a terminal, so that it does not end up in the log of a service. Needs the same settings
    /// and environment variables as the running program.
    WebLink(web_link::WebLinkArguments),
    /// Write a complete copy of the store, also while the program is running
    Backup(backup::BackupArguments),
    /// Bring back what `aizuchi backup` wrote, into an empty store
    Restore(store_copy::RestoreArguments),
    /// Copy everything into another store
    Store(store_copy::StoreArguments),
    /// Measure the quality of its decisions and its memory
    Eval(eval::EvalArguments),
    /// Adapt the built-in models to the history of a room
    ///
    /// LOG is an export of Slack, Zulip or Discord, or any other log that replay reads: threads and topics are conversations, replies answer what
    /// they refer to, and a transcript may have labels instead (gold_reply_to, gold_conversation). More trees are grown for the
    /// models of links (which message is answered), of joining and of turns. How many is found by cross-validation, and a model
    /// is changed only if that shows it to be better on messages it has not seen. Exits with 1 and writes nothing if none is.
    /// Takes minutes. `score.model_file` uses the result; `aizuchi eval` measures it.
    Learn(learn::LearnArguments),
    /// Play a sample conversation
    Demo(demo::DemoArguments),
    /// Print the prompt that a model would get at a point of a recorded conversation
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
    let line = match CommandLine::try_parse() {
        Ok(line) => line,
        Err(told) => return show_usage(&told),
    };
    let done = match line.command {
        Some(Command::Run(arguments)) => run::run(&arguments),
        #[cfg(feature = "cluster")]
        Some(Command::Worker(arguments)) => cluster::worker(&arguments),
        #[cfg(feature = "cluster")]
        Some(Command::Gateway(arguments)) => cluster::gateway(&arguments),
        #[cfg(feature = "cluster")]
        Some(Command::Cluster(arguments)) => cluster::run(&arguments),
        Some(Command::Init(arguments)) => init::run(&arguments),
        Some(Command::Doctor(arguments)) => doctor::run(&arguments),
        Some(Command::Replay(arguments)) => replay::run(&arguments),
        Some(Command::Why(arguments)) => why::run(&arguments),
        Some(Command::Stats(arguments)) => stats::run(&arguments),
        Some(Command::Tune(arguments)) => tune::run(&arguments),
        Some(Command::Export(arguments)) => export::run(&arguments),
        Some(Command::Memory(arguments)) => memory::run(&arguments),
        Some(Command::Tools(arguments)) => tools::run(&arguments),
        #[cfg(feature = "mcp")]
        Some(Command::Mcp(arguments)) => mcp::run(&arguments),
        Some(Command::Rooms(arguments)) => web_rooms::run(&arguments),
        Some(Command::WebLink(arguments)) => web_link::run(&arguments),
        Some(Command::Backup(arguments)) => backup::run(&arguments),
        Some(Command::Restore(arguments)) => store_copy::restore(&arguments),
        Some(Command::Store(arguments)) => store_copy::run(&arguments),
        Some(Command::Eval(arguments)) => eval::run(&arguments),
        Some(Command::Learn(arguments)) => learn::run(&arguments),
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

/// Shows help, the version, or what is wrong with the command line.
fn show_usage(told: &clap::Error) -> ExitCode {
    use std::io::Write as _;
    match told.print().and_then(|()| std::io::stdout().flush()) {
        Err(error) if !told.use_stderr() && error.kind() != ErrorKind::BrokenPipe => {
            show::print_error(&error.to_string());
            ExitCode::FAILURE
        }
        Ok(()) | Err(_) => ExitCode::from(u8::try_from(told.exit_code()).unwrap_or(1)),
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
