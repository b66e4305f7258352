//! Removes a person from the journal: a record keeps its number and its time, and loses the rest.
//!
//! What a record may hold of a person says where to look: it is theirs or has a link to them, it is about a message of theirs
//! or an answer to them, or the bot or a model said it. Indexes find those records; nothing else is read. The scrubbed records,
//! the decisions, the snapshot without the person and the new base of the journal are one transaction: all of it, or nothing.
//! If retention moves the base in the meantime, it is tried again with the new one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aizuchi_core::memory::{ForgetRequest, Recognizer};
use aizuchi_core::types::{MessageId, PersonId, RoomId, Voice};
use aizuchi_core::{Input, Policies, Trace};

use super::engines::Engines;
use super::read::{look_up, read_each};
use super::traces::{acted_for, each};
use super::write::{Journal, ShardState};
use crate::ports::{
    DecisionPart, EngineState, NewBase, Record, RecordKind, Replacement, Rewrite, Selection, StoredDecision, Stores,
};
use crate::runtime::shard_of;
use crate::stores::StoreError;

/// What an engine's records hold of a person.
#[derive(Debug)]
pub struct Footprints {
    /// Who is looked for, with the rooms and answers that were found here.
    pub request: ForgetRequest,
    /// Records that must not stay as they are, and what takes their place.
    pub(super) records: Vec<(i64, Input)>,
    pub(super) decisions: Vec<Replacement>,
}

impl Journal {
    /// Looks for a person in everything that was recorded in the rooms of an engine.
    pub async fn footprints(
        &self,
        shard: usize,
        shards: usize,
        request: Arc<ForgetRequest>,
    ) -> Result<Footprints, StoreError> {
        footprints(&self.stores, shard, shards, &request).await
    }

    /// Scrubs the records, the decisions and the state the journal begins with, and writes down the engine's state without
    /// the person: all of it, or nothing.
    pub async fn forget(&self, found: Footprints, policies: &Policies, state: ShardState) -> Result<(), StoreError> {
        let snapshot = state.encode().await;
        self.rewrite_without(found, policies, Some(snapshot)).await
    }

    /// The same where the states of rooms are kept elsewhere, and have forgotten them.
    #[cfg(feature = "cluster")]
    pub async fn forget_records(&self, found: Footprints, policies: &Policies) -> Result<(), StoreError> {
        self.rewrite_without(found, policies, None).await
    }

    async fn rewrite_without(
        &self,
        found: Footprints,
        policies: &Policies,
        snapshot: Option<EngineState>,
    ) -> Result<(), StoreError> {
        let Footprints { request, records, decisions } = found;
        let rewrite = Arc::new(Rewrite { records, decisions, snapshot, ..Rewrite::default() });
        loop {
            // The journal may begin with engines that remember them.
            let (engines, instead_of) = Engines::at_the_beginning(&*self.stores.snapshots, policies).await?;
            let states = match engines {
                Ok(engines) if !engines.is_fresh() => engines.encode_without(request.clone()).await,
                // What cannot be read cannot be scrubbed either: it is worth less than the promise.
                Ok(_) | Err(_) => Vec::new(),
            };
            if self.stores.journal.rewrite(rewrite.clone(), Some(NewBase { instead_of, states })).await? {
                return Ok(());
            }
        }
    }
}

pub(super) async fn footprints(
    stores: &Stores,
    shard: usize,
    shards: usize,
    request: &ForgetRequest,
) -> Result<Footprints, StoreError> {
    let mut request = request.clone();
    // By room: the engine that wrote a record may be another than the one that has the room today.
    let is_ours = |room: &RoomId| shard_of(room, shards) == shard;
    let of_ours = |record: &Record| record.input.room().is_some_and(is_ours);
    let index = &*stores.index;
    let mut seqs: BTreeSet<i64> = index.select(&Selection::People(request.ids.clone())).await?.into_iter().collect();
    let mut messages = BTreeSet::new();
    let theirs: Vec<i64> = seqs.iter().copied().collect();
    let unreadable = read_each(index, &theirs, &mut |record| {
        let Input::Said(message) = record.input else { return };
        if is_ours(&message.place.room) && request.is_of(&message.author.id) {
            if !request.rooms.contains(&message.place.room) {
                request.rooms.push(message.place.room.clone());
            }
            messages.insert((message.place.room, message.id));
        }
    })
    .await?;
    let mut answers = answers_to(stores, &request.ids).await?;
    answers.retain(|(room, _)| is_ours(room));
    request.answers.extend(answers);
    request.answers.sort();
    request.answers.dedup();
    // Now that it is known what they said and where: what was made of it must go too.
    let about = messages.iter().chain(&request.answers).filter(|(room, _)| is_ours(room)).cloned().collect();
    seqs.extend(index.select(&Selection::Messages(about)).await?);
    seqs.extend(index.select(&Selection::Of(RecordKind::Own)).await?);
    let recognizer = request.recognizer();
    let seqs: Vec<i64> = seqs.into_iter().collect();
    // One of theirs that is damaged goes too.
    let mut records: Vec<(i64, Input)> = unreadable.into_iter().map(|seq| (seq, Input::Forgotten)).collect();
    read_each(index, &seqs, &mut |record| {
        if of_ours(&record)
            && let Some(input) = without_person(record.input, &recognizer, &messages)
        {
            records.push((record.seq, input));
        }
    })
    .await?;
    let decisions = forgotten_decisions(stores, &recognizer, &is_ours).await?;
    Ok(Footprints { request, records, decisions })
}

/// Posts of the bot that answered these people.
pub(super) async fn answers_to(stores: &Stores, ids: &[PersonId]) -> Result<BTreeSet<(RoomId, MessageId)>, StoreError> {
    let acted = acted_for(&*stores.decisions, ids).await?;
    let mut answers = BTreeSet::new();
    look_up(&*stores.index, &Selection::At(acted.into_iter().collect()), |record| {
        if let Input::Delivered(call, Ok(posts)) = record.input {
            answers.extend(posts.into_iter().map(|post| (call.room.clone(), post)));
        }
    })
    .await?;
    Ok(answers)
}

/// Decisions about them, and those with words of a model that read theirs or speak of them.
async fn forgotten_decisions(
    stores: &Stores,
    theirs: &Recognizer<'_>,
    is_ours: &(dyn Fn(&RoomId) -> bool + Sync),
) -> Result<Vec<Replacement>, StoreError> {
    let mut replacements = BTreeMap::new();
    let parts = theirs.request.ids.iter().map(DecisionPart::By);
    let rooms = theirs.request.rooms.iter().filter(|room| is_ours(room)).map(DecisionPart::WordedIn);
    for part in parts.chain(rooms).chain([DecisionPart::Worded]) {
        each(&*stores.decisions, part, |stored| {
            let key = (stored.room.clone(), stored.message.clone());
            if is_ours(&stored.room)
                && let Some(replacement) = forgotten_decision(stored, theirs)
            {
                replacements.insert(key, replacement);
            }
        })
        .await?;
    }
    Ok(replacements.into_values().collect())
}

/// A record without the person, if there is anything of them in it. `messages` are theirs.
pub fn without_person(
    mut input: Input,
    theirs: &Recognizer<'_>,
    messages: &BTreeSet<(RoomId, MessageId)>,
) -> Option<Input> {
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
        Input::LetGo(place, id) => is_about(&place.room, id),
        Input::Reacted(reaction) => {
            theirs.request.is_of(&reaction.by) || is_about(&reaction.place.room, &reaction.message)
        }
        // Whatever a model said in a room they spoke in.
        Input::Judged(call, answer) | Input::Written(call, answer) => {
            let told = || answer.as_ref().is_ok_and(|answer| theirs.speaks_of_them(&call.room, &answer.text));
            theirs.request.rooms.contains(&call.room) || told()
        }
        Input::ToolCalls(call, calls, _) => {
            let tells = |text: &str| theirs.speaks_of_them(&call.room, text);
            theirs.request.rooms.contains(&call.room) || calls.iter().any(|call| tells(&call.arguments))
        }
        Input::ToolResult(call, result) => {
            let told = || result.as_ref().is_ok_and(|output| theirs.speaks_of_them(&call.room, &output.text));
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
        | Input::Scheduled(..)
        | Input::Billed(..)
        | Input::Siblings(..)
        | Input::StartedOver(_)
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
pub(super) fn forgotten_decision(stored: StoredDecision, theirs: &Recognizer<'_>) -> Option<Replacement> {
    let StoredDecision { room, message, body, trace } = stored;
    let was_here = theirs.request.rooms.contains(&room);
    let after = match trace {
        Ok(trace) if theirs.request.is_of(&trace.author_id) => None,
        Ok(mut trace) if was_here || decided_on_tools(&trace, theirs) || theirs.speaks_of_them(&room, &body) => {
            let before = trace.clone();
            trace.forget_words();
            if trace == before {
                return None;
            }
            Some(Box::new(trace))
        }
        Ok(_) => return None,
        Err(_) if was_here || theirs.speaks_of_them(&room, &body) => None,
        Err(_) => return None,
    };
    Some(Replacement { room, message, before: body, after })
}

/// Whether they allowed or refused a tool.
fn decided_on_tools(trace: &Trace, theirs: &Recognizer<'_>) -> bool {
    trace.tools.iter().filter_map(|tool| tool.decided_by.as_ref()).any(|by| theirs.request.is_of(by))
}

#[cfg(test)]
mod tests {
    use aizuchi_core::Time;
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
            homes: vec!["web".into()],
            ..ForgetRequest::default()
        };
        let (theirs, room) = (request.recognizer(), RoomId::new("web:lobby"));
        let messages = BTreeSet::from([(room.clone(), MessageId::new("m7"))]);
        let goes = |input: Input| matches!(without_person(input, &theirs, &messages), Some(Input::Forgotten));
        assert!(goes(Input::Said(said("discord:7", Voice::Person, "hello", &[]))));
        assert!(goes(Input::Said(said("me", Voice::Me, "Well, MIA!", &[]))));
        assert!(!goes(Input::Said(said("me", Voice::Me, "Well, Miami!", &[]))));
        let mut answer = said("me", Voice::Me, "yes", &[]);
        answer.reply = Some(Reply { to: Some(MessageId::new("m7")), to_me: false, to_person: None });
        assert!(goes(Input::Said(answer)), "it answers them");
        let about =
            without_person(Input::Said(said("bob", Voice::Person, "mia?", &["web:x", "ann"])), &theirs, &messages);
        let Some(Input::Said(message)) = &about else { panic!("{about:?}") };
        assert_eq!((message.mentions.as_slice(), &*message.text), (&[PersonId::new("ann")][..], "mia?"));
        assert_eq!(message.reply.as_ref().and_then(|reply| reply.to_person.as_ref()), None);
        let again = about.and_then(|about| without_person(about, &theirs, &messages));
        assert!(again.is_none(), "nothing is left to take out: {again:?}");
        let edit = |id| Change { place: Place::room("web:lobby"), id: MessageId::new(id), at: Time(2), text: None };
        assert!(goes(Input::Changed(edit("m7"))) && !goes(Input::Changed(edit("m8"))));
    }
}
