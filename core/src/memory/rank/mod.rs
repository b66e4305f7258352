//! Which of many texts match a question best: by their words, and by their meaning if vectors are available.

mod document;
mod question;
mod scores;
mod terms;
mod when;

use std::collections::BTreeSet;

pub use document::Document;
pub use question::SearchQuestion;
pub use scores::{Corpus, is_relative, root, scores};
pub use terms::{index_words, terms};
pub use when::{DayRange, day_of};

use super::Fact;
use super::words::words;
use crate::types::Time;

/// The weight of meaning relative to words.
const ALPHA: f64 = 0.5;
/// The factor, in the preset `sphene`, for a fact of which the speaker is a source ...
const SOURCE_IN_SPHENE: f64 = 1.5;
/// ... and in the default.
const SOURCE: f64 = 1.2;
/// The maximum bonus, in the default, for a fact that a person close to the speaker said or is about: less than if the
/// speaker did.
const CLOSE: f64 = 0.05;
/// The part of its score that a faded fact keeps.
const FADED: f64 = 0.5;

/// Words and meaning combined; words alone without vectors.
pub fn combined(lexical: f64, cosine: Option<f64>) -> f64 {
    cosine.map_or(lexical, |cosine| ALPHA * cosine.max(0.0) + (1.0 - ALPHA) * lexical)
}

/// As in the preset `sphene`: the share of keywords in common, halved with every half-life of age.
pub fn sphene(
    asked: &BTreeSet<String>,
    fact: &Fact,
    cosine: Option<f64>,
    is_source: bool,
    now: Time,
    days: u32,
) -> f64 {
    let score = combined(jaccard(asked, &keywords(fact)), cosine) * fact.decay(now, days);
    if is_source { score * SOURCE_IN_SPHENE } else { score }
}

/// The default: best match first, the stronger of two equal ones, and the speaker's own before others.
pub fn default(fact: &Fact, fit: f64, is_source: bool, now: Time, days: u32) -> f64 {
    let strength = fact.strength(now, days).clamp(0.0, 1.0);
    fit * (FADED + (1.0 - FADED) * strength) * if is_source { SOURCE } else { 1.0 }
}

/// The score of a fact about somebody this close to the speaker, from 0 to 1.
pub fn closer(score: f64, closeness: f64) -> f64 {
    score * (1.0 + CLOSE * closeness.clamp(0.0, 1.0))
}

/// The words of a question as `sphene` compares them.
pub fn asked(text: &str) -> BTreeSet<String> {
    words(text).into_iter().collect()
}

fn keywords(fact: &Fact) -> BTreeSet<String> {
    let given: BTreeSet<String> = fact.keywords.iter().flat_map(|keyword| words(keyword)).collect();
    if given.is_empty() { asked(&fact.content) } else { given }
}

/// The share of words in common; 0 for two empty sets.
pub fn jaccard(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let both = a.intersection(b).count();
    if both == 0 { 0.0 } else { both as f64 / (a.len() + b.len() - both) as f64 }
}

/// The cosine similarity of two vectors; 0 if they cannot be compared.
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    if a.len() != b.len() {
        return 0.0;
    }
    let (mut dot, mut of_a, mut of_b) = (0.0_f32, 0.0_f32, 0.0_f32);
    for (a, b) in a.iter().zip(b) {
        dot += a * b;
        of_a += a * a;
        of_b += b * b;
    }
    let lengths = f64::from(of_a).sqrt() * f64::from(of_b).sqrt();
    if lengths > 0.0 { f64::from(dot) / lengths } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::fact::tests::fact;
    use super::*;
    use crate::types::Span;

    fn set(words: &[&str]) -> BTreeSet<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn the_share_of_words_in_common() {
        assert_eq!(jaccard(&set(&[]), &set(&[])), 0.0);
        assert_eq!(jaccard(&set(&["a", "b"]), &set(&["b", "c"])), 1.0 / 3.0);
        assert_eq!(jaccard(&set(&["a"]), &set(&["a"])), 1.0);
    }

    #[test]
    fn sphene_counts_words_age_source_and_meaning() {
        let mut rust = fact(1, "x");
        rust.keywords = vec!["Rust".into(), "非同期".into()];
        let asked = asked("Rust 料理");
        let month = Time(0) + Span::minutes(30 * 24 * 60);
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        let keywords = keywords(&rust).len() as f64;
        let shared = 1.0 / (keywords + 1.0);
        near(sphene(&asked, &rust, None, false, Time(0), 30), shared);
        near(sphene(&asked, &rust, None, false, month, 30), shared * 0.5);
        near(sphene(&asked, &rust, None, true, month, 30), shared * 0.75);
        near(sphene(&asked, &rust, Some(0.8), false, month, 30), (0.4 + shared / 2.0) * 0.5);
        near(sphene(&asked, &rust, Some(-1.0), false, Time(0), 30), shared / 2.0);
    }

    #[test]
    fn vectors_of_two_kinds_cannot_be_compared() {
        assert_eq!(cosine(&[1.0, 0.0], &[1.0]), 0.0);
        assert_eq!(cosine(&[0.0], &[0.0]), 0.0);
        assert!((cosine(&[1.0, 1.0], &[2.0, 2.0]) - 1.0).abs() < 1e-6);
        assert!((cosine(&[1.0, 0.0], &[0.0, 3.0])).abs() < 1e-6);
    }
}
