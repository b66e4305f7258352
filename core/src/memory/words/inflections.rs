//! Whether two English words are one word in two inflections, and not only derived from each other.

use super::english::IRREGULAR;

/// Words of the irregular ones that are no forms of their base, but mean the same.
const OTHER_WORDS: [&str; 8] = ["bike", "dad", "grandma", "grandpa", "kids", "mom", "mum", "photo"];
/// The endings of one word, each list for one kind of it.
const ENDINGS: [&[&str]; 5] = [
    &["", "s", "es", "ed", "d", "ing"],
    &["e", "es", "ed", "ing"],
    &["y", "ies", "ied", "ying"],
    &["f", "ves"],
    &["fe", "ves"],
];

/// Whether two words in lower case are inflections of one: run, runs, running, ran.
pub(super) fn are_inflected(one: &str, other: &str) -> bool {
    let (one, other) = (base(one), base(other));
    if !one.is_ascii() || !other.is_ascii() {
        return one == other;
    }
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    // "Studies" and "studying" share more than the stem of "study".
    (same.saturating_sub(2)..=same).rev().filter(|at| *at >= 2).any(|at| {
        let doubled = one.as_bytes()[at - 1] as char;
        let rests = [&one[at..], &other[at..]]
            .map(|rest| rest.strip_prefix(doubled).filter(|rest| *rest == "ing" || *rest == "ed").unwrap_or(rest));
        ENDINGS.iter().any(|kind| rests.iter().all(|rest| kind.contains(rest)))
    })
}

fn base(word: &str) -> &str {
    let word = word.split('\'').next().unwrap_or(word).trim_matches('_');
    if !word.is_ascii() || OTHER_WORDS.contains(&word) {
        return word;
    }
    IRREGULAR.binary_search_by_key(&word, |(form, _)| form).map_or(word, |at| IRREGULAR[at].1)
}

#[cfg(test)]
mod tests {
    use super::are_inflected;

    #[test]
    fn a_word_in_another_inflection_is_the_same_and_one_derived_from_it_is_not() {
        for (one, other) in [
            ("run", "running"),
            ("ran", "runs"),
            ("study", "studying"),
            ("move", "moved"),
            ("wife", "wives"),
            ("box", "boxes"),
        ] {
            assert!(are_inflected(one, other) && are_inflected(other, one), "{one} {other}");
        }
        for (one, other) in [
            ("organ", "organization"),
            ("bike", "bicycle"),
            ("policy", "police"),
            ("mom", "mother"),
            ("universe", "university"),
        ] {
            assert!(!are_inflected(one, other) && !are_inflected(other, one), "{one} {other}");
        }
    }
}
