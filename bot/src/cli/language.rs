//! The language of whoever sits at the terminal.

use clap::ValueEnum;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    En,
    Ja,
}

impl Language {
    pub fn of_environment() -> Language {
        let set = ["LC_ALL", "LC_MESSAGES", "LANG"]
            .into_iter()
            .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
        if set.is_some_and(|value| value.starts_with("ja")) { Language::Ja } else { Language::En }
    }
}
