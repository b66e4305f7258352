//! English sentences that exclude each other.

use super::super::words::{TextToken, words};
use super::Difference;

/// Whether the earlier one no longer holds, or the later one denies it.
pub(super) fn contradicts(later: &[TextToken], earlier: &[TextToken]) -> bool {
    denies(later, earlier) || is_instead_of(later, earlier) || has_other_value(later, earlier)
}

/// The same words, and only one of them has a "not".
fn denies(later: &[TextToken], earlier: &[TextToken]) -> bool {
    let ((one, is_one_denied), (other, is_other_denied)) = (without_not(later), without_not(earlier));
    is_one_denied != is_other_denied && one.len() > 1 && one == other
}

/// The words without "not" and what belongs to it, and whether it is denied: two "not" cancel each other out.
fn without_not(tokens: &[TextToken]) -> (Vec<String>, bool) {
    let (mut found, mut negations) = (Vec::new(), 0);
    let mut rest = tokens.iter().map(|token| token.normal.as_str()).peekable();
    while let Some(word) = rest.next() {
        match word {
            "no" => {
                negations += 1;
                rest.next_if_eq(&"longer");
            }
            "not" | "never" => negations += 1,
            "do" | "does" if rest.next_if_eq(&"not").is_some() => negations += 1,
            "don't" | "doesn't" => negations += 1,
            "cannot" | "can't" => {
                negations += 1;
                found.push("can".to_owned());
            }
            "won't" => {
                negations += 1;
                found.push("will".to_owned());
            }
            "any" => {
                rest.next_if_eq(&"more");
            }
            "a" | "an" | "the" | "anymore" => {}
            "has" => found.push("have".to_owned()),
            word => match word.strip_suffix("n't") {
                Some(base) => {
                    negations += 1;
                    found.push(base.to_owned());
                }
                None => found.push(words(word).into_iter().next().unwrap_or_else(|| word.to_owned())),
            },
        }
    }
    (found, negations % 2 == 1)
}

/// "Ken now drinks tea instead of coffee", after "Ken drinks coffee".
fn is_instead_of(later: &[TextToken], earlier: &[TextToken]) -> bool {
    let is_left = |token: &&TextToken| !CHANGED.contains(&&*token.normal);
    let normal = |tokens: &[TextToken]| -> Vec<String> {
        tokens.iter().filter(is_left).map(|token| token.normal.clone()).collect()
    };
    let (later, earlier) = (normal(later), normal(earlier));
    let Some(at) = later.windows(2).position(|pair| pair == ["instead", "of"]) else { return false };
    let gone = &later[at + 2..];
    let same = later[..at].iter().zip(&earlier).take_while(|(a, b)| a == b).count();
    !gone.is_empty() && same > 1 && earlier.len() == same + gone.len() && earlier.ends_with(gone)
}

/// Say that something else holds now.
const CHANGED: [&str; 2] = ["now", "nowadays"];
/// Say that something else holds as well.
const ADDED: [&str; 5] = ["also", "too", "additionally", "both", "sometimes"];

fn has_other_value(later: &[TextToken], earlier: &[TextToken]) -> bool {
    let has = |list: &[&str]| later.iter().any(|token| list.contains(&&*token.normal));
    if has(&ADDED) {
        return false;
    }
    let is_changed = has(&CHANGED);
    let plain = |tokens: &[TextToken]| -> Vec<TextToken> {
        let adds = |token: &&TextToken| !CHANGED.contains(&&*token.normal) && token.normal != "currently";
        tokens.iter().filter(adds).cloned().collect()
    };
    let (later, earlier) = (plain(later), plain(earlier));
    let Some(found) = Difference::of(&later, &earlier) else { return false };
    let before: Vec<&str> = found.before.iter().map(|token| token.normal.as_str()).collect();
    let goes_on = found.after.first().is_none_or(|token| AFTER.contains(&&*token.normal) || found.are_numbers());
    goes_on && is_exclusive(&before, is_changed)
}

/// What may follow a value: more of where and when.
const AFTER: [&str; 12] = ["in", "at", "on", "to", "from", "for", "by", "near", "of", "until", "since", "with"];
/// What only one thing can be true of. The subject is before it.
const ONE_AT_A_TIME: [&[&str]; 16] = [
    &["lives", "in"],
    &["lives", "at"],
    &["live", "in"],
    &["live", "at"],
    &["living", "in"],
    &["resides", "in"],
    &["moved", "to"],
    &["relocated", "to"],
    &["is", "called"],
    &["am", "called"],
    &["is", "named"],
    &["married", "to"],
    &["engaged", "to"],
    &["costs"],
    &["cost"],
    &["is", "located", "in"],
];
/// The same, if the later sentence says "now".
const IF_CHANGED: [&[&str]; 14] = [
    &["works", "at"],
    &["works", "for"],
    &["works", "in"],
    &["works", "as"],
    &["works", "on"],
    &["work", "at"],
    &["work", "for"],
    &["work", "in"],
    &["studies"],
    &["studies", "at"],
    &["stays", "in"],
    &["stays", "at"],
    &["is", "in"],
    &["is", "at"],
];
/// "The code is …", "the code of the door is …".
const VALUES: [&str; 30] = [
    "birthday",
    "number",
    "phone",
    "code",
    "password",
    "passcode",
    "passphrase",
    "pin",
    "price",
    "fee",
    "rent",
    "salary",
    "name",
    "surname",
    "nickname",
    "address",
    "email",
    "e-mail",
    "mail",
    "username",
    "deadline",
    "age",
    "zip",
    "postcode",
    "height",
    "weight",
    "size",
    "temperature",
    "capital",
    "balance",
];
/// What takes place once: a time and a place.
const EVENTS: [&str; 24] = [
    "meeting",
    "party",
    "festival",
    "appointment",
    "interview",
    "wedding",
    "concert",
    "exam",
    "test",
    "lunch",
    "dinner",
    "breakfast",
    "conference",
    "workshop",
    "ceremony",
    "funeral",
    "match",
    "surgery",
    "operation",
    "deadline",
    "flight",
    "call",
    "event",
    "standup",
];
const TAKES_PLACE: [&[&str]; 7] =
    [&["takes", "place"], &["is", "held"], &["is"], &["starts"], &["begins"], &["ends"], &["is", "scheduled", "for"]];
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
/// Make what follows one of several, or somebody's words.
const SUBORDINATE: [&str; 12] =
    ["who", "which", "that", "where", "when", "because", "says", "said", "thinks", "told", "once", "and"];

/// Whether the words before a value say that there is only one.
fn is_exclusive(before: &[&str], is_changed: bool) -> bool {
    let is_small = |word: &str| matches!(word, "the" | "a" | "an") || MONTHS.contains(&word);
    let end = before.iter().rposition(|word| !is_small(word)).map_or(0, |last| last + 1);
    let before = &before[..end];
    if before.iter().any(|word| SUBORDINATE.contains(word)) {
        return false;
    }
    // Before the phrase is the subject.
    let ends = |phrase: &&[&str]| before.len() > phrase.len() && before.ends_with(phrase);
    if ONE_AT_A_TIME.iter().any(ends) || is_changed && IF_CHANGED.iter().any(ends) {
        return true;
    }
    let place = before.strip_suffix(&["in"]).or(before.strip_suffix(&["at"])).or(before.strip_suffix(&["on"]));
    let plain = place.unwrap_or(before);
    let is_value = plain.strip_suffix(&["is"]).is_some_and(|subject| {
        let names = |at: usize| VALUES.contains(&subject[at]) && subject.get(at + 1).is_none_or(|next| *next == "of");
        (0..subject.len()).any(names)
    });
    let is_event = place.is_some()
        && TAKES_PLACE
            .iter()
            .filter_map(|phrase| plain.strip_suffix(*phrase))
            .any(|subject| subject.last().is_some_and(|last| EVENTS.contains(last)));
    is_value || is_event
}
