//! `aizuchi eval`: how well it does, measured against recorded talk.

mod locomo;
mod recall;

use clap::{Args, Subcommand};

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    measure: Measure,
}

#[derive(Subcommand)]
enum Measure {
    /// How often what answers a question is among what is recalled for it
    ///
    /// FILE is in the form of LoCoMo: a list of conversations in sessions, with questions and the turns that answer them. Each
    /// turn is a document; nothing fades. Questions without evidence, and those of category 5, which have no answer, are left
    /// out.
    Recall(recall::Arguments),
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.measure {
        Measure::Recall(arguments) => recall::run(arguments),
    }
}
