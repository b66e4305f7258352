//! Layers of memory in Google Cloud Firestore, in builds that have it.

mod settings;
#[cfg(feature = "firestore")]
mod store;
#[cfg(all(test, feature = "firestore"))]
pub mod test_project;

pub use settings::{FirestoreLocation, FirestoreSettings, URL_SCHEME};
#[cfg(feature = "firestore")]
pub use store::{FirestoreMemory, MessageScope, Patience};

use std::sync::Arc;

use aizuchi_core::settings::Layers;

use crate::features::FIRESTORE;
#[cfg(feature = "firestore")]
use crate::memory::MemoryUser;
use crate::memory::{MemoryContext, MemoryStoreSpec, StoredLayers};
use crate::ports::{CopyStore, JournalId, MemoryStore};

pub const MEMORY: MemoryStoreSpec = MemoryStoreSpec {
    name: "firestore",
    same_as: None,
    missing,
    try_out: |layers| Box::pin(try_out(layers)),
    open: |context, kept| Box::pin(open(context, kept)),
};

fn missing(layers: &Layers) -> Option<String> {
    // An invalid section is reported with the other settings.
    FIRESTORE.lacking().or_else(|| section(layers).ok()?.location(&variable).err())
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn section(layers: &Layers) -> Result<FirestoreSettings, String> {
    let settings = layers.section::<FirestoreSettings>();
    settings.map_err(|problems| problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
}

#[cfg(feature = "firestore")]
async fn open(context: MemoryContext<'_>, kept: StoredLayers) -> Result<Arc<dyn MemoryStore>, String> {
    let journal = context.backend.journal_id().await.map_err(|error| error.to_string())?;
    let patience = match context.user {
        MemoryUser::Conversation => Patience::CONVERSATION,
        MemoryUser::CommandLine => Patience::COMMAND_LINE,
    };
    let location = section(context.layers)?.location(&variable)?;
    Ok(Arc::new(FirestoreMemory::open(&location, kept, MessageScope::of(journal), patience).await?))
}

async fn try_out(layers: &Layers) -> Result<Option<String>, String> {
    write_and_read(&section(layers)?.location(&variable)?).await.map(Some)
}

/// All layers, to be taken along: to or from the store with this journal, or as they are.
pub async fn open_to_copy(
    location: &FirestoreLocation,
    journal: Option<JournalId>,
) -> Result<Arc<dyn CopyStore>, String> {
    connect_copying(location, journal).await
}

#[cfg(feature = "firestore")]
async fn connect_copying(
    location: &FirestoreLocation,
    journal: Option<JournalId>,
) -> Result<Arc<dyn CopyStore>, String> {
    let scope = journal.map_or_else(MessageScope::all, MessageScope::of);
    Ok(Arc::new(FirestoreMemory::open(location, StoredLayers::ALL, scope, Patience::COPY).await?))
}

#[cfg(feature = "firestore")]
async fn write_and_read(location: &FirestoreLocation) -> Result<String, String> {
    let memory =
        FirestoreMemory::open(location, StoredLayers::NONE, MessageScope::all(), Patience::COMMAND_LINE).await?;
    memory.try_out().await.map_err(|error| format!("{}: {error}", location.display_name()))?;
    Ok(format!("{} was written to and read", location.display_name()))
}

#[cfg(not(feature = "firestore"))]
async fn open(_: MemoryContext<'_>, _: StoredLayers) -> Result<Arc<dyn MemoryStore>, String> {
    Err(lacking())
}

#[cfg(not(feature = "firestore"))]
async fn connect_copying(_: &FirestoreLocation, _: Option<JournalId>) -> Result<Arc<dyn CopyStore>, String> {
    Err(lacking())
}

#[cfg(not(feature = "firestore"))]
async fn write_and_read(_: &FirestoreLocation) -> Result<String, String> {
    Err(lacking())
}

#[cfg(not(feature = "firestore"))]
fn lacking() -> String {
    FIRESTORE.lacking().unwrap_or_default()
}
