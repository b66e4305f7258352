//! Full-text ranking of a set of texts: BM25 with an inverted index, and a few corrections for conversations.
//!
//! The default ranking is BM25 over the words of the question, divided by the score of a text that has them all: 1 means that
//! every word is there once. Then come smaller rewards: for other forms and synonyms of a word that a text lacks, for two
//! words side by side, for neighbouring messages (the answer is often in the next line), for the author whom the question
//! names, and for a time or a number where one is asked for. The weights were found by search on conversations with
//! questions (`aizuchi eval recall`).
//!
//! A store hands over only texts that share a word with the question; how rare a word is comes from the whole store
//! ([`Corpus`]). Cost: the postings of the words of the question, not the number of texts.

use std::collections::{BTreeMap, BTreeSet};

use super::super::words::{alike, mentions, search_words};
use super::{Document, SearchQuestion, jaccard};
use crate::settings::Ranking;

/// What is known of all texts together: a word that is in few of them says more.
pub trait Corpus {
    fn texts(&self) -> f64;
    /// Texts that hold the word.
    fn holding(&self, word: &str) -> f64;
    /// Words in a text, on average.
    fn length(&self) -> f64;
}

pub struct Collection {
    documents: Vec<Document>,
    /// Where each word is, and what it weighs there.
    index: BTreeMap<String, Vec<(usize, f64)>>,
    length: f64,
}

/// A text that fits, by its number; the score is 1 where every word of the question is in it once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    pub document: usize,
    pub score: f64,
}

/// How much a repeated word adds, and how much long texts lose, in plain BM25 as everybody has it.
const PLAIN: (f64, f64) = (1.2, 0.75);
/// What each hint counts; found by trying on talk with questions.
#[derive(Clone, Copy, Debug)]
struct Weights {
    /// How much a repeated word adds, and how much long texts lose.
    k1: f64,
    b: f64,
    /// A word with the same beginning, and one of like meaning, beside the very word.
    relative: f64,
    alike: f64,
    /// Two words of the question side by side.
    pair: f64,
    /// What a text gets of the scores of the one and the two before it, and after it.
    before: [f64; 2],
    after: [f64; 2],
    /// Said by whom the question names.
    named: f64,
    /// Tells a time, or a number, where one is asked for.
    tells_time: f64,
    counts: f64,
    /// Asks itself.
    only_asks: f64,
}

const WEIGHTS: Weights = Weights {
    k1: 0.8,
    b: 0.3,
    relative: 0.3,
    alike: 0.4,
    pair: 0.25,
    before: [0.45, 0.15],
    after: [0.15, 0.05],
    named: 2.5,
    tells_time: 1.2,
    counts: 1.15,
    only_asks: 0.6,
};

const RELATIVE_CHARS: usize = 4;

impl Corpus for Collection {
    fn texts(&self) -> f64 {
        self.documents.len() as f64
    }

    fn holding(&self, word: &str) -> f64 {
        self.index.get(word).map_or(0.0, |entries| entries.len() as f64)
    }

    fn length(&self) -> f64 {
        self.length
    }
}

impl Collection {
    pub fn new(documents: Vec<Document>) -> Collection {
        let mut index: BTreeMap<String, Vec<(usize, f64)>> = BTreeMap::new();
        for (at, document) in documents.iter().enumerate() {
            for (word, weight) in &document.words {
                index.entry(word.clone()).or_default().push((at, *weight));
            }
        }
        let length = documents.iter().map(|document| document.length).sum::<f64>() / documents.len().max(1) as f64;
        Collection { documents, index, length }
    }

    /// All that fit at all, the best first. `corpus` knows how rare a word is, where these are only some of the texts.
    pub fn search(&self, question: &SearchQuestion, ranking: Ranking, corpus: &dyn Corpus) -> Vec<Found> {
        let scores = match ranking {
            Ranking::Default => self.by_words(question, corpus, &WEIGHTS),
            Ranking::Bm25 => self.bm25(&question.words, PLAIN, corpus),
            Ranking::Sphene => self.by_share(question),
        };
        found(scores)
    }

    fn by_share(&self, question: &SearchQuestion) -> Vec<f64> {
        let asked: BTreeSet<String> = question.words.iter().cloned().collect();
        let words = |document: &Document| document.words.keys().cloned().collect();
        self.documents.iter().map(|document| jaccard(&asked, &words(document))).collect()
    }

    fn by_words(&self, question: &SearchQuestion, corpus: &dyn Corpus, weights: &Weights) -> Vec<f64> {
        let named = self.named(question);
        let of_names: BTreeSet<String> = named.iter().flat_map(|name| search_words(name)).collect();
        let mut asked: Vec<String> = question.words.iter().filter(|word| !of_names.contains(*word)).cloned().collect();
        if asked.is_empty() {
            asked = question.words.clone();
        }
        let mut scores = self.bm25(&asked, (weights.k1, weights.b), corpus);
        self.reward_likeness(&asked, corpus, weights, &mut scores);
        self.reward_pairs(&asked, corpus, weights.pair, &mut scores);
        let mut scores = self.shared(&scores, weights);
        for (document, score) in self.documents.iter().zip(&mut scores) {
            let factors = [
                (document.by.iter().any(|by| named.contains(by)), weights.named),
                (question.when && document.tells_time, weights.tells_time),
                (question.how_many && document.counts, weights.counts),
                (document.only_asks, weights.only_asks),
            ];
            *score *= factors.iter().filter(|(holds, _)| *holds).map(|(_, factor)| factor).product::<f64>();
        }
        scores
    }

    /// Who of those that speak here is named in the question.
    fn named(&self, question: &SearchQuestion) -> BTreeSet<String> {
        let names: BTreeSet<&String> = self.documents.iter().flat_map(|document| &document.by).collect();
        names.into_iter().filter(|name| mentions(&question.text, name)).cloned().collect()
    }

    fn bm25(&self, asked: &[String], saturation: (f64, f64), corpus: &dyn Corpus) -> Vec<f64> {
        let mut scores = vec![0.0; self.documents.len()];
        let whole = whole(asked, corpus);
        for word in asked {
            let rarity = rarity(word, corpus) / whole;
            for (at, times) in self.index.get(word).into_iter().flatten() {
                scores[*at] += rarity * self.saturated(*at, *times, saturation, corpus);
            }
        }
        scores
    }

    fn saturated(&self, at: usize, times: f64, (k1, b): (f64, f64), corpus: &dyn Corpus) -> f64 {
        let long = 1.0 - b + b * self.documents[at].length / corpus.length().max(1.0);
        times * (k1 + 1.0) / (times + k1 * long)
    }

    /// For each word of the question that a text has not: what it has instead, other forms and words of like meaning.
    fn reward_likeness(&self, asked: &[String], corpus: &dyn Corpus, weights: &Weights, scores: &mut [f64]) {
        let whole = whole(asked, corpus);
        for word in asked {
            let exact: BTreeSet<usize> = self.index.get(word).into_iter().flatten().map(|(at, _)| *at).collect();
            let mut best: BTreeMap<usize, f64> = BTreeMap::new();
            let mut offer = |at: usize, score: f64| {
                let known = best.entry(at).or_default();
                *known = known.max(score);
            };
            let saturated = |at, times| self.saturated(at, times, (weights.k1, weights.b), corpus);
            for (at, times) in self.relatives(word) {
                offer(at, weights.relative * rarity(word, corpus) * saturated(at, times));
            }
            for other in alike(word) {
                let rarity = rarity(word, corpus).min(rarity(other, corpus));
                for (at, times) in self.index.get(other).into_iter().flatten() {
                    offer(*at, weights.alike * rarity * saturated(*at, *times));
                }
            }
            best.into_iter().filter(|(at, _)| !exact.contains(at)).for_each(|(at, score)| scores[at] += score / whole);
        }
    }

    /// Where words stand that share the beginning: each text once.
    fn relatives(&self, word: &str) -> impl Iterator<Item = (usize, f64)> + use<> {
        let mut found: BTreeMap<usize, f64> = BTreeMap::new();
        if let Some(root) = root(word) {
            let alike = self.index.range(root.to_owned()..).take_while(|(other, _)| other.starts_with(root));
            for (_, entries) in alike.filter(|(other, _)| *other != word && is_relative(word, other)) {
                for (at, times) in entries {
                    let best = found.entry(*at).or_default();
                    *best = best.max(*times);
                }
            }
        }
        found.into_iter()
    }

    fn reward_pairs(&self, asked: &[String], corpus: &dyn Corpus, weight: f64, scores: &mut [f64]) {
        let whole = whole(asked, corpus);
        for pair in asked.windows(2) {
            let worth = weight * (rarity(&pair[0], corpus) + rarity(&pair[1], corpus)) / whole;
            for (at, _) in self.index.get(&pair[0]).into_iter().flatten() {
                if self.documents[*at].pairs.iter().any(|(a, b)| *a == pair[0] && *b == pair[1]) {
                    scores[*at] += worth;
                }
            }
        }
    }

    /// A text is worth something beside a good one: an answer need not repeat the question.
    fn shared(&self, scores: &[f64], weights: &Weights) -> Vec<f64> {
        let share = |at: usize| {
            let Some(talk) = self.documents[at].talk else { return scores[at] };
            let of = |neighbour: Option<usize>| {
                let same = |at: &usize| self.documents.get(*at).is_some_and(|document| document.talk == Some(talk));
                neighbour.filter(same).map_or(0.0, |at| scores[at])
            };
            let far = |(distance, (before, after)): (usize, (&f64, &f64))| {
                before * of(at.checked_sub(distance + 1)) + after * of(Some(at + distance + 1))
            };
            scores[at] + weights.before.iter().zip(&weights.after).enumerate().map(far).sum::<f64>()
        };
        (0..scores.len()).map(share).collect()
    }
}

fn found(scores: Vec<f64>) -> Vec<Found> {
    let scores = scores.into_iter().enumerate().filter(|(_, score)| *score > 0.0);
    let mut found: Vec<Found> = scores.map(|(document, score)| Found { document, score }).collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.document.cmp(&b.document)));
    found
}

/// What all words of a question weigh together.
fn whole(asked: &[String], corpus: &dyn Corpus) -> f64 {
    asked.iter().map(|word| rarity(word, corpus)).sum::<f64>().max(f64::MIN_POSITIVE)
}

/// What a word weighs: the fewer texts hold it, the more.
fn rarity(word: &str, corpus: &dyn Corpus) -> f64 {
    let (all, holding) = (corpus.texts(), corpus.holding(word));
    (1.0 + (all - holding + 0.5).max(0.0) / (holding + 0.5)).ln()
}

/// The beginning that relatives of a word share; none for short words and for scripts without endings.
pub fn root(word: &str) -> Option<&str> {
    (word.len() >= RELATIVE_CHARS && word.bytes().all(|byte| byte.is_ascii_alphabetic()))
        .then(|| &word[..RELATIVE_CHARS.max(word.len() * 3 / 5)])
}

/// musician and music, but not form and formula.
fn is_relative(word: &str, other: &str) -> bool {
    let shared = word.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    shared * 5 >= word.len().max(other.len()) * 3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(documents: &[&str], question: &str) -> Vec<usize> {
        let collection = Collection::new(documents.iter().map(|text| Document::new(text)).collect());
        let found = collection.search(&SearchQuestion::new(question), Ranking::Default, &collection);
        found.into_iter().map(|found| found.document).collect()
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
        let turn = |(by, text): (&str, &str)| Document::new(text).said_by(by).in_talk(1);
        let talk = [
            ("Ann", "Bob, did you see the new museum?"),
            ("Bob", "Yes, on Sunday!"),
            ("Ann", "I stayed at home."),
            ("Ann", "My museum card is lost."),
            ("Bob", "Sorry to hear."),
        ];
        let collection = Collection::new(talk.map(turn).into());
        let ask = |text: &str| {
            let found = collection.search(&SearchQuestion::new(text), Ranking::Default, &collection);
            found.iter().map(|found| found.document).collect::<Vec<_>>()
        };
        let asked = ask("When did Bob see the museum?");
        let rank_of = |of: usize| asked.iter().position(|document| *document == of).unwrap();
        assert!(rank_of(1) < rank_of(3), "{asked:?}");
        assert_eq!(ask("Which card did Ann lose?")[0], 3);
    }
}
