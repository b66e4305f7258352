//! `aizuchi backup`: a whole copy of the store, also while the program is running.

use std::fs::OpenOptions;

use anyhow::{Context as _, bail};
use clap::Args;

use crate::cli::settings::SettingsArguments;
use crate::cli::show::harmless;
use crate::cli::{print, store};

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
    let copied = opened.wait(opened.backend.back_up(file));
    if let Err(error) = copied {
        let _ = std::fs::remove_file(file);
        return Err(error).with_context(unwritable);
    }
    let bytes = std::fs::metadata(file).with_context(unwritable)?.len();
    print(&format!(
        "wrote {} ({} KiB); `aizuchi restore` brings it back, and as aizuchi.db in a data folder it is a store\n",
        harmless(file),
        bytes.div_ceil(1024)
    ))
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
