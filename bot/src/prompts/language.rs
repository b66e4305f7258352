//! The language of the talk.

use aizuchi_core::Policy;
use aizuchi_core::effect::Transcript;
use aizuchi_core::settings::Language as Setting;

use crate::language::Language;

/// As it is set, or as people talk; where nobody has said a word, as its owner describes it.
pub fn language_for(policy: &Policy, transcript: &Transcript) -> Language {
    let bot = &policy.settings.bot;
    match bot.language {
        Setting::English => Language::English,
        Setting::Japanese => Language::Japanese,
        Setting::Auto => {
            let mut letters = Letters::default();
            transcript.lines.iter().for_each(|line| letters.count(line.text));
            if letters.none() {
                [&bot.persona, &bot.group, &bot.name].into_iter().for_each(|text| letters.count(text));
            }
            letters.language()
        }
    }
}

#[derive(Default)]
struct Letters {
    japanese: usize,
    other: usize,
}

/// A Japanese sentence is full of Latin words in some rooms, an English one has a kanji at most.
const JAPANESE_PERCENT: usize = 20;
/// More letters than this tell nothing new.
const LETTERS_MAX: usize = 10_000;

impl Letters {
    fn count(&mut self, text: &str) {
        for c in text.chars().take(LETTERS_MAX) {
            match c {
                // Kana, kanji, and kana of half width.
                '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ff66}'..='\u{ff9f}' => self.japanese += 1,
                _ if c.is_alphabetic() => self.other += 1,
                _ => (),
            }
        }
    }

    fn none(&self) -> bool {
        self.japanese + self.other == 0
    }

    fn language(&self) -> Language {
        if self.japanese > 0 && self.japanese * 100 >= (self.japanese + self.other) * JAPANESE_PERCENT {
            Language::Japanese
        } else {
            Language::English
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_kana_and_kanji_tells() {
        let language = |text: &str| {
            let mut letters = Letters::default();
            letters.count(text);
            letters.language()
        };
        for text in ["こんにちは", "Rust の async が compile できない", "ｺﾝﾆﾁﾊ", "草"] {
            assert_eq!(language(text), Language::Japanese, "{text}");
        }
        for text in ["", "123 👀", "we say 草 where others say lol", "Grüße"] {
            assert_eq!(language(text), Language::English, "{text}");
        }
    }
}
