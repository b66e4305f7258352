//! Opens the store to look into it, also while the program is running, and says what stands in the way.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aizuchi_core::Policies;
use aizuchi_core::types::RoomId;
use anyhow::{Context as _, bail};
use tokio::runtime::Runtime;

use crate::cli::no_model::NoModel;
use crate::cli::settings::SettingsArguments;
use crate::cli::show::print_error;
use crate::keeper::{self, Keeper};
use crate::memory::{SqliteMemory, StoredLayers};
use crate::ports::{FileCleanup, Stores};
use crate::stores::{DataFolder, Database, StoreError, StoreSettings};

/// The folder that was named, or the one of the settings.
pub fn folder(named: Option<&str>, settings: &SettingsArguments) -> anyhow::Result<PathBuf> {
    match named {
        Some(folder) => Ok(folder.into()),
        None => Ok(settings.section::<StoreSettings>()?.folder.into()),
    }
}

/// A store to look into, and what waits for it.
pub struct OpenStore {
    pub stores: Stores,
    pub database: Database,
    runtime: Runtime,
}

impl OpenStore {
    /// Opens it, whatever it holds.
    pub fn new(database: &Path) -> Result<OpenStore, StoreError> {
        let database = Database::open_to_read(database)?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| StoreError::Failed(error.to_string()))?;
        Ok(OpenStore { stores: database.clone().into(), database, runtime })
    }

    pub fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.block_on(work)
    }
}

pub fn open(folder: &Path) -> anyhow::Result<OpenStore> {
    let path = DataFolder::database_in(folder);
    if !path.exists() {
        bail!(
            "there is no store in {}: nothing has been recorded there yet (`aizuchi run` records into store.folder)",
            folder.display()
        );
    }
    let opened = OpenStore::new(&path).with_context(|| format!("cannot open {}", path.display()))?;
    match opened.wait(opened.database.has_records()) {
        Ok(true) => Ok(opened),
        Ok(false) => bail!("{} is not an aizuchi store", path.display()),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

/// Has what was deleted leave the files; where something else reads them, `aizuchi run` does it.
pub async fn settle(database: &Database) -> Result<(), StoreError> {
    if database.settle().await? == FileCleanup::StillRead {
        keeper::settle_later(database).await?;
        print_error("another program is reading the store: old pages stay in the file until aizuchi runs again");
    }
    Ok(())
}

/// Forgets in a store that no program runs on. What was said last and not counted yet is counted first: it must not bring
/// anything back.
pub async fn keeper_at_rest(database: &Database, policies: &Policies) -> anyhow::Result<Keeper> {
    let memory = Arc::new(SqliteMemory::new(database.clone(), StoredLayers::ALL));
    let keeper = Keeper::new(memory, Arc::new(NoModel), database, policies.clone());
    keeper.catch_up().await?;
    Ok(keeper)
}

/// Rooms by their whole id, or by what follows the platform's name.
pub fn is_room(id: &str, asked: &str) -> bool {
    id == asked || id.split_once(':').is_some_and(|(_, name)| name == asked)
}

/// The room that is meant.
pub fn find_room(opened: &OpenStore, asked: &str) -> anyhow::Result<RoomId> {
    let rooms = opened.wait(opened.stores.decisions.rooms())?;
    if let Some(room) = rooms.iter().find(|room| room.as_str() == asked) {
        return Ok(room.clone());
    }
    let meant: Vec<&RoomId> = rooms.iter().filter(|room| is_room(room.as_str(), asked)).collect();
    let join_ids = |rooms: &[&RoomId]| join_names(&rooms.iter().map(|room| room.as_str()).collect::<Vec<_>>());
    match meant.as_slice() {
        [] => {
            bail!("no decisions in a room {asked}; there are {}", join_ids(&rooms.iter().collect::<Vec<_>>()))
        }
        [room] => Ok((*room).clone()),
        several => bail!("{asked} is ambiguous: {}", join_ids(several)),
    }
}

pub fn join_names<T: AsRef<str>>(names: &[T]) -> String {
    const SHOWN: usize = 20;
    let mut shown: Vec<&str> = names.iter().take(SHOWN).map(AsRef::as_ref).collect();
    match names.len() {
        0 => shown.push("none"),
        all if all > SHOWN => shown.push("…"),
        _ => (),
    }
    shown.join(", ")
}
