//! Checks that no output overwrites an input and that no input is counted twice.

use std::path::{Path, PathBuf};

use anyhow::bail;

use super::show::print_error;

/// The logs without duplicates; reports a log that is named again.
pub fn distinct(logs: &[String]) -> Vec<&str> {
    let mut distinct: Vec<&str> = Vec::new();
    for log in logs {
        let place = std::fs::canonicalize(log).ok();
        let is_same = |known: &&&str| {
            **known == log || is_same_file(known, log) || place.is_some() && place == std::fs::canonicalize(known).ok()
        };
        match distinct.iter().find(is_same) {
            Some(known) => print_error(&format!("{log} is the same log as {known} and is counted once")),
            None => distinct.push(log),
        }
    }
    distinct
}

/// Refuses outputs that would overwrite an input or each other.
pub fn check(inputs: &[&str], outputs: &[(&str, &str)]) -> anyhow::Result<()> {
    for (option, output) in outputs {
        for input in inputs {
            if is_same_file(input, output) || lies_in(output, input) {
                bail!("{option} {output} would overwrite its input, {input}");
            }
        }
    }
    if let [(first, one), (second, other), ..] = outputs
        && target(one) == target(other)
    {
        bail!("{first} and {second} are the same file");
    }
    Ok(())
}

/// The absolute path of a file that may not exist yet.
fn target(path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    std::fs::canonicalize(path).ok().or_else(|| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(std::fs::canonicalize(folder).ok()?.join(path.file_name()?))
    })
}

fn lies_in(output: &str, folder: &str) -> bool {
    let folder = std::fs::canonicalize(folder).ok().filter(|folder| folder.is_dir());
    folder.zip(target(output)).is_some_and(|(folder, output)| output.starts_with(folder))
}

#[cfg(unix)]
fn is_same_file(one: &str, other: &str) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let identity =
        |path: &str| std::fs::metadata(path).ok().filter(|file| file.is_file()).map(|file| (file.dev(), file.ino()));
    identity(one).is_some_and(|one| Some(one) == identity(other))
}

#[cfg(not(unix))]
fn is_same_file(one: &str, other: &str) -> bool {
    std::fs::canonicalize(one).ok().is_some_and(|one| Some(one) == std::fs::canonicalize(other).ok())
}
