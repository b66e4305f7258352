//! `aizuchi memory`: lists, searches, exports, imports and forgets what is remembered.

mod change;
mod checks;
mod export;
mod inspect;

use std::path::PathBuf;
use std::sync::Arc;

use aizuchi_core::Policies;
use aizuchi_core::memory::{
    ChannelMemory, Fact, FactId, Filter, Marks, Person, PersonExport, Query, Recalled, Tie, narrower,
};
use aizuchi_core::types::{PersonId, RoomId, Visibility};
use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};

use crate::cli::settings::{SettingsArguments, environment};
use crate::cli::show::print_error;
use crate::cli::store::{self, OpenStore};
use crate::memory::{self, MemoryUser};
use crate::meter::Meter;
use crate::models;
use crate::ports::MemoryStore;
use crate::stores::{DataFolder, Database, StoreError, StoreLocation};

#[cfg(feature = "mcp")]
pub use inspect::{Search, find_in_memory};

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
    /// With --room, as they would be recalled there: only what may be known there, with score, strength and why; by meaning as
    /// well where memory.vectors is on. Without it, the latest facts that have all of these words.
    Search(inspect::Search),
    /// Forget a fact, a person or a room for good
    ///
    /// Facts that come from a person's words or mention them are forgotten with the person, and what they said leaves the
    /// journal; what the web room keeps of them goes with /forget-me. Needs exclusive use of the data
    /// folder: while aizuchi is running, people use /aizuchi forget-me.
    Forget(change::Forget),
    /// Write what is remembered as JSON Lines
    Export(export::Export),
    /// Import what was exported elsewhere
    ///
    /// Facts get new numbers, and duplicates are merged. People who are already known, and who answers whom, stay unchanged.
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
    fn location(&self) -> anyhow::Result<StoreLocation> {
        store::location(self.folder.as_deref(), &self.settings)
    }

    /// Opens memory for reading, also while the program is running.
    fn open(&self) -> anyhow::Result<MemoryReader> {
        MemoryReader::open(&self.location()?, &self.settings)
    }
}

/// Read access to memory.
struct MemoryReader {
    memory: Arc<dyn MemoryStore>,
    opened: OpenStore,
    // Dropped after what is in it was closed.
    _empty: Option<EmptyStore>,
}

/// A store with nothing in it, in place of one that is not there yet. Gone when it is dropped.
struct EmptyStore(PathBuf);

impl EmptyStore {
    fn new() -> anyhow::Result<EmptyStore> {
        let folder = std::env::temp_dir().join(format!("aizuchi-memory-{}", std::process::id()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let held = DataFolder::take(&folder)?;
        runtime.block_on(async { Database::open(&held.database()).map(drop) })?;
        Ok(EmptyStore(folder))
    }

    fn open(&self) -> anyhow::Result<OpenStore> {
        store::open(&StoreLocation::folder(&self.0))
    }
}

impl Drop for EmptyStore {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

type MemoryResult<T> = Result<T, StoreError>;

impl MemoryReader {
    fn open(location: &StoreLocation, settings: &SettingsArguments) -> anyhow::Result<MemoryReader> {
        let is_elsewhere = memory::is_elsewhere(&settings.policies()?.general().settings.memory);
        // What is remembered may be there before anything was recorded here.
        let empty = (is_elsewhere && !store::exists(location)).then(EmptyStore::new).transpose()?;
        let (opened, shown) = match &empty {
            Some(empty) => (empty.open()?, location.display_name()),
            None => (store::open(location)?, location.display_name()),
        };
        let condition = opened.wait(opened.backend.condition()).with_context(|| format!("cannot read {shown}"))?;
        if !condition.has_memory {
            bail!("the store in {shown} was written by an earlier version; `aizuchi run` upgrades it");
        }
        let (layers, policies) = (settings.layers()?, settings.policies()?);
        let memory = store::memory_of(&*opened.backend, &layers, &policies, MemoryUser::CommandLine);
        Ok(MemoryReader { memory: opened.wait(memory)?, opened, _empty: empty })
    }

    fn channel(&self, room: &RoomId) -> MemoryResult<(Option<ChannelMemory>, Marks)> {
        self.opened.wait(self.memory.channel(room))
    }

    fn channels(&self) -> MemoryResult<Vec<ChannelMemory>> {
        self.opened.wait(self.memory.channels())
    }

    fn fact(&self, id: FactId) -> MemoryResult<Option<Fact>> {
        self.opened.wait(self.memory.fact(id))
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

    fn ties(&self, room: Option<&RoomId>, person: Option<&PersonId>) -> MemoryResult<Vec<Tie>> {
        self.opened.wait(self.memory.ties(room, person))
    }

    fn recall(&self, query: &Query, policies: &Policies) -> MemoryResult<Vec<Recalled>> {
        self.opened.wait(self.memory.recall(query.clone(), policies))
    }

    fn rooms(&self) -> MemoryResult<Vec<RoomId>> {
        self.opened.wait(self.memory.rooms())
    }

    /// A room in which anything was heard.
    fn room_heard(&self, asked: &str) -> Option<RoomId> {
        store::find_room(&self.opened, asked).ok()
    }

    /// The embedding of a text, if the settings enable search by meaning. Without an answer, the search is by words only.
    fn meaning_of(&self, text: &str, policies: &Policies) -> anyhow::Result<Option<(Box<str>, Vec<f32>)>> {
        let variable = |name: &str| environment().find(|(known, _)| known == name).map(|(_, value)| value);
        let embedder = models::wanted_embedder(policies, &variable).map_err(anyhow::Error::msg)?;
        let Some(embedder) = embedder else { return Ok(None) };
        let texts = [text.to_owned()];
        match self.opened.wait(embedder.embed(&texts, &Meter::default())) {
            Ok(vectors) => Ok(vectors.into_iter().next().map(|vector| (embedder.model().into(), vector))),
            Err(error) => {
                print_error(&format!("embeddings are unavailable, searching by words only: {error}"));
                Ok(None)
            }
        }
    }

    /// Who can read a room, as far as known: the widest audience that anything of it was kept for. A private thread of it
    /// has a smaller one.
    fn visibility(&self, room: &RoomId) -> MemoryResult<Visibility> {
        let of_channel = self.channel(room)?.0.map(|channel| channel.origin.visibility);
        let facts = self.facts(&Filter { room: Some(room.clone()), ..Filter::default() })?;
        let of_facts = facts.into_iter().map(|fact| fact.origin.visibility);
        let wider = |a: Visibility, b: Visibility| if narrower(a, b) == a { b } else { a };
        Ok(of_facts.chain(of_channel).reduce(wider).unwrap_or(Visibility::Public))
    }
}
