//! The talk of a room according to the journal: with edits applied, and without deleted messages.

use std::collections::{BTreeSet, VecDeque};

use aizuchi_core::input::Command;
use aizuchi_core::memory::{HeardFrom, Origin, asked_to_forget, words};
use aizuchi_core::types::{MessageId, PersonId, RoomId, Time, Visibility, Voice};
use aizuchi_core::{Input, Message};

use crate::journal::Records;
use crate::ports::{JournalStore, RecordKind};
use crate::stores::StoreError;

/// What a message is about, in so many words.
pub(super) const TOPICS: usize = 5;

/// A message and the record it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedMessage {
    pub seq: u64,
    pub id: MessageId,
    pub at: Time,
    pub person: PersonId,
    pub name: Box<str>,
    pub voice: Voice,
    pub text: Box<str>,
    pub mentions_me: bool,
    pub visibility: Visibility,
    /// Whether it was said in a thread, which may have fewer members than its room.
    pub in_thread: bool,
}

impl RecordedMessage {
    pub(super) fn new(seq: i64, message: Message) -> RecordedMessage {
        let Message { id, at, author, text, mentions_me, visibility, place, .. } = message;
        let (person, name, voice) = (author.id, author.name, author.voice);
        let in_thread = place.thread.is_some();
        RecordedMessage { seq: seq as u64, id, at, person, name, voice, text, mentions_me, visibility, in_thread }
    }

    /// What memory hears of it. What not everybody in the room could read is counted, and that is all; so is the wish that
    /// something be forgotten.
    pub fn to_heard(&self, room: &RoomId) -> HeardFrom {
        let is_only_counted = self.is_aside() || asked_to_forget(&self.text).is_some();
        HeardFrom {
            origin: Origin { room: room.clone(), visibility: self.visibility },
            up_to: self.seq,
            message: self.id.clone(),
            person: self.person.clone(),
            name: self.name.clone(),
            at: self.at,
            mentions_me: self.mentions_me,
            topics: if is_only_counted { Vec::new() } else { words::topics(&self.text, TOPICS) },
        }
    }

    /// Whether not everybody in the room could read it. Such a message is never recalled there.
    pub fn is_aside(&self) -> bool {
        self.in_thread && self.visibility != Visibility::Public
    }
}

/// Which part of a long talk is read, so that no more than that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TalkPart {
    First(usize),
    Latest(usize),
}

/// A part of a talk, and the record up to which it was read if that is not the end.
#[derive(Debug, Default)]
pub struct RecordedTalk {
    pub said: Vec<RecordedMessage>,
    pub read_to: Option<u64>,
}

/// What was said in a room after the record `after` and up to `up_to`, in its current text.
pub async fn read_talk(
    journal: &dyn JournalStore,
    room: &RoomId,
    after: u64,
    up_to: u64,
    part: TalkPart,
) -> Result<RecordedTalk, StoreError> {
    let (mut talk, mut known): (VecDeque<RecordedMessage>, BTreeSet<MessageId>) = Default::default();
    let mut read_to = None;
    let mut records = Records::after(journal, after as i64).await?.in_room(room);
    // A damaged record is reported at the start; here it is skipped.
    while let Some(record) = records.next_whole().await? {
        let seq = record.seq;
        if let Input::Said(message) = record.input {
            if seq as u64 > up_to {
                continue;
            }
            let empty = message.text.trim().is_empty();
            if !empty && message.author.voice != Voice::Me && known.insert(message.id.clone()) {
                talk.push_back(RecordedMessage::new(seq, message));
            }
            match part {
                TalkPart::First(count) if talk.len() >= count => {
                    read_to = Some(seq as u64);
                    // There are enough messages: from here on only changes to them are read.
                    records.only(&[RecordKind::Changed, RecordKind::Told]);
                }
                TalkPart::Latest(count) if talk.len() > count => {
                    if let Some(first) = talk.pop_front() {
                        known.remove(&first.id);
                    }
                }
                TalkPart::First(_) | TalkPart::Latest(_) => (),
            }
        } else if let Input::Changed(change) = record.input {
            if !known.contains(&change.id) {
                continue;
            }
            if let Some(text) = change.text {
                talk.iter_mut().filter(|said| said.id == change.id).for_each(|said| said.text = text.clone());
            } else {
                known.remove(&change.id);
                talk.retain(|said| said.id != change.id);
            }
        } else if let Input::Told(_, Command::Reset) = record.input {
            talk.clear();
            known.clear();
        }
    }
    Ok(RecordedTalk { said: talk.into(), read_to })
}

#[cfg(test)]
mod tests {
    use aizuchi_core::types::{Author, Change, Place, Time};
    use aizuchi_test_servers::folder::Scratch;

    use super::*;
    use crate::ports::JournalEntry;
    use crate::stores::{Database, scratch};

    fn said_by_mia(number: u64) -> Input {
        Input::Said(Message {
            id: MessageId::new(format!("m{number}")),
            place: Place::room("log:room"),
            at: Time(number),
            author: Author { id: PersonId::new("mia"), name: "mia".into(), voice: Voice::Person },
            text: "the oven is hot".into(),
            reply: None,
            mentions: Vec::new(),
            mentions_me: false,
            visibility: Visibility::Public,
            backfilled: false,
            heard: None,
        })
    }

    fn changed(number: u64, text: Option<&str>) -> Input {
        let (place, id) = (Place::room("log:room"), MessageId::new(format!("m{number}")));
        Input::Changed(Change { place, id, at: Time(0), text: text.map(Into::into) })
    }

    async fn journal(inputs: impl Iterator<Item = Input>) -> (Scratch, Database) {
        let (folder, database) = scratch("lines");
        let entries: Vec<JournalEntry> = inputs.map(|input| JournalEntry::Input(Time(7), input)).collect();
        database.append(0, &entries).await.unwrap();
        (folder, database)
    }

    fn ids_and_texts(talk: &RecordedTalk) -> Vec<(&str, &str)> {
        talk.said.iter().map(|said| (said.id.as_str(), &*said.text)).collect()
    }

    #[tokio::test]
    async fn a_part_is_as_it_is_now_and_no_longer_than_asked_for() {
        let later = [changed(2, Some("the oven is cold")), changed(3, None), said_by_mia(1_001)];
        let (_folder, journal) = journal((1..=1_000).map(said_by_mia).chain(later)).await;
        let room = RoomId::new("log:room");
        let first = read_talk(&journal, &room, 0, u64::MAX >> 1, TalkPart::First(4)).await.unwrap();
        assert_eq!(
            (ids_and_texts(&first), first.read_to),
            (vec![("m1", "the oven is hot"), ("m2", "the oven is cold"), ("m4", "the oven is hot")], Some(4))
        );
        let latest = read_talk(&journal, &room, 0, u64::MAX >> 1, TalkPart::Latest(2)).await.unwrap();
        assert_eq!(ids_and_texts(&latest).iter().map(|(id, _)| *id).collect::<Vec<_>>(), ["m1000", "m1001"]);
        assert_eq!(latest.read_to, None);
    }
}
