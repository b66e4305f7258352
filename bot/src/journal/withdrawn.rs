//! What models said about messages whose words are gone: what the judge said, and the words of answers that are gone too.
//!
//! A record of a model's words does not name the message it is about. The stored decision does: it holds when the answer was
//! posted and what the judge said. An answer that people can still read keeps its words, unless it was to somebody who opted
//! out.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use aizuchi_core::trace::Cause;
use aizuchi_core::types::{MessageId, Place, RoomId, Span};
use aizuchi_core::{Input, Time, Trace};

use super::read::{Records, look_up};
use super::write::Journal;
use crate::ports::{DecisionQuery, Record, RecordKind, Replacement, Selection, StoredDecision};
use crate::stores::StoreError;

/// A message whose words were gone at this time.
#[derive(Clone)]
pub(super) struct Deletion {
    pub place: Place,
    pub at: Time,
    pub why: WordsGone,
}

/// Why words of a message are gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordsGone {
    Deleted,
    /// It says something else now.
    Edited,
    /// Its author opted out.
    OptedOut,
}

/// Records to empty, and decisions with the model's words removed.
#[derive(Default)]
pub(super) struct Withdrawn {
    pub records: Vec<(i64, Input)>,
    pub decisions: Vec<Replacement>,
    /// The bot's posts to people who opted out.
    pub posts: Vec<(Place, MessageId)>,
    /// Rooms with such words in later records, which a start still needs.
    pub unfinished: BTreeSet<RoomId>,
}

pub(super) type DeletedMessages = BTreeMap<(RoomId, MessageId), Deletion>;

/// How long an answer that nobody waits for any more may still take to arrive.
const ON_THEIR_WAY: Span = Span::seconds(10);

/// For one room: when the words of withdrawn answers were written, and what the judge said, from which time on.
#[derive(Default)]
struct RoomWords {
    written: Vec<RangeInclusive<Time>>,
    judged: Vec<(Time, Box<str>)>,
}

impl RoomWords {
    /// Whether a record contains some of them.
    fn take(&mut self, record: &Record) -> bool {
        if self.has_written(record) {
            return true;
        }
        let Input::Judged(_, Ok(answer)) = &record.input else { return false };
        let asked = self.judged.iter().position(|(at, said)| *at <= record.at && **said == *answer.text);
        asked.map(|index| self.judged.swap_remove(index)).is_some()
    }

    fn has_written(&self, record: &Record) -> bool {
        let is_written =
            matches!(&record.input, Input::Written(_, Ok(_)) | Input::ToolCalls(..) | Input::ToolResult(..));
        is_written && self.written.iter().any(|span| span.contains(&record.at))
    }
}

/// When the later parts of an answer were posted.
fn chunks_at(trace: &Trace) -> impl Iterator<Item = Time> {
    trace.chunks.iter().flat_map(|chunks| chunks.later.iter().copied())
}

fn last_chunk(trace: &Trace) -> Time {
    chunks_at(trace).max().unwrap_or(Time(0))
}

impl Journal {
    /// What models said about these messages, in records up to this one.
    pub(super) async fn withdrawn(&self, deleted: &DeletedMessages, up_to: i64) -> Result<Withdrawn, StoreError> {
        let mut withdrawn = Withdrawn::default();
        let traces = self.decisions_about(deleted, &mut withdrawn.decisions).await?;
        let said = self.said_at(deleted.keys()).await?;
        let posts = self.posts_of(&traces).await?;
        let unposted = self.withdrawn_at(&posts).await?;
        let mut rooms: BTreeMap<&RoomId, RoomWords> = BTreeMap::new();
        for trace in &traces {
            let room = &trace.place.room;
            let words = rooms.entry(room).or_default();
            let key = (room.clone(), trace.message.clone());
            let Deletion { at: gone, why, .. } = deleted[&key];
            let is_old = |at: Time| why != WordsGone::Edited || at <= gone + ON_THEIR_WAY;
            let judged =
                trace.asked.iter().filter(|asked| !asked.cached && !asked.answer.is_empty() && is_old(asked.at));
            words.judged.extend(judged.map(|asked| (asked.at, asked.answer.clone())));
            let until = match (why, trace.acted_at) {
                (WordsGone::Deleted, Some(at)) => unposted.contains(&(room.clone(), at)).then_some(at),
                (WordsGone::Deleted, None) => (trace.cause == Cause::Deleted).then(|| gone + ON_THEIR_WAY),
                // What was written before the edit was never posted.
                (WordsGone::Edited, Some(at)) => (at > gone).then_some(gone),
                (WordsGone::Edited, None) => Some(gone + ON_THEIR_WAY),
                (WordsGone::OptedOut, Some(at)) => Some(at.max(last_chunk(trace))),
                // What was written and never posted was written soon.
                (WordsGone::OptedOut, None) => said.get(&key).map(|said| *said + ON_THEIR_WAY),
            };
            if why == WordsGone::OptedOut {
                let times = || trace.acted_at.into_iter().chain(chunks_at(trace));
                let to_them = posts.iter().filter(|((of, _), at)| of == room && times().any(|time| time == **at));
                withdrawn.posts.extend(to_them.map(|((_, post), _)| (trace.place.clone(), post.clone())));
            }
            if let (Some(from), Some(until)) = (said.get(&key), until) {
                words.written.push(*from..=until);
            }
        }
        for (room, words) in rooms {
            self.words_in(room, words, up_to, &mut withdrawn).await?;
        }
        Ok(withdrawn)
    }

    /// The decisions about these messages, and their replacements.
    async fn decisions_about(
        &self,
        deleted: &DeletedMessages,
        replacements: &mut Vec<Replacement>,
    ) -> Result<Vec<Trace>, StoreError> {
        let mut ids: BTreeMap<&RoomId, Vec<MessageId>> = BTreeMap::new();
        for (room, id) in deleted.keys() {
            ids.entry(room).or_default().push(id.clone());
        }
        let mut traces = Vec::new();
        for (room, ids) in ids {
            for stored in self.stores.decisions.find(DecisionQuery::Messages(room, &ids)).await? {
                let StoredDecision { room, message, body, trace } = stored;
                let Ok(trace) = trace else { continue };
                let Deletion { at, why, .. } = deleted[&(room.clone(), message.clone())];
                let mut wordless = trace.clone();
                // After an edit it is decided anew.
                if why != WordsGone::Edited || trace.asked.iter().any(|asked| asked.at <= at) || trace.at <= at {
                    wordless.forget_words();
                }
                if wordless != trace {
                    replacements.push(Replacement { room, message, before: body, after: Some(Box::new(wordless)) });
                }
                traces.push(trace);
            }
        }
        Ok(traces)
    }

    /// When these messages were received.
    pub(super) async fn said_at(
        &self,
        messages: impl Iterator<Item = &(RoomId, MessageId)>,
    ) -> Result<BTreeMap<(RoomId, MessageId), Time>, StoreError> {
        let mut said = BTreeMap::new();
        look_up(&*self.stores.index, &Selection::Messages(messages.cloned().collect()), |record| {
            if let Input::Said(message) = record.input {
                said.entry((message.place.room, message.id)).or_insert(record.at);
            }
        })
        .await?;
        Ok(said)
    }

    /// The posts of these decisions, and when each was posted.
    async fn posts_of(&self, traces: &[Trace]) -> Result<BTreeMap<(RoomId, MessageId), Time>, StoreError> {
        let posted = traces.iter().flat_map(|trace| {
            let times = trace.acted_at.into_iter().chain(chunks_at(trace));
            times.map(|at| (trace.place.room.clone(), at))
        });
        let mut posts: BTreeMap<(RoomId, MessageId), Time> = BTreeMap::new();
        look_up(&*self.stores.index, &Selection::At(posted.collect()), |record| {
            if let Input::Delivered(call, Ok(ids)) = record.input {
                posts.extend(ids.into_iter().map(|id| ((call.room.clone(), id), record.at)));
            }
        })
        .await?;
        Ok(posts)
    }

    /// Which of these posts are gone: the room, and when they were posted.
    async fn withdrawn_at(
        &self,
        posts: &BTreeMap<(RoomId, MessageId), Time>,
    ) -> Result<BTreeSet<(RoomId, Time)>, StoreError> {
        let mut gone = BTreeSet::new();
        look_up(&*self.stores.index, &Selection::Messages(posts.keys().cloned().collect()), |record| {
            if let Input::Changed(change) = record.input
                && change.text.is_none()
                && let Some(at) = posts.get(&(change.place.room.clone(), change.id))
            {
                gone.insert((change.place.room, *at));
            }
        })
        .await?;
        Ok(gone)
    }

    /// Adds the records that contain these words in a room.
    async fn words_in(
        &self,
        room: &RoomId,
        mut words: RoomWords,
        up_to: i64,
        withdrawn: &mut Withdrawn,
    ) -> Result<(), StoreError> {
        if words.written.is_empty() && words.judged.is_empty() {
            return Ok(());
        }
        let mut own = Records::all(&*self.stores.journal).await?.in_room(room);
        own.only(&[RecordKind::Own]);
        while let Some(record) = own.next_whole().await? {
            if record.seq <= up_to {
                if words.take(&record) {
                    withdrawn.records.push((record.seq, Input::Forgotten));
                }
            } else if words.has_written(&record) {
                withdrawn.unfinished.insert(room.clone());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use aizuchi_core::effect::{Effect, Usage};
    use aizuchi_core::input::Answer;
    use aizuchi_core::types::{Author, Change, PersonId, Visibility, Voice};
    use aizuchi_core::{Engine, Message, Policies};

    use super::*;
    use crate::journal::ShardState;
    use crate::ports::JournalEntry;
    use crate::stores::scratch;

    /// A model's words can come when nobody waits for them any more.
    #[tokio::test]
    async fn words_that_come_after_the_question_is_deleted_go_with_it() {
        let (_folder, database) = scratch("withdrawn");
        let (journal, policies) = (Journal::new(database.clone()), Policies::preset("aizuchi").unwrap());
        let (id, place) = (MessageId::new("m1"), Place::room("web:lobby"));
        let question = Message {
            id: id.clone(),
            place: place.clone(),
            at: Time(1_000),
            author: Author { id: PersonId::new("mia"), name: "mia".into(), voice: Voice::Person },
            text: "aizuchi, what is a glockenspiel?".into(),
            reply: None,
            mentions: Vec::new(),
            mentions_me: true,
            visibility: Visibility::Public,
            backfilled: false,
            heard: None,
        };
        let deleted = Change { place, id, at: Time(2_000), text: None };
        let mut engine = Engine::new(policies.clone());
        let mut inputs = vec![(Time(1_000), Input::Said(question)), (Time(2_000), Input::Changed(deleted))];
        let mut effects = Vec::new();
        for (at, input) in &inputs {
            engine.handle(*at, input.clone(), &mut effects);
        }
        let mut traces = Vec::new();
        for effect in effects {
            if let Effect::Write(brief) = effect {
                let answer = Answer { text: "A glockenspiel is an instrument.".into(), usage: Usage::default() };
                inputs.push((Time(2_500), Input::Written(brief.call, Ok(answer))));
            } else if let Effect::Trace(trace) = effect {
                traces.push(*trace);
            }
        }
        assert_eq!((inputs.len(), traces.len()), (3, 1), "it was about to answer");
        let entries: Vec<JournalEntry> = inputs.into_iter().map(|(at, input)| JournalEntry::Input(at, input)).collect();
        journal.append(0, &entries).await.unwrap();
        journal.keep(traces.into()).await.unwrap();
        let snapshot = |seq| ShardState { seq, ..ShardState::of(0, Time(3_000), &engine) };
        journal.take_snapshot(snapshot(Some(2))).await.unwrap();
        database.write(|_| Ok(())).await.unwrap();
        assert_eq!(journal.drop_deleted(Time(60_000), &policies).await, Ok(0), "nothing else tells whose they are");
        journal.take_snapshot(snapshot(None)).await.unwrap();
        database.write(|_| Ok(())).await.unwrap();
        assert_eq!(journal.drop_deleted(Time(60_000), &policies).await, Ok(3));
        let left = Records::all(&database).await.unwrap().whole().await.unwrap();
        assert!(left.iter().all(|record| matches!(record.input, Input::Forgotten)), "{left:?}");
    }
}
