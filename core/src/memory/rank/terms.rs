//! The words of a fact as a store keeps them beside it, so that nothing has to be segmented again for a search.
//!
//! One line per text; its first letter says which: `c` the content, `k` its keywords, `o` the messages it rests on, `n`
//! their authors, `f` what kind of text it is, and a line for each message around them that starts with its offset, and
//! with `?` if it asks something. Words are separated by spaces.

use super::super::words::{normal, search_words};
use super::super::{ContextTurn, Fact};
use super::document::{asks_only, has_number, tells_time};

/// Contains a time, contains a number, only asks.
pub(super) const KINDS: [char; 3] = ['t', 'n', 'q'];

pub fn terms(fact: &Fact) -> String {
    let mut lines = vec![line("c", &fact.content), line("k", &fact.keywords.join(" "))];
    let own: Vec<&str> = fact.own_turns().map(|turn| &*turn.text).filter(|text| !text.is_empty()).collect();
    lines.push(line("o", &own.join("\n")));
    let mut names: Vec<String> = fact.own_turns().map(|turn| normal(&turn.name).replace('\n', " ")).collect();
    names.sort();
    names.dedup();
    lines.extend(names.into_iter().filter(|name| !name.trim().is_empty()).map(|name| format!("n{name}")));
    let holds = [tells_time, has_number, asks_only].map(|is| is(&fact.content));
    let kinds = KINDS.iter().zip(holds).filter(|(_, holds)| *holds).map(|(kind, _)| *kind);
    lines.push(format!("f{}", kinds.collect::<String>()));
    let beside = fact.context.iter().filter(|turn| turn.offset != 0);
    lines.extend(beside.map(|turn: &ContextTurn| {
        let asks = if turn.text.contains(['?', '？']) { "?" } else { "" };
        line(&format!("{}{asks}", turn.offset), &turn.text)
    }));
    // Lines without words are dropped; one is always there.
    lines.retain(|line| !line.is_empty());
    lines.join("\n")
}

fn line(label: &str, text: &str) -> String {
    let words = search_words(text);
    if words.is_empty() { String::new() } else { format!("{label} {}", words.join(" ")) }
}

/// The offset of a message around a fact, and whether it asks something.
pub(super) fn offset(label: &str) -> Option<(i8, bool)> {
    let offset = label.trim_end_matches('?');
    Some((offset.parse().ok()?, offset.len() < label.len()))
}

/// The words of a fact itself, and those around it, for an index, without duplicates.
pub fn index_words(terms: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut own, mut beside): (Vec<&str>, Vec<&str>) = (Vec::new(), Vec::new());
    for line in terms.lines() {
        let (label, words) = line.split_once(' ').unwrap_or((line, ""));
        match label {
            "c" | "k" | "o" => own.extend(words.split(' ')),
            _ if offset(label).is_some() => beside.extend(words.split(' ')),
            _ => (),
        }
    }
    for words in [&mut own, &mut beside] {
        words.sort_unstable();
        words.dedup();
    }
    beside.retain(|word| own.binary_search(word).is_err());
    (own, beside)
}
