//! `aizuchi memory`: what is remembered, looked at, searched, taken along and forgotten.

mod change;
mod export;
mod inspect;

use std::path::PathBuf;

use aizuchi_core::Policies;
use aizuchi_core::memory::{
    ChannelMemory, Fact, FactId, Filter, Marks, Person, PersonExport, Query, Recalled, narrower,
};
use aizuchi_core::types::{PersonId, RoomId, Visibility};
use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};

use crate::cli::settings::SettingsArguments;
use crate::cli::store::{self, OpenStore};
use crate::memory::{SqliteMemory, StoredLayers};
use crate::ports::{Memory, MemoryCatalog};
use crate::stores::StoreError;

#[derive(Args)]
pub struct MemoryArguments {
    #[command(subcommand)]
    command: MemoryCommand,
    /// The data folder [default: that of the settings]
    #[arg(long, value_name = "DIR", global = true)]
    folder: Option<String>,
    #[command(flatten)]
    settings: SettingsArguments,
}

#[derive(Subcommand)]
enum MemoryCommand {
    /// List what is remembered, the latest first
    List(inspect::List),
    /// Show everything about a fact, a person or a room
    Show(inspect::Show),
    /// Search the facts, as an answer in a room would
    ///
    /// With --room, as they would be recalled there: only what may be known there, with score, strength and why. Without it,
    /// every fact that has all of these words.
    Search(inspect::Search),
    /// Forget a fact, a person or a room for good
    ///
    /// Facts that come from a person's words or mention them are forgotten with the person. Needs exclusive use of the data
    /// folder: while aizuchi is running, people use /aizuchi forget-me.
    Forget(change::Forget),
    /// Write what is remembered as JSON Lines
    Export(export::Export),
    /// Import what was exported elsewhere
    ///
    /// Facts get new numbers, and duplicates are merged. People who are already known stay unchanged.
    Import(change::Import),
}

pub fn run(arguments: &MemoryArguments) -> anyhow::Result<()> {
    match &arguments.command {
        MemoryCommand::List(list) => inspect::list(arguments, list),
        MemoryCommand::Show(show) => inspect::show(arguments, show),
        MemoryCommand::Search(search) => inspect::search(arguments, search),
        MemoryCommand::Forget(forget) => change::forget(arguments, forget),
        MemoryCommand::Export(export) => export::export(arguments, export),
        MemoryCommand::Import(import) => change::import(arguments, import),
    }
}

impl MemoryArguments {
    fn folder(&self) -> anyhow::Result<PathBuf> {
        store::folder(self.folder.as_deref(), &self.settings)
    }

    /// What is remembered, to look into, also while the program is running.
    fn open(&self) -> anyhow::Result<MemoryReader> {
        let folder = self.folder()?;
        let opened = store::open(&folder)?;
        let there = opened.wait(opened.database.has_memory());
        if !there.with_context(|| format!("cannot read {}", folder.display()))? {
            bail!("the store in {} was written by an earlier version; `aizuchi run` upgrades it", folder.display());
        }
        let memory = SqliteMemory::new(opened.database.clone(), StoredLayers::ALL);
        Ok(MemoryReader { memory: Box::new(memory.clone()), catalog: Box::new(memory), opened })
    }
}

/// What can be asked about what is remembered.
struct MemoryReader {
    memory: Box<dyn Memory>,
    catalog: Box<dyn MemoryCatalog>,
    opened: OpenStore,
}

type MemoryResult<T> = Result<T, StoreError>;

impl MemoryReader {
    fn channel(&self, room: &RoomId) -> MemoryResult<(Option<ChannelMemory>, Marks)> {
        self.opened.wait(self.memory.channel(room))
    }

    fn channels(&self) -> MemoryResult<Vec<ChannelMemory>> {
        self.opened.wait(self.catalog.channels())
    }

    fn fact(&self, id: FactId) -> MemoryResult<Option<Fact>> {
        self.opened.wait(self.catalog.fact(id))
    }

    fn facts(&self, filter: &Filter) -> MemoryResult<Vec<Fact>> {
        self.opened.wait(self.memory.facts(filter.clone()))
    }

    fn people(&self, who: Option<&PersonId>) -> MemoryResult<Vec<Person>> {
        self.opened.wait(self.memory.people(who))
    }

    fn about(&self, person: &PersonId) -> MemoryResult<PersonExport> {
        self.opened.wait(self.memory.about(person))
    }

    fn recall(&self, query: &Query, policies: &Policies) -> MemoryResult<Vec<Recalled>> {
        self.opened.wait(self.memory.recall(query.clone(), policies))
    }

    fn rooms(&self) -> MemoryResult<Vec<RoomId>> {
        self.opened.wait(self.catalog.rooms())
    }

    /// Who can read a room, as far as is known: the narrowest circle that anything of it was kept for.
    fn visibility(&self, room: &RoomId) -> MemoryResult<Visibility> {
        let of_channel = self.channel(room)?.0.map(|channel| channel.origin.visibility);
        let facts = self.facts(&Filter { room: Some(room.clone()), ..Filter::default() })?;
        let of_facts = facts.into_iter().map(|fact| fact.origin.visibility);
        Ok(of_facts.chain(of_channel).fold(Visibility::Public, narrower))
    }
}
