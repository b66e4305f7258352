//! How well the words of facts fit a question: BM25, and a few corrections for conversations.
//!
//! The default ranking is BM25 over the words of the question, divided by the score of a text that has them all: 1 means that
//! every word is there once. Then come smaller rewards: for other forms and synonyms of a word that a text lacks, for two
//! words side by side, for what was said around it (the answer is often in the next line), for the author whom the question
//! names, and for a time or a number where one is asked for. The weights were found by search on conversations with
//! questions (`aizuchi eval recall`).
//!
//! A store hands over only facts that may fit; how rare a word is comes from the whole store ([`Corpus`]).

use std::collections::{BTreeMap, BTreeSet};

use super::super::words::{alike, mentions, search_words};
use super::document::{NearbyMessage, Text};
use super::{Document, SearchQuestion};
use crate::settings::Ranking;

/// Statistics of all texts: a word that few of them have is more significant.
pub trait Corpus {
    fn texts(&self) -> f64;
    /// The number of texts that contain the word.
    fn holding(&self, word: &str) -> f64;
}

/// How much a repeated word adds, and how much long texts lose, in standard BM25.
const PLAIN: (f64, f64) = (1.2, 0.75);
/// The approximate number of words in a text.
const LENGTH: f64 = 12.0;

/// The weight of each hint, tuned on conversations with questions.
#[derive(Clone, Copy, Debug)]
struct Weights {
    /// How much a repeated word adds, and how much long texts lose.
    k1: f64,
    b: f64,
    /// A word with the same stem, and a synonym, relative to the exact word.
    relative: f64,
    alike: f64,
    /// Two words of the question side by side.
    pair: f64,
    /// What a text gets from the scores of the two texts before it, and after it.
    before: [f64; 2],
    after: [f64; 2],
    /// The bonus if the text before it is a question.
    answers: f64,
    /// The bonus if its author is named in the question.
    named: f64,
    /// The bonus for a time, or a number, if one is asked for.
    tells_time: f64,
    counts: f64,
    /// The factor for a text that is itself a question.
    asks_only: f64,
}

const WEIGHTS: Weights = Weights {
    k1: 0.8,
    b: 0.3,
    relative: 0.3,
    alike: 0.4,
    pair: 0.25,
    before: [0.45, 0.15],
    after: [0.15, 0.05],
    answers: 1.3,
    named: 2.5,
    tells_time: 1.2,
    counts: 1.15,
    asks_only: 0.6,
};

/// How well the words of each match; 1 if every word of the question occurs in it once. Without a corpus, these are all
/// texts.
pub fn scores(
    documents: &[Document<'_>],
    question: &SearchQuestion,
    ranking: Ranking,
    corpus: Option<&dyn Corpus>,
) -> Vec<f64> {
    let own = CandidateCorpus(documents);
    let corpus = corpus.unwrap_or(&own);
    match ranking {
        Ranking::Default => by_words(documents, question, corpus),
        Ranking::Bm25 | Ranking::Sphene => {
            let asked: Vec<AskedWord<'_>> = question.words.iter().map(|word| AskedWord::new(word, corpus)).collect();
            let whole = whole(&asked);
            let score = |text: &Text<'_>| asked.iter().map(|word| word.exact(text, PLAIN)).sum::<f64>() / whole;
            documents.iter().map(|document| score(&document.text)).collect()
        }
    }
}

/// A corpus of only the given texts.
struct CandidateCorpus<'a>(&'a [Document<'a>]);

impl Corpus for CandidateCorpus<'_> {
    fn texts(&self) -> f64 {
        self.0.len() as f64
    }

    fn holding(&self, word: &str) -> f64 {
        self.0.iter().filter(|document| document.text.weight(word) > 0.0).count() as f64
    }
}

fn by_words(documents: &[Document<'_>], question: &SearchQuestion, corpus: &dyn Corpus) -> Vec<f64> {
    let weights = &WEIGHTS;
    let named = Named::new(documents, question);
    let mut asked: Vec<&String> = question.words.iter().filter(|word| !named.words.contains(*word)).collect();
    if asked.is_empty() {
        asked = question.words.iter().collect();
    }
    let asked: Vec<AskedWord<'_>> = asked.into_iter().map(|word| AskedWord::new(word, corpus)).collect();
    let score = |document: &Document<'_>| {
        let mut score = text_score(&document.text, &asked, weights);
        for NearbyMessage { offset, asks, text } in &document.beside {
            let shares = if *offset < 0 { &weights.before } else { &weights.after };
            let share = shares.get(usize::from(offset.unsigned_abs()).saturating_sub(1)).copied().unwrap_or_default();
            let answers = if *asks && *offset == -1 { weights.answers } else { 1.0 };
            score += share * answers * text_score(text, &asked, weights);
        }
        let factors = [
            (named.is_about(document), weights.named),
            (question.when && document.tells_time, weights.tells_time),
            (question.how_many && document.has_number, weights.counts),
            (document.asks_only, weights.asks_only),
        ];
        score * factors.iter().filter(|(holds, _)| *holds).map(|(_, factor)| factor).product::<f64>()
    };
    documents.iter().map(score).collect()
}

/// Which of the speakers here are named in the question.
struct Named<'a> {
    names: BTreeSet<&'a str>,
    words: BTreeSet<String>,
}

impl<'a> Named<'a> {
    fn new(documents: &[Document<'a>], question: &SearchQuestion) -> Named<'a> {
        let names: BTreeSet<&str> = documents.iter().flat_map(|document| &document.by).copied().collect();
        let is_named = |name: &&str| {
            let first = name.split(' ').next().unwrap_or(name);
            // Searching a name as a whole word takes longer than searching its letters.
            question.text.contains(first)
                && (mentions(&question.text, name) || (first.chars().count() > 2 && mentions(&question.text, first)))
        };
        let names: BTreeSet<&str> = names.into_iter().filter(is_named).collect();
        let words = names.iter().flat_map(|name| search_words(name)).collect();
        Named { names, words }
    }

    fn is_about(&self, document: &Document<'_>) -> bool {
        document.by.iter().any(|by| self.names.contains(by))
            || (document.retold && self.words.iter().any(|word| document.text.weight(word) > 0.0))
    }
}

/// A word of the question, and its alternatives.
struct AskedWord<'a> {
    word: &'a str,
    rarity: f64,
    /// Synonyms, with their weights.
    alike: BTreeMap<&'static str, f64>,
}

impl<'a> AskedWord<'a> {
    fn new(word: &'a str, corpus: &dyn Corpus) -> AskedWord<'a> {
        let own = rarity(word, corpus) * SearchQuestion::weight(word);
        let others = alike(word).iter().map(|other| (other.as_str(), own.min(rarity(other, corpus))));
        AskedWord { word, rarity: own, alike: others.collect() }
    }

    fn exact(&self, text: &Text<'_>, (k1, b): (f64, f64)) -> f64 {
        self.rarity * saturated(text.weight(self.word), text.length, (k1, b))
    }

    /// For a text without the exact word: other forms and synonyms that it has.
    fn likeness(&self, text: &Text<'_>, weights: &Weights) -> f64 {
        let saturated = |times: f64| saturated(times, text.length, (weights.k1, weights.b));
        let of_alike = |(other, rarity): (&&str, &f64)| match text.weight(other) {
            0.0 => 0.0,
            times => weights.alike * rarity * saturated(times),
        };
        let alike = self.alike.iter().map(of_alike).fold(0.0, f64::max);
        let relatives = root(self.word).into_iter().flat_map(|root| text.beginning_with(root));
        let relatives = relatives.filter(|(other, _)| is_relative(self.word, other));
        let relative = relatives.map(|(_, times)| weights.relative * self.rarity * saturated(times));
        relative.fold(alike, f64::max)
    }
}

fn text_score(text: &Text<'_>, asked: &[AskedWord<'_>], weights: &Weights) -> f64 {
    let (mut score, mut pairs) = (0.0, 0.0);
    let mut before: Option<&AskedWord<'_>> = None;
    for word in asked {
        let exact = word.exact(text, (weights.k1, weights.b));
        if exact == 0.0 {
            score += word.likeness(text, weights);
            before = None;
            continue;
        }
        score += exact;
        if let Some(before) = before.replace(word)
            && text.sequence.windows(2).any(|two| two[0] == before.word && two[1] == word.word)
        {
            pairs += weights.pair * (before.rarity + word.rarity);
        }
    }
    (score + pairs) / whole(asked)
}

fn saturated(times: f64, length: f64, (k1, b): (f64, f64)) -> f64 {
    times * (k1 + 1.0) / (times + k1 * (1.0 - b + b * length / LENGTH))
}

/// The total weight of a question's words.
fn whole(asked: &[AskedWord<'_>]) -> f64 {
    asked.iter().map(|word| word.rarity).sum::<f64>().max(f64::MIN_POSITIVE)
}

/// The weight of a word: the fewer texts contain it, the higher.
fn rarity(word: &str, corpus: &dyn Corpus) -> f64 {
    let (all, holding) = (corpus.texts(), corpus.holding(word));
    (1.0 + ((all - holding).max(0.0) + 0.5) / (holding + 0.5)).ln()
}

const RELATIVE_CHARS: usize = 4;

/// The common stem of related words; `None` for short words and for scripts without endings.
pub fn root(word: &str) -> Option<&str> {
    (word.len() >= RELATIVE_CHARS && word.bytes().all(|byte| byte.is_ascii_alphabetic()))
        .then(|| &word[..RELATIVE_CHARS.max(word.len() * 3 / 5)])
}

/// musician and music, but not form and formula.
pub fn is_relative(word: &str, other: &str) -> bool {
    let shared = word.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    word != other && shared * 5 >= word.len().max(other.len()) * 3
}

#[cfg(test)]
mod tests {
    use super::super::super::fact::tests::fact;
    use super::super::super::{ContextTurn, Fact, context_of};
    use super::super::terms;
    use super::*;
    use crate::types::{MessageId, PersonId, Time};

    fn ask(facts: &[Fact], question: &str) -> Vec<usize> {
        let terms: Vec<String> = facts.iter().map(terms).collect();
        let documents: Vec<Document<'_>> = terms.iter().map(|terms| Document::new(terms)).collect();
        let scores = scores(&documents, &SearchQuestion::new(question), Ranking::Default, None);
        let mut found: Vec<usize> = (0..facts.len()).filter(|at| scores[*at] > 0.0).collect();
        found.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        found
    }

    fn best(texts: &[&str], question: &str) -> Vec<usize> {
        let facts: Vec<Fact> = texts.iter().map(|text| fact(1, text)).collect();
        ask(&facts, question)
    }

    #[test]
    fn rare_words_weigh_more() {
        let talk = ["the cat likes milk", "the cat sleeps", "the cat and the zebra", "a cat"];
        assert_eq!(best(&talk, "cat zebra")[0], 2);
        assert!(best(&talk, "elephants").is_empty() && best(&talk, "").is_empty() && best(&[], "cat").is_empty());
    }

    #[test]
    fn other_forms_of_a_word_are_found_after_the_word_itself() {
        let talk = ["nothing here", "she plays music", "he is a musician", "they went swimming"];
        assert_eq!(best(&talk, "Who is a musician?"), [2, 1]);
        assert_eq!(best(&talk, "Did they swim?"), [3]);
        assert_eq!(best(&["フォルダの設定", "非同期処理の書き方", "料理の話"], "Rustの非同期について教えて"), [1]);
    }

    #[test]
    fn whom_the_question_names_comes_first_and_answers_follow_questions() {
        let talk = [
            ("Ann", "Bob, did you see the new museum?"),
            ("Bob", "Yes, on Sunday!"),
            ("Ann", "I stayed at home."),
            ("Ann", "My museum card is lost."),
            ("Bob", "Sorry to hear."),
        ];
        let turn = |(at, (name, text)): (usize, &(&str, &str))| ContextTurn {
            message: MessageId::new(format!("m{at}")),
            person: PersonId::new(name),
            name: (*name).into(),
            at: Time(at as u64),
            offset: 0,
            text: (*text).into(),
        };
        let turns: Vec<ContextTurn> = talk.iter().enumerate().map(turn).collect();
        let said = |turn: &ContextTurn| Fact {
            context: context_of(&turn.text, std::slice::from_ref(&turn.message), &turns),
            ..fact(1, &turn.text)
        };
        let facts: Vec<Fact> = turns.iter().map(said).collect();
        let asked = ask(&facts, "When did Bob see the museum?");
        let rank_of = |of: usize| asked.iter().position(|document| *document == of).unwrap();
        assert!(rank_of(1) < rank_of(3), "{asked:?}");
        assert_eq!(ask(&facts, "Which card did Ann lose?")[0], 3);
    }

    #[test]
    fn a_fact_that_speaks_of_somebody_is_about_them_whoever_said_it() {
        let talk = ["Kenji collects stamps", "Mia collects stamps and coins"];
        assert_eq!(best(&talk, "What does Mia collect?")[0], 1);
    }
}
