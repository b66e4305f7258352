//! Splits a text into words.

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

/// For each byte that is an ASCII letter or digit, its lower case; 0 for every other.
const LETTERS: [u8; 256] = {
    let mut letters = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        if (byte as u8).is_ascii_alphanumeric() {
            letters[byte] = (byte as u8).to_ascii_lowercase();
        }
        byte += 1;
    }
    letters
};

/// The words of a text, in lower case, without apostrophes; a change of script ends a word.
pub fn each_word<'a>(text: &'a str, width: &mut u32, mut word: impl FnMut(u32, WordKind, &'a str)) {
    let mut current = WordScript::None;
    let mut hasher = Hasher::default();
    let (mut letters, mut start, mut at) = (0u32, 0, 0);
    let mut end = |current: WordScript, hasher: Hasher, letters: u32, run: &'a str| {
        let kind = match current {
            WordScript::None => return,
            WordScript::Hiragana => WordKind::Function,
            _ if letters < 2 => WordKind::Function,
            WordScript::Spaced | WordScript::Han | WordScript::Katakana => WordKind::Content,
        };
        word(hasher.finish(), kind, run);
    };
    let lower = |at: usize| text.as_bytes().get(at).map_or(0, |byte| LETTERS[usize::from(*byte)]);
    while at < text.len() {
        let mut letter = lower(at);
        if letter != 0 {
            if current != WordScript::Spaced {
                end(current, hasher, letters, &text[start..at]);
                (current, hasher, letters, start) = (WordScript::Spaced, Hasher::default(), 0, at);
            }
            let begins = at;
            while letter != 0 {
                hasher = hasher.with(letter);
                at += 1;
                letter = lower(at);
            }
            let more = (at - begins) as u32;
            letters += more;
            *width += more;
            continue;
        }
        let c = text[at..].chars().next().expect("a character begins where another ended");
        let (from, next) = (at, script(c));
        at += c.len_utf8();
        *width += if (c as u32) < 0x1100 { 1 } else { 2 };
        if matches!(c, '\'' | '’') && current == WordScript::Spaced {
            continue;
        }
        if next != current || (next == WordScript::Han && letters == 2) {
            end(current, hasher, letters, &text[start..from]);
            (current, hasher, letters, start) = (next, Hasher::default(), 0, from);
        }
        if next != WordScript::None {
            letters += 1;
            hasher = text.as_bytes()[from..at].iter().copied().fold(hasher, Hasher::with);
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
        let mut width = 0;
        let mut hashes = Vec::new();
        each_word("Don’t été ÉTÉ x", &mut width, |hash, _, run| hashes.push((run, hash)));
        let runs: Vec<&str> = hashes.iter().map(|(run, _)| *run).collect();
        assert_eq!((runs, width), (vec!["Don’t", "été", "ÉTÉ", "x"], 16));
        let of = |text: &str| text.bytes().fold(Hasher::default(), Hasher::with).finish();
        assert_eq!(hashes.iter().map(|(_, hash)| *hash).collect::<Vec<_>>(), ["dont", "été", "ÉtÉ", "x"].map(of));
    }
}
