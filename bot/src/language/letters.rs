//! Detects the language of talk by its letters.

use super::Language;

impl Language {
    /// The language of some talk; `None` if it contains no letter.
    pub fn of_talk<'a>(texts: impl IntoIterator<Item = &'a str>) -> Option<Language> {
        let mut letters = Letters::default();
        texts.into_iter().for_each(|text| letters.count(text));
        letters.language()
    }
}

#[derive(Default)]
struct Letters {
    all: usize,
    /// For each language, the number of letters that only it has.
    own: [usize; Language::ALL.len()],
}

/// In some rooms a Japanese sentence is full of Latin words, while an English one has a kanji at most.
const OWN_PERCENT: usize = 20;
/// More letters would not change the result.
const LETTERS_MAX: usize = 10_000;

impl Letters {
    fn count(&mut self, text: &str) {
        for c in text.chars().take(LETTERS_MAX) {
            let of = Language::of_letter(c).map(Language::index);
            if let Some(of) = of {
                self.own[of] += 1;
            }
            self.all += usize::from(of.is_some() || c.is_alphabetic());
        }
    }

    /// `None` if there is no letter at all.
    fn language(&self) -> Option<Language> {
        if self.all == 0 {
            return None;
        }
        let enough = |(_, own): &(Language, usize)| *own > 0 && own * 100 >= self.all * OWN_PERCENT;
        let most = Language::ALL.into_iter().zip(self.own).max_by_key(|(_, own)| *own).filter(enough);
        Some(most.map_or(Language::ENGLISH, |(language, _)| language))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_kana_and_kanji_tells() {
        for text in ["こんにちは", "Rust の async が compile できない", "ｺﾝﾆﾁﾊ", "草"] {
            assert_eq!(Language::of_talk([text]), Language::from_id("ja"), "{text}");
        }
        for text in ["we say 草 where others say lol", "good morning"] {
            assert_eq!(Language::of_talk([text]), Some(Language::ENGLISH), "{text}");
        }
        for text in ["", "123 👀"] {
            assert_eq!(Language::of_talk([text]), None, "{text}");
        }
    }
}
