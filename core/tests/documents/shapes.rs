//! The shapes that ARCHITECTURE.md shows are those of the code.

use std::collections::BTreeSet;

use super::super::document;

/// The names of the variants of an enum in a text.
fn variants(text: &str, name: &str) -> BTreeSet<String> {
    let head = format!("pub enum {name} {{");
    let (_, body) = text.split_once(&head).unwrap_or_else(|| panic!("there is no `{head}`"));
    let uncommented = body.lines().map(|line| line.split("//").next().unwrap_or_default());
    let mut depth = 0;
    let mut found = BTreeSet::new();
    let mut item = String::new();
    for c in uncommented.collect::<Vec<_>>().join("\n").chars() {
        match c {
            '(' | '{' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => found.extend([std::mem::take(&mut item)]),
            c if depth == 0 && c.is_alphanumeric() => item.push(c),
            _ => {}
        }
    }
    found.insert(item);
    found.retain(|name| !name.is_empty());
    found
}

#[test]
fn the_shapes_of_the_architecture_are_those_of_the_code() {
    let architecture = document("ARCHITECTURE.md");
    for (name, source) in [("Input", "core/src/input.rs"), ("Effect", "core/src/effect.rs")] {
        let (shown, declared) = (variants(&architecture, name), variants(&document(source), name));
        let missing: Vec<&String> = declared.difference(&shown).collect();
        let gone: Vec<&String> = shown.difference(&declared).collect();
        assert!(
            missing.is_empty() && gone.is_empty(),
            "{name} in ARCHITECTURE.md lacks {missing:?} and shows {gone:?}"
        );
    }
}
