//! What the journal has and memory has not taken in yet. Whoever asks does not wait for that: it is taken into account where
//! memory is read, and written down in its own time.

use aizuchi_core::Input;
use aizuchi_core::memory::{Change, ChannelMemory, Heard, Origin, Person, Recalled, words};
use aizuchi_core::types::{RoomId, Voice};
use rusqlite::Connection;

use super::lines::Said;
use super::watch::TOPICS;

/// Messages that were changed or deleted, in any room.
#[derive(Debug, Default)]
pub struct Pending(Vec<Change>);

pub(super) fn pending(connection: &Connection) -> rusqlite::Result<Pending> {
    // By how a record begins: there are many, and few of them are changes.
    let query =
        "SELECT body FROM journal WHERE seq > (SELECT seq FROM keeper) AND substr(body, 1, 10) = '{\"Changed\"'";
    let mut statement = connection.prepare_cached(query)?;
    let mut gone = Vec::new();
    for body in statement.query_map([], |row| row.get::<_, String>(0))? {
        // A damaged record is told of at the start; here it is just not there.
        if let Ok(Input::Changed(change)) = serde_json::from_str(&body?) {
            gone.push(Change::MessageGone { room: change.place.room, message: change.id });
        }
    }
    Ok(Pending(gone))
}

impl Pending {
    /// Whether what is known of a channel may still be used.
    pub fn leaves(&self, channel: &ChannelMemory) -> bool {
        !self.0.iter().any(|gone| match gone {
            Change::MessageGone { room, message } => *room == channel.origin.room && channel.may_rest_on(message),
            _ => false,
        })
    }

    /// What is left of the facts.
    pub fn without_gone(&self, mut facts: Vec<Recalled>) -> Vec<Recalled> {
        for gone in &self.0 {
            let Change::MessageGone { room, message } = gone else { continue };
            facts.retain_mut(|recalled| {
                let fact = &mut recalled.fact;
                let rests = fact.origin.room == *room && fact.messages.contains(message);
                if rests {
                    fact.messages.retain(|of| of != message);
                }
                !(rests && fact.messages.is_empty())
            });
        }
        facts
    }

    /// A person as they will be known: with what they said in the room after its record `counted`, which is in `talk`.
    pub fn complete(&self, person: &mut Person, room: &RoomId, counted: u64, talk: &[Said]) {
        for said in talk.iter().filter(|said| said.seq > counted && said.voice == Voice::Person) {
            if said.person == person.id {
                person.hear(&heard(said, room));
            }
        }
        for gone in &self.0 {
            person.follow(gone);
        }
    }
}

fn heard(said: &Said, room: &RoomId) -> Heard {
    Heard {
        origin: Origin { room: room.clone(), visibility: said.visibility },
        up_to: said.seq,
        message: said.id.clone(),
        person: said.person.clone(),
        name: said.name.clone(),
        at: said.at,
        mentions_me: said.mentions_me,
        topics: if said.is_aside() { Vec::new() } else { words::topics(&said.text, TOPICS) },
    }
}

#[cfg(test)]
mod tests {
    use aizuchi_core::memory::{Allowed, Draft, FactId};
    use aizuchi_core::types::{MessageId, PersonId, Place, Time, Visibility};
    use rusqlite::params;

    use super::*;

    fn recalled(id: u64, room: &str, messages: &[&str]) -> Recalled {
        let draft = Draft {
            origin: Origin::new(room, Visibility::Public),
            content: "the door code changed".into(),
            keywords: Vec::new(),
            people: Vec::new(),
            messages: messages.iter().copied().map(MessageId::new).collect(),
            confidence: 0.8,
            shareable: true,
            at: Time(0),
            replaces: None,
        };
        Recalled { fact: draft.keep(FactId(id)), score: 1.0, strength: 1.0, allowed: Allowed::SameRoom }
    }

    /// A journal in which `m1` of the room was deleted after the record that memory has read.
    fn journal() -> Connection {
        let connection = Connection::open_in_memory().unwrap();
        connection.execute_batch(include_str!("../stores/sqlite/migrations/0001.sql")).unwrap();
        connection.execute_batch("CREATE TABLE keeper (seq INTEGER NOT NULL); INSERT INTO keeper VALUES (1)").unwrap();
        let deleted = |id: &str| {
            let place = Place::room("log:room");
            Input::Changed(aizuchi_core::types::Change { place, id: MessageId::new(id), at: Time(0), text: None })
        };
        for input in [deleted("m0"), Input::Tick, deleted("m1")] {
            let insert = "INSERT INTO journal (shard, at, room, body, sum) VALUES (0, 7, NULL, ?1, 0)";
            connection.execute(insert, params![serde_json::to_string(&input).unwrap()]).unwrap();
        }
        connection
    }

    #[test]
    fn what_was_just_deleted_is_not_recalled() {
        let pending = pending(&journal()).unwrap();
        let facts = vec![
            recalled(1, "log:room", &["m1"]),
            recalled(2, "log:room", &["m1", "m2"]),
            recalled(3, "log:other", &["m1"]),
            recalled(4, "log:room", &["m0"]),
        ];
        let left: Vec<u64> = pending.without_gone(facts).iter().map(|recalled| recalled.fact.id.0).collect();
        // The first rests on nothing else; that of `m0` has been read before, and memory has its own opinion of it.
        assert_eq!(left, [2, 3, 4]);
    }

    #[test]
    fn who_has_just_spoken_is_known_by_it() {
        let said = |seq: u64, person: &str| Said {
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
        Pending::default().complete(&mut mia, &RoomId::new("log:room"), 1, &talk);
        assert_eq!((mia.messages, mia.mentions_of_me), (2, 1), "the first was counted before");
    }
}
