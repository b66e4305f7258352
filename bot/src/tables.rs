//! What documents say of declarations is written from them: `./dev tables` writes it, and a test fails where it is not current.

use std::path::{Path, PathBuf};

use crate::commands::{COMMANDS, CommandForm, CommandSpec};
use crate::config;
use crate::language::Language;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in the workspace").to_owned()
}

/// Compares a document with what the declarations say; `UPDATE_TABLES=1` writes it.
fn compare(path: &str, wanted: impl FnOnce(&str) -> String) {
    let whole = root().join(path);
    let text = std::fs::read_to_string(&whole).expect("a document is a text file");
    let wanted = wanted(&text);
    if std::env::var_os("UPDATE_TABLES").is_some() && text != wanted {
        return std::fs::write(&whole, wanted).expect("the document can be written");
    }
    let differ = text.lines().zip(wanted.lines()).find(|(is, should)| is != should);
    assert!(text == wanted, "{path} is not current, run ./dev tables: {differ:?}");
}

/// The same for the part of it between two marks.
fn compare_part(path: &str, begin: &str, end: &str, wanted: &str) {
    compare(path, |text| {
        let from = text.find(begin).unwrap_or_else(|| panic!("{path}: no {begin}")) + begin.len();
        let to = from + text[from..].find(end).unwrap_or_else(|| panic!("{path}: no {end}"));
        format!("{}{wanted}{}", &text[..from], &text[to..])
    });
}

#[test]
fn the_defaults_have_every_section() {
    compare("aizuchi.default.toml", |_| config::manual().to_owned());
}

#[test]
fn the_manual_lists_each_command() {
    let manuals = [
        ("en", "docs/commands.md", "\n| command | what it does |"),
        ("ja", "docs/ja/commands.md", "\n| コマンド | 意味 |"),
    ];
    for (id, path, head) in manuals {
        let language = Language::from_id(id).expect("there is this language");
        let row = |spec: &CommandSpec| format!("| `/{}` | {} |\n", spec.example(language), spec.manual(language));
        let rows: String = COMMANDS.iter().map(row).collect();
        compare_part(path, &format!("{head}\n|---|---|\n"), "\n\n", rows.trim_end());
    }
}

/// Slack shows it while somebody types `/aizuchi`.
#[test]
fn the_slack_manifest_hints_at_each_command() {
    let offered = COMMANDS.iter().filter(|spec| spec.is_offered(CommandForm::Prefixed));
    let hint = offered.map(|spec| spec.example(Language::ENGLISH)).collect::<Vec<_>>().join(" | ");
    assert!(hint.len() <= 1000, "Slack's own limit");
    compare_part("docs/slack-manifest.yaml", "      usage_hint: ", "\n", &hint);
}
