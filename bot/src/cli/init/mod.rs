//! `aizuchi init`: a few questions, and a commented settings file. Secrets stay in the environment.

mod answers;
mod dialogue;
mod file;
mod words;

use std::fs::File;
use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;

use crate::config;
use crate::language::Language;
use answers::InitAnswers;
use dialogue::Dialogue;

#[derive(Args)]
pub struct InitArguments {
    /// The file, or a folder for it
    #[arg(value_name = "FOLDER or FILE", default_value = "aizuchi.toml")]
    path: PathBuf,
    /// Ask nothing and accept every value in brackets
    #[arg(long, short)]
    yes: bool,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
}

const USUAL_FILE: &str = "aizuchi.toml";

pub fn run(arguments: &InitArguments) -> anyhow::Result<()> {
    let path = target(&arguments.path);
    if path.exists() && !arguments.force {
        bail!("{} already exists; --force overwrites it", path.display());
    }
    let language = Language::of_environment();
    let answers = match arguments.yes {
        true => InitAnswers::usual(language),
        false => Dialogue::new(std::io::stdin().is_terminal(), language).ask()?,
    };
    let text = file::render(&answers, language);
    let mut layers = config::new_layers();
    layers.add_file(&path.to_string_lossy(), &text);
    config::resolve(&layers).context("these answers are not valid settings")?;
    write(&path, &text, arguments.force).with_context(|| format!("cannot write {}", path.display()))?;
    super::print(&words::next_steps(language, &path.to_string_lossy(), &answers))
}

fn target(path: &Path) -> PathBuf {
    let is_folder = path.is_dir() || path.to_string_lossy().ends_with(['/', std::path::MAIN_SEPARATOR]);
    if is_folder { path.join(USUAL_FILE) } else { path.to_owned() }
}

fn write(path: &Path, text: &str, force: bool) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut options = File::options();
    // Another process may have created the file while the questions were asked.
    let file = if force { options.create(true).truncate(true) } else { options.create_new(true) };
    file.write(true).open(path)?.write_all(text.as_bytes())
}
