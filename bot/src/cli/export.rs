//! `aizuchi export`: the talk of the journal as a transcript.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufWriter, Write};

use aizuchi_core::Time;
use aizuchi_formats::Writer;
use anyhow::{Context as _, bail};
use clap::{Args, ValueEnum};

use crate::cli::opted_out::OptedOutFilter;
use crate::cli::settings::SettingsArguments;
use crate::cli::show::{escaped, print_error};
use crate::cli::{outputs, store, when};
use crate::journal::Records;

#[derive(Args)]
pub struct ExportArguments {
    /// Only this room, such as web:lobby or lobby; can be repeated
    #[arg(long, value_name = "ROOM")]
    room: Vec<String>,
    /// From this time on: 2026-04-07, 2026-04-07T12:00, with an offset, or 3d for three days ago
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    since: Option<Time>,
    /// Before this time
    #[arg(long, value_name = "TIME", value_parser = when::parse)]
    until: Option<Time>,
    /// The output format
    #[arg(long, value_enum, default_value_t = ExportFormat::Jsonl)]
    format: ExportFormat,
    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// The data folder [default: that of the settings]
    #[arg(long, value_name = "DIR")]
    folder: Option<String>,
    #[command(flatten)]
    settings: SettingsArguments,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// A transcript: JSON Lines, one event a line
    Jsonl,
}

pub fn run(arguments: &ExportArguments) -> anyhow::Result<()> {
    let location = store::location(arguments.folder.as_deref(), &arguments.settings)?;
    let opened = store::open(&location)?;
    let records = opened
        .wait(Records::all(&*opened.stores.journal))
        .with_context(|| format!("cannot read {}", location.display_name()))?;
    let left_out = opened.wait(OptedOutFilter::read(&opened))?;
    let write = |out: &mut dyn Write| opened.wait(write(arguments, records, left_out, out));
    match &arguments.output {
        None => write(&mut std::io::stdout().lock()),
        Some(path) => {
            let kept = location.data_folder().to_string_lossy();
            let inputs: Vec<&str> =
                [Some(&*kept), arguments.settings.config.as_deref()].into_iter().flatten().collect();
            outputs::check(&inputs, &[("--output", path)])?;
            let file = File::create(path).with_context(|| format!("cannot write {path}"))?;
            write(&mut BufWriter::new(file)).with_context(|| format!("cannot write {path}"))
        }
    }
}

async fn write(
    arguments: &ExportArguments,
    mut records: Records<'_>,
    mut left_out: OptedOutFilter,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let mut lines = match arguments.format {
        ExportFormat::Jsonl => Writer::default(),
    };
    let mut rooms = BTreeSet::new();
    let mut found = BTreeSet::new();
    while let Some(record) = records.next().await? {
        let record = match record {
            Ok(record) => record,
            Err(damaged) => {
                print_error(&damaged.to_string());
                continue;
            }
        };
        if left_out.skips(&record.input) || left_out.repeats(&record.input) {
            continue;
        }
        let Some(room) = record.input.room().filter(|_| record.input.is_by_people()) else { continue };
        let asked = arguments.room.iter().find(|asked| store::is_room(room.as_str(), asked));
        rooms.insert(room.clone());
        found.extend(asked);
        let wanted = (arguments.room.is_empty() || asked.is_some())
            && arguments.since.is_none_or(|since| record.at >= since)
            && arguments.until.is_none_or(|until| record.at < until);
        if let Some(line) = lines.line(record.at, &record.input).filter(|_| wanted) {
            writeln!(out, "{}", escaped(&line))?;
        }
    }
    out.flush()?;
    let rooms: Vec<&str> = rooms.iter().map(|room| room.as_str()).collect();
    match arguments.room.iter().find(|asked| !found.contains(asked)) {
        Some(asked) => bail!("no records of a room {asked}; there are {}", store::join_names(&rooms)),
        None => Ok(()),
    }
}
