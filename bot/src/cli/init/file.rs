//! The settings file that `init` writes.

use super::answers::{InitAnswers, ModelAnswer};
use crate::language::{Language, say};
use crate::models::providers::{self, KnownProvider, PROVIDERS};

pub fn render(answers: &InitAnswers, language: Language) -> String {
    let mut page = SettingsFile { text: String::new(), language };
    page.sentence("settings-head");
    page.gap();
    page.setting("settings-preset", "preset", &quoted(answers.preset));

    page.section("bot");
    page.setting("settings-name", "name", &quoted(&answers.name));
    if let Some(alias) = answers.written_otherwise(language) {
        page.setting("settings-aliases", "aliases", &format!("[{}]", quoted(alias)));
    }
    page.setting("settings-zone", "zone", &quoted(&answers.zone));
    page.comment(&say!(language, "settings-language", languages = quoted_list(&Language::ALL.map(Language::id))));
    page.line("language", &quoted(answers.language));
    page.setting("settings-persona", "persona", &quoted(&answers.persona));
    page.setting("settings-group", "group", &quoted(&answers.group));

    // The presets of the original bots take part nowhere unless the settings say so.
    let asks_to_be_told = answers.preset != "aizuchi";
    if asks_to_be_told {
        page.section("listen");
        page.setting("settings-everywhere", "channels", "[\"*\"]");
    }
    if asks_to_be_told || answers.interval_seconds.is_some() {
        page.section("gates");
    }
    if asks_to_be_told {
        page.setting("settings-unasked", "unasked", "true");
    }
    if let Some(seconds) = answers.interval_seconds {
        page.setting("settings-interval", "interval_seconds", &seconds.to_string());
    }
    if asks_to_be_told {
        page.section("memory");
        page.setting("settings-memory", "enabled", "true");
    }

    page.section("models");
    match &answers.models {
        ModelAnswer::AtStart => {
            page.comment(&say!(language, "settings-at-start", keys = providers::usual_keys().join(", ")));
            if let Some((main, judge)) = PROVIDERS.iter().find_map(KnownProvider::usual_models) {
                page.comment(&format!(
                    "main = {}
judge = {}",
                    quoted(&main),
                    quoted(&judge)
                ));
            }
        }
        ModelAnswer::Chosen { main, judge } => {
            for key in answers.keys() {
                page.comment(&format!("{} {key}", language.text("settings-key")));
            }
            page.setting("settings-main", "main", &quoted(main));
            page.setting("settings-judge", "judge", &quoted(judge));
        }
    }

    page.section("web");
    page.setting("settings-web", "enabled", if answers.address.is_some() { "true" } else { "false" });
    if let Some(address) = &answers.address {
        page.setting("settings-address", "address", &quoted(address));
    }
    if answers.needs_token() {
        page.sentence("settings-token");
    }
    page.text
}

struct SettingsFile {
    text: String,
    language: Language,
}

impl SettingsFile {
    fn gap(&mut self) {
        self.text.push('\n');
    }

    fn section(&mut self, name: &str) {
        self.text.push_str(&format!("\n[{name}]\n"));
    }

    fn comment(&mut self, text: &str) {
        for line in text.lines() {
            self.text.push_str(&format!("# {line}\n"));
        }
    }

    /// A sentence of the language files, as a comment.
    fn sentence(&mut self, sentence: &str) {
        self.comment(&self.language.text(sentence));
    }

    fn setting(&mut self, sentence: &str, key: &str, value: &str) {
        self.sentence(sentence);
        self.line(key, value);
    }

    fn line(&mut self, key: &str, value: &str) {
        self.text.push_str(&format!("{key} = {value}\n"));
    }
}

fn quoted_list(texts: &[&str]) -> String {
    texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ")
}

/// Quotes any text as a TOML string.
fn quoted(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        c if c.is_control() => format!("\\u{:04X}", u32::from(c)),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::super::answers::{INTERVALS, PRESETS};
    use super::*;
    use crate::config;

    #[test]
    fn whatever_was_answered_the_settings_accept_it() {
        for language in Language::ALL {
            for (preset, interval_seconds) in PRESETS.into_iter().zip(INTERVALS) {
                let hostile = "a \"b\" \\ \u{7f}\u{1b}\t#]\n=".to_owned();
                let answers = InitAnswers {
                    name: "相槌 \"x\"".into(),
                    preset,
                    interval_seconds,
                    persona: hostile.clone(),
                    group: hostile.clone(),
                    models: ModelAnswer::Chosen { main: hostile.clone(), judge: String::new() },
                    address: Some("0.0.0.0:80".into()),
                    ..InitAnswers::usual(language)
                };
                let mut layers = config::new_layers();
                layers.add_file("aizuchi.toml", &render(&answers, language));
                let policies = config::resolve(&layers).unwrap();
                let settings = &policies.general().settings;
                assert_eq!((&settings.bot.persona, &settings.models.main), (&hostile, &hostile));
                assert_eq!(Some(settings.gates.interval_seconds), interval_seconds);
                assert!(settings.gates.unasked && settings.memory.enabled && settings.listen.channels == ["*"]);
                assert_eq!(layers.preset(), preset);
            }
        }
    }
}
