//! Documents stay true: links resolve, and what they name in backticks exists.

mod links;
mod markdown;
mod names;
mod shapes;

use std::path::Path;

use super::{document, root};

pub struct Document {
    /// Its path from the root of the project.
    pub name: String,
    pub text: String,
}

/// Every Markdown file that explains the program, in a fixed order. Prompts and scenarios are read by tests of their own.
pub fn documents() -> Vec<Document> {
    let explains = |name: &String| {
        let scenario = name.starts_with("scenarios/") && name != "scenarios/README.md";
        name.ends_with(".md") && !scenario && !name.starts_with("prompts/")
    };
    files().into_iter().filter(explains).map(|name| Document { text: document(&name), name }).collect()
}

/// What is made by tools and is not part of the project.
const MADE: [&str; 4] = ["target", "fuzz/target", "fuzz/corpus", "fuzz/artifacts"];

/// Every file and folder of the project by its path from the root; a folder ends with a slash.
pub fn files() -> Vec<String> {
    fn walk(folder: &Path, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).expect("a folder can be listed") {
            let path = entry.expect("an entry").path();
            let name = path.strip_prefix(root()).expect("below the root").to_string_lossy().replace('\\', "/");
            if name.starts_with(".git") || MADE.contains(&&*name) || name.contains("__pycache__") {
                continue;
            }
            if path.is_dir() {
                found.push(format!("{name}/"));
                walk(&path, found);
            } else {
                found.push(name);
            }
        }
    }
    let mut found = Vec::new();
    walk(&root(), &mut found);
    found.sort();
    found
}

#[test]
fn the_first_documents_stay_short() {
    for (name, bytes_max) in [("README.md", 9_000), ("README.ja.md", 9_000), ("ARCHITECTURE.md", 15_000)] {
        let bytes = document(name).len();
        assert!(
            bytes <= bytes_max,
            "{name} has {bytes} bytes, at most {bytes_max} are allowed; details belong in docs/"
        );
    }
}

/// The book lists its pages by hand.
#[test]
fn every_page_is_in_the_summary() {
    let summary = document("docs/SUMMARY.md");
    for page in documents() {
        let Some(page) = page.name.strip_prefix("docs/").filter(|page| *page != "SUMMARY.md") else { continue };
        assert!(summary.contains(&format!("]({page})")), "docs/SUMMARY.md does not list {page}");
    }
}

#[test]
fn cannot_is_one_word() {
    for document in documents() {
        for (number, line) in document.text.lines().enumerate() {
            let apart = line.to_lowercase().contains("can not");
            assert!(!apart, "{}:{}: write \"cannot\": {line}", document.name, number + 1);
        }
    }
}
