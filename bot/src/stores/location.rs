//! Where a store is, and how it is opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use secrecy::{ExposeSecret as _, SecretString};

#[cfg(feature = "postgres")]
use super::postgres::{PgTarget, PostgresDatabase};
use super::{DataFolder, Database, StoreError, StoreSettings};
use crate::features;
use crate::memory::{MemoryStoreSpec, tried_with_the_rest};
use crate::ports::{StoreBackend, StoreKind};

/// In the database of `store.url`.
pub const POSTGRES_MEMORY: MemoryStoreSpec = MemoryStoreSpec {
    name: "postgres",
    same_as: Some(StoreKind::Postgres),
    missing: |layers| {
        let has_database = layers.section::<StoreSettings>().is_ok_and(|store| store.has_database());
        (!has_database).then(|| NO_DATABASE.to_owned())
    },
    try_out: tried_with_the_rest,
    open: |_, _| Box::pin(std::future::ready(Err(format!("memory is to be in \"postgres\", and {NO_DATABASE}")))),
};

/// Why no program runs on a store.
pub const PARTIAL_COPY: &str = "a copy into this store was interrupted, so that it has only a part; run the same `aizuchi store copy` or \
                                `aizuchi restore` again, which completes it";

const NO_DATABASE: &str = "there is no database: set store.url";

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
        if path.as_os_str().is_empty() {
            return Err("must be a data folder, a backup, postgres://… or firestore://…".into());
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

    /// As people are told.
    pub fn shown(&self) -> String {
        #[cfg(feature = "postgres")]
        if let Some(database) = &self.database {
            return database.shown().to_owned();
        }
        self.file.as_ref().unwrap_or(&self.folder).display().to_string()
    }

    /// Opens it for a program that holds the data folder, and brings it up to date. Must be called inside a tokio runtime.
    pub async fn open(&self) -> Result<Arc<dyn StoreBackend>, StoreError> {
        let backend = self.open_to_copy().await?;
        match backend.condition().await?.is_partial_copy {
            true => Err(StoreError::Failed(format!("{}: {PARTIAL_COPY}", self.shown()))),
            false => Ok(backend),
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
