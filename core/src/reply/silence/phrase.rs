//! Sentences as sequences of alternatives.

/// Each step is a choice; an empty choice means that the step is optional.
pub(super) type Phrase = [&'static [&'static str]];

/// A choice that matches one to four words of any kind.
pub(super) const ANYBODY: &str = "*";

/// What follows the phrase at the beginning of words that are separated by single spaces, for every possible match.
pub(super) fn rests<'a>(phrase: &Phrase, words: &'a str) -> Vec<&'a str> {
    match_steps(phrase, words, |rest, choice| match choice {
        "" => vec![rest],
        ANYBODY => (1..=4).filter_map(|count| skip(rest, count)).collect(),
        _ => after(rest, choice).into_iter().collect(),
    })
}

/// Whether a text without spaces matches this phrase completely.
pub(super) fn is_whole(phrase: &Phrase, text: &str) -> bool {
    match_steps(phrase, text, |rest, choice| rest.strip_prefix(choice).into_iter().collect()).contains(&"")
}

fn match_steps<'a>(
    phrase: &Phrase,
    text: &'a str,
    fit: impl Fn(&'a str, &'static str) -> Vec<&'a str>,
) -> Vec<&'a str> {
    let mut rests = vec![text];
    for choices in phrase {
        rests = rests.iter().flat_map(|rest| choices.iter().flat_map(|choice| fit(rest, choice))).collect();
        rests.sort_unstable();
        rests.dedup();
    }
    rests
}

/// Whole words only.
pub(super) fn after<'a>(words: &'a str, head: &str) -> Option<&'a str> {
    let rest = words.strip_prefix(head)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix(' ') }
}

fn skip(words: &str, count: usize) -> Option<&str> {
    words.splitn(count + 1, ' ').nth(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_follow_each_other_and_may_be_left_out() {
        let phrase: &Phrase = &[&["i'll", "i will"], &["", "just"], &["stay", "stay very"], &["quiet"]];
        assert_eq!(rests(phrase, "i'll stay quiet"), [""]);
        assert_eq!(rests(phrase, "i will just stay very quiet for now"), ["for now"]);
        assert!(rests(phrase, "i'll stay quietly").is_empty());
        assert_eq!(rests(&[&["let"], &[ANYBODY], &["talk"]], "let alice and bob talk"), [""]);
        assert!(is_whole(&[&["発言", "返信"], &["する", ""], &["必要はない"]], "発言する必要はない"));
        assert!(!is_whole(&[&["発言"]], "発言する"));
    }
}
