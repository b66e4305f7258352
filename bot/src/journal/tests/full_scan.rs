//! The same by reading everything.

use std::collections::BTreeSet;

use aizuchi_core::Input;
use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::memory::words::Phrases;
use aizuchi_core::types::{MessageId, PersonId, RoomId, Time, Voice};

use crate::journal::forget::{Footprints, forgotten_decision, without_person};
use crate::journal::traces::each;
use crate::journal::{Record, Records};
use crate::ports::{DecisionPart, Keys, Selection, StoredDecision, Stores};
use crate::runtime::shard_of;

async fn records(stores: &Stores) -> Vec<Record> {
    Records::all(&*stores.journal).await.unwrap().whole().await.unwrap()
}

async fn decisions(stores: &Stores) -> Vec<StoredDecision> {
    let mut all = Vec::new();
    each(&*stores.decisions, DecisionPart::All, |stored| all.push(stored)).await.unwrap();
    all
}

async fn acted_for(stores: &Stores, ids: &[PersonId]) -> BTreeSet<(RoomId, Time)> {
    let traces = decisions(stores).await.into_iter().map(|stored| stored.trace.unwrap());
    let theirs = traces.filter(|trace| ids.contains(&trace.author_id));
    theirs.filter_map(|trace| Some((trace.place.room, trace.acted_at?))).collect()
}

fn delivered(records: &[Record], acted: &BTreeSet<(RoomId, Time)>) -> BTreeSet<(RoomId, MessageId)> {
    let mut answers = BTreeSet::new();
    for record in records {
        if let Input::Delivered(call, Ok(posts)) = &record.input
            && acted.contains(&(call.room.clone(), record.at))
        {
            answers.extend(posts.iter().map(|post| (call.room.clone(), post.clone())));
        }
    }
    answers
}

/// What is known of somebody, as everything that was recorded says.
#[derive(Default)]
pub struct FullTrail {
    pub names: BTreeSet<Box<str>>,
    pub rooms: BTreeSet<RoomId>,
    pub answers: BTreeSet<(RoomId, MessageId)>,
    pub others: BTreeSet<Box<str>>,
    pub phrases: Phrases,
}

pub async fn trail(stores: &Stores, ids: &[PersonId]) -> FullTrail {
    let (records, mut trail) = (records(stores).await, FullTrail::default());
    let acted = acted_for(stores, ids).await;
    trail.answers = delivered(&records, &acted);
    trail.rooms.extend(acted.into_iter().map(|(room, _)| room));
    let (mut messages, mut own) = (BTreeSet::new(), Phrases::default());
    for record in &records {
        match &record.input {
            Input::Said(said) if ids.contains(&said.author.id) => {
                trail.names.insert(said.author.name.clone());
                trail.rooms.insert(said.place.room.clone());
                messages.insert((said.place.room.clone(), said.id.clone()));
                trail.phrases.add(&said.text);
            }
            Input::Said(said) if said.author.voice != Voice::Me => {
                trail.others.insert(said.author.name.clone());
            }
            Input::Said(said) => own.add(&said.text),
            Input::Written(_, Ok(answer)) => own.add(&answer.text),
            _ => (),
        }
    }
    trail.phrases.retain_common(&own);
    for record in &records {
        let Input::Said(said) = &record.input else { continue };
        let answered = said.reply.as_ref().and_then(|reply| reply.to.clone());
        if said.author.voice == Voice::Me {
            let room = &said.place.room;
            let answers = answered.is_some_and(|to| messages.contains(&(room.clone(), to)));
            trail.answers.extend(answers.then(|| (room.clone(), said.id.clone())));
        } else if !ids.contains(&said.author.id) {
            trail.phrases.remove(&said.text);
        }
    }
    trail
}

pub async fn footprints(stores: &Stores, shard: usize, shards: usize, request: &ForgetRequest) -> Footprints {
    let mut request = request.clone();
    let is_ours = |room: &RoomId| shard_of(room, shards) == shard;
    let mut records = records(stores).await;
    records.retain(|record| record.input.room().is_some_and(is_ours));
    let mut messages = BTreeSet::new();
    for record in &records {
        if let Input::Said(said) = &record.input
            && request.is_of(&said.author.id)
        {
            if !request.rooms.contains(&said.place.room) {
                request.rooms.push(said.place.room.clone());
            }
            messages.insert((said.place.room.clone(), said.id.clone()));
        }
    }
    request.answers.extend(delivered(&records, &acted_for(stores, &request.ids).await));
    request.answers.sort();
    request.answers.dedup();
    let theirs = request.recognizer();
    let scrub = |record: Record| Some((record.seq, without_person(record.input, &theirs, &messages)?));
    let records = records.into_iter().filter_map(scrub).collect();
    let decisions = decisions(stores).await.into_iter().filter(|stored| is_ours(&stored.room));
    let decisions = decisions.filter_map(|stored| forgotten_decision(stored, &theirs)).collect();
    Footprints { request, records, decisions }
}

pub async fn check_indexes(stores: &Stores, selections: &[Selection]) {
    let records = records(stores).await;
    for selection in selections {
        let expected: Vec<i64> =
            records.iter().filter(|record| selection.has(record)).map(|record| record.seq).collect();
        let mut found = stores.index.select(selection).await.unwrap();
        // A record that was forgotten keeps its room and its time.
        let is_forgotten = |seq: &i64| matches!(records[*seq as usize - 1].input, Input::Forgotten);
        found.retain(|seq| !(matches!(selection, Selection::At(_)) && is_forgotten(seq)));
        assert_eq!(found, expected, "{selection:?}");
    }
    let mut names = BTreeSet::new();
    for record in &records {
        let Keys { person, name, .. } = Keys::of(&record.input);
        names.extend(person.zip(name).map(|(person, name)| (person.clone(), Box::from(name))));
    }
    assert_eq!(stores.index.names().await, Ok(names.into_iter().collect()));
    assert_eq!(stores.index.count().await, Ok(records.len() as u64));
}
