//! Keeps the house in order: length of files, layers, and folder ↔ table ↔ defaults.
#![allow(clippy::disallowed_methods, reason = "reads the sources it checks")]

mod documents;
mod layers;
mod locales;
mod type_names;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use aizuchi_core::gates::GATES;
use aizuchi_core::points::RULES;
use aizuchi_core::settings::{DEFAULT, PRESETS, keys};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("core is in the workspace").to_owned()
}

fn sources(folder: &str) -> Vec<(String, String)> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        for entry in entries {
            let path = entry.expect("a folder can be listed").path();
            if path.is_dir() && !path.ends_with("target") {
                walk(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    walk(&root().join(folder), &mut found);
    found.sort();
    let named = |path: PathBuf| {
        let name = path.strip_prefix(root()).expect("below the workspace").to_string_lossy().replace('\\', "/");
        (name, std::fs::read_to_string(&path).expect("a source is a text file"))
    };
    found.into_iter().map(named).collect()
}

/// Everything that is written in Rust.
const CODE: [&str; 6] = ["core", "formats", "bot", "learn", "test-servers", "fuzz"];

const LINES_MAX: usize = 400;

#[test]
fn a_file_past_400_lines_is_asking_to_be_two() {
    for (name, text) in CODE.into_iter().flat_map(sources) {
        let lines = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).count();
        assert!(lines <= LINES_MAX, "{name} has {lines} lines before its tests");
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    for (name, text) in CODE.into_iter().flat_map(sources) {
        assert!(text.starts_with("//! "), "{name} does not begin with a sentence");
    }
}

/// A file belongs to one crate: what two need is in a crate that both depend on.
#[test]
fn no_file_is_taken_by_its_path() {
    let attribute = ["#[", "path"].concat();
    for (name, text) in CODE.into_iter().flat_map(sources) {
        assert!(!text.contains(&attribute), "{name} takes a file by its path");
    }
}

#[test]
fn every_crate_of_the_workspace_is_looked_at() {
    let workspace: toml::Table = toml::from_str(&document("Cargo.toml")).expect("the workspace's manifest parses");
    for member in workspace["workspace"]["members"].as_array().expect("a list") {
        let member = member.as_str().expect("a folder");
        assert!(CODE.iter().any(|folder| member.starts_with(folder)), "{member} is not looked at");
    }
}

/// Of the formats of logs, what is live shares with them how Slack marks up a text, and nothing else.
#[test]
fn platforms_do_not_depend_on_the_importer_of_logs() {
    for (name, text) in sources("bot/src/platforms") {
        let text = text.replace("aizuchi_formats::slack_markup", "");
        assert!(!text.contains("aizuchi_formats"), "{name} knows of recorded logs");
    }
}

#[test]
fn only_the_sqlite_adapter_speaks_sql() {
    let adapter = Path::new("bot/src/stores/sqlite");
    for (file, text) in sources("bot/src") {
        let path = Path::new(&file);
        let is_test = path.components().any(|part| part.as_os_str() == "tests");
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        if !path.starts_with(adapter) && !is_test {
            assert!(!code.contains("rusqlite"), "{file} names rusqlite: ask a port of stores instead");
        }
    }
}

/// Whichever store there is, a platform works with it.
#[test]
fn platforms_know_stores_by_their_ports() {
    for (file, text) in sources("bot/src/platforms") {
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for adapter in ["rusqlite", "sqlite::", "Database"] {
            assert!(!code.contains(adapter), "{file} names {adapter}: ask a port instead");
        }
    }
}

#[test]
fn the_layers_look_down_only() {
    layers::check(&sources("core/src"));
}

#[test]
fn no_stage_of_the_engine_leads_back() {
    layers::check_stages(&sources("core/src"));
}

/// What only the shell has.
const OF_THE_SHELL: &[&str] =
    &["std::fs", "std::env", "std::net", "SystemTime", "Instant::now", "tokio", "async fn", "rand::"];

#[test]
fn the_core_touches_nothing_outside() {
    for (name, text) in sources("core/src") {
        for word in OF_THE_SHELL {
            assert!(!text.contains(word), "{name} knows of {word}");
        }
    }
}

/// The files of a folder that declare one of these.
fn declared(folder: &str, declaration: &str) -> BTreeSet<String> {
    let declares = |(name, text): (String, String)| {
        let stem = Path::new(&name).file_stem()?.to_string_lossy().into_owned();
        text.contains(declaration).then_some(stem)
    };
    sources(folder).into_iter().filter_map(declares).collect()
}

#[test]
fn rules_are_files_and_rows_and_settings() {
    let rows: BTreeSet<String> = RULES.iter().map(|rule| rule.id.to_owned()).collect();
    assert_eq!(rows, declared("core/src/points", "pub(super) const RULE: Rule"));
    let defaults: toml::Table = toml::from_str(DEFAULT).expect("the default settings parse");
    let points = defaults["points"].as_table().expect("there are points");
    assert_eq!(rows, points.keys().cloned().collect());
    for rule in &RULES {
        assert_eq!(points[rule.id].as_integer(), Some(rule.points.into()), "points of {}", rule.id);
    }
}

/// A rule of the default must not slip into the preset that is compared with its original.
#[test]
fn sphene_says_what_each_rule_is_worth() {
    let (_, text) = PRESETS.iter().find(|(name, _)| *name == "sphene").expect("there is such a preset");
    let preset: toml::Table = toml::from_str(text).expect("a preset parses");
    let listed: BTreeSet<String> = preset["points"].as_table().expect("it has points").keys().cloned().collect();
    assert_eq!(listed, RULES.iter().map(|rule| rule.id.to_owned()).collect());
}

#[test]
fn gates_are_files_and_rows() {
    let rows: BTreeSet<String> = GATES.iter().map(|gate| gate.id.to_owned()).collect();
    assert_eq!(rows, declared("core/src/gates", "pub(super) const GATE: Gate"));
    assert_eq!(rows.len(), GATES.len());
}

#[test]
fn every_setting_has_its_default_and_its_sentence() {
    let mut section = String::new();
    let mut written = BTreeSet::new();
    let mut before = "";
    for line in DEFAULT.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            section = format!("{name}.");
        } else if let Some((key, _)) = line.split_once(" = ").filter(|_| !line.starts_with('#')) {
            let commented = before.starts_with("# ") || section == "prices.";
            assert!(commented, "{section}{key} has no sentence");
            written.insert(format!("{section}{key}"));
        }
        before = line;
    }
    let missing: Vec<String> = keys().filter(|key| !written.contains(key)).collect();
    assert!(missing.is_empty(), "without a default: {missing:?}");
}

#[test]
fn every_rule_and_gate_has_a_scenario() {
    fn text_below(folder: &Path) -> String {
        let entries =
            std::fs::read_dir(folder).expect("a folder can be listed").map(|entry| entry.expect("an entry").path());
        let text = |path: PathBuf| {
            if path.is_dir() { text_below(&path) } else { std::fs::read_to_string(path).unwrap_or_default() }
        };
        entries.map(text).collect()
    }
    let text = text_below(&root().join("scenarios"));
    // What was decided, not the settings or the words around it.
    let blocks = text.split("```expect\n").skip(1).filter_map(|rest| rest.split("```").next());
    let all: String = blocks.collect();
    for rule in &RULES {
        assert!(all.contains(&format!("{} ", rule.id)), "no scenario shows the rule {}", rule.id);
    }
    for gate in GATES {
        assert!(all.contains(&format!("gate {}", gate.id)), "no scenario shows the gate {}", gate.id);
    }
}

/// `cargo run` starts the program: a workspace with two binaries and no default refuses it.
#[test]
fn cargo_run_starts_the_program_and_nothing_below_it_trains() {
    let workspace: toml::Table = toml::from_str(&document("Cargo.toml")).expect("the workspace's manifest parses");
    let default = workspace["workspace"].get("default-members").expect("`cargo run` knows what to run");
    assert_eq!(default.as_array().expect("a list").as_slice(), [toml::Value::from("bot")]);
    for manifest in ["core/Cargo.toml", "formats/Cargo.toml", "learn/measure/Cargo.toml"] {
        assert!(!document(manifest).contains("aizuchi-learn"), "{manifest} depends on the trainer");
    }
}

fn document(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).expect("a document is a text file")
}

/// A row that is alone is shown as plain text with bars.
#[test]
fn every_table_of_a_document_is_whole() {
    for documents::Document { name, text } in documents::documents() {
        let lines: Vec<&str> = text.lines().collect();
        for (number, pair) in lines.windows(3).enumerate() {
            let begins = !pair[0].starts_with('|') && pair[1].starts_with("| ");
            assert!(!begins || pair[2].starts_with("|-"), "{name}:{}: a row without a head: {}", number + 2, pair[1]);
        }
    }
}

#[test]
fn both_languages_list_the_same_commands() {
    let commands = |name: &str| -> BTreeSet<String> {
        let text = document(name);
        let rows = text.lines().filter(|line| line.starts_with("| `aizuchi") && !line.starts_with("| `aizuchi_"));
        let first = rows.map(|row| row.split(" | ").next().unwrap_or(row).to_owned());
        first.flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>()).collect()
    };
    let (english, japanese) = (commands("docs/commands.md"), commands("docs/ja/commands.md"));
    assert_eq!(english, japanese);
    assert!(english.contains("aizuchi eval entry LOG"), "{english:?}");
}
