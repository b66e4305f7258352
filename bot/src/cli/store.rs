//! Opens the store for reading, also while the program is running, and explains why if that fails.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::Policies;
use aizuchi_core::settings::Layers;
use aizuchi_core::types::RoomId;
use anyhow::{Context as _, anyhow, bail};
use tokio::runtime::Runtime;

use crate::cli::no_model::NoModel;
use crate::cli::settings::SettingsArguments;
use crate::cli::show::print_error;
use crate::config::BadSettings;
use crate::keeper::{self, Keeper};
use crate::memory::{self, MemoryContext, MemoryUser};
use crate::ports::{FileCleanup, MemoryStore, StoreBackend, StoreKind, Stores};
use crate::stores::{DataFolder, StoreError, StoreLocation, StoreSettings, looks_like_address};

/// The given folder, or the store of the settings.
pub fn location(named: Option<&str>, settings: &SettingsArguments) -> anyhow::Result<StoreLocation> {
    match named {
        // It may contain a password, and is not repeated.
        Some(folder) if looks_like_address(folder) => {
            Err(BadSettings(vec!["the data folder must be a folder; a database is named by store.url".into()]).into())
        }
        Some(folder) => Ok(StoreLocation::folder(Path::new(folder))),
        None => location_of(&settings.section()?),
    }
}

pub fn location_of(settings: &StoreSettings) -> anyhow::Result<StoreLocation> {
    StoreLocation::of(settings).map_err(|what| anyhow!("`store.url` {what}"))
}

/// How long a server may take to answer a short question.
const ANSWERS_WITHIN: Duration = Duration::from_secs(15);

/// A server that hangs is not waited for.
pub async fn within<T>(work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    let slow = |_| {
        let within = ANSWERS_WITHIN.as_secs();
        StoreError::Unavailable(format!("PostgreSQL (store.url) does not answer within {within} s"))
    };
    tokio::time::timeout(ANSWERS_WITHIN, work).await.map_err(slow)?
}

/// Ends when the server does not answer any more, for what takes as long as it takes otherwise.
#[cfg(feature = "cluster")]
pub async fn until_silent(location: &StoreLocation) -> StoreError {
    loop {
        tokio::time::sleep(ANSWERS_WITHIN / 3).await;
        if let Err(error) = within(location.open_database_to_read()).await {
            return error;
        }
    }
}

/// A runtime that ends without waiting for a read that hangs.
pub struct CommandRuntime(Option<Runtime>);

impl CommandRuntime {
    pub fn new(runtime: Runtime) -> CommandRuntime {
        CommandRuntime(Some(runtime))
    }

    pub fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.0.as_ref().expect("only dropping takes it").block_on(work)
    }
}

impl Drop for CommandRuntime {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// A store opened for reading, with the runtime that waits for it.
pub struct OpenStore {
    pub stores: Stores,
    pub backend: Arc<dyn StoreBackend>,
    runtime: CommandRuntime,
}

impl OpenStore {
    /// Opens the store, whatever it contains, also a part of a copy.
    pub fn new(location: &StoreLocation) -> Result<OpenStore, StoreError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = CommandRuntime::new(runtime.map_err(|error| StoreError::Failed(error.to_string()))?);
        let backend = match location.kind() {
            StoreKind::Sqlite => runtime.wait(location.open_to_read())?,
            StoreKind::Postgres => runtime.wait(within(location.open_to_read()))?,
        };
        Ok(OpenStore { stores: backend.stores(), backend, runtime })
    }

    pub fn wait<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime.wait(work)
    }
}

/// Whether anything can have been recorded there.
pub fn exists(location: &StoreLocation) -> bool {
    match location.kind() {
        StoreKind::Sqlite => location.notes().exists(),
        StoreKind::Postgres => true,
    }
}

/// Opens a store that has records, and all of them: what a copy that was interrupted left is refused.
pub fn open(location: &StoreLocation) -> anyhow::Result<OpenStore> {
    let (shown, nothing) = (location.display_name(), "nothing has been recorded there yet");
    if !exists(location) {
        bail!("there is no store in {shown}: {nothing} (`aizuchi run` records into store.folder)");
    }
    let unopened = || match location.kind() {
        StoreKind::Sqlite => format!("cannot open {}", location.notes().display()),
        StoreKind::Postgres => "cannot open the store".to_owned(),
    };
    let opened = OpenStore::new(location).with_context(unopened)?;
    let file = opened.backend.display_name();
    match opened.wait(opened.backend.condition()) {
        Ok(condition) if condition.has_records => {
            opened.wait(location.check_complete(&*opened.backend))?;
            Ok(opened)
        }
        Ok(_) => match location.kind() {
            StoreKind::Sqlite => bail!("{file} is not an aizuchi store"),
            StoreKind::Postgres => bail!("there is no store in {file}: {nothing} (`aizuchi run` makes its tables)"),
        },
        Err(error) => Err(error).with_context(|| format!("cannot read {file}")),
    }
}

/// What is to be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeldPart {
    /// Rooms too, which a cluster keeps elsewhere.
    Everything,
    /// What is remembered.
    Memory,
}

/// A store held exclusively, for changes.
pub struct HeldStore {
    pub backend: Arc<dyn StoreBackend>,
    layers: Layers,
    policies: Policies,
    _folder: DataFolder,
}

impl HeldStore {
    /// Must be called inside a tokio runtime.
    pub async fn open(
        location: &StoreLocation,
        settings: &SettingsArguments,
        part: HeldPart,
    ) -> anyhow::Result<HeldStore> {
        let (layers, policies) = (settings.layers()?, settings.policies()?);
        let folder = DataFolder::take(location.data_folder())?;
        let backend = match part {
            HeldPart::Everything => location.open().await?,
            HeldPart::Memory => location.open_for_memory().await?,
        };
        Ok(HeldStore { backend, layers, policies, _folder: folder })
    }

    pub fn policies(&self) -> &Policies {
        &self.policies
    }

    pub async fn memory(&self) -> anyhow::Result<Arc<dyn MemoryStore>> {
        memory_of(&*self.backend, &self.layers, &self.policies, MemoryUser::CommandLine).await
    }

    /// A keeper for a store that no program runs on. It first processes the messages that were not counted yet, so that
    /// they cannot bring back anything forgotten.
    pub async fn keeper(&self) -> anyhow::Result<Keeper> {
        let (memory, policies) = (self.memory().await?, self.policies.clone());
        let keeper = Keeper::new(memory, Arc::new(NoModel), self.backend.stores(), policies);
        keeper.accept_lost_records().await?;
        keeper.catch_up().await?;
        Ok(keeper)
    }

    /// Removes deleted data from the files; if another process reads them, `aizuchi run` does it later.
    pub async fn settle(&self) -> Result<(), StoreError> {
        let stores = self.backend.stores();
        if stores.files.settle().await? == FileCleanup::StillRead {
            keeper::settle_later(&*stores.jobs).await?;
            print_error("another program is reading the store: old pages stay in the file until aizuchi runs again");
        }
        Ok(())
    }
}

/// Memory, with each layer in the store that the settings choose.
pub async fn memory_of(
    backend: &dyn StoreBackend,
    layers: &Layers,
    policies: &Policies,
    user: MemoryUser,
) -> anyhow::Result<Arc<dyn MemoryStore>> {
    let context = MemoryContext { backend, layers, user };
    memory::open(&policies.general().settings.memory, context).await.map_err(anyhow::Error::msg)
}

/// Whether a room has this whole id, or this part after the platform's name.
pub fn is_room(id: &str, asked: &str) -> bool {
    id == asked || id.split_once(':').is_some_and(|(_, name)| name == asked)
}

/// Finds a room by either form of its name.
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
