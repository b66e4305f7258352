//! What a text looks like to a person who reads it quickly: without invisible characters, with look-alikes folded into one
//! by the tables of Unicode Technical Standard 39, ignoring case and width.

use icu_properties::props::{ExtendedPictographic, GeneralCategory};
use icu_properties::{CodePointMapData, CodePointSetData};
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_security::skeleton;

pub use aizuchi_core::types::is_hidden as is_invisible;

/// Characters that have a width and are drawn as nothing, without being spaces.
pub fn is_blank(c: char) -> bool {
    matches!(c, '\u{2800}' | '\u{16fe4}' | '\u{1d159}' | '\u{fffc}' | '\u{e000}'..='\u{f8ff}')
}

/// Whether a person who looks at it sees nothing at all.
pub fn looks_empty(text: &str) -> bool {
    let sees_nothing =
        |c: char| c.is_whitespace() || c.is_control() || is_invisible(c) || is_blank(c) || is_combining_mark(c);
    text.chars().all(sees_nothing)
}

/// The only flags that are written with invisible letters: England, Scotland and Wales.
const FLAGS: [&str; 3] = [
    "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}",
    "🏴\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}",
];

/// The text on one line, without anything that is invisible or turns it round.
pub fn on_one_line(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    remove_invisible(&spaced).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Removes invisible characters, except those that join an emoji or a word of a joining script.
pub fn remove_invisible(text: &str) -> String {
    if text.is_ascii() {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '🏴'
            && let Some(flag) = FLAGS.iter().find(|flag| rest.starts_with(**flag))
        {
            out.push_str(flag);
            rest = &rest[flag.len()..];
            continue;
        }
        rest = &rest[c.len_utf8()..];
        if !is_invisible(c) || holds_together(&out, c, rest.chars().next()) {
            out.push(c);
        }
    }
    out
}

const JOINER: char = '\u{200d}';
const NON_JOINER: char = '\u{200c}';

fn holds_together(before: &str, c: char, after: Option<char>) -> bool {
    let (Some(before), Some(after)) = (before.chars().next_back(), after.or(Some(' '))) else { return false };
    match c {
        '\u{fe0e}' | '\u{fe0f}' => is_pictograph(before) || (is_keycap(before) && after == '\u{20e3}'),
        JOINER if is_emoji(before) => is_pictograph(after),
        JOINER | NON_JOINER => is_joining(before) && is_joining(after),
        _ => false,
    }
}

fn is_pictograph(c: char) -> bool {
    CodePointSetData::new::<ExtendedPictographic>().contains(c)
}

/// A pictograph, or what may follow one.
fn is_emoji(c: char) -> bool {
    is_pictograph(c) || matches!(c, '\u{fe0f}' | '🏻'..='🏿' | '\u{e007f}')
}

fn is_keycap(c: char) -> bool {
    c.is_ascii_digit() || c == '#' || c == '*'
}

/// Arabic, the scripts of India and their neighbours.
fn is_joining(c: char) -> bool {
    matches!(c, '\u{600}'..='\u{109f}' | '\u{1780}'..='\u{18af}')
}

/// Two texts that can be mistaken for each other are equal after folding. The letters i and l are one.
pub fn fold(text: &str) -> String {
    if text.is_ascii() {
        let mut folded = String::with_capacity(text.len() + 4);
        text.chars().for_each(|c| push_ascii(c, &mut folded));
        return folded;
    }
    let plain: String = text.chars().filter(|c| !is_invisible(*c)).map(letter).nfkc().collect();
    let small: String = skeleton(&plain).filter(|c| !is_accent(*c)).flat_map(char::to_lowercase).map(letter).collect();
    skeleton(&small).filter(|c| !is_accent(*c)).map(|c| if c == 'i' { 'l' } else { c }).collect()
}

/// Two texts that differ only in case and width are equal after this folding.
pub fn case_folded(text: &str) -> String {
    let small = text.nfkc().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    small.nfkc().collect()
}

/// Folds by the tables.
fn push_ascii(c: char, folded: &mut String) {
    match c.to_ascii_lowercase() {
        'm' => folded.push_str("rn"),
        'i' | '1' | '|' => folded.push('l'),
        '0' => folded.push('o'),
        '"' => folded.push_str("''"),
        '`' => folded.push('\''),
        '%' => folded.push_str("°/₀"),
        c => folded.push(c),
    }
}

/// Accents over Latin letters; the marks that distinguish Japanese syllables stay.
fn is_accent(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

/// Letters that look like others and that the tables do not fold: small capitals, and letters in boxes.
fn letter(c: char) -> char {
    const SMALL_CAPITALS: &str = "ᴀaʙbᴄcᴅdᴇeꜰfɢgʜhɪiᴊjᴋkĸkʟlᴍmɴnᴏoᴘpʀrꜱsᴛtᴜuᴠvᴡwʏyᴢz";
    let nth = |first: char| char::from_u32('a' as u32 + (c as u32 - first as u32)).unwrap_or(c);
    match c {
        '🅐'..='🅩' => nth('🅐'),
        '🅰'..='🆉' => nth('🅰'),
        '🇦'..='🇿' => nth('🇦'),
        'ĸ' | 'ɢ'..='ʟ' | 'ᴀ'..='ᴢ' | 'ꜰ' | 'ꜱ' => {
            let mut pairs = SMALL_CAPITALS.chars();
            pairs.find(|known| *known == c).and_then(|_| pairs.next()).unwrap_or(c)
        }
        c => c,
    }
}

/// Only letters and digits, folded: punctuation, spaces and emoji around a name make no difference.
pub fn folded_letters(text: &str) -> String {
    fold(text).chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Whether one name can be mistaken for the other.
pub fn looks_like(one: &str, other: &str) -> bool {
    let one = folded_letters(one);
    !one.is_empty() && one == folded_letters(other)
}

/// Characters that have a meaning in a frame or a tag.
const MARKS: &str = "<>[](){}:;/\\|";

/// The mark that a character can be mistaken for; the first one if it looks like several.
pub fn mark_of(c: char) -> Option<char> {
    // Most of what people write; none of it looks like a mark.
    if c.is_ascii_alphanumeric()
        || matches!(c, ' ' | '\u{400}'..='\u{52f}' | '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' | '\u{1f300}'..='\u{1faff}')
    {
        return None;
    }
    let is_mark = |c: &char| MARKS.contains(*c);
    if c.is_ascii() {
        return Some(c).filter(is_mark);
    }
    let plain: String = std::iter::once(c).nfkc().collect();
    plain.chars().find(is_mark).or_else(|| skeleton(&plain).find(is_mark))
}

/// Brackets and quotes of every script, without the apostrophe.
pub fn is_bracket(c: char) -> bool {
    use GeneralCategory::{ClosePunctuation, FinalPunctuation, InitialPunctuation, OpenPunctuation};
    let kind = CodePointMapData::<GeneralCategory>::new().get(c);
    matches!(kind, OpenPunctuation | ClosePunctuation | InitialPunctuation | FinalPunctuation)
        && !matches!(c, '‘' | '’' | '‚' | '‛')
}

#[cfg(test)]
mod tests {
    use icu_properties::props::DefaultIgnorableCodePoint;

    use super::*;

    #[test]
    fn what_unicode_marks_as_ignorable_is_invisible() {
        let ignorable = CodePointSetData::new::<DefaultIgnorableCodePoint>();
        for c in '\0'..=char::MAX {
            let is_annotation = ('\u{fff9}'..='\u{fffb}').contains(&c);
            assert_eq!(is_invisible(c), ignorable.contains(c) || is_annotation, "{c:?}");
        }
    }

    #[test]
    fn look_alikes_are_the_same() {
        for name in [
            "Aizuchi",
            "aizuchi\u{3164}",
            "ａｉｚｕｃｈｉ",
            "аizuchi",
            "ai\u{200d}zuchi",
            "ai zuchi",
            "AlZUCHl",
            "áizuchi",
            "ᴀɪᴢᴜᴄʜɪ",
            "🅐🅘🅩🅤🅒🅗🅘",
            "𝓪𝓲𝔃𝓾𝓬𝓱𝓲",
            "aizuchi ✓",
        ] {
            assert!(looks_like(name, "aizuchi"), "{name:?}: {}", fold(name));
        }
        for name in ["aizuki", "aizuchi2", "相槌", "", "か", "🍅"] {
            assert!(!looks_like(name, "aizuchi"), "{name:?}: {}", fold(name));
        }
        assert!(!looks_like("かな", "がな"));
        assert!(looks_like("ﾃｽﾄ", "テスト"));
    }

    #[test]
    fn ascii_is_folded_as_everything_else() {
        for c in (' '..='~').filter(|c| c.is_ascii_graphic()) {
            let (ascii, other) = (fold(&c.to_string()), fold(&format!("{c}é")));
            assert_eq!(format!("{ascii}e"), other, "{c}");
        }
    }

    #[test]
    fn emoji_and_joining_scripts_stay_whole() {
        for text in ["👨‍👩‍👧 ❤️ ☎︎ 🏳️‍🌈 👩🏽‍💻 1️⃣ #️⃣ 🇯🇵", FLAGS[0], "می‌خواهم", "क्‍ष", "plain", "日本語"]
        {
            assert_eq!(remove_invisible(text), text);
        }
    }

    #[test]
    fn what_nobody_sees_goes() {
        for text in [
            "a\u{200d}b",
            "\u{200d}ab",
            "ab\u{fe0f}",
            "a\u{e0061}b",
            "a\u{3164}b",
            "a\u{ad}b\u{200c}",
            "a\u{fff9}b",
            "\u{2066}ab\u{34f}",
        ] {
            assert_eq!(remove_invisible(text), "ab", "{text:?}");
        }
        assert_eq!(remove_invisible("🏴\u{e0061}\u{e0062}\u{e007f}👨\u{200d}<"), "🏴👨<");
    }

    #[test]
    fn what_looks_empty_and_what_does_not() {
        for text in ["", " \n", "\u{3164}", "\u{2800} \u{115f}", "\u{34f}\u{e0041}", "\u{200b}\u{7}", "\u{301}"] {
            assert!(looks_empty(text), "{text:?}");
        }
        for text in [".", "ー", "e\u{301}", "👍\u{fe0f}", "\u{3164}a"] {
            assert!(!looks_empty(text), "{text:?}");
        }
    }

    #[test]
    fn case_and_width_make_no_difference() {
        for (one, other) in [("Lobby", "ｌｏＢＢＹ"), ("Straße", "STRASSE"), ("ΣΑΣ", "σας"), ("ﾛﾋﾞｰ", "ロビー")]
        {
            assert_eq!(case_folded(one), case_folded(other));
        }
        for (one, other) in [("team-1", "team-l"), ("rose", "rosé"), ("かな", "がな")] {
            assert_ne!(case_folded(one), case_folded(other));
        }
    }

    #[test]
    fn marks_of_other_scripts() {
        let all = |marks: &str, mark: char| marks.chars().all(|c| mark_of(c) == Some(mark));
        assert!(all("<＜‹ᐸ≮﹤≪", '<') && all("[［", '[') && all(":：ː∶", ':') && all("(（⒜", '(') && all("|｜", '|'));
        assert!("aあノ漢я한🍅é ".chars().all(|c| mark_of(c).is_none()));
        assert!(is_bracket('❪') && is_bracket('「') && is_bracket('«') && !is_bracket('’') && !is_bracket('a'));
    }
}
