//! `aizuchi eval`: measures the predictions against recorded talk.

mod entry;
mod figures;
mod labelled;
mod link;
mod locomo;
mod page;
mod rating;
mod recall;
mod remembered;
mod talk;
mod turn;

use clap::{Args, Subcommand};

use crate::cli::settings::SettingsArguments;
pub use labelled::check_labels;
pub use talk::{is_contribution, share};

#[derive(Args)]
pub struct EvalArguments {
    #[command(subcommand)]
    measure: Measure,
}

#[derive(Subcommand)]
enum Measure {
    /// How well it predicts where somebody joins a conversation
    ///
    /// LOG is a transcript with labels: `gold_reply_to` holds the ids of what a message answers, or its own where it starts a
    /// conversation; or `gold_conversation` names the conversation it is in, and a message answers the one before it there.
    /// Somebody joins at a message if somebody who is not in its conversation up to then answers it; or, by the second definition,
    /// if the next to speak in its conversation is a person who had not spoken there. Where conversations are labelled, both are the
    /// same. Bots count neither as those who join nor as authors; the last 30 labelled messages of a channel, and those about which
    /// nothing was decided, are left out. Settings without learnt estimates are measured by their points, or by whether a model would
    /// be asked. Where a log has no such fields, its threads, its topics (of Zulip) and its replies are the labels: these are hidden from the
    /// engine, and everything is laid flat into its channel. Where replies alone are known, every message of a person counts.
    Entry(LogArguments),
    /// How well it predicts which message is answered, and which conversation a message is in
    ///
    /// LOG is a transcript with labels, as for entry. One guess per message; a message may answer several. A follow-up is in the
    /// right conversation if its guess is, a first message if its guess is itself; by how long the conversation had been silent.
    /// Beside it: every message answers the one before it. Whom a line is for is measured in conversations of three people, on lines
    /// that name nobody, beside the last other speaker.
    Link(LogArguments),
    /// How well it predicts that it is its turn
    ///
    /// LOG is a transcript with labels, as for entry. A person of the log stands in for the bot: at each message of somebody
    /// else, in a conversation in which that person spoke before, is that person the next to speak there? Where it was not found
    /// that the person takes part, the guess counts as 0. Beside it: the person who spoke just before speaks next. Settings without
    /// learnt estimates are measured as for entry.
    Turn(turn::TurnArguments),
    /// How close it comes to the talk share it was given, and what each preset costs
    ///
    /// The judge always agrees. The first 500 messages of each log are not counted: it adapts to the room in them.
    Talk(talk::TalkArguments),
    /// How often memory recalls the evidence for a question
    ///
    /// FILE is in the LoCoMo format: a list of conversations in sessions, with questions and the turns that answer them. Each
    /// turn is kept as a fact, with who said it, when, and the turns around it, and the questions are asked of memory as an
    /// answer would ask it; nothing fades. Questions without evidence, and those of category 5, which have no answer, are left
    /// out.
    Recall(recall::RecallArguments),
}

#[derive(Args)]
pub struct LogArguments {
    /// Transcripts with labels, or exports with threads or replies; - is standard input, gzip is allowed; several are counted together
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<String>,
    /// Print one line of JSON instead of text
    #[arg(long)]
    json: bool,
    /// Write an HTML page with the curves to this file
    #[arg(long, value_name = "OUT.html")]
    report: Option<String>,
    #[command(flatten)]
    settings: SettingsArguments,
}

pub fn run(arguments: &EvalArguments) -> anyhow::Result<()> {
    match &arguments.measure {
        Measure::Entry(arguments) => entry::run(arguments),
        Measure::Link(arguments) => link::run(arguments),
        Measure::Turn(arguments) => turn::run(arguments),
        Measure::Talk(arguments) => talk::run(arguments),
        Measure::Recall(arguments) => recall::run(arguments),
    }
}
