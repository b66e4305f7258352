//! Changes that are in the journal and that memory has not processed yet. An answer does not wait for that: the changes are
//! applied where memory is read, and stored later.

use aizuchi_core::Input;
use aizuchi_core::memory::{ChannelMemory, MemoryChange, Person, Recalled};
use aizuchi_core::types::{RoomId, Voice};

use super::lines::RecordedMessage;
use super::watch::changes_nothing;
use crate::journal::Records;
use crate::ports::{RecordKind, Stores};
use crate::stores::StoreError;

/// Messages that were changed or deleted, in any room.
#[derive(Debug, Default)]
pub struct PendingChanges(pub(super) Vec<MemoryChange>);

impl PendingChanges {
    pub(super) async fn read(stores: &Stores) -> Result<PendingChanges, StoreError> {
        let mut records = Records::after(&*stores.journal, stores.keeper.position().await?).await?;
        records.only(&[RecordKind::Changed]);
        let mut gone = Vec::new();
        // A damaged record is reported at the start; here it is skipped.
        while let Some(record) = records.next_whole().await? {
            if changes_nothing(stores, &record).await? {
                continue;
            }
            if let Input::Changed(change) = record.input {
                gone.push(MemoryChange::MessageGone { room: change.place.room, message: change.id });
            }
        }
        Ok(PendingChanges(gone))
    }

    /// Whether what is known of a channel may still be used.
    pub fn leaves(&self, channel: &ChannelMemory) -> bool {
        !self.0.iter().any(|gone| {
            let MemoryChange::MessageGone { room, message } = gone else { return false };
            *room == channel.origin.room && channel.may_rest_on(message)
        })
    }

    /// The facts that are still valid.
    pub fn without_gone(&self, mut facts: Vec<Recalled>) -> Vec<Recalled> {
        for gone in &self.0 {
            let MemoryChange::MessageGone { room, message } = gone else { continue };
            facts.retain_mut(|recalled| {
                let fact = &mut recalled.fact;
                fact.origin.room != *room || fact.lose_message(message)
            });
        }
        facts
    }

    /// Completes a person with what they said in the room after the record `counted`; those messages are in `talk`.
    pub fn complete(&self, person: &mut Person, room: &RoomId, counted: u64, talk: &[RecordedMessage]) {
        for said in talk.iter().filter(|said| said.seq > counted && said.voice == Voice::Person) {
            if said.person == person.id {
                person.hear(&said.to_heard(room));
            }
        }
        for gone in &self.0 {
            person.apply(gone);
        }
    }
}

#[cfg(test)]
mod tests {
    use aizuchi_core::memory::{Allowed, FactDraft, FactId, Origin};
    use aizuchi_core::types::{MessageId, PersonId, Place, Time, Visibility};
    use aizuchi_test_servers::folder::Scratch;

    use super::*;
    use crate::ports::JournalEntry;
    use crate::stores::scratch;

    fn recalled(id: u64, room: &str, messages: &[&str]) -> Recalled {
        let draft = FactDraft {
            origin: Origin::new(room, Visibility::Public),
            content: "the door code changed".into(),
            keywords: Vec::new(),
            people: Vec::new(),
            messages: messages.iter().copied().map(MessageId::new).collect(),
            context: Vec::new(),
            confidence: 0.8,
            shareable: true,
            at: Time(0),
            replaces: None,
        };
        Recalled { fact: draft.keep(FactId(id)), score: 1.0, strength: 1.0, allowed: Allowed::SameRoom }
    }

    fn merged(id: u64, room: &str, messages: [&str; 2]) -> Recalled {
        let mut recalled = recalled(id, room, &messages[..1]);
        let again = FactDraft { messages: vec![MessageId::new(messages[1])], ..recalled.fact.clone().into() };
        recalled.fact.absorb(again);
        recalled
    }

    /// A journal in which `m1` of the room was deleted after the record that memory has read.
    async fn journal() -> (Scratch, Stores) {
        let (folder, database) = scratch("pending");
        let stores = Stores::from(database);
        stores.keeper.set_position(1).await.unwrap();
        let deleted = |id: &str| {
            let place = Place::room("log:room");
            Input::Changed(aizuchi_core::types::Change { place, id: MessageId::new(id), at: Time(0), text: None })
        };
        let entries = [deleted("m0"), Input::Tick, deleted("m1")].map(|input| JournalEntry::Input(Time(7), input));
        stores.journal.append(0, &entries).await.unwrap();
        (folder, stores)
    }

    #[tokio::test]
    async fn what_was_just_deleted_is_not_recalled() {
        let (_folder, stores) = journal().await;
        let pending = PendingChanges::read(&stores).await.unwrap();
        let facts = vec![
            recalled(1, "log:room", &["m1", "m2"]),
            merged(2, "log:room", ["m1", "m2"]),
            recalled(3, "log:other", &["m1"]),
            recalled(4, "log:room", &["m0"]),
        ];
        let left: Vec<u64> = pending.without_gone(facts).iter().map(|recalled| recalled.fact.id.0).collect();
        // The first was made of it, the second was said by others too; that of `m0` has been read before, and memory has its
        // own opinion of it.
        assert_eq!(left, [2, 3, 4]);
    }

    #[test]
    fn who_has_just_spoken_is_known_by_it() {
        let said = |seq: u64, person: &str| RecordedMessage {
            seq,
            id: MessageId::new(format!("m{seq}")),
            at: Time(seq),
            person: PersonId::new(person),
            name: person.into(),
            voice: Voice::Person,
            text: "the oven is hot".into(),
            mentions_me: seq == 3,
            visibility: Visibility::Public,
            in_thread: false,
        };
        let talk = [said(1, "mia"), said(2, "mia"), said(3, "mia"), said(4, "jonas")];
        let mut mia = Person::new(PersonId::new("mia"), Time(0));
        PendingChanges::default().complete(&mut mia, &RoomId::new("log:room"), 1, &talk);
        assert_eq!((mia.messages, mia.mentions_of_me), (2, 1), "the first was counted before");
        let asks = RecordedMessage { text: "please forget what I said about my xylophone".into(), ..said(5, "mia") };
        let before = mia.topics.clone();
        PendingChanges::default().complete(&mut mia, &RoomId::new("log:room"), 4, &[asks]);
        assert_eq!((mia.messages, &mia.topics), (3, &before), "such a wish is no topic");
    }
}
