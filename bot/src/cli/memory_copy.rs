//! `aizuchi store copy` from and to a store that contains only memory.

use std::sync::Arc;

use anyhow::{Context as _, anyhow, ensure};

use super::print;
use super::show::harmless;
use super::store_copy::{CopyLocation, check_source, copy_with_progress};
use crate::ports::{CopyScope, CopyStore, StoreBackend, StoreKind};
use crate::stores::copy::CopySummary;
use crate::stores::{DataFolder, firestore};

/// The source or destination of a copy, opened.
struct MemoryEnd {
    copying: Arc<dyn CopyStore>,
    /// Set for a store that contains everything, not only memory.
    backend: Option<Arc<dyn StoreBackend>>,
    /// Held if no other process may use the store during the copy.
    _folder: Option<DataFolder>,
}

impl MemoryEnd {
    fn of(backend: Arc<dyn StoreBackend>, folder: Option<DataFolder>) -> MemoryEnd {
        MemoryEnd { copying: backend.copying(), backend: Some(backend), _folder: folder }
    }

    async fn source(location: &CopyLocation) -> anyhow::Result<MemoryEnd> {
        match location {
            CopyLocation::Store(location) => Ok(MemoryEnd::of(location.open_to_read().await?, None)),
            CopyLocation::Firestore(location) => MemoryEnd::firestore(location).await,
        }
    }

    async fn target(location: &CopyLocation) -> anyhow::Result<MemoryEnd> {
        match location {
            CopyLocation::Store(location) => {
                // A database has its own lock.
                let is_here = location.kind() == StoreKind::Sqlite;
                let folder = is_here.then(|| DataFolder::take(location.data_folder())).transpose()?;
                Ok(MemoryEnd::of(location.open().await?, folder))
            }
            CopyLocation::Firestore(location) => MemoryEnd::firestore(location).await,
        }
    }

    async fn firestore(location: &firestore::FirestoreLocation) -> anyhow::Result<MemoryEnd> {
        let copying = firestore::open_to_copy(location).await.map_err(|what| anyhow!(what))?;
        Ok(MemoryEnd { copying, backend: None, _folder: None })
    }
}

pub fn transfer(from: &CopyLocation, to: &CopyLocation, replace: bool) -> anyhow::Result<()> {
    ensure!(
        !matches!((from, to), (CopyLocation::Firestore(from), CopyLocation::Firestore(to)) if from == to),
        "{} and {} are the same store; nothing was changed",
        from.shown(),
        to.shown()
    );
    if let CopyLocation::Store(from) = from {
        check_source(from)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let summary = runtime.block_on(async {
        let unopened = || format!("cannot open {}; nothing was changed", to.shown());
        let target = MemoryEnd::target(to).await.with_context(unopened)?;
        let source = MemoryEnd::source(from).await.with_context(|| format!("cannot open {}", from.shown()))?;
        if replace {
            target.copying.clear(CopyScope::Memory).await?;
        }
        let summary = copy_with_progress(&*source.copying, &*target.copying, CopyScope::Memory).await?;
        if let Some(backend) = target.backend {
            // Data that was cleared must leave the files as well.
            let _ = backend.stores().files.settle().await?;
        }
        anyhow::Ok(summary)
    })?;
    print(&told(&summary, from, to))
}

fn told(summary: &CopySummary, from: &CopyLocation, to: &CopyLocation) -> String {
    let count = |table: &str| summary.counts.iter().find(|(name, _)| *name == table).map_or(0, |(_, count)| *count);
    let found = match summary.found {
        0 => String::new(),
        found => format!(", {found} more were there already"),
    };
    format!(
        "copied {} rows of memory from {} to {}{found}: {} facts, {} people, {} channels, {} opt-outs; counted and compared\n\
         the journal, decisions and the web room were not copied: Firestore has only memory\n",
        summary.rows - summary.found,
        harmless(&from.shown()),
        harmless(&to.shown()),
        count("memory_fact"),
        count("memory_person"),
        count("memory_channel"),
        count("memory_out")
    )
}
