//! Parts of documents that are generated from declarations: `./dev tables` writes them, and a test fails if they are
//! outdated.

use std::path::{Path, PathBuf};

use crate::commands::{COMMANDS, CommandForm, CommandSpec};
use crate::config;
use crate::language::Language;
use crate::models::providers::{KnownProvider, PROVIDERS};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in the workspace").to_owned()
}

/// Compares a document with the declarations; `UPDATE_TABLES=1` writes it.
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

/// The same for the part between two markers.
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

/// Slack shows it while a person types `/aizuchi`.
#[test]
fn the_slack_manifest_hints_at_each_command() {
    let offered = COMMANDS.iter().filter(|spec| spec.is_offered(CommandForm::Prefixed));
    let hint = offered.map(|spec| spec.example(Language::ENGLISH)).collect::<Vec<_>>().join(" | ");
    assert!(hint.len() <= 1000, "Slack's own limit");
    compare_part("docs/slack-manifest.yaml", "      usage_hint: ", "\n", &hint);
}

/// A document with a table of providers, and its words.
struct ProviderTable {
    path: &'static str,
    head: &'static str,
    or: &'static str,
    no_key: [&'static str; 2],
    own: &'static str,
    comma: &'static str,
}

const PROVIDER_TABLES: [ProviderTable; 2] = [
    ProviderTable {
        path: "docs/models.md",
        head: "\n| provider | key | address, and the variable that changes it |",
        or: " or ",
        no_key: ["none needed (", ")"],
        own: "its own",
        comma: ", ",
    },
    ProviderTable {
        path: "docs/ja/models.md",
        head: "\n| provider | キー | 接続先と、それを変える環境変数 |",
        or: " か ",
        no_key: ["不要（", "）"],
        own: "公式",
        comma: "、",
    },
];

fn provider_row(row: &KnownProvider, words: &ProviderTable) -> String {
    let quoted = |text: &&str| format!("`{text}`");
    let variables = row.keys.iter().map(quoted).collect::<Vec<_>>().join(words.or);
    let [before, behind] = if row.needs_key { ["", ""] } else { words.no_key };
    let address = if row.needs_key { words.own.to_owned() } else { quoted(&row.url) };
    let places: Vec<String> = std::iter::once(address).chain(row.url_variable().iter().map(quoted)).collect();
    format!("| `{}` | {before}{variables}{behind} | {} |\n", row.name, places.join(words.comma))
}

#[test]
fn the_manual_lists_each_provider() {
    for words in &PROVIDER_TABLES {
        let rows: String = PROVIDERS.iter().map(|row| provider_row(row, words)).collect();
        compare_part(words.path, &format!("{}\n|---|---|---|\n", words.head), "| `offline` |", &rows);
    }
}

/// Prices are data of the engine, which enforces a budget; they are declared with the provider.
#[test]
fn the_engine_knows_each_price() {
    let priced = |row: &'static KnownProvider| {
        row.prices.iter().map(|(model, dollars)| format!("\"{}/{model}\" = {dollars:?}\n", row.name))
    };
    let prices: String = PROVIDERS.iter().flat_map(priced).collect();
    let begin = "makes any model free.\n";
    compare_part("core/src/settings/default.toml", begin, "\n[providers]", &prices);
    let names: Vec<&str> = PROVIDERS.iter().map(|row| row.name).collect();
    compare_part(
        "core/src/settings/default.toml",
        "# Known by name: ",
        "\n# Others",
        &format!("{}.", names.join(", ")),
    );
}

/// Default models have a price, or would count as the most expensive.
#[test]
fn usual_models_have_prices() {
    for row in PROVIDERS {
        for model in row.usual_models().map(<[String; 2]>::from).into_iter().flatten() {
            let has_price = row.prices.iter().any(|(priced, ..)| model == format!("{}/{priced}", row.name));
            assert!(has_price, "{model}");
        }
    }
}
