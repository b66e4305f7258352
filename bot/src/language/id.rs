//! The available languages, and how one is chosen.

use std::fmt;
use std::sync::LazyLock;

use aizuchi_core::settings;
use clap::ValueEnum;
use clap::builder::PossibleValue;

use super::locales::LOCALES;

/// A folder of `locales/`. The default is English.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Language(usize);

impl Language {
    /// The first of the list; the fallback for what another language does not have.
    pub const ENGLISH: Language = Language(0);

    pub const ALL: [Language; LOCALES.len()] = {
        let mut all = [Language(0); LOCALES.len()];
        let mut index = 0;
        while index < all.len() {
            all[index] = Language(index);
            index += 1;
        }
        all
    };

    pub(super) fn index(self) -> usize {
        self.0
    }

    /// The id in settings and folders.
    pub fn id(self) -> &'static str {
        LOCALES[self.0].id
    }

    pub fn from_id(id: &str) -> Option<Language> {
        Language::ALL.into_iter().find(|language| language.id() == id)
    }

    /// From a tag such as `ja`, `ja-JP` or `ja_JP.UTF-8`.
    pub fn from_tag(tag: &str) -> Option<Language> {
        let primary = tag.split(['-', '_', '.', '@']).next().unwrap_or_default();
        Language::from_id(&primary.to_ascii_lowercase())
    }

    /// All ids as a list for people: "en, ja".
    pub fn listed() -> String {
        Language::ALL.map(Language::id).join(", ")
    }

    /// A prompt that is compiled in for this language.
    pub fn prompt(self, name: &str) -> Option<&'static str> {
        LOCALES[self.0].prompts.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
    }

    /// Whether there is a sample conversation in this language.
    pub fn has_samples(self) -> bool {
        !LOCALES[self.0].samples.is_empty()
    }

    /// A file of the sample conversations, falling back to English.
    pub fn sample(self, name: &str) -> &'static str {
        let samples = |of: Language| LOCALES[of.0].samples.iter().find(|(known, _)| *known == name);
        samples(self).or_else(|| samples(Language::ENGLISH)).expect("English has every sample").1
    }

    /// The language of the environment; `None` if it names no available one, as `C` does.
    pub fn named_by_environment() -> Option<Language> {
        let set = ["LC_ALL", "LC_MESSAGES", "LANG"]
            .into_iter()
            .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
        Language::from_tag(&set?)
    }

    /// The language of the environment.
    pub fn of_environment() -> Language {
        Language::named_by_environment().unwrap_or_default()
    }

    /// From a browser's `Accept-Language`: the most preferred of the available ones, the first of equals.
    pub fn accepted(header: &str) -> Language {
        let wish = |part: &str| {
            let mut parts = part.split(';').map(str::trim);
            let language = Language::from_tag(parts.next()?)?;
            let liking = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok()).unwrap_or(1.0);
            (liking > 0.0).then_some((language, liking))
        };
        let best = header.split(',').filter_map(wish).reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map_or(Language::ENGLISH, |(language, _)| language)
    }

    /// The language of a text: one letter that only one language has is enough for a short line.
    pub fn of_text(text: &str) -> Language {
        text.chars().find_map(Language::of_letter).unwrap_or_default()
    }

    /// The only language that has this letter.
    pub fn of_letter(letter: char) -> Option<Language> {
        let has = |language: &Language| LETTERS[language.0].iter().any(|(from, to)| (*from..=*to).contains(&letter));
        Language::ALL.into_iter().find(has)
    }

    /// The language of the settings, or else the one that was heard.
    pub fn wished(wish: &settings::LanguageSetting, heard: Option<Language>) -> Language {
        Language::set(wish).or(heard).unwrap_or_default()
    }

    /// The language of the settings; `None` if they leave it to the talk.
    pub fn set(wish: &settings::LanguageSetting) -> Option<Language> {
        match wish {
            settings::LanguageSetting::Named(id) => Language::from_id(id),
            settings::LanguageSetting::Auto => None,
        }
    }
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

impl ValueEnum for Language {
    fn value_variants<'a>() -> &'a [Language] {
        &Language::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.id()))
    }
}

/// For each language, the letters that no other has, from its `language-letters`.
static LETTERS: LazyLock<Vec<Vec<(char, char)>>> =
    LazyLock::new(|| Language::ALL.iter().map(|language| ranges(&language.text("language-letters"))).collect());

/// "a-z", "äöü", "ぁ-ヿ一-鿿".
fn ranges(text: &str) -> Vec<(char, char)> {
    let letters: Vec<char> = text.chars().filter(|c| !c.is_whitespace()).collect();
    let mut ranges = Vec::new();
    let mut rest = &letters[..];
    loop {
        rest = match rest {
            [] => return ranges,
            [from, '-', to, rest @ ..] => {
                ranges.push((*from, *to));
                rest
            }
            [one, rest @ ..] => {
                ranges.push((*one, *one));
                rest
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn japanese() -> Language {
        Language::from_id("ja").expect("there is Japanese")
    }

    #[test]
    fn a_browser_says_what_it_likes() {
        assert_eq!(Language::accepted("ja,en-US;q=0.9,en;q=0.8"), japanese());
        assert_eq!(Language::accepted("ja-JP"), japanese());
        assert_eq!(Language::accepted("en-US,en;q=0.9,ja;q=0.8"), Language::ENGLISH);
        assert_eq!(Language::accepted("xx, ja;q=0.5"), japanese());
        assert_eq!(Language::accepted("ja;q=0, xx"), Language::ENGLISH);
        assert_eq!(Language::accepted("xx"), Language::ENGLISH);
        assert_eq!(Language::accepted(""), Language::ENGLISH);
    }

    #[test]
    fn the_settings_have_the_last_word() {
        let heard = Some(Language::of_text("これ見た?"));
        assert_eq!(Language::wished(&settings::LanguageSetting::Auto, heard), japanese());
        assert_eq!(Language::wished(&settings::LanguageSetting::Named("en".into()), heard), Language::ENGLISH);
        assert_eq!(Language::of_text("did you see?"), Language::ENGLISH);
    }

    #[test]
    fn tags_of_browsers_and_of_environments_are_read() {
        for tag in ["ja", "ja-JP", "JA", "ja_JP.UTF-8", "ja.eucJP", "ja@x"] {
            assert_eq!(Language::from_tag(tag), Some(japanese()), "{tag}");
        }
        for tag in ["", "C", "C.UTF-8", "POSIX", "jam"] {
            assert_eq!(Language::from_tag(tag), None, "{tag}");
        }
    }

    #[test]
    fn letters_are_ranges_and_single_ones() {
        assert_eq!(ranges("a-c äö"), [('a', 'c'), ('ä', 'ä'), ('ö', 'ö')]);
        assert_eq!(ranges("-"), [('-', '-')]);
        assert_eq!(Language::of_letter('漢'), Some(japanese()));
        assert_eq!(Language::of_letter('x'), None);
    }
}
