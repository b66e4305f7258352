//! The facts that are most similar to a text, which a model that reads it has to know in order to correct them.

use std::collections::{BTreeMap, BTreeSet};

use super::Fact;
use super::words::search_words;

/// The `count` facts that share the rarest words with these texts, most similar first; then the latest of the others.
pub fn most_like<'a>(facts: Vec<Fact>, texts: impl IntoIterator<Item = &'a str>, count: usize) -> Vec<Fact> {
    let said: BTreeSet<String> = texts.into_iter().flat_map(search_words).collect();
    let words: Vec<BTreeSet<String>> = facts.iter().map(words_of).collect();
    let mut holding: BTreeMap<&str, usize> = BTreeMap::new();
    words.iter().flatten().filter(|word| said.contains(*word)).for_each(|word| *holding.entry(word).or_default() += 1);
    let shared = |words: &BTreeSet<String>| -> f64 {
        let weight = |word: &String| holding.get(word.as_str()).map_or(0.0, |facts| 1.0 / *facts as f64);
        words.iter().map(weight).sum()
    };
    let scores: Vec<f64> = words.iter().map(shared).collect();
    let mut scored: Vec<(f64, Fact)> = scores.into_iter().zip(facts).collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.id.cmp(&a.1.id)));
    scored.into_iter().take(count).map(|(_, fact)| fact).collect()
}

fn words_of(fact: &Fact) -> BTreeSet<String> {
    search_words(&format!("{} {}", fact.content, fact.keywords.join(" "))).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::fact::tests::fact;
    use super::*;

    #[test]
    fn the_facts_most_like_the_talk_come_first_however_old_they_are() {
        let mut facts = vec![fact(1, "The festival takes place in Tokyo"), fact(2, "祭りは東京で開催される")];
        facts.extend((3..=60).map(|id| fact(id, &format!("Ann bought book number {id}"))));
        let found = |text: &str| most_like(facts.clone(), [text], 3).iter().map(|fact| fact.id.0).collect::<Vec<_>>();
        assert_eq!(found("we moved the festival to Osaka"), [1, 60, 59]);
        assert_eq!(found("祭りは大阪になった"), [2, 60, 59]);
        assert_eq!(found(""), [60, 59, 58]);
    }
}
