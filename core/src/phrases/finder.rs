//! Finds any of some words in a text: as a substring, or as whole words if the script has words.

use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};

use crate::settings::MatchStyle;

#[derive(Clone, Debug)]
pub(crate) struct Finder {
    words: Option<AhoCorasick>,
    style: MatchStyle,
}

impl Finder {
    pub(crate) fn new(words: &[&str], style: MatchStyle) -> Finder {
        let mut patterns: Vec<String> = words.iter().filter(|word| !word.is_empty()).map(ToString::to_string).collect();
        if style == MatchStyle::Word {
            patterns = variants(&patterns);
        }
        let build = |patterns: &[String]| {
            AhoCorasick::builder()
                .match_kind(if style == MatchStyle::Word {
                    MatchKind::LeftmostLongest
                } else {
                    MatchKind::LeftmostFirst
                })
                .ascii_case_insensitive(style == MatchStyle::Word)
                .build(patterns)
                .expect("a list of words fits into an automaton")
        };
        Finder { words: (!patterns.is_empty()).then(|| build(&patterns)), style }
    }

    pub(crate) fn is_in(&self, text: &str) -> bool {
        self.find(text).is_some()
    }

    /// The positions of the words, first to last.
    pub(crate) fn find_all<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        let counts = move |range: &Range<usize>| self.style == MatchStyle::Substring || stands_alone(text, range);
        self.words.iter().flat_map(move |words| words.find_iter(text)).map(|found| found.range()).filter(counts)
    }

    /// The position of the first of the words.
    pub(crate) fn find(&self, text: &str) -> Option<Range<usize>> {
        let words = self.words.as_ref()?;
        match self.style {
            MatchStyle::Substring => words.find(text).map(|found| found.range()),
            MatchStyle::Word => {
                words.find_iter(text).map(|found| found.range()).find(|range| stands_alone(text, range))
            }
        }
    }
}

/// A word in the cases and widths that count as the same.
pub(super) fn variants(words: &[String]) -> Vec<String> {
    let cases = |word: &String| [word.clone(), word.to_lowercase(), word.to_uppercase()];
    let widths = |word: String| [wide(&word), narrow(&word), word];
    let mut variants: Vec<String> = words.iter().flat_map(cases).flat_map(widths).collect();
    variants.sort_unstable();
    variants.dedup();
    variants
}

/// Converts ASCII to full-width characters, and back.
fn wide(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_ascii_graphic() { char::from_u32(c as u32 + 0xfee0).unwrap_or(c) } else { c })
        .collect()
}

fn narrow(text: &str) -> String {
    text.chars()
        .map(|c| if ('！'..='～').contains(&c) { char::from_u32(c as u32 - 0xfee0).unwrap_or(c) } else { c })
        .collect()
}

/// Kinds of letters between which a word can end without a space.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Script {
    None,
    Spaced,
    Han,
    Hiragana,
    Katakana,
    Hangul,
}

fn script(c: char) -> Script {
    match c {
        'ぁ'..='ゟ' => Script::Hiragana,
        'ァ'..='ヿ' | 'ｦ'..='ﾟ' => Script::Katakana,
        '가'..='힣' | 'ᄀ'..='ᇿ' => Script::Hangul,
        '一'..='鿿' | '㐀'..='䶿' | '豈'..='﫿' | '々' | '\u{20000}'..='\u{3ffff}' => Script::Han,
        '_' => Script::Spaced,
        _ if c.is_alphanumeric() => Script::Spaced,
        _ => Script::None,
    }
}

/// Requests that directly follow a name.
const REQUESTS_IN_HAN: &str = "\
    教えて 手伝って 助けて 助けろ 見て 見せて 聞いて 聞かせて 直して 書いて 読んで 調べて 答えて 考えて 起きて 頼む 頼んだ 頼みます 今何 今日の 今日は 今どこ 明日の 何時 何か 何で \
    何して 何が 元気 大丈夫 黙って 黙れ 静かに 翻訳して 要約して 説明して 計算して 確認して 作って 探して 止めて 的に 早く 最高 天才 助かった 感謝";

/// Whether the match is not a part of a longer word. Hiragana may follow (particles follow a name), and so may anything
/// after Hangul (particles again) and the Chinese characters that are titles.
pub(super) fn stands_alone(text: &str, range: &Range<usize>) -> bool {
    let word = &text[range.clone()];
    let before = text[..range.start].chars().next_back();
    let after = text[range.end..].chars().next();
    let (Some(first), Some(last)) = (word.chars().next(), word.chars().next_back()) else { return false };
    let joined = |edge: char, neighbour: Option<char>| {
        neighbour.is_some_and(|c| script(c) == script(edge) && !matches!(script(edge), Script::None | Script::Hiragana))
    };
    let title = after.is_some_and(|c| "君様殿氏嬢兄姉先".contains(c));
    let asked = || REQUESTS_IN_HAN.split_whitespace().any(|words| text[range.end..].starts_with(words));
    let goes_on = title || script(last) == Script::Hangul || script(last) == Script::Han && asked();
    let follows = !goes_on && joined(last, after);
    !joined(first, before) && !follows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(name: &str, text: &str) -> bool {
        Finder::new(&[name], MatchStyle::Word).is_in(text)
    }

    #[test]
    fn a_name_is_a_whole_word_where_the_script_has_words() {
        for text in ["Ai, what now?", "hey ai", "ＡＩ？", "ai!", "(AI)", "AIさん", "ねえai聞いて"] {
            assert!(word("ai", text), "{text}");
        }
        for text in ["rain", "aim", "said it", "ai_bot", "AI2", "ｍａｉｌ"] {
            assert!(!word("ai", text), "{text}");
        }
    }

    #[test]
    fn a_later_whole_word_counts_after_an_inner_one() {
        assert!(word("ai", "rain, ai?"));
    }

    #[test]
    fn japanese_names_end_where_the_script_changes() {
        assert!(word("スフェーン", "スフェーンって知ってる？"));
        assert!(word("相槌", "相槌さん、おはよう"));
        assert!(word("相槌", "相槌君"));
        assert!(word("あいづち", "ねえあいづちはどう思う"));
        assert!(word("相槌", "相槌教えて") && word("相槌", "相槌手伝って！"));
        assert!(!word("相槌", "相槌打って") && !word("相槌", "相槌役") && !word("愛", "愛情"));
        assert!(!word("アイ", "アイス食べたい"));
        assert!(!word("東", "東京に行く"));
        assert!(word("봇", "봇아 안녕"));
        assert!(!word("봇", "로봇"));
    }

    #[test]
    fn letter_by_letter_is_exact_and_anywhere() {
        let finder = Finder::new(&["Sphene"], MatchStyle::Substring);
        assert!(finder.is_in("Sphenes"));
        assert!(!finder.is_in("sphene"));
        assert!(!Finder::new(&[], MatchStyle::Substring).is_in("anything"));
    }
}
