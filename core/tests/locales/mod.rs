//! The language files: every key that is used is in every language, with the same arguments, and every key is used.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use aizuchi_core::gates::GATES;
use aizuchi_core::likelihood::{FEATURES, reason_ids};
use aizuchi_core::points::RULES;
use fluent_syntax::ast::{Entry, Expression, InlineExpression, Pattern, PatternElement};
use fluent_syntax::parser::parse;

use super::root;

/// Of each key of a language, the names of its arguments.
type Keys = BTreeMap<String, BTreeSet<String>>;

/// Every language by the name of its folder.
fn languages() -> BTreeMap<String, Keys> {
    let folders = std::fs::read_dir(root().join("locales")).expect("the folder can be listed");
    let folders = folders.map(|entry| entry.expect("an entry can be read").path()).filter(|path| path.is_dir());
    folders.map(|path| (path.file_name().expect("it has a name").to_string_lossy().into_owned(), keys(&path))).collect()
}

fn keys(folder: &Path) -> Keys {
    let mut all = Keys::new();
    for (path, text) in sources(folder, &[".ftl"]) {
        let resource = parse(&*text).unwrap_or_else(|(_, errors)| panic!("{path}: {errors:?}"));
        for (key, pattern) in resource.body.iter().flat_map(patterns) {
            let mut arguments = BTreeSet::new();
            collect(pattern, &mut arguments);
            assert!(all.insert(key.clone(), arguments).is_none(), "{path}: {key} is there twice");
        }
    }
    all
}

/// The value and the attributes of a message, each by its key.
fn patterns<'a>(entry: &'a Entry<&'a str>) -> Vec<(String, &'a Pattern<&'a str>)> {
    let Entry::Message(message) = entry else { return Vec::new() };
    let id = message.id.name;
    let value = message.value.iter().map(|value| (id.to_owned(), value));
    value.chain(message.attributes.iter().map(|one| (format!("{id}.{}", one.id.name), &one.value))).collect()
}

fn collect(pattern: &Pattern<&str>, arguments: &mut BTreeSet<String>) {
    for element in &pattern.elements {
        match element {
            PatternElement::Placeable { expression: Expression::Inline(inline) } => name(inline, arguments),
            PatternElement::Placeable { expression: Expression::Select { selector, variants } } => {
                name(selector, arguments);
                variants.iter().for_each(|variant| collect(&variant.value, arguments));
            }
            PatternElement::TextElement { .. } => (),
        }
    }
}

fn name(inline: &InlineExpression<&str>, arguments: &mut BTreeSet<String>) {
    if let InlineExpression::VariableReference { id } = inline {
        arguments.insert(id.name.to_owned());
    }
}

/// Path and text of every file below a folder that ends with one of these.
fn sources(folder: &Path, endings: &[&str]) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display())) {
        let path = entry.expect("an entry can be read").path();
        let name = path.to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(sources(&path, endings));
        } else if endings.iter().any(|ending| name.ends_with(ending)) {
            found.push((name, std::fs::read_to_string(&path).expect("a source is text")));
        }
    }
    found
}

#[test]
fn every_language_says_everything_with_the_same_arguments() {
    let languages = languages();
    let mut problems = Vec::new();
    for (one, keys) in &languages {
        for (other, others) in &languages {
            for (key, arguments) in keys {
                match others.get(key) {
                    None => problems.push(format!("locales/{other} has no {key}; locales/{one} has")),
                    Some(theirs) if theirs != arguments => problems.push(format!(
                        "{key} has the arguments {arguments:?} in locales/{one} and {theirs:?} in locales/{other}"
                    )),
                    Some(_) => (),
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// What a text in quotes names: a key, or the beginning of keys that are put together (`gate-{}.closed`, `page-stage-${x}`).
enum Named<'a> {
    Key(&'a str),
    Beginning(&'a str),
}

fn named(literal: &str) -> Option<Named<'_>> {
    let is_key = |text: &str| {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
        text.starts_with(|c: char| c.is_ascii_lowercase()) && text.chars().all(fits)
    };
    match literal.split_once(['{', '$']) {
        None => is_key(literal).then_some(Named::Key(literal)),
        Some((beginning, _)) => (is_key(beginning) && beginning.ends_with('-')).then_some(Named::Beginning(beginning)),
    }
}

/// What is between quotes, wherever they begin.
fn literals(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').chain(text.split('`')).filter(|literal| !literal.is_empty() && literal.len() < 80)
}

/// A text that begins as keys do is one: so a key that no language has is found wherever it is named.
#[test]
fn every_key_is_used_and_every_used_key_is_there() {
    let languages = languages();
    let keys = &languages["en"];
    let folders = [("bot/src", &[".rs", ".html"][..]), ("bot/web", &[".js", ".html"][..])];
    let code: Vec<(String, String)> =
        folders.iter().flat_map(|(folder, endings)| sources(&root().join(folder), endings)).collect();
    let families: BTreeSet<&str> = keys.keys().filter_map(|key| Some(key.split_once('-')?.0)).collect();
    let (mut used, mut problems) = (BTreeSet::new(), Vec::new());
    for (path, text) in &code {
        for named in literals(text).filter_map(named) {
            match named {
                Named::Key(key) if keys.contains_key(key) => {
                    used.insert(key);
                }
                Named::Key(key) => {
                    let is_beginning = key.ends_with('-');
                    let family = key.split_once('-').filter(|(family, _)| families.contains(family) && !is_beginning);
                    problems.extend(family.map(|_| format!("{path} uses {key}, which no language has")));
                }
                Named::Beginning(beginning) => {
                    used.extend(keys.keys().filter(|key| key.starts_with(beginning)).map(String::as_str));
                }
            }
        }
    }
    problems.extend(keys.keys().filter(|key| !used.contains(key.as_str())).map(|key| format!("{key} is used nowhere")));
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn every_gate_rule_feature_and_reason_has_its_sentences_and_no_other_has() {
    let mut wanted = BTreeSet::new();
    for gate in GATES {
        wanted.extend(["", ".doc", ".closed"].map(|part| format!("gate-{}{part}", gate.id)));
    }
    for rule in RULES.iter().map(|rule| rule.id).chain(["mention", "name", "reply", "turn"]) {
        wanted.extend(["", ".doc"].map(|part| format!("rule-{rule}{part}")));
    }
    wanted.extend(FEATURES.iter().map(|feature| format!("feature-{}", feature.id)));
    wanted.extend(reason_ids().map(|id| format!("because-{id}")));
    for (language, keys) in languages() {
        let families = ["gate-", "rule-", "feature-", "because-"];
        let found: BTreeSet<String> =
            keys.into_keys().filter(|key| families.iter().any(|family| key.starts_with(family))).collect();
        assert_eq!(found, wanted, "locales/{language}");
    }
}
