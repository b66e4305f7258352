//! Predicts what a change will read, so that it is read with one call.

use aizuchi_core::memory::{FactDraft, Layer, MemoryChange};
use aizuchi_core::types::{PersonId, RoomId};

use super::document::DocumentKey;
use super::table::{channel_key, marks_key, person_key, tie_key};
use crate::memory::StoredLayers;
use crate::memory::table::OptOutMark;
use crate::ports::JournalId;

/// The maximum number of documents read in advance for several changes.
const EXPECTED_MAX: usize = 1_000;

pub fn expected(changes: &[MemoryChange], kept: StoredLayers, journal: Option<&JournalId>) -> Vec<DocumentKey> {
    let mut keys: Vec<DocumentKey> = changes.iter().flat_map(|change| of_change(change, kept, journal)).collect();
    keys.sort();
    keys.dedup();
    keys.truncate(EXPECTED_MAX);
    keys
}

fn out(person: &PersonId) -> DocumentKey {
    DocumentKey::of_opt_out(OptOutMark::from(person))
}

fn of_draft(draft: &FactDraft) -> Vec<DocumentKey> {
    let people = draft.people.iter().chain(draft.context.iter().map(|turn| &turn.person));
    people.map(out).chain([DocumentKey::of_last_fact()]).collect()
}

fn of_change(change: &MemoryChange, kept: StoredLayers, journal: Option<&JournalId>) -> Vec<DocumentKey> {
    let marks = |room: &RoomId| journal.map(|journal| marks_key(journal, room));
    match change {
        MemoryChange::Summarized(channel) if kept.has(Layer::Channels) => {
            let room = &channel.origin.room;
            let people = channel.active.iter().map(|(person, _)| out(person));
            people.chain(marks(room)).chain([channel_key(room)]).collect()
        }
        MemoryChange::Reflected { origin, facts, people, .. } => {
            let mut keys = Vec::from_iter(marks(&origin.room));
            if kept.has(Layer::Facts) {
                keys.extend(facts.iter().flat_map(of_draft));
            }
            if kept.has(Layer::People) {
                keys.extend(people.iter().flat_map(|note| [out(&note.person), person_key(&note.person)]));
            }
            keys
        }
        MemoryChange::Heard(heard) if kept.has(Layer::People) => {
            let known = [out(&heard.person), person_key(&heard.person)];
            marks(&heard.origin.room).into_iter().chain(known).collect()
        }
        MemoryChange::Answered(answered) if kept.has(Layer::People) => {
            let tie = tie_key(&answered.origin.room, &answered.from, &answered.to);
            vec![out(&answered.from), out(&answered.to), tie]
        }
        MemoryChange::Kept(draft) if kept.has(Layer::Facts) => of_draft(draft),
        MemoryChange::Used { facts, .. } if kept.has(Layer::Facts) => {
            facts.iter().map(|fact| DocumentKey::of_fact(fact.0)).collect()
        }
        MemoryChange::OptedOut { person, .. } => vec![out(person), person_key(person)],
        // They read one document, or query for what they read.
        MemoryChange::Summarized(_)
        | MemoryChange::Heard(_)
        | MemoryChange::Answered(_)
        | MemoryChange::Kept(_)
        | MemoryChange::Imported(_)
        | MemoryChange::Used { .. }
        | MemoryChange::Told { .. }
        | MemoryChange::Edited { .. }
        | MemoryChange::Pinned { .. }
        | MemoryChange::Forgotten { .. }
        | MemoryChange::Embedded { .. }
        | MemoryChange::MessageGone { .. }
        | MemoryChange::Narrowed { .. }
        | MemoryChange::PersonForgotten { .. }
        | MemoryChange::RoomForgotten { .. }
        | MemoryChange::Faded { .. } => Vec::new(),
    }
}
