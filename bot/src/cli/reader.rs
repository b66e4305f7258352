//! The option for the language of terminal output, shared by every command that has it.

use aizuchi_core::settings;
use clap::Args;

use crate::language::Language;

#[derive(Args, Clone, Debug, Default)]
pub struct ReaderArguments {
    /// The language of reasons and reports [default: that of the environment, else of the settings, else of the conversation]
    #[arg(long, visible_alias = "lang", value_enum, value_name = "ID")]
    pub language: Option<Language>,
}

impl ReaderArguments {
    /// The language of a file, which must not depend on the environment: the option, else the settings, else the talk.
    pub fn language_of_file<'a>(
        &self,
        set: &settings::LanguageSetting,
        talk: impl IntoIterator<Item = &'a str>,
    ) -> Language {
        self.language.or_else(|| Language::set(set)).or_else(|| Language::of_talk(talk)).unwrap_or_default()
    }

    /// The language of terminal output: the option, else the environment, else the settings, else the talk.
    pub fn language<'a>(&self, set: &settings::LanguageSetting, talk: impl IntoIterator<Item = &'a str>) -> Language {
        self.language
            .or_else(Language::named_by_environment)
            .or_else(|| Language::set(set))
            .or_else(|| Language::of_talk(talk))
            .unwrap_or_default()
    }
}
