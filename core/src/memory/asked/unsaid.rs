//! What a request to forget does to a fact.

use super::ForgetTopic;
use crate::memory::{ExportItem, Fact, MemoryChange, Wording};
use crate::types::{MessageId, PersonId};

/// Takes back what these people, who are one person, said about a topic. A fact that others stated as well is reduced to their
/// wordings, as if the messages had been deleted. Empty if they said nothing about it.
pub fn changes_to_unsay(topic: &ForgetTopic, fact: &Fact, ids: &[PersonId]) -> Vec<MemoryChange> {
    let is_them = |person: &PersonId| ids.contains(person);
    let forget = || vec![MemoryChange::Forgotten { fact: fact.id }];
    if fact.wordings.is_empty() {
        let is_about = fact.people.iter().any(is_them) && fact.texts().any(|text| topic.is_in(text));
        return if is_about { forget() } else { Vec::new() };
    }
    let is_unsaid = |wording: &Wording| {
        let mut texts = std::iter::once(&wording.content).chain(&wording.keywords);
        wording.people.iter().any(is_them) && texts.any(|text| topic.is_in(text))
    };
    let unsaid: Vec<&Wording> = fact.wordings.iter().filter(|wording| is_unsaid(wording)).collect();
    if unsaid.is_empty() {
        return Vec::new();
    }
    let mut left = fact.clone();
    if !left.lose_wordings(is_unsaid) {
        return forget();
    }
    let own = |wording: &Wording| -> Vec<MessageId> {
        let is_own = |message: &&MessageId| {
            let mut turns = fact.own_turns().filter(|turn| turn.message == **message);
            wording.people.iter().all(is_them) || turns.any(|turn| is_them(&turn.person))
        };
        wording.messages.iter().filter(is_own).cloned().collect()
    };
    let messages: Vec<Vec<MessageId>> = unsaid.into_iter().map(own).collect();
    if messages.iter().any(Vec::is_empty) {
        // Nothing says which messages these were.
        return vec![
            MemoryChange::Forgotten { fact: fact.id },
            MemoryChange::Imported(Box::new(ExportItem::Fact(left))),
        ];
    }
    let gone = |message| MemoryChange::MessageGone { room: fact.origin.room.clone(), message };
    messages.into_iter().flatten().map(gone).collect()
}
