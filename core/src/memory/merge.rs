//! Two facts that say the same become one; one that says the contrary takes the other's place.

use super::context::add_turns;
use super::walls::narrower;
use super::words::{normal, words};
use super::{Fact, FactDraft, FactId};

/// What becomes of a fact that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeOutcome {
    New,
    /// It says what this one says.
    Same(FactId),
    /// This one is no longer true.
    Replaces(FactId),
}

/// Share of words that two facts have in common from which on they say the same.
const ALIKE: f64 = 0.88;

/// Looks at the facts of the draft's own room.
pub fn compare<'a>(known: impl Iterator<Item = &'a Fact> + Clone, draft: &FactDraft) -> MergeOutcome {
    let mut known = known.filter(|fact| fact.origin.room == draft.origin.room);
    let says = FactWords::new(&draft.content);
    if let Some(old) = draft.replaces
        && let Some(fact) = known.clone().find(|fact| fact.id == old && !fact.pinned)
    {
        let same = says.same_as(&FactWords::new(&fact.content));
        return if same { MergeOutcome::Same(old) } else { MergeOutcome::Replaces(old) };
    }
    let same = known.find(|fact| says.same_as(&FactWords::new(&fact.content)));
    same.map_or(MergeOutcome::New, |fact| MergeOutcome::Same(fact.id))
}

/// What a fact says, as it is compared.
struct FactWords {
    text: String,
    words: Vec<String>,
    negations: usize,
}

impl FactWords {
    fn new(content: &str) -> FactWords {
        FactWords { text: normal(content.trim()), words: words(content), negations: negations(content) }
    }

    /// Nearly the same words in the same order, and neither another number nor another "not".
    fn same_as(&self, other: &FactWords) -> bool {
        if self.text == other.text {
            return true;
        }
        let number = |word: &&String| word.chars().any(char::is_numeric);
        let same_numbers = self.words.iter().filter(number).eq(other.words.iter().filter(number));
        // Facts are sentences; whatever is longer is compared by its beginning.
        let beginning = |words: &[String]| words.len().min(WORDS_MAX);
        let (own, others) = (&self.words[..beginning(&self.words)], &other.words[..beginning(&other.words)]);
        let all = own.len() + others.len();
        let alike = || all > 0 && 2.0 * in_order(own, others) as f64 / all as f64 >= ALIKE;
        same_numbers && self.negations == other.negations && alike()
    }
}

const WORDS_MAX: usize = 200;

/// How many words two texts have in common in the same order: "Ann owes Bob" and "Bob owes Ann" only one.
fn in_order(a: &[String], b: &[String]) -> usize {
    let mut best = vec![0; b.len() + 1];
    for word in a {
        let mut before = 0;
        for (at, other) in b.iter().enumerate() {
            let above = best[at + 1];
            best[at + 1] = if word == other { before + 1 } else { above.max(best[at]) };
            before = above;
        }
    }
    best[b.len()]
}

fn negations(text: &str) -> usize {
    let text = normal(text).replace('’', "'");
    let english = text.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let english = english.filter(|word| matches!(*word, "not" | "no" | "never" | "without") || word.ends_with("n't"));
    let japanese = ["ない", "ません", "ず、", "なかった", "没有", "不是"];
    english.count() + japanese.iter().map(|form| text.matches(form).count()).sum::<usize>()
}

impl Fact {
    /// Takes in another that says the same: it rests on both now, and is as sure as the surer of them.
    pub fn absorb(&mut self, other: FactDraft) {
        self.confidence = self.confidence.max(other.confidence);
        self.at = self.at.max(other.at);
        self.shareable &= other.shareable;
        self.origin.visibility = narrower(self.origin.visibility, other.origin.visibility);
        add_new(&mut self.keywords, other.keywords);
        add_new(&mut self.people, other.people);
        add_new(&mut self.messages, other.messages);
        add_turns(&mut self.context, other.context);
    }
}

impl From<Fact> for FactDraft {
    /// As if it had just been found.
    fn from(fact: Fact) -> FactDraft {
        let Fact { origin, content, keywords, people, messages, context, confidence, shareable, at, .. } = fact;
        FactDraft { origin, content, keywords, people, messages, context, confidence, shareable, at, replaces: None }
    }
}

/// What a fact can rest on at most; beyond that the first ones do.
const SOURCES_MAX: usize = 100;

fn add_new<T: PartialEq>(list: &mut Vec<T>, more: Vec<T>) {
    for item in more {
        if list.len() < SOURCES_MAX && !list.contains(&item) {
            list.push(item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fact::tests::fact;
    use super::*;
    use crate::types::{MessageId, PersonId, Time};

    fn draft(content: &str) -> FactDraft {
        fact(0, content).into()
    }

    #[test]
    fn what_says_the_same_is_one_fact() {
        let same = |a: &str, b: &str| {
            assert_eq!(compare([fact(1, a)].iter(), &draft(b)), MergeOutcome::Same(FactId(1)), "{b}")
        };
        same("Ann likes green tea.", "ann likes GREEN tea");
        same("Ann likes green tea from Uji", "Ann really likes the green tea from Uji");
        same("田中さんは猫を飼っている", "田中さんは、猫を飼っている。");
        let other = |a: &str, b: &str| assert_eq!(compare([fact(1, a)].iter(), &draft(b)), MergeOutcome::New, "{b}");
        other("The meeting is at 10", "The meeting is at 11");
        other("Ann likes green tea", "Ann does not like green tea");
        other("田中さんは納豆を食べる", "田中さんは納豆を食べない");
        other("Ann likes tea", "Ann likes dogs");
        other("Ann owes Bob a lunch", "Bob owes Ann a lunch");
        other("row 1 has 2 seats", "row 2 has 1 seats");
    }

    #[test]
    fn a_named_fact_is_replaced_unless_somebody_pinned_it() {
        let mut known = fact(1, "The door code is 1234");
        let new = FactDraft { replaces: Some(FactId(1)), ..draft("The door code is 9876") };
        assert_eq!(compare([known.clone()].iter(), &new), MergeOutcome::Replaces(FactId(1)));
        known.pinned = true;
        assert_eq!(compare([known.clone()].iter(), &new), MergeOutcome::New);
        let elsewhere = FactDraft { origin: super::super::Origin::new("web:other", Default::default()), ..new };
        known.pinned = false;
        assert_eq!(compare([known].iter(), &elsewhere), MergeOutcome::New);
    }

    #[test]
    fn a_merged_fact_rests_on_both() {
        let mut known = fact(1, "x");
        known.people = vec![PersonId::new("a")];
        known.absorb(FactDraft {
            people: vec![PersonId::new("a"), PersonId::new("b")],
            messages: vec![MessageId::new("m")],
            confidence: 0.9,
            at: Time(5),
            shareable: false,
            ..draft("x")
        });
        assert_eq!((known.people.len(), known.messages.len(), known.confidence), (2, 1, 0.9));
        assert_eq!((known.at, known.shareable), (Time(5), false));
    }
}
