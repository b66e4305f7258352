//! `aizuchi store copy` and `aizuchi restore`: copy everything from one store into another, or memory alone.

use anyhow::{Context as _, ensure};
use clap::{Args, Subcommand};

use super::settings::SettingsArguments;
use super::show::{harmless, progress_bar};
use super::{memory_copy, print, store};
use crate::config::BadSettings;
use crate::ports::{CopyScope, CopyStore, StoreBackend, StoreKind};
use crate::stores::copy::{self, CopyError, CopySummary};
use crate::stores::firestore::{self, FirestoreLocation};
use crate::stores::{DamagedFile, DataFolder, FirestoreSettings, StoreLocation};

#[derive(Args)]
pub struct StoreArguments {
    #[command(subcommand)]
    command: StoreCommand,
}

#[derive(Subcommand)]
enum StoreCommand {
    /// Copy everything from one store into another
    ///
    /// A store is a data folder, a file that `aizuchi backup` wrote, or a PostgreSQL database (postgres://USER@HOST/NAME, its
    /// password in AIZUCHI_STORE_PASSWORD or PGPASSWORD). The source may be in use: it is copied as it is at one moment. The destination
    /// must be empty, or hold the beginning of the same copy, which goes on where it was interrupted. In the end both are
    /// counted and compared.
    ///
    /// From and to Firestore (firestore://PROJECT/DATABASE?prefix=PREFIX) only memory is copied: channels, people, facts and who
    /// opted out. Nothing else of the other store is touched. While it is copied from Firestore, no program may use it.
    Copy(Copy),
}

#[derive(Args)]
pub struct Copy {
    /// Where everything is
    #[arg(long, value_name = "STORE")]
    from: String,
    /// Where it goes
    #[arg(long, value_name = "STORE")]
    to: String,
    /// Empty the destination first; a file that is damaged is renamed
    #[arg(long)]
    replace: bool,
}

#[derive(Args)]
pub struct RestoreArguments {
    /// What `aizuchi backup` wrote
    file: String,
    /// Empty the store first; a file that is damaged is renamed
    #[arg(long)]
    replace: bool,
    /// The data folder [default: that of the settings]
    #[arg(long, value_name = "DIR")]
    folder: Option<String>,
    #[command(flatten)]
    settings: SettingsArguments,
}

pub fn run(arguments: &StoreArguments) -> anyhow::Result<()> {
    let StoreCommand::Copy(Copy { from, to, replace }) = &arguments.command;
    let parse = |option: &str, text: &str| {
        CopyLocation::parse(text).map_err(|what| BadSettings(vec![format!("{option} {what}")]))
    };
    match (parse("--from", from)?, parse("--to", to)?) {
        (CopyLocation::Store(from), CopyLocation::Store(to)) => transfer(&from, &to, *replace),
        (from, to) => memory_copy::transfer(&from, &to, *replace),
    }
}

/// The source or destination of a copy.
pub enum CopyLocation {
    Store(StoreLocation),
    /// Contains only memory.
    Firestore(FirestoreLocation),
}

impl CopyLocation {
    fn parse(text: &str) -> Result<CopyLocation, String> {
        if text.starts_with(firestore::URL_SCHEME) {
            let settings = FirestoreSettings::from_url(text)?;
            return settings.location(&super::run::variable).map(CopyLocation::Firestore);
        }
        StoreLocation::parse(text).map(CopyLocation::Store)
    }

    pub fn display_name(&self) -> String {
        match self {
            CopyLocation::Store(location) => location.display_name(),
            CopyLocation::Firestore(location) => location.display_name(),
        }
    }
}

pub fn restore(arguments: &RestoreArguments) -> anyhow::Result<()> {
    let no_backup = "a backup is a file that `aizuchi backup` wrote";
    let from = StoreLocation::parse(&arguments.file).map_err(|_| BadSettings(vec![no_backup.into()]))?;
    ensure!(from.kind() == StoreKind::Sqlite, no_backup);
    let to = store::location(arguments.folder.as_deref(), &arguments.settings)?;
    transfer(&from, &to, arguments.replace)
}

/// Reports that the source is no store, or has an older version, before anything is created.
pub fn check_source(from: &StoreLocation) -> anyhow::Result<()> {
    let opened = store::open(from)?;
    let condition = opened.wait(opened.backend.condition())?;
    ensure!(
        condition.has_memory,
        "{} was written by an earlier version: start it once with `aizuchi run`, which upgrades it",
        from.display_name()
    );
    let complaints = opened.wait(opened.backend.complaints())?;
    ensure!(complaints.is_empty(), "{} is damaged: {}", from.display_name(), complaints.join("; "));
    Ok(())
}

fn transfer(from: &StoreLocation, to: &StoreLocation, replace: bool) -> anyhow::Result<()> {
    check_source(from).context("nothing was changed")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let summary = runtime.block_on(async {
        let unopened = || format!("cannot open {}; nothing was changed", to.display_name());
        let source = from.open_to_read().await.with_context(|| format!("cannot open {}", from.display_name()))?;
        // A database has its own lock.
        let is_here = to.kind() == StoreKind::Sqlite;
        let _folder = is_here.then(|| DataFolder::take(to.data_folder())).transpose().with_context(unopened)?;
        let damaged = if replace { damaged_file(to) } else { None };
        let target = match damaged {
            Some(damaged) => {
                check_source_readable(from, &*source).await?;
                set_aside(&damaged).with_context(unopened)?;
                to.open_to_copy().await.with_context(|| format!("cannot make {} anew", to.display_name()))?
            }
            None => to.open_to_copy().await.with_context(unopened)?,
        };
        ensure!(
            source.identity().await? != target.identity().await?,
            "{} and {} are the same store; nothing was changed",
            from.display_name(),
            to.display_name()
        );
        let copying = target.copying();
        if replace {
            check_source_readable(from, &*source).await?;
            copying.set_partial(true).await?;
            copying.clear(CopyScope::Everything).await?;
        }
        let summary = copy_with_progress(&*source.copying(), &*copying, CopyScope::Everything).await?;
        // What was cleared leaves the files as well.
        let _ = target.stores().files.settle().await?;
        anyhow::Ok(summary)
    })?;
    print(&format_summary(&summary, from, to))
}

/// Before anything is emptied or moved.
async fn check_source_readable(from: &StoreLocation, source: &dyn StoreBackend) -> anyhow::Result<()> {
    let unreadable = || format!("cannot read all of {}; nothing was changed", from.display_name());
    copy::check_readable(&*source.copying(), CopyScope::Everything).await.with_context(unreadable)?;
    Ok(())
}

/// The usual database of a data folder. Any other file may be something else, named by mistake.
fn damaged_file(to: &StoreLocation) -> Option<DamagedFile> {
    let path = to.notes();
    let is_usual = to.kind() == StoreKind::Sqlite && path == DataFolder::database_in(to.data_folder());
    if is_usual { DamagedFile::at(&path) } else { None }
}

/// Says at once where it is: whatever fails afterwards, it is needed.
fn set_aside(damaged: &DamagedFile) -> anyhow::Result<()> {
    let name = damaged.set_aside()?;
    let told = harmless(&format!("{damaged}; it is kept as {}", name.display()));
    // Nobody may be reading that, and the store is to be restored nevertheless.
    let _ = print(&format!("{told}\n"));
    Ok(())
}

pub async fn copy_with_progress(
    source: &dyn CopyStore,
    target: &dyn CopyStore,
    scope: CopyScope,
) -> anyhow::Result<CopySummary> {
    let bar = progress_bar(0, "copying");
    let mut progress = |done: copy::CopyProgress| {
        bar.set_length(done.of);
        bar.set_position(done.rows);
        bar.set_message(done.table);
    };
    let summary = copy::copy(source, target, scope, &mut progress).await;
    bar.finish_and_clear();
    Ok(match summary {
        Err(error @ CopyError::Refused { .. }) => Err(error).context("nothing was changed")?,
        Err(error) => {
            Err(error).context("the copy is not complete; what arrived stays, and the same command goes on with it")?
        }
        Ok(summary) => summary,
    })
}

fn format_summary(summary: &CopySummary, from: &StoreLocation, to: &StoreLocation) -> String {
    let count = |table: &str| summary.counts.iter().find(|(name, _)| *name == table).map_or(0, |(_, count)| *count);
    let found = match summary.found {
        0 => String::new(),
        found => format!(", {found} more were there already"),
    };
    format!(
        "copied {} rows from {} to {}{found}: {} records, {} decisions, {} facts, {} messages of the web room; counted and \
         compared\n",
        summary.rows - summary.found,
        harmless(&from.display_name()),
        harmless(&to.display_name()),
        count("journal"),
        count("trace"),
        count("memory_fact"),
        count("web_message")
    )
}
