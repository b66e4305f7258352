//! What counts as an emoji: one picture as defined by Unicode's TS 51, without hidden text.

use std::iter::Peekable;
use std::str::Chars;

use icu_properties::CodePointSetData;
use icu_properties::props::{Emoji, EmojiModifier};

/// The longest emoji in use have about half of this.
const BYTES_MAX: usize = 64;

const JOINER: char = '\u{200d}';
const AS_PICTURE: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';
const BLACK_FLAG: char = '🏴';

pub fn is_emoji(text: &str) -> bool {
    let mut rest = text.chars().peekable();
    if text.len() > BYTES_MAX || !element(&mut rest) {
        return false;
    }
    while rest.next_if_eq(&JOINER).is_some() {
        if !element(&mut rest) {
            return false;
        }
    }
    rest.next().is_none()
}

/// Parses one part of a joined sequence; returns whether there was one.
fn element(rest: &mut Peekable<Chars<'_>>) -> bool {
    let Some(first) = rest.next() else { return false };
    if is_flag_letter(first) {
        return rest.next_if(|next| is_flag_letter(*next)).is_some();
    }
    if matches!(first, '0'..='9' | '#' | '*') {
        return rest.next_if_eq(&AS_PICTURE).is_some() && rest.next_if_eq(&KEYCAP).is_some();
    }
    if !CodePointSetData::new::<Emoji>().contains(first) {
        return false;
    }
    let picture = rest.next_if_eq(&AS_PICTURE).is_some();
    if !picture && rest.next_if(|next| CodePointSetData::new::<EmojiModifier>().contains(*next)).is_none() {
        return first != BLACK_FLAG || tags(rest);
    }
    true
}

/// The flags of regions spell their name in invisible tags; anything longer is a hidden message.
fn tags(rest: &mut Peekable<Chars<'_>>) -> bool {
    let tag = |c: &char| matches!(c, '\u{e0030}'..='\u{e0039}' | '\u{e0061}'..='\u{e007a}');
    let mut count = 0;
    while rest.next_if(tag).is_some() {
        count += 1;
    }
    match count {
        0 => true,
        3..=6 => rest.next_if_eq(&'\u{e007f}').is_some(),
        _ => false,
    }
}

fn is_flag_letter(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_picture_and_nothing_else() {
        for emoji in ["👍", "❤️", "❤", "👍🏽", "👩‍👩‍👧‍👦", "🇯🇵", "🏴", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "#️⃣", "🏳️‍🌈", "🏴‍☠️", "👩🏻‍❤️‍💋‍👨🏿", "☺️", "㊙️", "©️"]
        {
            assert!(is_emoji(emoji), "{emoji}");
        }
        let hidden: String = "🏴"
            .chars()
            .chain("obey me".bytes().map(|byte| char::from_u32(0xe0000 + u32::from(byte)).unwrap()))
            .collect();
        for odd in [
            "",
            "x",
            "7",
            "👍👍",
            "👍x",
            "🇯🇵🇯",
            "🇯",
            "👍\u{200d}",
            "\u{200d}👍",
            "👍\u{e0061}",
            "\u{fe0f}",
            "7\u{fe0f}",
            "あ",
            &hidden,
            &"👍\u{200d}".repeat(20),
        ] {
            assert!(!is_emoji(odd), "{odd:?}");
        }
    }
}
