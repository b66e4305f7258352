//! What the labels say: at which messages somebody joined.

use std::collections::{BTreeMap, BTreeSet};

use crate::logs::{Channel, Said};

/// Annotated messages at the end of a channel whose answers may be beyond it.
const TAIL: usize = 30;

/// For each message whether somebody who was not in its conversation answered it; absent if that is unknown. Where replies alone are
/// known, its conversation is the chain of messages that it replies to: who else replied to one of them need not have seen it.
pub fn entries(channel: &Channel) -> Vec<Option<bool>> {
    let said = &channel.said;
    let labels_of = channel.answers();
    let answers = answers(channel, &labels_of);
    let chains = are_only_replies(&labels_of).then(|| chains(channel, &labels_of));
    let mut talks = Talks::new(said.len());
    let mut labels = vec![None; said.len()];
    for (index, counted) in counted(channel, &labels_of).into_iter().enumerate() {
        talks.add(index, said[index].author);
        for &parent in labels_of[index].iter().flatten().filter(|parent| **parent < index) {
            talks.join(index, parent);
        }
        if counted {
            let inside = chains.as_ref().map_or_else(|| talks.people(index), |chains| &chains[index]);
            labels[index] = Some(answers[index].iter().any(|author| !inside.contains(author)));
        }
    }
    labels
}

/// For each message its author, and those of the messages it replies to, one after the other.
fn chains(channel: &Channel, labels: &[Option<Vec<usize>>]) -> Vec<BTreeSet<u64>> {
    let mut chains: Vec<BTreeSet<u64>> = Vec::with_capacity(labels.len());
    for (index, said) in channel.said.iter().enumerate() {
        let mut people = BTreeSet::from([said.author]);
        labels[index]
            .iter()
            .flatten()
            .filter(|parent| **parent < index)
            .for_each(|parent| people.extend(&chains[*parent]));
        chains.push(people);
    }
    chains
}

/// The same by another definition: whether the next to speak in its conversation is a person who had not spoken there. It
/// needs no answers, and does not see who answers after somebody else has spoken.
pub fn entries_by_next(channel: &Channel) -> Vec<Option<bool>> {
    let mut people: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
    let mut last: BTreeMap<usize, usize> = BTreeMap::new();
    let mut joined = vec![false; channel.said.len()];
    for (index, (said, conversation)) in channel.said.iter().zip(channel.linked()).enumerate() {
        let is_new = people.entry(conversation).or_default().insert(said.author);
        if let Some(before) = last.insert(conversation, index) {
            joined[before] = is_new && !said.bot;
        }
    }
    let counted = counted(channel, &channel.answers());
    counted.into_iter().zip(joined).map(|(counted, joined)| counted.then_some(joined)).collect()
}

/// For each message whether anybody else answered it.
pub fn answered(channel: &Channel) -> Vec<Option<bool>> {
    let labels = channel.answers();
    let all = counted(channel, &labels).into_iter().zip(&channel.said).zip(answers(channel, &labels));
    all.map(|((counted, said), answers)| counted.then(|| answers.iter().any(|author| *author != said.author))).collect()
}

/// The conversations of a channel, each with the indexes of its messages by people.
pub fn talks(channel: &Channel) -> Vec<Vec<usize>> {
    let mut talks: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, conversation) in channel.conversations().into_iter().enumerate() {
        if let Some(conversation) = conversation.filter(|_| !channel.said[index].bot) {
            talks.entry(conversation).or_default().push(index);
        }
    }
    talks.into_values().collect()
}

/// Messages of others in conversations in which this person spoke before, and whether the person is the next to speak there.
pub fn turns(channel: &Channel, is_person: impl Fn(&Said) -> bool) -> Vec<(usize, bool)> {
    let mut turns = Vec::new();
    for talk in talks(channel) {
        let mut inside = false;
        for pair in talk.windows(2) {
            if is_person(&channel.said[pair[0]]) {
                inside = true;
            } else if inside {
                turns.push((pair[0], is_person(&channel.said[pair[1]])));
            }
        }
    }
    turns
}

/// Which messages count: annotated, by people, and with enough messages after them for an answer. If only replies are
/// labelled, every message could have got one.
fn counted(channel: &Channel, labels: &[Option<Vec<usize>>]) -> Vec<bool> {
    let only_replies = are_only_replies(labels);
    let looked_at = |label: &Option<Vec<usize>>| only_replies || label.is_some();
    let mut left = labels.iter().filter(|label| looked_at(label)).count().saturating_sub(TAIL);
    let counts = |(said, label): (&Said, &Option<Vec<usize>>)| {
        let counts = looked_at(label) && left > 0;
        left -= usize::from(counts);
        counts && !said.bot
    };
    channel.said.iter().zip(labels).map(counts).collect()
}

/// Whether no message is labelled as the first of a conversation.
fn are_only_replies(labels: &[Option<Vec<usize>>]) -> bool {
    let begins = |(index, label): (usize, &Option<Vec<usize>>)| label.as_ref().is_some_and(|to| to.contains(&index));
    labels.iter().any(Option::is_some) && !labels.iter().enumerate().any(begins)
}

/// For each message, which people answer it.
fn answers(channel: &Channel, labels: &[Option<Vec<usize>>]) -> Vec<Vec<u64>> {
    let mut answers: Vec<Vec<u64>> = vec![Vec::new(); channel.said.len()];
    for (index, said) in channel.said.iter().enumerate().filter(|(_, said)| !said.bot) {
        for &parent in labels[index].iter().flatten().filter(|parent| **parent != index) {
            answers[parent].push(said.author);
        }
    }
    answers
}

/// The conversations so far: messages that are linked, and their authors.
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
    fn who_is_new_and_speaks_next_joins_whatever_they_answer() {
        // Carol answers Bob, but Alice spoke before her; the robot is nobody who joins.
        let labels = entries_by_next(&channel());
        assert_eq!(labels[..7], [Some(true), Some(false), Some(true), Some(false), None, Some(false), None]);
    }

    #[test]
    fn where_conversations_are_labelled_both_definitions_say_the_same() {
        let line = |index: usize| {
            let (author, label) =
                ([["ann", "ben", "ann", "cat"], ["dan", "dan", "eve", "dan"]][index % 2][index / 2 % 4], index % 2);
            format!(
                r#"{{"ts": {index}, "channel": "c", "id": "{index}", "author": "{author}", "text": "x", "gold_conversation": "{label}"}}"#
            )
        };
        let log: Vec<String> = (0..TAIL + 8).map(line).collect();
        let channel = parse(&log.join("\n")).expect("it parses").remove(0);
        let labels = entries_by_next(&channel);
        assert_eq!(labels, entries(&channel));
        let yes: Vec<usize> = (0..labels.len()).filter(|index| labels[*index] == Some(true)).collect();
        assert_eq!(yes, [0, 3, 4]);
    }

    #[test]
    fn it_is_somebodys_turn_where_they_spoke_before_and_speak_next() {
        let channel = channel();
        let of = |name: &'static str| turns(&channel, move |said| said.name == name);
        assert_eq!(of("alice"), [(1, true), (3, false)]);
        assert_eq!(of("bob"), [(2, false), (3, true)]);
        assert_eq!(of("robot"), []);
    }

    #[test]
    fn where_replies_alone_are_known_every_message_counts() {
        let label = |index: usize| match index {
            1 => r#", "gold_reply_to": ["0"]"#,
            _ => "",
        };
        let line = |index: usize| {
            let author = if index == 1 { "bob" } else { "alice" };
            format!(
                r#"{{"ts": {index}, "channel": "c", "id": "{index}", "author": "{author}", "text": "x"{}}}"#,
                label(index)
            )
        };
        let log: Vec<String> = (0..TAIL + 3).map(line).collect();
        let labels = entries(&parse(&log.join("\n")).expect("it parses")[0]);
        assert_eq!(labels[..4], [Some(true), Some(false), Some(false), None]);
    }

    #[test]
    fn where_replies_alone_are_known_who_replied_beside_it_is_new_to_a_reply() {
        // Ben and Cat reply to Ann, then Ben to Cat; Ann, who began it, is in the chain.
        let gold = [None, Some(0), Some(0), Some(2), Some(3)];
        let line = |index: usize| {
            let author = ["ann", "ben", "cat", "ben", "ann"].get(index).unwrap_or(&"zoe");
            let gold = gold.get(index).copied().flatten();
            let label = gold.map_or(String::new(), |gold| format!(r#", "gold_reply_to": ["{gold}"]"#));
            format!(r#"{{"ts": {index}, "channel": "c", "id": "{index}", "author": "{author}", "text": "x"{label}}}"#)
        };
        let log: Vec<String> = (0..TAIL + 5).map(line).collect();
        let labels = entries(&parse(&log.join("\n")).expect("it parses")[0]);
        assert_eq!(labels[..5], [Some(true), Some(false), Some(true), Some(false), Some(false)]);
    }

    #[test]
    fn anybody_else_answers() {
        assert_eq!(answered(&channel())[..4], [Some(true), Some(true), Some(false), Some(true)]);
    }
}
