//! `aizuchi completions` and `aizuchi man`: shell completions and manual pages, generated from the same declarations as
//! `--help`.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

#[derive(Args)]
pub struct CompletionsArguments {
    /// The shell to complete commands in
    shell: Shell,
}

#[derive(Args)]
pub struct ManArguments {
    /// Write a page for each command into this folder instead of printing the main one
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

pub fn completions(arguments: &CompletionsArguments) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut super::CommandLine::command(), "aizuchi", &mut script);
    super::print(&String::from_utf8(script).context("a completion script is text")?)
}

pub fn man(arguments: &ManArguments) -> anyhow::Result<()> {
    let command = super::CommandLine::command().disable_help_subcommand(true);
    match &arguments.out {
        Some(folder) => {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
            clap_mangen::generate_to(command, folder).with_context(|| format!("cannot write to {}", folder.display()))
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page)?;
            super::print(&String::from_utf8(page).context("a manual page is text")?)
        }
    }
}
