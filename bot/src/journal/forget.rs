//! What is to be forgotten leaves the journal: the record keeps its number and its time, and loses the rest.

use std::collections::BTreeSet;
use std::sync::Arc;

use aizuchi_core::engine::Nobody;
use aizuchi_core::types::{MessageId, PersonId, RoomId};
use aizuchi_core::{Input, Policies, Time, Trace};
use rusqlite::{Connection, Transaction, params};

use super::engines::Engines;
use super::read::{Record, Records};
use super::record::encode;
use super::write::{Journal, State};
use crate::stores::StoreError;

/// What an engine's records hold of a person.
#[derive(Clone, Debug, Default)]
pub struct Footprints {
    /// Where they spoke.
    pub rooms: Vec<RoomId>,
    /// What they went by.
    pub names: Vec<Box<str>>,
    /// Records that must not stay as they are, and what takes their place.
    records: Vec<(i64, Input)>,
}

/// Names of fewer characters are parts of too many words to be looked for.
const NAME_CHARS_MIN: usize = 3;

impl Footprints {
    /// What is known before anything was looked for.
    pub fn known(rooms: Vec<RoomId>, names: Vec<Box<str>>) -> Footprints {
        Footprints { rooms, names, records: Vec::new() }
    }

    pub fn add(&mut self, found: Footprints) {
        self.rooms.extend(found.rooms.into_iter().filter(|room| !self.rooms.contains(room)).collect::<Vec<_>>());
        self.names.extend(found.names.into_iter().filter(|name| !self.names.contains(name)).collect::<Vec<_>>());
    }
}

impl Journal {
    /// Looks for a person in everything an engine has recorded. `known` are rooms and names from elsewhere.
    pub async fn footprints(
        &self,
        shard: usize,
        person: &PersonId,
        known: Arc<Footprints>,
    ) -> Result<Footprints, StoreError> {
        let person = person.clone();
        self.database.read(move |connection| footprints(connection, shard, &person, &known)).await
    }

    /// Scrubs the records, the decisions and the state the journal begins with, and writes down the engine's state without
    /// the person: all of it, or nothing.
    pub async fn forget(
        &self,
        person: &PersonId,
        found: Footprints,
        policies: &Policies,
        state: State,
    ) -> Result<(), StoreError> {
        let (person, policies) = (person.clone(), policies.clone());
        let state = state.encode().await;
        let write = move |transaction: &Transaction<'_>| {
            for (seq, input) in &found.records {
                let (body, sum) = encode(input);
                let update = "UPDATE journal SET body = ?2, sum = ?3 WHERE seq = ?1";
                transaction.prepare_cached(update)?.execute(params![seq, body, sum])?;
            }
            forget_decisions(transaction, &person, &found.rooms)?;
            forget_in_base(transaction, &person, &found, &policies)?;
            state.store(transaction)
        };
        self.database.write(write).await
    }
}

fn footprints(
    connection: &Connection,
    shard: usize,
    person: &PersonId,
    known: &Footprints,
) -> rusqlite::Result<Footprints> {
    let (mut rooms, mut names): (BTreeSet<RoomId>, BTreeSet<Box<str>>) =
        (known.rooms.iter().cloned().collect(), known.names.iter().cloned().collect());
    let mut messages = BTreeSet::new();
    let mut records = Vec::new();
    let is_ours = |record: &Record| record.shard as usize == shard;
    for record in Records::all(connection)? {
        let Some(mut record) = record?.ok().filter(is_ours) else { continue };
        if let Input::Said(message) = &record.input
            && message.author.id == *person
        {
            rooms.insert(message.place.room.clone());
            names.insert(message.author.name.clone());
            messages.insert(message.id.clone());
        }
        if scrub(&mut record.input, person) {
            records.push((record.seq, record.input));
        }
    }
    // Once more, now that it is known what they said and where: what was made of it must go too.
    for record in Records::all(connection)? {
        let Some(record) = record?.ok().filter(is_ours) else { continue };
        if rests_on(&record.input, &messages, &rooms) {
            records.push((record.seq, Input::Forgotten));
        }
    }
    names.retain(|name| name.chars().count() >= NAME_CHARS_MIN);
    Ok(Footprints { rooms: rooms.into_iter().collect(), names: names.into_iter().collect(), records })
}

/// Takes a person out of a record; whether there was anything to take out.
fn scrub(input: &mut Input, person: &PersonId) -> bool {
    match input {
        Input::Said(message) if message.author.id == *person => *input = Input::Forgotten,
        Input::Reacted(reaction) if reaction.by == *person => *input = Input::Forgotten,
        Input::Said(message) => {
            let before = message.mentions.len();
            message.mentions.retain(|mentioned| mentioned != person);
            let to_them = message.reply.as_mut().filter(|reply| reply.to_person.as_ref() == Some(person));
            let was_reply = to_them.map(|reply| reply.to_person = None).is_some();
            return was_reply || message.mentions.len() < before;
        }
        Input::Reacted(_)
        | Input::Changed(_)
        | Input::Told(..)
        | Input::PolicyChanged(_)
        | Input::Tick
        | Input::Resumed
        | Input::Judged(..)
        | Input::Written(..)
        | Input::Delivered(..)
        | Input::Recalled(..)
        | Input::Remembered(..)
        | Input::Refused(..)
        | Input::Billed(..)
        | Input::ClockSet(_)
        | Input::Forgotten => return false,
    }
    true
}

/// Edits of their messages, reactions to them, and whatever a model said in a room they spoke in.
fn rests_on(input: &Input, messages: &BTreeSet<MessageId>, rooms: &BTreeSet<RoomId>) -> bool {
    match input {
        Input::Changed(change) => messages.contains(&change.id),
        Input::Reacted(reaction) => messages.contains(&reaction.message),
        Input::Judged(call, _) | Input::Written(call, _) => rooms.contains(&call.room),
        Input::Said(_)
        | Input::Told(..)
        | Input::PolicyChanged(_)
        | Input::Tick
        | Input::Resumed
        | Input::Delivered(..)
        | Input::Recalled(..)
        | Input::Remembered(..)
        | Input::Refused(..)
        | Input::Billed(..)
        | Input::ClockSet(_)
        | Input::Forgotten => false,
    }
}

/// Decisions about their messages go; those about others' lose the judge's words, who read theirs too.
fn forget_decisions(transaction: &Transaction<'_>, person: &PersonId, rooms: &[RoomId]) -> rusqlite::Result<()> {
    for room in rooms {
        let mut statement = transaction.prepare_cached("SELECT message, body FROM trace WHERE room = ?1")?;
        let rows =
            statement.query_map([room.as_str()], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
        for row in rows.collect::<rusqlite::Result<Vec<_>>>()? {
            let (message, body) = row;
            let mut trace = match serde_json::from_str::<Trace>(&body) {
                Ok(trace) if trace.author_id != *person => trace,
                Ok(_) | Err(_) => {
                    let delete = "DELETE FROM trace WHERE room = ?1 AND message = ?2";
                    transaction.prepare_cached(delete)?.execute([room.as_str(), &message])?;
                    continue;
                }
            };
            trace.forget_words();
            let body_now = serde_json::to_string(&trace).expect("a trace is plain data");
            if body_now != body {
                let update = "UPDATE trace SET body = ?3 WHERE room = ?1 AND message = ?2";
                transaction.prepare_cached(update)?.execute([room.as_str(), &message, &body_now])?;
            }
        }
    }
    Ok(())
}

/// The journal may begin with engines that remember them.
fn forget_in_base(
    transaction: &Transaction<'_>,
    person: &PersonId,
    found: &Footprints,
    policies: &Policies,
) -> rusqlite::Result<()> {
    let mut engines = match Engines::at_the_beginning(transaction, policies)? {
        Ok(engines) if !engines.is_fresh() => engines,
        // What cannot be read cannot be scrubbed either: it is worth less than the promise.
        Ok(_) | Err(_) => return transaction.execute("DELETE FROM base", []).map(drop),
    };
    engines.forget(Nobody { person, names: &found.names, rooms: &found.rooms });
    engines.encode().iter().try_for_each(|(seq, engine)| engine.store_as_base(transaction, *seq))
}

impl Journal {
    /// Lets go of everything recorded in these rooms, as far as no start needs it.
    pub async fn forget_rooms(&self, rooms: Vec<RoomId>) -> Result<(), StoreError> {
        let write = move |transaction: &Transaction<'_>| {
            let (body, sum) = encode(&Input::Forgotten);
            let scrub = "UPDATE journal SET body = ?2, sum = ?3 WHERE room = ?1
                AND seq <= coalesce((SELECT min(seq) FROM snapshot), 0)";
            for room in &rooms {
                transaction.prepare_cached(scrub)?.execute(params![room.as_str(), body, sum])?;
                transaction.execute("DELETE FROM trace WHERE room = ?1", [room.as_str()])?;
            }
            Ok(())
        };
        self.database.write(write).await
    }

    /// What was deleted before this time does not stay in the journal either, once no start needs its records. Returns how
    /// many went.
    pub async fn drop_deleted(&self, before: Time) -> Result<usize, StoreError> {
        let seqs = self.database.read(move |connection| deleted(connection, before)).await?;
        let dropped = seqs.len();
        let write = move |transaction: &Transaction<'_>| {
            let (body, sum) = encode(&Input::Forgotten);
            let update = "UPDATE journal SET body = ?2, sum = ?3 WHERE seq = ?1";
            let mut update = transaction.prepare_cached(update)?;
            seqs.iter().try_for_each(|seq| update.execute(params![seq, body, sum]).map(drop))
        };
        if dropped > 0 {
            self.database.write(write).await?;
        }
        Ok(dropped)
    }
}

/// The records of messages that were deleted before this time, that of the deletion included.
fn deleted(connection: &Connection, before: Time) -> rusqlite::Result<Vec<i64>> {
    let deletions = "SELECT body FROM journal WHERE at < ?1 AND substr(body, 1, 11) = '{\"Changed\":'
        AND json_extract(body, '$.Changed.text') IS NULL
        AND seq <= coalesce((SELECT min(seq) FROM snapshot), 0)";
    let mut gone = BTreeSet::new();
    let mut statement = connection.prepare_cached(deletions)?;
    for body in statement.query_map([before.0 as i64], |row| row.get::<_, String>(0))? {
        if let Ok(Input::Changed(change)) = serde_json::from_str(&body?) {
            gone.insert((change.place.room, change.id));
        }
    }
    if gone.is_empty() {
        return Ok(Vec::new());
    }
    let mut seqs = Vec::new();
    for record in Records::all(connection)? {
        let Ok(record) = record? else { continue };
        let about = match record.input {
            Input::Said(message) => (message.place.room, message.id),
            Input::Changed(change) => (change.place.room, change.id),
            _ => continue,
        };
        if record.at < before && gone.contains(&about) {
            seqs.push(record.seq);
        }
    }
    Ok(seqs)
}

#[cfg(test)]
mod tests {
    use aizuchi_core::types::{Author, Change, Message, Place, Reply, Visibility, Voice};

    use super::*;

    fn said(person: &str, mentions: &[&str]) -> Input {
        Input::Said(Message {
            id: MessageId::new("m1"),
            place: Place::room("web:lobby"),
            at: Time(1),
            author: Author { id: PersonId::new(person), name: person.into(), voice: Voice::Person },
            text: "hello".into(),
            reply: Some(Reply { to: None, to_me: false, to_person: mentions.first().map(PersonId::new) }),
            mentions: mentions.iter().map(PersonId::new).collect(),
            mentions_me: false,
            visibility: Visibility::Public,
            backfilled: false,
            heard: None,
        })
    }

    #[test]
    fn a_person_is_taken_out_of_their_own_records_and_of_others() {
        let mia = PersonId::new("mia");
        let mut own = said("mia", &[]);
        assert!(scrub(&mut own, &mia) && matches!(own, Input::Forgotten));
        let mut about = said("bob", &["mia", "ann"]);
        assert!(scrub(&mut about, &mia));
        let Input::Said(message) = &about else { panic!("{about:?}") };
        assert_eq!(message.mentions, [PersonId::new("ann")]);
        assert_eq!(message.reply.as_ref().and_then(|reply| reply.to_person.as_ref()), None);
        assert!(!scrub(&mut about, &mia), "nothing is left to take out");
        let edit = Change { place: Place::room("web:lobby"), id: MessageId::new("m1"), at: Time(2), text: None };
        let (messages, rooms) = (BTreeSet::from([MessageId::new("m1")]), BTreeSet::new());
        assert!(rests_on(&Input::Changed(edit), &messages, &rooms));
    }
}
