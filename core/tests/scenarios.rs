//! Golden conversations: every file in `scenarios/` is a talk, its settings, and what was decided message by message.
//! `UPDATE_SCENARIOS=1` writes what is decided now into the files, for a person to read and agree with.
#![allow(clippy::disallowed_methods, reason = "reads the scenarios it runs")]

mod scenario;

use std::path::{Path, PathBuf};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scenarios");
    let mut files: Vec<PathBuf> = walk(&folder);
    files.sort();
    files
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("a folder can be listed").path());
    paths
        .flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] })
        .filter(|path| is_scenario(path))
        .collect()
}

fn is_scenario(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "md") && path.file_stem().is_some_and(|stem| stem != "README")
}

#[test]
fn every_scenario_decides_as_written() {
    let update = std::env::var_os("UPDATE_SCENARIOS").is_some();
    let mut wrong = Vec::new();
    for path in files() {
        let text = std::fs::read_to_string(&path).expect("a scenario is a text file");
        let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        match scenario::run(&text) {
            Err(problem) => wrong.push(format!("{name}: {problem}")),
            Ok(ran) if ran.decided == ran.expected => (),
            Ok(ran) if update => std::fs::write(&path, scenario::with_expectation(&text, &ran.decided))
                .expect("a scenario can be written"),
            Ok(ran) => wrong.push(format!("{name}:\n{}", scenario::difference(&ran))),
        }
    }
    assert!(wrong.is_empty(), "{} scenarios differ\n\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn there_are_at_least_fifty_and_each_has_a_title_of_its_own() {
    let titles: Vec<String> = files()
        .iter()
        .map(|path| std::fs::read_to_string(path).expect("a scenario is a text file"))
        .map(|text| text.lines().next().unwrap_or_default().to_owned())
        .collect();
    assert!(titles.len() >= 50, "{}", titles.len());
    for (index, title) in titles.iter().enumerate() {
        assert!(title.starts_with("# ") && !titles[..index].contains(title), "{title}");
    }
}
