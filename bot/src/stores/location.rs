//! Where a store is, and how it is opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aizuchi_core::settings::Layers;
use secrecy::{ExposeSecret as _, SecretString};

#[cfg(feature = "postgres")]
use super::postgres::{PgTarget, PostgresDatabase};
use super::{DataFolder, Database, StoreError, StoreSettings};
use crate::features;
use crate::memory::{MemoryContext, MemoryStoreSpec, StoredLayers};
use crate::ports::{MemoryStore, StoreBackend, StoreKind};

/// In the database of `store.url`, or in one of its own beside a file.
pub const POSTGRES_MEMORY: MemoryStoreSpec = MemoryStoreSpec {
    name: "postgres",
    same_as: Some(StoreKind::Postgres),
    missing: |layers| {
        let has_database = |store: StoreSettings| store.has_database() || !store.memory_url.expose_secret().is_empty();
        (!layers.section().is_ok_and(has_database)).then(|| NO_DATABASE.to_owned())
    },
    try_out: |layers| Box::pin(try_memory(layers)),
    open: |context, kept| Box::pin(open_memory(context, kept)),
};

/// `None` where memory has no database of its own.
fn memory_location(layers: &Layers) -> Result<Option<StoreLocation>, String> {
    let settings: StoreSettings = layers.section().map_err(|_| "the section [store] is wrong".to_owned())?;
    if settings.has_database() {
        return Ok(None);
    }
    StoreLocation::of_memory(&settings).map_err(|what| format!("`store.memory_url` {what}"))
}

async fn try_memory(layers: &Layers) -> Result<Option<String>, String> {
    let Some(location) = memory_location(layers)? else { return Ok(None) };
    let tried = async {
        let backend = location.open_to_read().await?;
        backend.try_out().await?;
        location.check_complete(&*backend).await
    };
    tried.await.map_err(|error| format!("`store.memory_url`: {error}"))?;
    Ok(Some(format!("{} was written to and read", location.display_name())))
}

async fn open_memory(context: MemoryContext<'_>, kept: StoredLayers) -> Result<Arc<dyn MemoryStore>, String> {
    let location = memory_location(context.layers)?;
    let location = location.ok_or_else(|| format!("memory is to be in \"postgres\", and {NO_DATABASE}"))?;
    let opened = location.open_for_memory().await;
    Ok(opened.map_err(|error| format!("`store.memory_url`: {error}"))?.memory(kept))
}

/// Why no program runs on a store.
pub const PARTIAL_COPY: &str = "a copy into this store was interrupted, so that it has only a part; run the same `aizuchi store copy` or \
                                `aizuchi restore` again, which completes it";

/// Why a program that runs alone does not run on a store.
pub const OF_CLUSTER: &str = "it is that of a cluster, also while no process of it runs: `aizuchi run --cluster`, or `aizuchi worker` and \
                              `aizuchi gateway`, go on with its rooms; `aizuchi cluster leave` gives them back to a single process";

/// What a command line accepts as a store. What was given instead is not repeated: it may contain a password.
const NO_LOCATION: &str = "must be a folder, postgres://… or firestore://…";

/// How the addresses of stores begin.
const ADDRESS_SCHEMES: [&str; 3] = ["postgres:", "postgresql:", "firestore:"];

const NO_DATABASE: &str = "there is no database: set store.url, or store.memory_url for memory alone";

/// Cheap to clone.
#[derive(Clone)]
pub struct StoreLocation {
    folder: PathBuf,
    /// The file, where it is not the usual one of the folder.
    file: Option<PathBuf>,
    #[cfg(feature = "postgres")]
    database: Option<PgTarget>,
}

impl StoreLocation {
    /// The one of the settings. `Err` says what is wrong with `store.url`, without its password.
    pub fn of(settings: &StoreSettings) -> Result<StoreLocation, String> {
        let here = StoreLocation::folder(Path::new(&settings.folder));
        if settings.url.expose_secret().is_empty() {
            return Ok(here);
        }
        features::POSTGRES.require("store.url")?;
        #[cfg(feature = "postgres")]
        {
            let database = PgTarget::new(&settings.url, &|name| std::env::var(name).ok())?;
            Ok(StoreLocation { database: Some(database), ..here })
        }
        #[cfg(not(feature = "postgres"))]
        Ok(here)
    }

    /// The database that only memory is in. `Err` says what is wrong with `store.memory_url`, without its password.
    pub fn of_memory(settings: &StoreSettings) -> Result<Option<StoreLocation>, String> {
        if settings.memory_url.expose_secret().is_empty() {
            return Ok(None);
        }
        StoreLocation::of(&StoreSettings { url: settings.memory_url.clone(), ..settings.clone() }).map(Some)
    }

    /// The file in this folder.
    pub fn folder(folder: &Path) -> StoreLocation {
        StoreLocation {
            folder: folder.to_owned(),
            file: None,
            #[cfg(feature = "postgres")]
            database: None,
        }
    }

    /// As a command line names it: a folder, a file, or the URL of a database. `Err` says what is wrong with it.
    pub fn parse(text: &str) -> Result<StoreLocation, String> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            let folder = std::env::temp_dir().join(format!("aizuchi-copy-{}", std::process::id()));
            let url = SecretString::from(text);
            let settings = StoreSettings { url, folder: folder.display().to_string(), ..StoreSettings::default() };
            return StoreLocation::of(&settings);
        }
        let path = Path::new(text.strip_prefix("sqlite:").unwrap_or(text));
        if path.as_os_str().is_empty() || path.to_str().is_some_and(looks_like_address) {
            return Err(NO_LOCATION.into());
        }
        if !path.is_file() {
            return Ok(StoreLocation::folder(path));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(StoreLocation { file: Some(path.to_owned()), ..StoreLocation::folder(folder) })
    }

    pub fn kind(&self) -> StoreKind {
        #[cfg(feature = "postgres")]
        if self.database.is_some() {
            return StoreKind::Postgres;
        }
        StoreKind::Sqlite
    }

    /// The file of the store, or what the notes of the shell are named after.
    pub fn notes(&self) -> PathBuf {
        match self.kind() {
            StoreKind::Sqlite => self.file.clone().unwrap_or_else(|| DataFolder::database_in(&self.folder)),
            StoreKind::Postgres => self.folder.join("postgres"),
        }
    }

    /// The data folder, which holds small notes in any case.
    pub fn data_folder(&self) -> &Path {
        &self.folder
    }

    /// As it is shown to people.
    pub fn display_name(&self) -> String {
        #[cfg(feature = "postgres")]
        if let Some(database) = &self.database {
            return database.display_name().to_owned();
        }
        self.file.as_ref().unwrap_or(&self.folder).display().to_string()
    }

    /// Opens it for a program that holds the data folder and goes on with its rooms, and brings it up to date. Must be called inside a
    /// tokio runtime.
    pub async fn open(&self) -> Result<Arc<dyn StoreBackend>, StoreError> {
        let backend = self.open_for_memory().await?;
        match backend.condition().await?.is_of_cluster {
            true => Err(StoreError::Failed(format!("{}: {OF_CLUSTER}", self.display_name()))),
            false => Ok(backend),
        }
    }

    /// The same for what is remembered only: it may be that of a cluster.
    pub async fn open_for_memory(&self) -> Result<Arc<dyn StoreBackend>, StoreError> {
        let backend = self.open_to_copy().await?;
        self.check_complete(&*backend).await?;
        Ok(backend)
    }

    /// `Err` if a copy of everything into it was interrupted.
    pub async fn check_complete(&self, backend: &dyn StoreBackend) -> Result<(), StoreError> {
        match backend.condition().await?.is_partial_copy {
            true => Err(StoreError::Failed(format!("{}: {PARTIAL_COPY}", self.display_name()))),
            false => Ok(()),
        }
    }

    /// The same to copy everything into it, also where an earlier copy was interrupted.
    pub async fn open_to_copy(&self) -> Result<Arc<dyn StoreBackend>, StoreError> {
        #[cfg(feature = "postgres")]
        if let Some(database) = &self.database {
            return Ok(Arc::new(PostgresDatabase::open(database.clone(), self.notes()).await?));
        }
        Ok(Arc::new(Database::open(&self.notes())?))
    }

    /// Opens it for one process of a cluster. `Err` where it is no database that several processes can share.
    #[cfg(feature = "cluster")]
    pub async fn open_among_others(&self) -> Result<(Arc<PostgresDatabase>, PgTarget), StoreError> {
        let Some(database) = &self.database else {
            return Err(StoreError::Failed("a cluster needs a PostgreSQL database: set store.url".into()));
        };
        let opened = PostgresDatabase::open_among_others(database.clone(), self.notes()).await?;
        self.check_complete(&opened).await?;
        Ok((Arc::new(opened), database.clone()))
    }

    /// The same to look and not to touch.
    #[cfg(feature = "cluster")]
    pub async fn open_database_to_read(&self) -> Result<PostgresDatabase, StoreError> {
        let Some(database) = &self.database else {
            return Err(StoreError::Failed("a cluster needs a PostgreSQL database: set store.url".into()));
        };
        PostgresDatabase::open_to_read(database.clone(), self.notes()).await
    }

    /// Opens it to look and not to touch, also while a program runs on it.
    pub async fn open_to_read(&self) -> Result<Arc<dyn StoreBackend>, StoreError> {
        #[cfg(feature = "postgres")]
        if let Some(database) = &self.database {
            return Ok(Arc::new(PostgresDatabase::open_to_read(database.clone(), self.notes()).await?));
        }
        Ok(Arc::new(Database::open_to_read(&self.notes())?))
    }
}

/// Whether a text can only be meant as an address, or has a password in it. A sound address is recognised before.
pub fn looks_like_address(text: &str) -> bool {
    let text: String = text.chars().filter(|letter| !letter.is_whitespace()).collect::<String>().to_lowercase();
    text.contains("://") || text.contains("password=") || ADDRESS_SCHEMES.iter().any(|scheme| text.starts_with(scheme))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_an_address_is_no_folder() {
        for text in [
            "POSTGRES://mia:hunter2@db/talk",
            "postgres:/mia:hunter2@db/talk",
            "PostgreSQL:mia:hunter2@db",
            " postgres://mia:hunter2@db/talk",
            "\u{3000}postgres:mia:hunter2@db",
            "mysql://mia:hunter2@db/talk",
            "host=db password=hunter2",
            "host=db Password = hunter2",
            "Firestore:hunter2",
            "sqlite:postgres://mia:hunter2@db/talk",
            "",
        ] {
            assert_eq!(StoreLocation::parse(text).err().as_deref(), Some(NO_LOCATION), "{text}");
        }
        for text in ["aizuchi-data", "sqlite:///srv/data", "sqlite:data", "/srv/postgres", "my postgres", "c:\\data"] {
            assert!(StoreLocation::parse(text).is_ok_and(|location| location.kind() == StoreKind::Sqlite), "{text}");
        }
    }
}
