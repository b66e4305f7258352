//! The two languages it speaks by itself.

use aizuchi_core::settings;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Language {
    #[default]
    English,
    Japanese,
}

impl Language {
    pub const ALL: [Language; 2] = [Language::English, Language::Japanese];

    /// As in settings and folders.
    pub fn id(self) -> &'static str {
        self.choose("en", "ja")
    }

    pub fn from_id(id: &str) -> Option<Language> {
        Language::ALL.into_iter().find(|language| language.id() == id)
    }

    /// One of two.
    pub fn choose<T>(self, english: T, japanese: T) -> T {
        match self {
            Language::English => english,
            Language::Japanese => japanese,
        }
    }

    /// Of whoever sits at the terminal.
    pub fn of_environment() -> Language {
        let set = ["LC_ALL", "LC_MESSAGES", "LANG"]
            .into_iter()
            .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
        if set.is_some_and(|value| value.starts_with("ja")) { Language::Japanese } else { Language::English }
    }

    /// From a browser's `Accept-Language`: the better liked of the two.
    pub fn accepted(header: &str) -> Language {
        let liking = |wanted: &str| {
            let of = |part: &str| {
                let mut parts = part.split(';').map(str::trim);
                let tag = parts.next()?;
                let primary = tag.split('-').next()?;
                let liking = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok()).unwrap_or(1.0);
                primary.eq_ignore_ascii_case(wanted).then_some(liking)
            };
            header.split(',').filter_map(of).fold(0.0, f32::max)
        };
        if liking("ja") > liking("en") || (liking("ja") > 0.0 && header.trim_start().starts_with("ja")) {
            Language::Japanese
        } else {
            Language::English
        }
    }

    /// The language somebody writes in: kana and kanji are Japanese enough for a short line.
    pub fn of_text(text: &str) -> Language {
        let japanese = text.chars().any(|c| matches!(c, '\u{3041}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'));
        if japanese { Language::Japanese } else { Language::English }
    }

    /// As the settings wish, or else as it was heard.
    pub fn wished(wish: settings::Language, heard: Option<Language>) -> Language {
        match wish {
            settings::Language::English => Language::English,
            settings::Language::Japanese => Language::Japanese,
            settings::Language::Auto => heard.unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_says_what_it_likes() {
        assert_eq!(Language::accepted("ja,en-US;q=0.9,en;q=0.8"), Language::Japanese);
        assert_eq!(Language::accepted("ja-JP"), Language::Japanese);
        assert_eq!(Language::accepted("en-US,en;q=0.9,ja;q=0.8"), Language::English);
        assert_eq!(Language::accepted("de, ja;q=0.5"), Language::Japanese);
        assert_eq!(Language::accepted("de"), Language::English);
        assert_eq!(Language::accepted(""), Language::English);
    }

    #[test]
    fn the_settings_have_the_last_word() {
        let heard = Some(Language::of_text("これ見た?"));
        assert_eq!(Language::wished(settings::Language::Auto, heard), Language::Japanese);
        assert_eq!(Language::wished(settings::Language::English, heard), Language::English);
        assert_eq!(Language::of_text("did you see?"), Language::English);
    }
}
