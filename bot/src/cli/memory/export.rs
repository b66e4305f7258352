//! Writes memory as JSON Lines.

use std::fs::File;
use std::io::{BufWriter, Write};

use aizuchi_core::memory::{ExportItem, Filter};
use anyhow::Context as _;
use clap::Args;

use super::inspect::person_called;
use crate::cli::outputs;
use crate::cli::show::escaped;

#[derive(Args)]
pub struct Export {
    /// Only what is about this person
    #[arg(long, value_name = "PERSON")]
    person: Option<String>,
    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
}

pub fn export(arguments: &super::MemoryArguments, export: &Export) -> anyhow::Result<()> {
    let reading = arguments.open()?;
    let mut items: Vec<ExportItem> = Vec::new();
    match &export.person {
        Some(asked) => {
            let person = person_called(&reading, asked)?;
            let about = reading.about(&person)?;
            items.extend(about.person.map(ExportItem::Person));
            items.extend(about.facts.into_iter().map(ExportItem::Fact));
            items.extend(about.channels.into_iter().map(ExportItem::Channel));
            items.extend(reading.ties(None, Some(&person))?.into_iter().map(ExportItem::Tie));
        }
        None => {
            items.extend(reading.people(None)?.into_iter().map(ExportItem::Person));
            items.extend(reading.facts(&Filter::default())?.into_iter().rev().map(ExportItem::Fact));
            items.extend(reading.channels()?.into_iter().map(ExportItem::Channel));
            items.extend(reading.ties(None, None)?.into_iter().map(ExportItem::Tie));
        }
    }
    match &export.output {
        None => write(&items, &mut std::io::stdout().lock()),
        Some(path) => {
            let location = arguments.location()?;
            let kept = location.data_folder().to_string_lossy();
            let inputs: Vec<&str> =
                [Some(&*kept), arguments.settings.config.as_deref()].into_iter().flatten().collect();
            outputs::check(&inputs, &[("--output", path)])?;
            let file = File::create(path).with_context(|| format!("cannot write {path}"))?;
            write(&items, &mut BufWriter::new(file)).with_context(|| format!("cannot write {path}"))
        }
    }
}

fn write(items: &[ExportItem], out: &mut dyn Write) -> anyhow::Result<()> {
    for item in items {
        writeln!(out, "{}", escaped(&serde_json::to_string(item)?))?;
    }
    Ok(out.flush()?)
}
