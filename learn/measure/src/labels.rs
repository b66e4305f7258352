//! What the labels say: at which messages somebody joined.

use std::collections::BTreeSet;

use crate::logs::{Channel, Said};

/// Annotated messages at the end of a channel whose answers may lie beyond it.
const TAIL: usize = 30;

/// For each message whether somebody who was not in its conversation answered it; absent where that cannot be known.
pub fn entries(channel: &Channel) -> Vec<Option<bool>> {
    let said = &channel.said;
    let answers = answers(channel);
    let mut talks = Talks::new(said.len());
    let mut labels = vec![None; said.len()];
    for (index, counted) in counted(channel).into_iter().enumerate() {
        talks.add(index, said[index].author);
        for &parent in said[index].gold.iter().flatten().filter(|parent| **parent < index) {
            talks.join(index, parent);
        }
        if counted {
            let inside = talks.people(index);
            labels[index] = Some(answers[index].iter().any(|author| !inside.contains(author)));
        }
    }
    labels
}

/// For each message whether anybody else answered it.
pub fn answered(channel: &Channel) -> Vec<Option<bool>> {
    let all = counted(channel).into_iter().zip(&channel.said).zip(answers(channel));
    all.map(|((counted, said), answers)| counted.then(|| answers.iter().any(|author| *author != said.author))).collect()
}

/// Which messages count: annotated, by people, and with room for an answer behind them.
fn counted(channel: &Channel) -> Vec<bool> {
    let annotated = channel.said.iter().filter(|said| said.gold.is_some()).count();
    let mut left = annotated.saturating_sub(TAIL);
    let mut counts = |said: &Said| {
        let counts = said.gold.is_some() && left > 0;
        left -= usize::from(counts);
        counts && !said.bot
    };
    channel.said.iter().map(&mut counts).collect()
}

/// Of each message, which people answer it.
fn answers(channel: &Channel) -> Vec<Vec<u64>> {
    let mut answers: Vec<Vec<u64>> = vec![Vec::new(); channel.said.len()];
    for (index, said) in channel.said.iter().enumerate().filter(|(_, said)| !said.bot) {
        for &parent in said.gold.iter().flatten().filter(|parent| **parent != index) {
            answers[parent].push(said.author);
        }
    }
    answers
}

/// The conversations so far: messages that hang together, and who wrote them.
struct Talks {
    root: Vec<usize>,
    people: Vec<BTreeSet<u64>>,
}

impl Talks {
    fn new(len: usize) -> Talks {
        Talks { root: (0..len).collect(), people: vec![BTreeSet::new(); len] }
    }

    fn find(&self, mut index: usize) -> usize {
        while self.root[index] != index {
            index = self.root[index];
        }
        index
    }

    fn add(&mut self, index: usize, author: u64) {
        self.people[index].insert(author);
    }

    fn join(&mut self, later: usize, earlier: usize) {
        let (later, earlier) = (self.find(later), self.find(earlier));
        if later != earlier {
            let people = std::mem::take(&mut self.people[later]);
            self.people[earlier].extend(people);
            self.root[later] = earlier;
        }
    }

    fn people(&self, index: usize) -> &BTreeSet<u64> {
        &self.people[self.find(index)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::parse;

    /// Alice asks, Bob answers (joins), Alice goes on, Carol answers Bob (joins), a bot answers Carol; then padding.
    fn channel() -> Channel {
        let mut log = String::new();
        let talk = [("alice", 0), ("bob", 0), ("alice", 1), ("carol", 1), ("robot", 3), ("bob", 3)];
        let padding = (0..TAIL).map(|number| ("zoe", talk.len() + number));
        for (index, (author, gold)) in talk.into_iter().chain(padding).enumerate() {
            let bot = author == "robot";
            log += &format!(
                r#"{{"ts": {index}, "channel": "c", "id": "{index}", "author": "{author}", "bot": {bot}, "text": "x", "gold_reply_to": ["{gold}"]}}"#
            );
            log.push('\n');
        }
        parse(&log).expect("it parses").remove(0)
    }

    #[test]
    fn who_answers_from_outside_joins() {
        let labels = entries(&channel());
        assert_eq!(labels[..7], [Some(true), Some(true), Some(false), Some(false), None, Some(false), None]);
    }

    #[test]
    fn anybody_else_answers() {
        assert_eq!(answered(&channel())[..4], [Some(true), Some(true), Some(false), Some(true)]);
    }
}
