//! `aizuchi backup`: a whole copy of the store, also while the program is running.

use std::fs::OpenOptions;

use aizuchi_core::Policies;
use anyhow::{Context as _, bail};
use clap::Args;

use crate::cli::settings::SettingsArguments;
use crate::cli::show::{harmless, print_error};
use crate::cli::{print, store};
use crate::ports::StoreKind;

#[derive(Args)]
pub struct BackupArguments {
    /// The file to write; it must not exist yet
    file: String,
    /// The data folder [default: that of the settings]
    #[arg(long, value_name = "DIR")]
    folder: Option<String>,
    #[command(flatten)]
    settings: SettingsArguments,
}

pub fn run(arguments: &BackupArguments) -> anyhow::Result<()> {
    let file = &arguments.file;
    let location = store::location(arguments.folder.as_deref(), &arguments.settings)?;
    let opened = store::open(&location)?;
    if std::fs::exists(file).unwrap_or(true) {
        bail!("{file} already exists; name another file");
    }
    let unwritable = || format!("cannot write {file}");
    drop(private(OpenOptions::new().write(true).create_new(true)).open(file).with_context(unwritable)?);
    let copied = opened.wait(async {
        opened.backend.back_up(file).await?;
        // A copy into the store may have begun meanwhile.
        location.check_complete(&*opened.backend).await
    });
    if let Err(error) = copied {
        let _ = std::fs::remove_file(file);
        return Err(error).with_context(unwritable);
    }
    if arguments.folder.is_none() {
        say_what_is_elsewhere(&arguments.settings.policies()?, location.kind());
    }
    let bytes = std::fs::metadata(file).with_context(unwritable)?.len();
    print(&format!(
        "wrote {} ({} KiB); `aizuchi restore` brings it back, and as aizuchi.db in a data folder it is a store\n",
        harmless(file),
        bytes.div_ceil(1024)
    ))
}

/// A layer of memory in another store is not part of this one.
fn say_what_is_elsewhere(policies: &Policies, kind: StoreKind) {
    let memory = &policies.general().settings.memory;
    let layers = [
        ("memory.channel_context_store", &memory.channel_context_store),
        ("memory.profiles_store", &memory.profiles_store),
        ("memory.facts_store", &memory.facts_store),
    ];
    let here = match kind {
        StoreKind::Sqlite => "sqlite",
        StoreKind::Postgres => "postgres",
    };
    for (key, store) in layers {
        if !["local", "memory", here].contains(&store.as_str()) {
            print_error(&format!("not in this backup: what `{key}` keeps in {:?}", store.as_str()));
        }
    }
}

/// Only the owner may read the backup: it contains what people said.
#[cfg(unix)]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;
    options.mode(0o600)
}

#[cfg(not(unix))]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}
