//! Prompts of one's own: whether their files can be read as templates.

use std::path::{Path, PathBuf};

use super::Patient;
use super::check::Check;

const PART: &str = "prompts";
const LANGUAGES: [&str; 2] = ["en", "ja"];

pub fn check(patient: &Patient<'_>) -> Vec<Check> {
    look(Path::new(&patient.settings.prompts.folder), &parse)
}

/// Whether a text is a template at all.
fn parse(text: &str) -> Result<(), String> {
    minijinja::Environment::new().template_from_str(text).map(drop).map_err(|error| error.to_string())
}

fn look(folder: &Path, parse: &dyn Fn(&str) -> Result<(), String>) -> Vec<Check> {
    if !folder.is_dir() {
        return vec![Check::ok(PART, "the built-in ones")];
    }
    let mut checks = Vec::new();
    let mut read = 0;
    for file in LANGUAGES.iter().flat_map(|language| files(&folder.join(language))) {
        let parsed = std::fs::read_to_string(&file).map_err(|error| error.to_string()).and_then(|text| parse(&text));
        match parsed {
            Ok(()) => read += 1,
            Err(what) => checks.push(Check::fail(
                PART,
                format!("{}: {what}", file.display()),
                "mend the file, or remove it to use the built-in one",
            )),
        }
    }
    if checks.is_empty() {
        let from = folder.display();
        checks.push(match read {
            0 => Check::ok(PART, format!("the built-in ones: there is no en/*.md or ja/*.md in {from}")),
            _ => Check::ok(PART, format!("{read} of your own in {from}")),
        });
    }
    checks
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "md")).collect();
    files.sort();
    files
}
