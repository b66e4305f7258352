//! `aizuchi memory`: what is remembered, looked at, searched, taken along and forgotten.

mod change;
mod export;
mod look;

use std::path::PathBuf;

use aizuchi_core::Policies;
use aizuchi_core::memory::{About, ChannelMemory, Fact, FactId, Filter, Marks, Person, Query, Recalled, narrower};
use aizuchi_core::types::{PersonId, RoomId, Visibility};
use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};

use crate::cli::settings::SettingsArguments;
use crate::cli::store::{self, Opened};
use crate::memory::{Kept, Local};
use crate::ports::{Memory, MemoryCatalog};
use crate::stores::StoreError;

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

    /// What is remembered, to look into, also while the program is running.
    fn open(&self) -> anyhow::Result<Reading> {
        let folder = self.folder()?;
        let opened = store::open(&folder)?;
        let there = opened.wait(opened.database.has_memory());
        if !there.with_context(|| format!("can not read {}", folder.display()))? {
            bail!("the store in {} is of an earlier aizuchi; `aizuchi run` brings it up to date", folder.display());
        }
        let memory = Local::new(opened.database.clone(), Kept::ALL);
        Ok(Reading { memory: Box::new(memory.clone()), catalog: Box::new(memory), opened })
    }
}

/// What can be asked about what is remembered.
struct Reading {
    memory: Box<dyn Memory>,
    catalog: Box<dyn MemoryCatalog>,
    opened: Opened,
}

type Read<T> = Result<T, StoreError>;

impl Reading {
    fn channel(&self, room: &RoomId) -> Read<(Option<ChannelMemory>, Marks)> {
        self.opened.wait(self.memory.channel(room))
    }

    fn channels(&self) -> Read<Vec<ChannelMemory>> {
        self.opened.wait(self.catalog.channels())
    }

    fn fact(&self, id: FactId) -> Read<Option<Fact>> {
        self.opened.wait(self.catalog.fact(id))
    }

    fn facts(&self, filter: &Filter) -> Read<Vec<Fact>> {
        self.opened.wait(self.memory.facts(filter.clone()))
    }

    fn people(&self, who: Option<&PersonId>) -> Read<Vec<Person>> {
        self.opened.wait(self.memory.people(who))
    }

    fn about(&self, person: &PersonId) -> Read<About> {
        self.opened.wait(self.memory.about(person))
    }

    fn recall(&self, query: &Query, policies: &Policies) -> Read<Vec<Recalled>> {
        self.opened.wait(self.memory.recall(query.clone(), policies))
    }

    fn rooms(&self) -> Read<Vec<RoomId>> {
        self.opened.wait(self.catalog.rooms())
    }

    /// Who can read a room, as far as is known: the narrowest circle that anything of it was kept for.
    fn visibility(&self, room: &RoomId) -> Read<Visibility> {
        let of_channel = self.channel(room)?.0.map(|channel| channel.origin.visibility);
        let facts = self.facts(&Filter { room: Some(room.clone()), ..Filter::default() })?;
        let of_facts = facts.into_iter().map(|fact| fact.origin.visibility);
        Ok(of_facts.chain(of_channel).fold(Visibility::Public, narrower))
    }
}
