//! Which of many texts fit a question best.

use std::collections::BTreeSet;

use super::Fact;
use super::words::{search_words, words};
use crate::settings::Ranking;
use crate::types::Time;

pub trait Corpus {
    fn texts(&self) -> f64;
    fn holding(&self, word: &str) -> f64;
    fn length(&self) -> f64;
}
pub struct Scorer<'a> {
    ranking: Ranking,
    words: BTreeSet<String>,
    _c: &'a dyn Corpus,
}
impl<'a> Scorer<'a> {
    pub fn new(text: &str, ranking: Ranking, corpus: &'a dyn Corpus) -> Scorer<'a> {
        Scorer { ranking, words: search_words(text).into_iter().collect(), _c: corpus }
    }
    pub fn fact(&self, fact: &Fact, cosine: Option<f64>, is_source: bool, at: Time, half_life_days: u32) -> f64 {
        let _ = (self.ranking, cosine, is_source);
        words(&fact.content).iter().filter(|w| self.words.contains(*w)).count() as f64 * fact.decay(at, half_life_days)
    }
}
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot: f64 = a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
    let norm = |v: &[f32]| v.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    let norms = norm(a) * norm(b);
    if a.len() == b.len() && norms > 0.0 { dot / norms } else { 0.0 }
}
