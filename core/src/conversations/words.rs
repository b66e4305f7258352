//! Parts a text into words.

use super::lexicon::Hasher;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum WordKind {
    /// Worth comparing between messages.
    Content,
    /// Particles and endings.
    Function,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WordScript {
    None,
    Spaced,
    Han,
    Hiragana,
    Katakana,
}

fn script(c: char) -> WordScript {
    match c {
        '\0'..='\x7f' => {
            if c.is_ascii_alphanumeric() {
                WordScript::Spaced
            } else {
                WordScript::None
            }
        }
        'ぁ'..='ゟ' => WordScript::Hiragana,
        'ァ'..='ヿ' | 'ｦ'..='ﾟ' => WordScript::Katakana,
        '一'..='鿿' | '㐀'..='䶿' | '々' => WordScript::Han,
        _ if c.is_alphanumeric() => WordScript::Spaced,
        _ => WordScript::None,
    }
}

/// The words of a text, in lower case, without apostrophes; a change of script ends a word.
pub fn each_word<'a>(text: &'a str, width: &mut u32, mut word: impl FnMut(u32, WordKind, &'a str)) {
    let mut current = WordScript::None;
    let mut hasher = Hasher::default();
    let (mut letters, mut start) = (0u32, 0);
    let mut end = |current: WordScript, hasher: Hasher, letters: u32, run: &'a str| {
        let kind = match current {
            WordScript::None => return,
            WordScript::Hiragana => WordKind::Function,
            _ if letters < 2 => WordKind::Function,
            WordScript::Spaced | WordScript::Han | WordScript::Katakana => WordKind::Content,
        };
        word(hasher.finish(), kind, run);
    };
    for (at, c) in text.char_indices() {
        *width += if (c as u32) < 0x1100 { 1 } else { 2 };
        if matches!(c, '\'' | '’') && current == WordScript::Spaced {
            continue;
        }
        let next = script(c);
        if next != current || (next == WordScript::Han && letters == 2) {
            end(current, hasher, letters, &text[start..at]);
            (current, hasher, letters, start) = (next, Hasher::default(), 0, at);
        }
        if next != WordScript::None {
            letters += 1;
            hasher = if c.is_ascii() {
                hasher.with(c.to_ascii_lowercase() as u8)
            } else {
                let mut bytes = [0; 4];
                c.encode_utf8(&mut bytes).bytes().fold(hasher, Hasher::with)
            };
        }
    }
    end(current, hasher, letters, &text[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_part_words() {
        let mut words = Vec::new();
        each_word("Rustの日付処理、don't ライブラリ", &mut 0, |_, kind, run| {
            words.push((run, kind == WordKind::Content))
        });
        let expected =
            [("Rust", true), ("の", false), ("日付", true), ("処理", true), ("don't", true), ("ライブラリ", true)];
        assert_eq!(words, expected);
    }
}
