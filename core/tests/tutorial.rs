//! The tutorial "Add a rule" in CONTRIBUTING.md works: its blocks are applied to a copy of the core, whose scenarios are run.
//!
//! The copy is in `target/tutorial/` and only changed files are written there, so that nothing is compiled again while neither the
//! core nor the tutorial changes. Both share a target folder, where cargo tells crates apart by their path from the root of their
//! workspace: the copy is one folder deeper than the original, or each would take the other's library for its own.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "copies sources and runs cargo")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("core is in the workspace").to_owned()
}

/// A code block that names its language and a file.
struct Block {
    language: String,
    file: String,
    text: String,
}

/// The blocks with files in one section of a document.
fn blocks(document: &str, section: &str) -> Vec<Block> {
    let (_, rest) = document.split_once(&format!("\n## {section}\n")).expect("the section exists");
    let mut found = Vec::new();
    let mut lines = rest.lines().take_while(|line| !line.starts_with("## "));
    while let Some(line) = lines.next() {
        let fence: String = line.chars().take_while(|c| *c == '`').collect();
        let Some((language, file)) = line[fence.len()..].split_once(' ').filter(|_| fence.len() >= 3) else { continue };
        let body: Vec<&str> = lines.by_ref().take_while(|line| *line != fence).collect();
        let text = body.iter().map(|line| format!("{line}\n")).collect();
        found.push(Block { language: language.to_owned(), file: file.to_owned(), text });
    }
    found
}

/// Files by their path from the root of the project.
type Files = BTreeMap<String, Vec<u8>>;

fn read(folder: &Path, root: &Path, files: &mut Files) {
    for entry in std::fs::read_dir(folder).expect("a folder can be listed") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            read(&path, root, files);
        } else {
            let name = path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
            files.insert(name, std::fs::read(&path).expect("a file can be read"));
        }
    }
}

const COPY: &str = "copy";

/// The manifest of a workspace with the copy alone.
fn manifest() -> String {
    let manifest = std::fs::read_to_string(root().join("Cargo.toml")).expect("the manifest can be read");
    let mut manifest: toml::Table = toml::from_str(&manifest).expect("the manifest parses");
    let workspace = manifest["workspace"].as_table_mut().expect("a workspace");
    workspace.insert("members".to_owned(), toml::Value::from(vec![format!("{COPY}/core")]));
    workspace.retain(|key, _| key != "default-members" && key != "exclude");
    manifest.to_string()
}

/// What the core is built and tested from.
fn core_alone() -> Files {
    let root = root();
    let mut files = Files::new();
    for folder in
        ["core", "presets", "scenarios", "locales"].map(|name| root.join(name)).iter().filter(|path| path.exists())
    {
        read(folder, &root, &mut files);
    }
    let defaults = std::fs::read(root.join("aizuchi.default.toml")).expect("a file can be read");
    files.insert("aizuchi.default.toml".to_owned(), defaults);
    files
}

/// Replaces the lines that begin with ` ` or `-` by those that begin with ` ` or `+`.
fn apply(text: &str, diff: &str) -> Result<String, String> {
    let side = |mark: char| -> String {
        let lines = diff.lines().filter(|line| line.starts_with([' ', mark]));
        lines.map(|line| format!("{}\n", &line[1..])).collect()
    };
    let (old, new) = (side('-'), side('+'));
    match text.matches(&old).count() {
        1 => Ok(text.replacen(&old, &new, 1)),
        count => Err(format!("these lines occur {count} times instead of once:\n{old}")),
    }
}

/// Makes a folder hold exactly these files. What is the same is left alone, so that its time stays.
fn write(folder: &Path, files: &Files) {
    let mut there = Files::new();
    std::fs::create_dir_all(folder).expect("a folder can be made");
    read(folder, folder, &mut there);
    for name in there.keys().filter(|name| !files.contains_key(*name)) {
        std::fs::remove_file(folder.join(name)).expect("a file can be removed");
    }
    for (name, content) in files.iter().filter(|(name, content)| there.get(*name) != Some(content)) {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a file has a folder")).expect("a folder can be made");
        std::fs::write(path, content).expect("a file can be written");
    }
}

fn words(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

#[test]
fn the_tutorial_works() {
    let document = std::fs::read_to_string(root().join("CONTRIBUTING.md")).expect("the tutorial can be read");
    let mut files = core_alone();
    let mut expected = Vec::new();
    for Block { language, file, text } in blocks(&document, "Add a rule") {
        match &*language {
            "expect" => expected.push((file, text)),
            "diff" => {
                let before = files.get(&file).unwrap_or_else(|| panic!("{file} does not exist"));
                let before = std::str::from_utf8(before).expect("a text file");
                let after = apply(before, &text).unwrap_or_else(|problem| {
                    panic!(
                        "a block of CONTRIBUTING.md, \"Add a rule\", no longer fits {file}; change the block: {problem}"
                    )
                });
                files.insert(file, after.into_bytes());
            }
            _ => assert!(files.insert(file.clone(), text.into_bytes()).is_none(), "{file} exists already"),
        }
    }
    assert!(!expected.is_empty(), "the tutorial shows what is decided");
    let lock = std::fs::read(root().join("Cargo.lock")).expect("a file can be read");
    let mut all = Files::from([("Cargo.toml".to_owned(), manifest().into_bytes()), ("Cargo.lock".to_owned(), lock)]);
    all.extend(files.iter().map(|(name, content)| (format!("{COPY}/{name}"), content.clone())));
    let workspace = root().join("target/tutorial");
    write(&workspace, &all);
    let folder = workspace.join(COPY);
    let run = Command::new(env!("CARGO"))
        .args(["test", "--quiet", "--offline", "-p", "aizuchi-core", "--test", "scenarios"])
        .current_dir(&workspace)
        .env("CARGO_TARGET_DIR", root().join("target"))
        .env("UPDATE_SCENARIOS", "1")
        .output()
        .expect("cargo runs");
    let told = [run.stdout, run.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert!(run.status.success(), "{told}");
    for (file, block) in expected {
        let written = std::fs::read_to_string(folder.join(&file)).expect("the scenario is there");
        let (_, decided) = written.split_once("```expect\n").expect("its outcome is written into it");
        let (decided, _) = decided.split_once("```").expect("the block ends");
        assert_eq!(words(decided), words(&block), "{file} is decided like this:\n{decided}");
    }
    let others =
        files.iter().filter(|(name, _)| name.starts_with("scenarios/") && !name.ends_with("somebody-trails-off.md"));
    for (name, before) in others {
        assert_eq!(
            &std::fs::read(folder.join(name)).expect("it is still there"),
            before,
            "{name} is decided differently"
        );
    }
}
