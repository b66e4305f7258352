//! `aizuchi store copy` from and to a store that contains only memory.

use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail, ensure};

use super::print;
use super::show::harmless;
use super::store_copy::{CopyLocation, check_source, copy_with_progress};
use crate::ports::{Cell, CopyScope, CopyStore, JournalId, StoreBackend, StoreKind};
use crate::stores::copy::{self, CopySummary};
use crate::stores::{DataFolder, StoreError, StoreLocation, firestore};

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

    async fn source(location: &StoreLocation) -> anyhow::Result<MemoryEnd> {
        Ok(MemoryEnd::of(location.open_to_read().await?, None))
    }

    async fn target(location: &StoreLocation) -> anyhow::Result<MemoryEnd> {
        // A database has a lock of its own.
        let is_here = location.kind() == StoreKind::Sqlite;
        let folder = is_here.then(|| DataFolder::take(location.data_folder())).transpose()?;
        Ok(MemoryEnd::of(location.open_for_memory().await?, folder))
    }

    /// Which journal the marks of a copy belong to.
    async fn journal(&self) -> anyhow::Result<Option<JournalId>> {
        match &self.backend {
            Some(backend) => Ok(Some(backend.journal_id().await?)),
            None => Ok(None),
        }
    }

    async fn firestore(
        location: &firestore::FirestoreLocation,
        journal: Option<JournalId>,
    ) -> anyhow::Result<MemoryEnd> {
        let copying = firestore::open_to_copy(location, journal).await.map_err(|what| anyhow!(what))?;
        Ok(MemoryEnd { copying, backend: None, _folder: None })
    }
}

pub fn transfer(from: &CopyLocation, to: &CopyLocation, replace: bool) -> anyhow::Result<()> {
    ensure!(
        !matches!((from, to), (CopyLocation::Firestore(from), CopyLocation::Firestore(to)) if from == to),
        "{} and {} are the same store; nothing was changed",
        from.display_name(),
        to.display_name()
    );
    if let CopyLocation::Store(from) = from {
        check_source(from)?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let summary = runtime.block_on(async {
        let unopened = || format!("cannot open {}; nothing was changed", to.display_name());
        let unread = || format!("cannot open {}", from.display_name());
        let (source, target) = match (from, to) {
            (CopyLocation::Store(from), CopyLocation::Firestore(to)) => {
                let source = MemoryEnd::source(from).await.with_context(unread)?;
                let journal = source.journal().await.with_context(unread)?;
                (source, MemoryEnd::firestore(to, journal).await.with_context(unopened)?)
            }
            (CopyLocation::Firestore(from), CopyLocation::Store(to)) => {
                let target = MemoryEnd::target(to).await.with_context(unopened)?;
                let journal = target.journal().await.with_context(unopened)?;
                (MemoryEnd::firestore(from, journal).await.with_context(unread)?, target)
            }
            (CopyLocation::Firestore(from), CopyLocation::Firestore(to)) => {
                let target = MemoryEnd::firestore(to, None).await.with_context(unopened)?;
                (MemoryEnd::firestore(from, None).await.with_context(unread)?, target)
            }
            (CopyLocation::Store(_), CopyLocation::Store(_)) => bail!("Firestore is on neither side of this copy"),
        };
        // What is in Firestore already fits there.
        if let CopyLocation::Store(_) = from {
            let refused = refused(&source, &target).await.with_context(unread)?;
            let told = refused.join("\n");
            ensure!(refused.is_empty(), "nothing was copied: {} cannot hold everything\n{told}", to.display_name());
        }
        if replace {
            check_before_clearing(&source, from).await?;
            target.copying.clear(CopyScope::Memory).await?;
        }
        let summary = copy_with_progress(&*source.copying, &*target.copying, CopyScope::Memory).await?;
        if let Some(backend) = target.backend {
            // Data that was cleared must leave the files as well.
            let _ = backend.stores().files.settle().await?;
        }
        anyhow::Ok(summary)
    })?;
    print(&format_summary(&summary, from, to))
}

/// What takes the place of the destination has to be readable, and there at all.
async fn check_before_clearing(source: &MemoryEnd, from: &CopyLocation) -> anyhow::Result<()> {
    let shown = from.display_name();
    let unreadable = || format!("cannot read all of {shown}; nothing was changed");
    let rows = copy::check_readable(&*source.copying, CopyScope::Memory).await.with_context(unreadable)?;
    // A project, database or prefix with a typing error is empty, not missing.
    ensure!(
        rows > 0 || matches!(from, CopyLocation::Store(_)),
        "nothing is remembered in {shown}; nothing was changed: check its project, database and prefix"
    );
    Ok(())
}

/// So many rows that cannot be copied are named.
const REFUSED_SHOWN: usize = 10;
/// Rows that are looked at together.
const PART: usize = 1_000;

/// What the target can never hold, looked for before anything is written.
async fn refused(source: &MemoryEnd, target: &MemoryEnd) -> anyhow::Result<Vec<String>> {
    let (mut rows, copying) = (source.copying.source().await?, target.copying.clone());
    let look = move || {
        let mut refused: Vec<String> = Vec::new();
        for table in CopyScope::Memory.tables() {
            let mut last: Option<Vec<Cell>> = None;
            loop {
                let part = rows.rows(table, last.as_deref(), PART)?;
                refused.extend(part.iter().filter_map(|row| copying.refuses(table, row)).map(|why| harmless(&why)));
                match part.last() {
                    Some(end) if part.len() == PART && refused.len() < REFUSED_SHOWN => {
                        last = Some(end[..table.key].to_vec());
                    }
                    Some(_) | None => break,
                }
            }
        }
        refused.truncate(REFUSED_SHOWN);
        Ok::<_, StoreError>(refused)
    };
    Ok(tokio::task::spawn_blocking(look).await??)
}

fn format_summary(summary: &CopySummary, from: &CopyLocation, to: &CopyLocation) -> String {
    let count = |table: &str| summary.counts.iter().find(|(name, _)| *name == table).map_or(0, |(_, count)| *count);
    let found = match summary.found {
        0 => String::new(),
        found => format!(", {found} more were there already"),
    };
    format!(
        "copied {} rows of memory from {} to {}{found}: {} facts, {} people, {} channels, {} opt-outs; counted and compared\n\
         the journal, decisions and the web room were not copied: Firestore has only memory\n",
        summary.rows - summary.found,
        harmless(&from.display_name()),
        harmless(&to.display_name()),
        count("memory_fact"),
        count("memory_person"),
        count("memory_channel"),
        count("memory_out")
    )
}
