//! Paths, commands, settings, scenarios and identifiers that a document names exist.

use std::collections::BTreeSet;

use super::super::{CODE, document, sources};
use super::markdown::{MarkdownLine, lines, spans};
use super::{Document, documents, files};

/// What exists, to compare with.
struct Known {
    files: BTreeSet<String>,
    settings: BTreeSet<String>,
    sections: BTreeSet<String>,
    commands: BTreeSet<String>,
    dev_commands: BTreeSet<String>,
    /// The sources of the command line: options are looked for there.
    cli: String,
    /// Every word of the code, without its comments: identifiers are looked for there.
    words: BTreeSet<String>,
}

impl Known {
    fn new() -> Known {
        let files: BTreeSet<String> = files().into_iter().collect();
        let (settings, sections) = settings(&document("aizuchi.default.toml"));
        let of_cli = |name: &&String| name.starts_with("bot/src/cli/") && name.ends_with(".rs");
        let cli = files.iter().filter(of_cli).map(|name| document(name)).collect();
        let commands = subcommands(&document("bot/src/cli/mod.rs"));
        let words = words(&files);
        Known { settings, sections, commands, dev_commands: dev_commands(), cli, words, files }
    }
}

/// Types, functions, fields, settings, tests, metrics, tables. This folder is left out: its examples name what does not exist.
fn words(files: &BTreeSet<String>) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for (name, text) in CODE.into_iter().flat_map(sources) {
        if !name.starts_with("core/tests/documents/") {
            text.lines().for_each(|line| add_words(&mut words, code_of(line)));
        }
    }
    for name in files.iter().filter(|name| ELSEWHERE.iter().any(|extension| name.ends_with(extension))) {
        add_words(&mut words, &document(name));
    }
    words
}

/// Code and settings that are not Rust.
const ELSEWHERE: [&str; 6] = [".toml", ".sql", ".js", ".py", ".html", ".json"];

/// A line of Rust without its comment. A URL in it has no space before its slashes.
fn code_of(line: &str) -> &str {
    let comment = line.match_indices("//").find(|(at, _)| line[..*at].ends_with(' ') || *at == 0);
    comment.map_or(line, |(at, _)| &line[..at])
}

fn add_words(words: &mut BTreeSet<String>, text: &str) {
    let not_of_word = |c: char| !c.is_alphanumeric() && c != '_';
    words.extend(text.split(not_of_word).filter(|word| !word.is_empty()).map(str::to_owned));
}

/// The keys of the default settings with their sections, and the sections.
fn settings(text: &str) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut keys, mut sections) = (BTreeSet::new(), BTreeSet::new());
    let mut section = String::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            sections.insert(name.to_owned());
            section = format!("{name}.");
        } else if let Some((key, _)) = line.split_once(" = ").filter(|_| !line.starts_with('#')) {
            keys.insert(format!("{section}{key}"));
        }
    }
    (keys, sections)
}

/// The variants of `enum Command`, as they are written on the command line.
fn subcommands(source: &str) -> BTreeSet<String> {
    let (_, body) = source.split_once("enum Command {").expect("the commands are an enum");
    let (body, _) = body.split_once("\n}").expect("it ends");
    let variant = |line: &str| {
        let name = line.trim().trim_end_matches(',').split('(').next()?.to_owned();
        name.starts_with(|c: char| c.is_ascii_uppercase()).then(|| kebab(&name))
    };
    body.lines().filter_map(variant).collect()
}

fn kebab(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('-');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// The commands that `./dev` lists.
fn dev_commands() -> BTreeSet<String> {
    let script = document("dev");
    let (_, usage) = script.split_once("./dev COMMAND\n").expect("it lists its commands");
    let (usage, _) = usage.split_once("\nTEXT").expect("the list ends");
    let name = |line: &str| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')).map(first_word);
    usage.lines().filter_map(name).collect()
}

fn first_word(text: &str) -> String {
    text.split_whitespace().next().unwrap_or_default().to_owned()
}

const EXTENSIONS: [&str; 14] = [
    ".rs", ".md", ".toml", ".js", ".py", ".jsonl", ".json", ".svg", ".png", ".yaml", ".ftl", ".sql", ".service", ".txt",
];

/// Files of a user, not of the project.
const OF_USERS: [&str; 5] = ["aizuchi.toml", "rooms.toml", "report.html", "about.json", "requirements.txt"];

fn is_path(span: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let named = EXTENSIONS.iter().any(|extension| span.ends_with(extension)) || span.ends_with('/');
    let elsewhere = ["/", "../", "target/", "aizuchi-", "http"].iter().any(|start| span.starts_with(start));
    named && span.chars().all(plain) && !elsewhere && !span.starts_with('.') && !OF_USERS.contains(&span)
}

/// Why something that a document names does not exist, if so.
fn wrong(known: &Known, blocks: &InBlocks, span: &str) -> Option<String> {
    if is_path(span) {
        let ends = |file: &String| file == span || file.ends_with(&format!("/{span}"));
        let there = known.files.iter().any(ends) || blocks.files.contains(span);
        return (!there).then(|| format!("no file or folder of the project is called {span}"));
    }
    if let Some(command) = span.strip_prefix("./dev ") {
        let word = first_word(command);
        return (!known.dev_commands.contains(&word)).then(|| format!("`./dev` has no command {word}"));
    }
    if let Some(command) = span.strip_prefix("aizuchi ") {
        return wrong_command(known, command);
    }
    wrong_setting(known, span).or_else(|| wrong_identifier(known, &blocks.words, span))
}

/// Names that documents use and our code does not, each with whose they are.
const FOREIGN: [(&str, &str); 5] = [
    ("APPLICATION_ID", "what the reader puts into Discord's URL"),
    ("NAME_tool", "a pattern: the name of an MCP server, then that of its tool"),
    ("pg_xact_status", "a function of PostgreSQL"),
    ("synchronous_commit", "a setting of PostgreSQL"),
    ("wal_keep_size", "a setting of PostgreSQL"),
];

/// The collections of Firestore begin with a prefix that the user chooses.
const PREFIX_OF_COLLECTIONS: &str = "aizuchi_";

/// A type (`PlatformSpec`), a path (`Engine::handle`), or a name with an underscore (`people_max`), that is neither in the code
/// nor in a code block of the same page. A name without either may be a plain word.
fn wrong_identifier(known: &Known, defined: &BTreeSet<String>, span: &str) -> Option<String> {
    let name = span.split('(').next().unwrap_or_default().trim_end_matches(':');
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let is_type = name.starts_with(|c: char| c.is_ascii_uppercase()) && name.contains(|c: char| c.is_ascii_lowercase());
    if !(is_type || name.contains('_') || name.contains("::")) || !name.chars().all(plain) || name.contains("__") {
        return None;
    }
    let is_foreign = |part: &str| FOREIGN.iter().any(|(name, _)| *name == part);
    let is_collection =
        |part: &str| part.strip_prefix(PREFIX_OF_COLLECTIONS).is_some_and(|rest| known.words.contains(rest));
    let exists = |part: &str| known.words.contains(part) || defined.contains(part) || is_collection(part);
    let unknown = name.split("::").find(|part| !part.is_empty() && !exists(part) && !is_foreign(part))?;
    Some(format!("no source has the name {unknown}"))
}

fn wrong_command(known: &Known, command: &str) -> Option<String> {
    let command = command.split(['>', '#']).next().unwrap_or_default();
    let word = first_word(command);
    let is_word = word.chars().all(|c| c.is_ascii_lowercase() || c == '-') && !word.starts_with('-');
    if is_word && !known.commands.contains(&word) {
        return Some(format!("`aizuchi` has no command {word}"));
    }
    let options = command.split_whitespace().filter_map(|part| part.strip_prefix("--"));
    for option in options.map(|option| option.split('=').next().unwrap_or_default()).filter(|option| !option.is_empty())
    {
        let field = format!(" {}:", option.replace('-', "_"));
        let known_option = known.cli.contains(&field) || known.cli.contains(&format!("long = \"{option}\""));
        if !known_option && !["help", "version"].contains(&option) {
            return Some(format!("no command of `aizuchi` has the option --{option}"));
        }
    }
    None
}

fn wrong_setting(known: &Known, span: &str) -> Option<String> {
    let key = span.split('=').next().unwrap_or_default().trim().trim_start_matches("--set ");
    let (section, rest) = key.split_once('.')?;
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '.';
    if !known.sections.contains(section) || rest.is_empty() || !key.chars().all(plain) {
        return None;
    }
    (!known.settings.contains(key)).then(|| format!("there is no setting {key}"))
}

/// What the code blocks of a page make: a tutorial's files (```` ```rust core/src/points/trails_off.rs ````) and names.
#[derive(Default)]
struct InBlocks {
    files: BTreeSet<String>,
    words: BTreeSet<String>,
}

impl InBlocks {
    fn of(text: &str) -> InBlocks {
        let mut blocks = InBlocks::default();
        for line in lines(text) {
            let Some(info) = line.block else { continue };
            blocks.files.extend(info.split_whitespace().nth(1).map(str::to_owned));
            add_words(&mut blocks.words, line.text);
        }
        blocks
    }
}

/// Scenarios are named in italics, by folder and file.
fn wrong_scenario(known: &Known, name: &str) -> Option<String> {
    let preset = ["aizuchi/", "kotonoha/", "sphene/", "myao2/"].iter().any(|preset| name.starts_with(preset));
    let there = known.files.contains(&format!("scenarios/{name}.md"));
    (preset && !there).then(|| format!("there is no scenario {name}"))
}

/// What a line names: what is in backticks, or a command of a shell block.
fn named<'a>(line: &MarkdownLine<'a>) -> Vec<&'a str> {
    match line.block {
        None => spans(line.text).collect(),
        Some("sh") => vec![line.text.split(" #").next().unwrap_or_default().trim()],
        Some(_) => Vec::new(),
    }
}

#[test]
fn what_a_document_names_exists() {
    let known = Known::new();
    let mut found = Vec::new();
    for page in documents().into_iter().filter(|page| page.name != "CHANGELOG.md") {
        let blocks = InBlocks::of(&page.text);
        for line in lines(&page.text) {
            let scenarios = line.text.split('*').filter_map(|name| wrong_scenario(&known, name));
            let wrong = named(&line).into_iter().filter_map(|span| wrong(&known, &blocks, span)).chain(scenarios);
            found.extend(wrong.map(|why| format!("{}:{}: {why}", page.name, line.number)));
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn a_name_that_is_gone_is_found() {
    let known = Known::new();
    let blocks = InBlocks::of("```rust\nfn trails_away() {}\n```\n");
    let gone = ["PlatformSpecs", "Engine::handel", "the_tutorial_worked", "people_maximum", "people_maximum()"];
    for span in gone {
        let found = wrong(&known, &blocks, span).unwrap_or_else(|| panic!("{span} was not found"));
        let name = span.trim_end_matches("()").rsplit("::").next().expect("a name");
        assert_eq!(found, format!("no source has the name {name}"));
    }
    let there = ["PlatformSpec", "Engine::handle", "the_tutorial_works", "people_max", "trails_away", "aizuchi_facts"];
    for span in there {
        assert_eq!(wrong(&known, &blocks, span), None, "{span}");
    }
}

/// A name of somebody else is listed as long as a document needs it, and as long as our code has no such name.
#[test]
fn every_foreign_name_is_still_needed() {
    let known = Known::new();
    let pages = documents();
    for (name, whose) in FOREIGN {
        assert!(!known.words.contains(name), "{name} is in the code: it need not be listed as {whose}");
        let named = |page: &Document| {
            lines(&page.text).iter().flat_map(|line| spans(line.text)).any(|span| span.contains(name))
        };
        assert!(pages.iter().any(named), "no document names {name}");
    }
}
