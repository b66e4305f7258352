//! A type's name says which type it is: within one crate no two types share a name.

use std::collections::{BTreeMap, BTreeSet};

use super::sources;

/// The sources of each crate, with the tests in them.
const CRATES: [&str; 6] = ["core/src", "formats/src", "bot/src", "learn/src", "learn/measure/src", "test-servers/src"];

/// Folders of tests. Those of one folder share what is below it: it counts as one crate.
const TESTS: [&str; 3] = ["core/tests", "learn/tests", "bot/tests"];

/// The folders in which no two types share a name. The tests of `bot` are a crate for each folder.
fn crates() -> BTreeMap<String, Vec<(String, String)>> {
    let mut crates: BTreeMap<_, _> = CRATES.iter().map(|folder| ((*folder).to_owned(), sources(folder))).collect();
    for (name, text) in TESTS.into_iter().flat_map(sources) {
        let depth = if name.starts_with("bot/") { 3 } else { 2 };
        let folder: Vec<&str> = name.split('/').take(depth).collect();
        crates.entry(folder.join("/")).or_default().push((name, text));
    }
    crates
}

/// The type that a line declares at the outermost level of its file.
fn declared_type(line: &str) -> Option<&str> {
    let rest = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.strip_prefix(' ')?,
        None => line,
    };
    let (keyword, rest) = rest.split_once(' ')?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    ["struct", "enum", "trait", "type", "union"].contains(&keyword).then_some(&rest[..end])
}

/// The names that types in several of these files have, each with the files. A type that one file declares once for
/// every system it is built for (`#[cfg]`) is one type.
fn shared_names(files: &[(String, String)]) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut declared = BTreeMap::<&str, BTreeSet<&str>>::new();
    for (file, text) in files {
        for name in text.lines().filter_map(declared_type) {
            declared.entry(name).or_default().insert(file);
        }
    }
    declared.retain(|_, files| files.len() > 1);
    declared
}

#[test]
fn no_two_types_of_a_crate_share_a_name() {
    for (folder, files) in crates() {
        let shared = shared_names(&files);
        assert!(shared.is_empty(), "types of {folder} that share a name: {shared:#?}");
    }
}

#[test]
fn types_that_share_a_name_are_found_with_their_files() {
    let files = [
        ("a.rs", "pub(super) struct Page<'a> {\n    line: u32,\n}\n\n#[cfg(test)]\nmod tests {\n    struct Line;\n}\n"),
        ("b.rs", "type Page = u32;\n\npub struct Line;\n\nfn f() {\n    struct Own;\n}\n"),
        ("c.rs", "#[cfg(unix)]\ntype Own = u32;\n#[cfg(not(unix))]\ntype Own = ();\n"),
        ("tests/d.rs", "struct Line;\n"),
    ];
    let files = files.map(|(file, text)| (file.to_owned(), text.to_owned()));
    let expected = [("Line", BTreeSet::from(["b.rs", "tests/d.rs"])), ("Page", BTreeSet::from(["a.rs", "b.rs"]))];
    assert_eq!(shared_names(&files), BTreeMap::from(expected));
}
