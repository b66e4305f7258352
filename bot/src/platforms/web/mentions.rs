//! Who is meant by an `@name`, and which names are allowed.

use crate::lookalike::{is_blank, looks_empty, looks_like, remove_invisible};

/// The maximum length of a person's name, in characters.
const NAME_CHARS_MAX: usize = 40;

/// A name for display: on one line, without invisible characters. `None` if nothing is left, or too much.
pub fn name(given: &str) -> Option<String> {
    let spaced = |c: char| if c.is_control() || is_invisible(c) || is_blank(c) { ' ' } else { c };
    let spaced: String = given.chars().take(1000).map(spaced).collect();
    let name = remove_invisible(&spaced).split_whitespace().collect::<Vec<_>>().join(" ");
    let name = name.trim_start_matches(['@', '＠', '/']).trim_start();
    (!looks_empty(name) && name.chars().count() <= NAME_CHARS_MAX).then(|| name.to_owned())
}

/// Characters that change the text direction or have no width: with them one name can look like another.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Whether two names look the same to a person who reads them quickly.
pub fn same_name(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase() || looks_like(one, other)
}

/// Whether the text calls somebody by `@name`: not in code, nor in what is quoted, nor as a part of an address.
pub fn mentions(text: &str, name: &str) -> bool {
    if name.is_empty() || !text.contains(['@', '＠']) {
        return false;
    }
    let spoken = spoken(text);
    spoken
        .match_indices(['@', '＠'])
        .any(|(index, at)| !ends_in_address(&spoken[..index]) && begins_with(&spoken[index + at.len()..], name))
}

/// The text without code and without quoted lines.
fn spoken(text: &str) -> String {
    let mut is_code = false;
    let mut kept = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            // A block may open and close on one line.
            is_code ^= line.matches("```").count() % 2 == 1;
        } else if !is_code && !line.trim_start().starts_with(['>', '＞']) {
            kept.push(without_code(line));
        }
    }
    kept.join("\n")
}

/// A line without what is between backticks.
fn without_code(line: &str) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    let is_closed = parts.len() % 2 == 1;
    // The last backtick of an odd number opens nothing.
    let is_spoken = |(index, _): &(usize, &&str)| index % 2 == 0 || (!is_closed && index + 1 == parts.len());
    parts.iter().enumerate().filter(is_spoken).map(|(_, part)| *part).collect::<Vec<_>>().join(" ")
}

/// Whether an @ after this is that of an e-mail address, a URL or a remote.
fn ends_in_address(before: &str) -> bool {
    before.ends_with(|c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '+' | '/'))
}

/// Whether the text begins with this name, and not with a longer word, a domain or a path.
fn begins_with(text: &str, name: &str) -> bool {
    let mut rest = text.chars().flat_map(char::to_lowercase);
    let same = name.chars().flat_map(char::to_lowercase).all(|c| rest.next() == Some(c));
    // Japanese continues without a space after a name; Latin letters do not.
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let ends_in_word = name.chars().next_back().is_some_and(word);
    let next = rest.next();
    let goes_on = next.is_some_and(|c| matches!(c, '/' | '.')) && rest.next().is_some_and(word);
    same && !(ends_in_word && (next.is_some_and(word) || goes_on))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_at_and_the_whole_name() {
        assert!(mentions("@aizuchi what now?", "aizuchi"));
        assert!(mentions("hm, ＠Aizuchi?", "aizuchi"));
        assert!(mentions("@aizuchiはどう思う？", "aizuchi"));
        assert!(mentions("@みおさん、元気？", "みお"));
        assert!(mentions("ask @Anna Maria.", "anna maria"));
        assert!(!mentions("@aizuchi2 what now?", "aizuchi"));
        assert!(!mentions("aizuchi what now?", "aizuchi"));
        assert!(!mentions("@", ""));
    }

    #[test]
    fn an_address_code_and_a_quote_call_nobody() {
        for text in [
            "write to info@aizuchi.dev if it breaks",
            "see https://mastodon.social/@aizuchi for news",
            "git@aizuchi:repo.git is the remote",
            "npm i @aizuchi/core",
            "it is at @aizuchi.dev now",
            "> @aizuchi what do you think?\nthat was my question yesterday",
            "`@aizuchi help` is how you call it",
            "```\n@aizuchi help\n```\nlike this",
        ] {
            assert!(!mentions(text, "aizuchi"), "{text}");
        }
        for text in [
            "> what do you think?\n@aizuchi yes?",
            "is `ls` right, @aizuchi?",
            "it's 5` long, @aizuchi.",
            "ねえ@aizuchi、どう？",
            "(@aizuchi)",
            "@aizuchi/@mia what now?",
            "@aizuchi...",
            "```\ncode\n```\n@aizuchi why?",
        ] {
            assert!(mentions(text, "aizuchi"), "{text}");
        }
    }

    #[test]
    fn a_name_that_looks_like_another_is_the_same() {
        for name in
            ["Aizuchi", "aizuchi\u{3164}", "ａｉｚｕｃｈｉ", "аizuchi", "ai\u{200b}zuchi", "aizuchi ✓", "alzuchi"]
        {
            assert!(same_name("aizuchi", name), "{name:?}");
        }
        assert!(!same_name("aizuchi", "aizu") && !same_name("🍅", "🥔") && same_name("🍅", "🍅"));
    }

    #[test]
    fn a_name_is_seen_as_it_is() {
        assert_eq!(name("  Anna \n Maria "), Some("Anna Maria".into()));
        assert_eq!(name("ali\u{200b}ce"), Some("ali ce".into()));
        assert_eq!(name("@bob"), Some("bob".into()));
        assert_eq!(name(" \u{202e} "), None);
        assert_eq!(name("\u{2800}\u{3164}\u{e0041}"), None);
        assert_eq!(name("mi\u{3164}a\u{34f} ❤️"), Some("mia ❤️".into()));
        assert_eq!(name(&"x".repeat(41)), None);
    }
}
