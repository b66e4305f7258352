//! Patterns of words: "(be|stay) [very] quiet", one per line in the tables of this folder.

use std::collections::HashMap;

/// One position of a pattern: any of these runs of words, or nothing.
#[derive(Debug)]
struct PatternSlot {
    choices: Vec<Vec<Box<str>>>,
    optional: bool,
}

#[derive(Debug)]
pub(in crate::listen) struct WordPattern {
    slots: Vec<PatternSlot>,
}

/// The patterns of a table, each with the sign before it; " " if there is none.
pub(in crate::listen) fn read(table: &str, signs: &str) -> Vec<(char, WordPattern)> {
    let mut lists: HashMap<&str, &str> = HashMap::new();
    let mut patterns = Vec::new();
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some((name, list)) = line.strip_prefix('$').and_then(|line| line.split_once(" = ")) {
            lists.insert(name, list);
            continue;
        }
        let sign = line.chars().next().filter(|c| signs.contains(*c));
        let words = sign.map_or(line, |sign| &line[sign.len_utf8()..]);
        let slots = words.split_whitespace().map(|word| slot(word, &lists)).collect();
        patterns.push((sign.unwrap_or(' '), WordPattern { slots }));
    }
    patterns
}

fn slot(word: &str, lists: &HashMap<&str, &str>) -> PatternSlot {
    let optional = word.starts_with('[');
    let inner = word.trim_matches(|c| "[]()".contains(c));
    let listed = inner.split('|').flat_map(|choice| match choice.strip_prefix('$') {
        Some(name) => lists.get(name).expect("a list is defined before it is used").split('|').collect(),
        None => vec![choice],
    });
    PatternSlot { choices: listed.map(|choice| choice.split('_').map(Box::from).collect()).collect(), optional }
}

/// "Ur" is "your" as well as "you're".
fn is_same(one: &str, word: &str) -> bool {
    one == word || word == "ur" && ["your", "you're"].contains(&one)
}

impl WordPattern {
    /// Words of which every matching text contains one: those of a slot whose every choice has a word besides the `common`
    /// ones.
    pub(in crate::listen) fn telling_words(&self, common: &str) -> Vec<Box<str>> {
        let is_common = |word: &str| common.split_ascii_whitespace().any(|known| known == word);
        let telling = |slot: &PatternSlot| {
            let rare = |choice: &Vec<Box<str>>| choice.iter().find(|word| !is_common(word)).cloned();
            slot.choices.iter().map(rare).collect::<Option<Vec<Box<str>>>>()
        };
        let needed = || self.slots.iter().filter(|slot| !slot.optional);
        let all = || needed().flat_map(|slot| slot.choices.iter().flatten().cloned()).collect();
        needed().find_map(telling).unwrap_or_else(all)
    }

    /// Whether these words match completely.
    pub(in crate::listen) fn is(&self, words: &[&str]) -> bool {
        self.ends(words).contains(&words.len())
    }

    /// Where a match may end that begins with the first of these words; never before the second.
    pub(in crate::listen) fn ends(&self, words: &[&str]) -> Vec<usize> {
        let mut at = vec![0];
        for slot in &self.slots {
            let mut next = if slot.optional { at.clone() } else { Vec::new() };
            for start in at {
                let rest = &words[start..];
                let fits = |choice: &&Vec<Box<str>>| {
                    choice.len() <= rest.len() && choice.iter().zip(rest).all(|(one, word)| is_same(one, word))
                };
                next.extend(slot.choices.iter().filter(fits).map(|choice| start + choice.len()));
            }
            next.sort_unstable();
            next.dedup();
            at = next;
        }
        at.retain(|end| *end > 0);
        at
    }

    /// How many words at the end may match.
    pub(in crate::listen) fn starts(&self, words: &[&str]) -> Vec<usize> {
        (0..words.len()).filter(|start| self.is(&words[*start..])).collect()
    }
}
