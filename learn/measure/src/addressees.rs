//! Whom a line is for: over all answers, and where that is hardest to tell, in a conversation of three people without a name.

use std::collections::BTreeSet;

use crate::labels::talks;
use crate::logs::{Channel, Said};

/// How many lines were counted, and for how many of them the person was right.
///
/// [`Addressees::of_answers`] counts every message that answers another one by its label; right is a guess by the author of such a
/// message. [`Addressees::of`] counts lines in conversations of exactly three people, said once all three have spoken there, that mention nobody and hold no part of
/// the names of the three. Whom such a line is for is whose message it answers by its label; if that is a message of its own
/// author, whom that one is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Addressees {
    pub lines: usize,
    pub right: usize,
}

impl Addressees {
    /// `guess` gives the index of what a message was taken to answer.
    pub fn of_answers(channel: &Channel, guess: impl Fn(usize) -> Option<usize>) -> Addressees {
        let mut addressees = Addressees::default();
        for (index, said) in channel.said.iter().enumerate() {
            let earlier = said.gold.iter().flatten().filter(|earlier| **earlier < index);
            let people: BTreeSet<u64> = earlier.map(|earlier| channel.said[*earlier].author).collect();
            if people.is_empty() {
                continue;
            }
            let guess = guess(index).filter(|guess| *guess != index);
            addressees.lines += 1;
            addressees.right += usize::from(guess.is_some_and(|guess| people.contains(&channel.said[guess].author)));
        }
        addressees
    }

    /// `guess` gives the index of what a message was taken to answer.
    pub fn of(channel: &Channel, guess: impl Fn(usize) -> Option<usize>) -> Addressees {
        let said = &channel.said;
        let gold = |index: usize| said[index].gold.clone().unwrap_or_default();
        let guessed = |index: usize| guess(index).into_iter().collect();
        let mut addressees = Addressees::default();
        for talk in talks(channel) {
            let names: BTreeSet<&str> = talk.iter().map(|index| said[*index].name.as_str()).collect();
            if authors(said, &talk).len() != 3 {
                continue;
            }
            for (nth, index) in talk.iter().enumerate() {
                if authors(said, &talk[..=nth]).len() < 3 || names_somebody(&said[*index], &names) {
                    continue;
                }
                let for_whom = heard_by(said, *index, &gold);
                if for_whom.is_empty() {
                    continue;
                }
                addressees.lines += 1;
                addressees.right += usize::from(!for_whom.is_disjoint(&heard_by(said, *index, &guessed)));
            }
        }
        addressees
    }

    pub fn add(&mut self, other: Addressees) {
        self.lines += other.lines;
        self.right += other.right;
    }

    /// The share of lines that are right; not a number if there are none.
    pub fn share(&self) -> f64 {
        self.right as f64 / self.lines as f64
    }
}

fn authors(said: &[Said], talk: &[usize]) -> BTreeSet<u64> {
    talk.iter().map(|index| said[*index].author).collect()
}

/// Whose messages this one answers; messages of its own author lead on to what they answer.
fn heard_by(said: &[Said], index: usize, answered: &dyn Fn(usize) -> Vec<usize>) -> BTreeSet<u64> {
    let author = said[index].author;
    let mut people = BTreeSet::new();
    let mut left = vec![index];
    let mut seen = BTreeSet::new();
    while let Some(index) = left.pop() {
        for earlier in answered(index).into_iter().filter(|earlier| *earlier < index) {
            if said[earlier].author != author {
                people.insert(said[earlier].author);
            } else if seen.insert(earlier) {
                left.push(earlier);
            }
        }
    }
    people
}

fn names_somebody(said: &Said, names: &BTreeSet<&str>) -> bool {
    let text = said.text.to_lowercase();
    let part_is_in_text = |part: &str| is_long_enough(part) && begins_in(&text, part);
    !said.mentions.is_empty()
        || names.iter().any(|name| {
            let name = name.to_lowercase();
            name.split(|c: char| !c.is_alphanumeric()).any(part_is_in_text)
        })
}

/// Shorter ones are in too many words.
fn is_long_enough(part: &str) -> bool {
    part.chars().count() >= if part.is_ascii() { 3 } else { 2 }
}

/// Whether the part begins a run of its script in the text: るか is a name, but not in どうするか.
fn begins_in(text: &str, part: &str) -> bool {
    let goes_on = |at: usize| {
        let (before, first) = (text[..at].chars().next_back(), part.chars().next());
        before.and_then(script).is_some_and(|before| Some(before) == first.and_then(script))
    };
    text.match_indices(part).any(|(at, _)| !goes_on(at))
}

/// The scripts whose letters make a word together; ideographs stand beside each other without it.
fn script(c: char) -> Option<u8> {
    match c {
        'a'..='z' | '0'..='9' => Some(0),
        '\u{3041}'..='\u{309f}' => Some(1),
        '\u{30a0}'..='\u{30ff}' => Some(2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baselines::last_other;
    use crate::logs::parse;

    /// Ann, Ben and るか talk about one thing, Dan about another in between.
    fn channel() -> Channel {
        let talk = [
            ("ann", "どうする？", 0),
            ("ben", "行く", 0),
            ("るか", "待って", 0),
            ("dan", "別の話", 3),
            ("るか", "今から行くか", 2),
            ("ann", "どうするか決めた", 1),
            ("ben", "るか、早く", 4),
            ("ben", "寒いし", 6),
        ];
        let line = |(index, (author, text, gold)): (usize, &(&str, &str, usize))| {
            format!(
                r#"{{"ts": {index}, "channel": "c", "id": "{index}", "author": "{author}", "text": "{text}", "gold_reply_to": ["{gold}"]}}"#
            )
        };
        let lines: Vec<String> = talk.iter().enumerate().map(line).collect();
        parse(&lines.join("\n")).expect("it parses").remove(0)
    }

    #[test]
    fn lines_that_name_nobody_are_counted_once_three_have_spoken() {
        // 2, 4, 5 and 7: the sixth names somebody.
        let gold = [0, 0, 0, 3, 2, 1, 4, 6];
        assert_eq!(Addressees::of(&channel(), |index| Some(gold[index])), Addressees { lines: 4, right: 4 });
        // Another message of the same person is as good, and one's own messages lead on.
        let guesses = [0, 0, 0, 3, 0, 1, 4, 4];
        assert_eq!(Addressees::of(&channel(), |index| Some(guesses[index])), Addressees { lines: 4, right: 4 });
        // Neither itself nor nothing is anybody.
        assert_eq!(Addressees::of(&channel(), |index| (index == 2).then_some(2)), Addressees { lines: 4, right: 0 });
    }

    #[test]
    fn an_answer_is_right_by_its_person_whichever_message_it_is() {
        // Ann and Dan begin something; the last one goes on with what Ben said himself.
        let gold = [0, 0, 0, 3, 2, 1, 4, 6];
        assert_eq!(Addressees::of_answers(&channel(), |index| Some(gold[index])), Addressees { lines: 6, right: 6 });
        let guesses = [0, 0, 1, 3, 2, 5, 2, 1];
        assert_eq!(Addressees::of_answers(&channel(), |index| Some(guesses[index])), Addressees { lines: 6, right: 4 });
    }

    #[test]
    fn the_last_other_speaker_is_the_guess_of_who_reads_nothing() {
        // 2 is for Ann and not for Ben, 4 for Ann and not for Dan, 5 for Ben and not for るか, 7 for るか and not for Ann.
        assert_eq!(last_other(&channel()), Addressees { lines: 4, right: 0 });
    }
}
