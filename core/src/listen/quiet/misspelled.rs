//! Corrects words that people type in a hurry.

/// The intended word.
pub(super) fn corrected(word: &str) -> String {
    // "Ssh" is a program too.
    let h_count = word.trim_start_matches('s').len();
    let s_count = word.len() - h_count;
    let hushes = word.trim_start_matches('s').chars().all(|c| c == 'h')
        && (s_count >= 1 && h_count >= 2 || s_count >= 3 && h_count >= 1);
    if hushes {
        return "shh".to_owned();
    }
    let word = without_stretches(word);
    let meant =
        |(written, meant): &(&str, &'static str)| written.split(' ').any(|known| known == word).then_some(*meant);
    if let Some(meant) = SHORT_FORMS.iter().find_map(meant) {
        return meant.to_owned();
    }
    let is_known = OTHER_WORDS.split(' ').any(|known| known == word);
    let meant = ORDER_WORDS.split(' ').find(|meant| !is_known && is_slip(&word, meant));
    meant.map_or(word.clone(), str::to_owned)
}

const SHORT_FORMS: [(&str, &str); 8] = [
    ("u yu", "you"),
    ("b", "be"),
    ("pls plz plss plzz pleez plox plis", "please"),
    ("stahp staph stawp stpo sotp", "stop"),
    ("shaddup shuddup shurrup shutup shup shaddap shutit shutip", "stfu"),
    ("dont dnt", "don't"),
    ("r", "are"),
    ("sombody smbdy", "somebody"),
];

/// Words of orders in which typing errors are corrected, and words that are not errors.
const ORDER_WORDS: &str = "quiet silent silence please enough";
const OTHER_WORDS: &str = "quite quit quits quilt quiets diet pleased pleases lease silenced silences silents";

/// "Stooop" is "stop".
fn without_stretches(word: &str) -> String {
    let chars: Vec<char> = word.chars().collect();
    let mut plain = String::with_capacity(word.len());
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        let run = chars[at..].iter().take_while(|other| **other == c).count();
        let kept = if run >= 3 && c.is_alphabetic() { 1 } else { run };
        plain.extend(std::iter::repeat_n(c, kept));
        at += run;
    }
    plain
}

/// Whether one letter added, missing or replaced, or two swapped, turns one word into the other.
fn is_slip(word: &str, meant: &str) -> bool {
    let (word, meant): (Vec<char>, Vec<char>) = (word.chars().collect(), meant.chars().collect());
    let same = word.iter().zip(&meant).take_while(|(a, b)| a == b).count();
    let (a, b) = (&word[same..], &meant[same..]);
    match a.len() as i64 - b.len() as i64 {
        0 if a.is_empty() => false,
        0 => a[1..] == b[1..] || a.len() > 1 && a[0] == b[1] && a[1] == b[0] && a[2..] == b[2..],
        1 => a[1..] == *b,
        -1 => *a == b[1..],
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_and_short_forms_are_understood() {
        for (typed, meant) in [
            ("queit", "quiet"),
            ("qiet", "quiet"),
            ("quiett", "quiet"),
            ("pelase", "please"),
            ("stooooop", "stop"),
            ("b", "be"),
            ("shhhh", "shh"),
            ("sssh", "shh"),
            ("ssh", "ssh"),
        ] {
            assert_eq!(corrected(typed), meant, "{typed}");
        }
        for word in ["quite", "quit", "pleased", "good", "diet", "silenced", "seen", ""] {
            assert_eq!(corrected(word), word);
        }
    }
}
