//! What is to be forgotten leaves the journal: the record keeps its number and its time, and loses the rest.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use aizuchi_core::memory::{ForgetRequest, Recognizer};
use aizuchi_core::types::{MessageId, RoomId, Voice};
use aizuchi_core::{Input, Policies, Time, Trace};
use rusqlite::{Connection, Transaction, params};

use super::engines::Engines;
use super::read::{Record, Records};
use super::record::encode;
use super::trail::{acted_for, each_trace};
use super::write::{Journal, State};
use crate::runtime::shard_of;
use crate::stores::StoreError;

/// What an engine's records hold of a person.
#[derive(Debug)]
pub struct Footprints {
    /// Who is looked for, with the rooms and answers that were found here.
    pub request: ForgetRequest,
    /// Records that must not stay as they are, and what takes their place.
    records: Vec<(i64, Input)>,
    decisions: Vec<Decision>,
}

/// A decision that must not stay as it is.
#[derive(Debug)]
struct Decision {
    room: String,
    message: String,
    before: String,
    /// `None` if all of it goes.
    after: Option<String>,
}

impl Journal {
    /// Looks for a person in everything that was recorded in the rooms of an engine.
    pub async fn footprints(
        &self,
        shard: usize,
        shards: usize,
        request: Arc<ForgetRequest>,
    ) -> Result<Footprints, StoreError> {
        self.database.read(move |connection| footprints(connection, shard, shards, &request)).await
    }

    /// Scrubs the records, the decisions and the state the journal begins with, and writes down the engine's state without
    /// the person: all of it, or nothing.
    pub async fn forget(&self, found: Footprints, policies: &Policies, state: State) -> Result<(), StoreError> {
        let policies = policies.clone();
        let state = state.encode().await;
        let forgotten = self.database.times_forgotten();
        let write = move |transaction: &Transaction<'_>| {
            forgotten.fetch_add(1, Ordering::SeqCst);
            for (seq, input) in &found.records {
                let (body, sum) = encode(input);
                let update = "UPDATE journal SET body = ?2, sum = ?3 WHERE seq = ?1";
                transaction.prepare_cached(update)?.execute(params![seq, body, sum])?;
            }
            found.decisions.iter().try_for_each(|decision| decision.forget(transaction))?;
            forget_in_base(transaction, &found.request, &policies)?;
            state.store(transaction)
        };
        self.database.write(write).await
    }
}

fn footprints(
    connection: &Connection,
    shard: usize,
    shards: usize,
    request: &ForgetRequest,
) -> rusqlite::Result<Footprints> {
    let mut request = request.clone();
    // By room: the engine that wrote a record may be another than the one that has the room today.
    let is_ours = |room: &RoomId| shard_of(room, shards) == shard;
    let of_ours = |record: &Record| record.input.room().is_some_and(is_ours);
    let acted = acted_for(connection, &request.ids)?;
    let mut messages = BTreeSet::new();
    for record in Records::all(connection)? {
        let Some(record) = record?.ok().filter(of_ours) else { continue };
        match record.input {
            Input::Said(message) if request.is_of(&message.author.id) => {
                if !request.rooms.contains(&message.place.room) {
                    request.rooms.push(message.place.room.clone());
                }
                messages.insert((message.place.room, message.id));
            }
            Input::Delivered(call, Ok(ids)) if acted.contains(&(call.room.clone(), record.at)) => {
                request.answers.extend(ids.into_iter().map(|id| (call.room.clone(), id)));
            }
            _ => (),
        }
    }
    request.answers.sort();
    request.answers.dedup();
    let theirs = request.recognizer();
    // Once more, now that it is known what they said and where: what was made of it must go too.
    let mut records = Vec::new();
    for record in Records::all(connection)? {
        let Some(record) = record?.ok().filter(of_ours) else { continue };
        if let Some(input) = scrubbed(record.input, &theirs, &messages) {
            records.push((record.seq, input));
        }
    }
    let mut decisions = Vec::new();
    each_trace(connection, &mut |room, message, body| {
        if is_ours(&RoomId::new(room)) {
            decisions.extend(forgotten_decision(room, message, body, &theirs));
        }
    })?;
    Ok(Footprints { request, records, decisions })
}

/// A record without the person, if there is anything of them in it. `messages` are theirs.
pub fn scrubbed(mut input: Input, theirs: &Recognizer<'_>, messages: &BTreeSet<(RoomId, MessageId)>) -> Option<Input> {
    let is_about = |room: &RoomId, id: &MessageId| {
        let about = (room.clone(), id.clone());
        messages.contains(&about) || theirs.request.answers.contains(&about)
    };
    let goes = match &mut input {
        Input::Said(message) => {
            let own = message.author.voice == Voice::Me;
            let answers = message.reply.as_ref().and_then(|reply| reply.to.as_ref());
            let own_goes = || {
                answers.is_some_and(|to| messages.contains(&(message.place.room.clone(), to.clone())))
                    || theirs.takes_own_post(&message.place.room, message.id.as_str(), &message.text)
            };
            theirs.request.is_of(&message.author.id) || (own && own_goes())
        }
        Input::Changed(change) => is_about(&change.place.room, &change.id),
        Input::Reacted(reaction) => {
            theirs.request.is_of(&reaction.by) || is_about(&reaction.place.room, &reaction.message)
        }
        // Whatever a model said in a room they spoke in.
        Input::Judged(call, answer) | Input::Written(call, answer) => {
            let told = || answer.as_ref().is_ok_and(|answer| theirs.speaks_of_them(&answer.text));
            theirs.request.rooms.contains(&call.room) || told()
        }
        Input::Told(..)
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
    };
    if goes {
        return Some(Input::Forgotten);
    }
    let Input::Said(message) = &mut input else { return None };
    let before = message.mentions.len();
    message.mentions.retain(|mentioned| !theirs.request.is_of(mentioned));
    let is_to_them = |person: &mut aizuchi_core::types::PersonId| theirs.request.is_of(person);
    let was_reply = message.reply.as_mut().is_some_and(|reply| reply.to_person.take_if(is_to_them).is_some());
    (was_reply || message.mentions.len() < before).then_some(input)
}

/// Decisions about their messages go; those about others' lose the judge's words, who read theirs too.
fn forgotten_decision(room: &str, message: &str, body: &str, theirs: &Recognizer<'_>) -> Option<Decision> {
    let was_here = theirs.request.rooms.iter().any(|known| known.as_str() == room);
    let after = match serde_json::from_str::<Trace>(body) {
        Ok(trace) if theirs.request.is_of(&trace.author_id) => None,
        Ok(mut trace) if was_here || theirs.speaks_of_them(body) => {
            trace.forget_words();
            Some(serde_json::to_string(&trace).expect("a trace is plain data"))
        }
        Ok(_) => return None,
        Err(_) if was_here || theirs.speaks_of_them(body) => None,
        Err(_) => return None,
    };
    let unchanged = after.as_deref() == Some(body);
    let (room, message, before) = (room.to_owned(), message.to_owned(), body.to_owned());
    (!unchanged).then_some(Decision { room, message, before, after })
}

impl Decision {
    /// One that was decided anew since it was read is left to the engine that decided it.
    fn forget(&self, transaction: &Transaction<'_>) -> rusqlite::Result<()> {
        let Decision { room, message, before, after } = self;
        let statement = match after {
            Some(_) => "UPDATE trace SET body = ?4 WHERE room = ?1 AND message = ?2 AND body = ?3",
            None => "DELETE FROM trace WHERE room = ?1 AND message = ?2 AND body = ?3 AND ?4 IS NULL",
        };
        transaction.prepare_cached(statement)?.execute(params![room, message, before, after]).map(drop)
    }
}

/// The journal may begin with engines that remember them.
fn forget_in_base(transaction: &Transaction<'_>, request: &ForgetRequest, policies: &Policies) -> rusqlite::Result<()> {
    let mut engines = match Engines::at_the_beginning(transaction, policies)? {
        Ok(engines) if !engines.is_fresh() => engines,
        // What cannot be read cannot be scrubbed either: it is worth less than the promise.
        Ok(_) | Err(_) => return transaction.execute("DELETE FROM base", []).map(drop),
    };
    engines.forget(&request.recognizer().doubting());
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
    use aizuchi_core::types::{Author, Change, Message, PersonId, Place, Reply, Visibility};

    use super::*;

    fn said(person: &str, voice: Voice, text: &str, mentions: &[&str]) -> Message {
        Message {
            id: MessageId::new("m1"),
            place: Place::room("web:lobby"),
            at: Time(1),
            author: Author { id: PersonId::new(person), name: person.into(), voice },
            text: text.into(),
            reply: Some(Reply { to: None, to_me: false, to_person: mentions.first().map(PersonId::new) }),
            mentions: mentions.iter().map(PersonId::new).collect(),
            mentions_me: false,
            visibility: Visibility::Public,
            backfilled: false,
            heard: None,
        }
    }

    #[test]
    fn a_person_is_taken_out_of_their_own_records_and_of_others() {
        let request = ForgetRequest {
            ids: vec![PersonId::new("web:x"), PersonId::new("discord:7")],
            names: vec!["mia".into()],
            ..ForgetRequest::default()
        };
        let (theirs, room) = (request.recognizer(), RoomId::new("web:lobby"));
        let messages = BTreeSet::from([(room.clone(), MessageId::new("m7"))]);
        let goes = |input: Input| matches!(scrubbed(input, &theirs, &messages), Some(Input::Forgotten));
        assert!(goes(Input::Said(said("discord:7", Voice::Person, "hello", &[]))));
        assert!(goes(Input::Said(said("me", Voice::Me, "Well, MIA!", &[]))));
        assert!(!goes(Input::Said(said("me", Voice::Me, "Well, Miami!", &[]))));
        let mut answer = said("me", Voice::Me, "yes", &[]);
        answer.reply = Some(Reply { to: Some(MessageId::new("m7")), to_me: false, to_person: None });
        assert!(goes(Input::Said(answer)), "it answers them");
        let about = scrubbed(Input::Said(said("bob", Voice::Person, "mia?", &["web:x", "ann"])), &theirs, &messages);
        let Some(Input::Said(message)) = &about else { panic!("{about:?}") };
        assert_eq!((message.mentions.as_slice(), &*message.text), (&[PersonId::new("ann")][..], "mia?"));
        assert_eq!(message.reply.as_ref().and_then(|reply| reply.to_person.as_ref()), None);
        let again = about.and_then(|about| scrubbed(about, &theirs, &messages));
        assert!(again.is_none(), "nothing is left to take out: {again:?}");
        let edit = |id| Change { place: Place::room("web:lobby"), id: MessageId::new(id), at: Time(2), text: None };
        assert!(goes(Input::Changed(edit("m7"))) && !goes(Input::Changed(edit("m8"))));
    }
}
