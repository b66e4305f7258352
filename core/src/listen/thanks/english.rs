//! English: patterns of words from `english.txt`, matched one after the other until nothing is left.

use std::sync::LazyLock;

use crate::listen::quiet::{WordPattern, clauses, read_patterns, words};

static PATTERNS: LazyLock<Vec<(char, WordPattern)>> =
    LazyLock::new(|| read_patterns(include_str!("english.txt"), "+-="));

const ENDS: &str = ".!,;\n…—–()*~:";

/// How many words may follow "thanks for".
const FOR_MAX: usize = 8;

/// Words of people who continue with something else.
const GOES_ON: [&str; 14] =
    ["but", "can", "could", "would", "how", "what", "please", "also", "now", "why", "when", "where", "which", "if"];

pub(super) fn only_thanks(text: &str) -> bool {
    says_only(text, "+")
}

/// Whether it only thanks or assents.
pub(super) fn only_acknowledges(text: &str) -> bool {
    says_only(text, "+=")
}

fn says_only(text: &str, signs: &str) -> bool {
    let parts: Vec<Option<bool>> = clauses(text, ENDS).iter().map(|clause| said_in(clause.text, signs)).collect();
    parts.iter().all(Option::is_some) && parts.contains(&Some(true))
}

/// Whether a clause says what has one of the signs; `None` if it says something else.
fn said_in(clause: &str, signs: &str) -> Option<bool> {
    let words = words(clause);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // Whether thanks were said up to a word, where it can be reached.
    let mut reached = vec![None; words.len() + 1];
    reached[0] = Some(false);
    for at in 0..words.len() {
        let Some(thanked) = reached[at] else { continue };
        let rest = &words[at..];
        if thanked
            && rest[0] == "for"
            // For what is still to be done.
            && !words[..at].ends_with(&["in", "advance"])
            && rest.len() > 1
            && rest.len() <= FOR_MAX
            && !rest.iter().any(|word| GOES_ON.contains(word))
        {
            return Some(true);
        }
        for (sign, pattern) in PATTERNS.iter() {
            for end in pattern.ends(rest) {
                let known = reached[at + end].unwrap_or(false);
                reached[at + end] = Some(known || thanked || signs.contains(*sign));
            }
        }
    }
    reached[words.len()]
}
