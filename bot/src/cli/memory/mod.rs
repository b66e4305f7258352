//! `aizuchi memory`: what is remembered, looked at, searched, taken along and forgotten.

mod change;
mod export;
mod look;

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use rusqlite::Connection;

use crate::cli::settings::SettingsArguments;
use crate::cli::store;
use crate::memory::Reading;

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    wish: Wish,
    /// The data folder [default: that of the settings]
    #[arg(long, value_name = "DIR", global = true)]
    folder: Option<String>,
    #[command(flatten)]
    settings: SettingsArguments,
}

#[derive(Subcommand)]
enum Wish {
    /// List what is remembered, the latest first
    List(look::List),
    /// Show everything about a fact, a person or a room
    Show(look::Show),
    /// Look for facts, as an answer in a room would
    ///
    /// With --room, as they would be recalled there: only what may be known there, with score, strength and why. Without it,
    /// every fact that has all of these words.
    Search(look::Search),
    /// Forget a fact, a person or a room for good
    ///
    /// Facts that rest on a person's words or speak of them go with the person. Needs the data folder for itself: in a running
    /// aizuchi people use /aizuchi forget-me.
    Forget(change::Forget),
    /// Write what is remembered as JSON Lines
    Export(export::Export),
    /// Take in what was exported elsewhere
    ///
    /// Facts get new numbers, and those that say the same become one. Who is known here already stays as they are.
    Import(change::Import),
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    match &arguments.wish {
        Wish::List(list) => look::list(arguments, list),
        Wish::Show(show) => look::show(arguments, show),
        Wish::Search(search) => look::search(arguments, search),
        Wish::Forget(forget) => change::forget(arguments, forget),
        Wish::Export(export) => export::export(arguments, export),
        Wish::Import(import) => change::import(arguments, import),
    }
}

impl Arguments {
    fn folder(&self) -> anyhow::Result<PathBuf> {
        store::folder(self.folder.as_deref(), &self.settings)
    }

    /// The store, to look into, also while the program is running.
    fn open(&self) -> anyhow::Result<Connection> {
        let folder = self.folder()?;
        let connection = store::open(&folder)?;
        let there = Reading(&connection).is_there().with_context(|| format!("can not read {}", folder.display()))?;
        if !there {
            bail!("the store in {} is of an earlier aizuchi; `aizuchi run` brings it up to date", folder.display());
        }
        Ok(connection)
    }
}
