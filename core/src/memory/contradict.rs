//! Detects that two facts cannot both hold: one denies the other, or they give the same thing different values.
//!
//! Only what the form of a sentence shows is detected, and only if one excludes the other: who lives in Osaka does not live in
//! Tokyo, and a phone number is one number. Who works on Monday may work on Friday as well: that changes only if the later fact
//! says so ("now", "instead", 今は). A fact that is kept beside another is a small harm; a true one that is marked as former is
//! a large one.

mod english;
mod japanese;

use super::Fact;
use super::words::{TextToken, is_rare, tokens};

/// Whether one of them no longer holds, if the other does.
pub fn contradicts(one: &Fact, other: &Fact) -> bool {
    if one.origin.room != other.origin.room {
        return false;
    }
    // Of two facts of the same time, the first one given is the later.
    let (later, earlier) = if one.at >= other.at { (one, other) } else { (other, one) };
    let (new, old) = (tokens(&later.content), tokens(&earlier.content));
    let any = |list: &[&str]| new.iter().chain(&old).any(|token| list.contains(&&*token.normal));
    let asks = [later, earlier].iter().any(|fact| fact.content.contains(['?', '？']));
    if asks || any(&UNCERTAIN) {
        return false;
    }
    // "I" is the speaker.
    if any(&PERSONAL) && (one.people.is_empty() || one.people != other.people) {
        return false;
    }
    if japanese::is_written_in(&later.content) && japanese::is_written_in(&earlier.content) {
        japanese::contradicts(&later.content, &earlier.content)
    } else {
        english::contradicts(&new, &old)
    }
}

const PERSONAL: [&str; 14] =
    ["i", "i'm", "i've", "my", "me", "we", "our", "you", "your", "us", "私", "僕", "俺", "自分"];
/// What is said with these may be true or not.
const UNCERTAIN: [&str; 7] = ["if", "whether", "unless", "maybe", "perhaps", "probably", "もし"];
/// The maximum number of words in a value.
const VALUE_WORDS: usize = 4;

/// Where two sentences differ: the words before, the value in each of them, and the words after.
struct Difference<'a> {
    before: &'a [TextToken],
    after: &'a [TextToken],
    values: [&'a [TextToken]; 2],
}

impl<'a> Difference<'a> {
    /// `None` if that is not one value of the same kind in each.
    fn of(a: &'a [TextToken], b: &'a [TextToken]) -> Option<Difference<'a>> {
        let same = |(one, other): &(&TextToken, &TextToken)| one.normal == other.normal;
        let before = a.iter().zip(b).take_while(same).count();
        let left = a.len().min(b.len()) - before;
        let after = a.iter().rev().zip(b.iter().rev()).take(left).take_while(same).count();
        let values = [&a[before..a.len() - after], &b[before..b.len() - after]];
        let are_short = values.iter().all(|value| (1..=VALUE_WORDS).contains(&value.len()));
        let found = Difference { before: &a[..before], after: &a[a.len() - after..], values };
        (are_short && (found.are_numbers() || found.are_names())).then_some(found)
    }

    fn are_numbers(&self) -> bool {
        let [one, other] = self.values;
        let is_number = |token: &TextToken| token.normal.chars().any(char::is_numeric);
        let alike = |(a, b): (&TextToken, &TextToken)| a.normal == b.normal || is_number(a) && is_number(b);
        one.len() == other.len() && one.iter().zip(other).all(alike)
    }

    fn are_names(&self) -> bool {
        self.values.iter().all(|value| value.iter().all(TextToken::is_name))
    }
}

impl TextToken {
    /// Written like a name: with a capital, in kanji or katakana; or a rare word.
    fn is_name(&self) -> bool {
        let Some(first) = self.original.chars().next() else { return false };
        let foreign = !first.is_ascii() && first.is_alphabetic() && !matches!(first, 'ぁ'..='ゟ');
        first.is_uppercase() || foreign || (first.is_ascii_lowercase() && is_rare(&self.normal))
    }
}

#[cfg(test)]
mod tests;
