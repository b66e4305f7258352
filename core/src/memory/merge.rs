//! Two facts that say the same become one; one that says the opposite replaces the other.
//!
//! They say the same if they differ in nothing but case, width, punctuation and words that add nothing ("the", "really"). A
//! name, a number, a place or a "not" always adds something; "US" is not "us", and the "A" of "vitamin A" is no article. A
//! merged fact keeps what each draft said and its sources, so that it is reduced to what is left when a message is deleted.

use super::context::add_turns;
use super::walls::narrower;
use super::words::{TextToken, normal, tokens};
use super::{Fact, FactDraft, FactId, Wording};
use crate::types::MessageId;

/// How a new fact relates to the known ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeOutcome {
    New,
    /// It says the same as this one.
    Same(FactId),
    /// This one is no longer true.
    Replaces(FactId),
}

/// Compares with the facts of the draft's own room.
pub fn compare<'a>(known: impl Iterator<Item = &'a Fact> + Clone, draft: &FactDraft) -> MergeOutcome {
    let mut known = known.filter(|fact| fact.origin.room == draft.origin.room);
    let (text, key) = (plain(&draft.content), same_words(&draft.content));
    let says_same = |fact: &Fact| {
        let other = same_words(&fact.content);
        // If a text consists only of fillers and punctuation, it says the same only if it is the same.
        other == key && (!key.is_empty() || plain(&fact.content) == text)
    };
    if let Some(old) = draft.replaces
        && let Some(fact) = known.clone().find(|fact| fact.id == old && !fact.pinned)
    {
        return if says_same(fact) { MergeOutcome::Same(old) } else { MergeOutcome::Replaces(old) };
    }
    known.find(|fact| says_same(fact)).map_or(MergeOutcome::New, |fact| MergeOutcome::Same(fact.id))
}

fn plain(content: &str) -> String {
    normal(content.trim())
}

/// Words that add nothing to a fact.
const FILLERS: [&str; 23] = [
    "a",
    "an",
    "the",
    "really",
    "very",
    "quite",
    "also",
    "just",
    "so",
    "indeed",
    "truly",
    "actually",
    "currently",
    "は",
    "が",
    "です",
    "だ",
    "さん",
    "とても",
    "すごく",
    "本当に",
    "実は",
    "よ",
];

/// Words after which "a" is an article. After anything else it may be the "A" of "vitamin A".
const BEFORE_ARTICLE: [&str; 57] = [
    "is", "are", "was", "were", "be", "been", "am", "has", "have", "had", "having", "with", "without", "in", "on",
    "at", "to", "into", "from", "for", "by", "of", "as", "like", "likes", "than", "and", "or", "but", "that", "if",
    "because", "not", "such", "quite", "what", "about", "after", "before", "during", "under", "over", "near", "got",
    "get", "gets", "wants", "needs", "owns", "bought", "does", "did", "really", "just", "also", "became", "per",
];

/// Function words that mean something else in capital letters.
const NAMES_IN_CAPITALS: [&str; 8] = ["us", "it", "who", "in", "or", "me", "am", "aids"];

/// The words of a fact for comparison, without those that add nothing; the same for facts that say the same.
fn same_words(content: &str) -> String {
    let said = tokens(content);
    let is_shouted = is_shouted(&said);
    let mut words = Vec::new();
    for (index, TextToken { original, normal }) in said.iter().enumerate() {
        let in_capitals = !original.chars().any(char::is_lowercase);
        let is_letter = matches!(normal.as_str(), "a" | "an") && !is_article(&said, index, is_shouted);
        if !is_letter && FILLERS.contains(&normal.as_str()) {
            continue;
        }
        let is_name = in_capitals && !is_shouted && NAMES_IN_CAPITALS.contains(&normal.as_str());
        words.push(if is_name { original.as_str() } else { normal.as_str() });
    }
    words.join(" ")
}

/// Whether capital letters mean nothing: there are several words of them, and none in lower case.
fn is_shouted(said: &[TextToken]) -> bool {
    let is_lower = |token: &TextToken| token.original.chars().any(char::is_lowercase);
    let in_capitals = |token: &&TextToken| token.original.chars().filter(|c| c.is_uppercase()).count() > 1;
    !said.iter().any(is_lower) && said.iter().filter(in_capitals).count() > 1
}

/// Whether an "a" is an article: before a word in the same script, and at the beginning or after a word that may precede one.
/// "Vitamin A" has none, nor has ビタミンA.
fn is_article(said: &[TextToken], index: usize, is_shouted: bool) -> bool {
    let is_latin = |token: &TextToken| token.normal.starts_with(|c: char| c.is_ascii_alphanumeric());
    let before = index.checked_sub(1).map(|before| &said[before]);
    let in_place = before.is_none_or(|before| BEFORE_ARTICLE.contains(&before.normal.as_str()));
    let is_capital = before.is_some() && said[index].original.starts_with('A') && !is_shouted;
    in_place && !is_capital && said.get(index + 1).is_some_and(is_latin)
}

impl Fact {
    /// Merges another that says the same: it rests on both now, with the higher confidence of the two.
    pub fn absorb(&mut self, other: FactDraft) {
        self.confidence = self.confidence.max(other.confidence);
        // It was said again, so it holds.
        self.former = self.former.filter(|former| former.since > other.at);
        self.at = self.at.max(other.at);
        self.shareable &= other.shareable;
        self.origin.visibility = narrower(self.origin.visibility, other.origin.visibility);
        if self.wordings.is_empty() {
            self.wordings.push(Wording {
                content: self.content.clone(),
                keywords: self.keywords.clone(),
                people: self.people.clone(),
                messages: self.messages.clone(),
            });
        }
        let FactDraft { content, keywords, people, messages, context, .. } = other;
        add_turns(&mut self.context, context);
        let wording = Wording { content, keywords, people, messages };
        if self.wordings.len() < WORDINGS_MAX && !self.wordings.contains(&wording) {
            self.wordings.push(wording);
            self.rest_on_wordings();
        }
        if self.wordings.len() == 1 {
            self.wordings.clear();
        }
    }

    /// A message was deleted: what rests on it is removed. Returns whether anything is left: the same statement by others.
    pub fn lose_message(&mut self, message: &MessageId) -> bool {
        self.forget_turns(|turn| turn.message == *message);
        !self.messages.contains(message) || self.lose_wordings(|wording| wording.messages.contains(message))
    }

    /// Removes what was merged from these drafts. Returns whether anything is left.
    pub fn lose_wordings(&mut self, gone: impl Fn(&Wording) -> bool) -> bool {
        self.wordings.retain(|wording| !gone(wording));
        let Some(first) = self.wordings.first() else { return false };
        self.content = first.content.clone();
        self.rest_on_wordings();
        // Nobody knows beside which of the drafts something was said.
        let left = self.messages.clone();
        self.forget_turns(|turn| turn.offset != 0 || !left.contains(&turn.message));
        if self.wordings.len() == 1 {
            self.wordings.clear();
        }
        true
    }

    fn rest_on_wordings(&mut self) {
        (self.keywords, self.people, self.messages) = Default::default();
        for wording in &self.wordings {
            add_new(&mut self.keywords, &wording.keywords);
            add_new(&mut self.people, &wording.people);
            add_new(&mut self.messages, &wording.messages);
        }
    }
}

impl From<Fact> for FactDraft {
    /// As if it had just been found.
    fn from(fact: Fact) -> FactDraft {
        let Fact { origin, content, keywords, people, messages, context, confidence, shareable, at, .. } = fact;
        FactDraft { origin, content, keywords, people, messages, context, confidence, shareable, at, replaces: None }
    }
}

/// How many drafts a fact can be merged from; more repetitions add nothing.
const WORDINGS_MAX: usize = 20;

fn add_new<T: PartialEq + Clone>(list: &mut Vec<T>, more: &[T]) {
    for item in more {
        if !list.contains(item) {
            list.push(item.clone());
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
        other("Vitamin helps", "Vitamin A helps");
        other("Vitamin A helps", "Vitamin helps");
        other("ビタミンAは目に良い", "ビタミンは目に良い");
        other("ビタミンは目に良い", "ビタミンAは目に良い");
        other("vitamin a helps", "vitamin helps");
        other("VITAMIN A HELPS", "vitamin helps");
        other("Ann is in group a", "Ann is in group");
        other("The plan is a", "The plan is");
        other("USが勝った", "usが勝った");
        other("US won", "us won");
        other("us won", "US won");
        other("Ann asked IT about that", "Ann asked it about that");
        other("Ann went to see WHO", "Ann went to see who");
        same("A vitamin helps", "vitamin helps");
        same("It is a good plan", "It is good plan");
        same("ANN LIKES TEA", "Ann likes tea");
        same("ANN HAS A CAT", "Ann has a cat");
        same("Ann has a cat", "Ann has cat");
        same("Ann does NOT eat meat", "Ann does not eat meat");
        same("the", "The");
    }

    #[test]
    fn a_name_a_number_a_place_or_a_not_makes_another_fact_however_long_the_rest_is() {
        let long =
            "of the yearly summer meeting of the choir that Ann and Bob and Carol sing in with their old friends";
        for (a, b) in [
            (format!("The party {long} takes place in Tokyo"), format!("The party {long} takes place in Osaka")),
            (
                format!("temporary contact {long} is Rina Sato"),
                format!("Deleted temporary contact {long} is Rina Sato"),
            ),
            (format!("The song {long} was written by Ann"), format!("The song {long} was written by Mia")),
            (format!("Members {long} moved from Kyoto"), format!("Members {long} moved to Kyoto")),
            (format!("The notes {long} are kept in C"), format!("The notes {long} are kept in C++")),
            (format!("The notes {long}: https://a.example/1"), format!("The notes {long}: https://a.example/2")),
            (
                "毎年夏に開かれる合唱団の大きな集まりの懇親会は今年も来年も東京の公園で行われる".to_owned(),
                "毎年夏に開かれる合唱団の大きな集まりの懇親会は今年も来年も大阪の公園で行われる".to_owned(),
            ),
            (
                "合唱団の夏の集まりでは田中さんが毎年ピアノを弾いて山田さんが歌う予定だ".to_owned(),
                "合唱団の夏の集まりでは田中さんが毎年ピアノを弾いて山田さんが歌わない予定だ".to_owned(),
            ),
        ] {
            assert_eq!(compare([fact(1, &a)].iter(), &draft(&b)), MergeOutcome::New, "{b}");
            let replacing = FactDraft { replaces: Some(FactId(1)), ..draft(&b) };
            assert_eq!(compare([fact(1, &a)].iter(), &replacing), MergeOutcome::Replaces(FactId(1)), "{b}");
        }
    }

    #[test]
    fn a_merged_fact_goes_back_to_what_is_left_when_a_message_is_deleted() {
        let said = |content: &str, person: &str, message: &str| FactDraft {
            people: vec![PersonId::new(person)],
            messages: vec![MessageId::new(message)],
            keywords: vec![person.into()],
            ..draft(content)
        };
        let mut known = said("Ann really likes the green tea", "ann", "m1").keep(FactId(1));
        known.absorb(said("Ann likes green tea", "bob", "m2"));
        known.absorb(said("ann likes GREEN tea", "mia", "m3"));
        assert!(known.lose_message(&MessageId::new("m9")) && known.messages.len() == 3);
        assert!(known.lose_message(&MessageId::new("m1")));
        assert_eq!((&*known.content, known.people.len(), known.keywords.len()), ("Ann likes green tea", 2, 2));
        assert!(known.lose_message(&MessageId::new("m2")));
        assert_eq!((&*known.content, known.wordings.len()), ("ann likes GREEN tea", 0));
        assert!(!known.lose_message(&MessageId::new("m3")), "nothing is left");
        let mut of_two =
            FactDraft { messages: vec![MessageId::new("m1"), MessageId::new("m2")], ..draft("x") }.keep(FactId(2));
        assert!(!of_two.lose_message(&MessageId::new("m1")), "it was made of both, and nobody can tell which words");
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
