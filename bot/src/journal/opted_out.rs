//! Deletes what people who opted out said, once it has left the talk that the bot reads: their messages, the answers to them,
//! and what models and the bot said that repeats them.
//!
//! Others' words are read for days in slow talk. Theirs are part of the talk of the moment only: after that, rooms let go of them.

use std::collections::BTreeMap;

use aizuchi_core::types::{Change, MessageId, PersonId, Place, RoomId, Span, Voice};
use aizuchi_core::{Input, Message, Policies, Time};

use super::quoted::Quotable;
use super::read::{Records, look_up};
use super::withdrawn::{DeletedMessages, Deletion, WordsGone};
use super::write::Journal;
use crate::ports::{OldRecords, Position, Rewrite, Selection};
use crate::stores::StoreError;

/// A message as it is recorded.
struct SaidWords {
    place: Place,
    at: Time,
    seq: i64,
}

type SaidByThem = BTreeMap<(RoomId, MessageId), SaidWords>;
type LetGoRecords = BTreeMap<(RoomId, MessageId), (i64, Time)>;

impl Journal {
    /// Deletes what these people said before it left the talk of its room, which is this long in each. Returns how many records
    /// were deleted.
    pub async fn drop_words_of(
        &self,
        people: &[PersonId],
        now: Time,
        policies: &Policies,
    ) -> Result<usize, StoreError> {
        let Some(up_to) = self.stores.journal.locate(Position::InEverySnapshot).await? else { return Ok(0) };
        let old = |room: &RoomId| OldRecords::by_clock(now - buffer_of(room, policies), now);
        let mut gone = self.old_words_of(people, &old, up_to, policies).await?;
        while !gone.is_empty() {
            let found = self.withdrawn(&gone, up_to).await?;
            let mut rewrite = Rewrite { records: found.records, decisions: found.decisions, ..Rewrite::default() };
            let quotable = self.theirs_alone(self.quotable(&gone).await?, people).await?;
            let mut unfinished = self.take_quotes(&quotable, up_to, &mut rewrite).await?;
            unfinished.extend(found.unfinished);
            let mut messages: Vec<(Place, MessageId)> =
                gone.iter().map(|((_, id), deletion)| (deletion.place.clone(), id.clone())).collect();
            messages.extend(found.posts);
            for (room, records) in self.records_with_words(&messages).await? {
                match records.last().is_some_and(|seq| *seq > up_to) {
                    true => drop(unfinished.insert(room)),
                    false => rewrite.records.extend(records.into_iter().map(|seq| (seq, Input::Forgotten))),
                }
            }
            if unfinished.is_empty() {
                rewrite.records.sort_by_key(|(seq, _)| *seq);
                rewrite.records.dedup_by_key(|(seq, _)| *seq);
                let inputs = super::dropped::deletions(messages, now).collect();
                return self.drop_records(rewrite, inputs, policies).await;
            }
            // Nothing else than their messages tells what belongs to them.
            gone.retain(|(room, _), _| !unfinished.contains(room));
        }
        Ok(0)
    }

    /// What these people said, and what the bot answered, that is no part of the talk of the moment any more and is read all the same.
    pub async fn still_read_of(
        &self,
        people: &[PersonId],
        now: Time,
        policies: &Policies,
    ) -> Result<Vec<(Place, MessageId)>, StoreError> {
        let mut read = DeletedMessages::new();
        let (said, let_go) = self.words_of(people).await?;
        for (key, SaidWords { place, at, .. }) in said {
            let policy = policies.for_room(key.0.as_str());
            let is_past = |life: Option<Span>| life.is_some_and(|life| OldRecords::by_clock(now - life, now).has(at));
            if is_past(policy.talk_life()) && !is_past(policy.buffer_life()) && !let_go.contains_key(&key) {
                read.insert(key, Deletion { at: now, why: WordsGone::OptedOut, place });
            }
        }
        let mut places: Vec<(Place, MessageId)> = Vec::new();
        if !read.is_empty() {
            places = self.withdrawn(&read, i64::MAX).await?.posts;
        }
        places.extend(read.into_iter().map(|((_, id), Deletion { place, .. })| (place, id)));
        Ok(places)
    }

    /// Their messages that nobody reads any more.
    async fn old_words_of(
        &self,
        people: &[PersonId],
        old: &(dyn Fn(&RoomId) -> OldRecords + Sync),
        up_to: i64,
        policies: &Policies,
    ) -> Result<DeletedMessages, StoreError> {
        let mut gone = DeletedMessages::new();
        let (said, let_go) = self.words_of(people).await?;
        for (key, SaidWords { place, at, seq }) in said {
            let at = match let_go.get(&key) {
                Some((let_go, at)) if *let_go <= up_to => *at,
                Some(_) | None if old(&key.0).has(at) && seq <= up_to => at + buffer_of(&key.0, policies),
                Some(_) | None => continue,
            };
            gone.insert(key, Deletion { at, why: WordsGone::OptedOut, place });
        }
        Ok(gone)
    }

    /// What is recorded of what these people said, and the records, with their times, in which rooms have let go of it.
    async fn words_of(&self, people: &[PersonId]) -> Result<(SaidByThem, LetGoRecords), StoreError> {
        let (mut said, mut let_go) = (SaidByThem::new(), LetGoRecords::new());
        if people.is_empty() {
            return Ok((said, let_go));
        }
        look_up(&*self.stores.index, &Selection::People(people.to_vec()), |record| {
            if let Input::Said(message) = record.input
                && people.contains(&message.author.id)
            {
                let words = SaidWords { place: message.place.clone(), at: record.at, seq: record.seq };
                said.insert((message.place.room, message.id), words);
            }
        })
        .await?;
        look_up(&*self.stores.index, &Selection::Messages(said.keys().cloned().collect()), |record| {
            if let Input::LetGo(place, id) = record.input {
                let_go.insert((place.room, id), (record.seq, record.at));
            }
        })
        .await?;
        Ok((said, let_go))
    }

    /// Without what others said in that time too.
    async fn theirs_alone(&self, mut quotable: Quotable, people: &[PersonId]) -> Result<Quotable, StoreError> {
        for (room, gone) in &mut quotable {
            let mut records = Records::all(&*self.stores.journal).await?.in_room(room);
            while let Some(record) = records.next_whole().await? {
                let Input::Said(message) = record.input else { continue };
                if message.author.voice == Voice::Me || people.contains(&message.author.id) {
                    continue;
                }
                for words in gone.iter_mut().filter(|words| words.readable.contains(&record.at)) {
                    words.phrases.remove(&message.text);
                }
            }
        }
        Ok(quotable)
    }

    /// The records of these messages that contain words, in order, by room.
    async fn records_with_words(
        &self,
        messages: &[(Place, MessageId)],
    ) -> Result<BTreeMap<RoomId, Vec<i64>>, StoreError> {
        let messages = messages.iter().map(|(place, id)| (place.room.clone(), id.clone())).collect();
        let mut records: BTreeMap<RoomId, Vec<i64>> = BTreeMap::new();
        look_up(&*self.stores.index, &Selection::Messages(messages), |record| {
            if let Input::Said(Message { place, .. }) | Input::Changed(Change { place, .. }) | Input::LetGo(place, _) =
                &record.input
            {
                records.entry(place.room.clone()).or_default().push(record.seq);
            }
        })
        .await?;
        records.values_mut().for_each(|records| records.sort_unstable());
        Ok(records)
    }
}

/// How long the talk of a room is read.
fn buffer_of(room: &RoomId, policies: &Policies) -> Span {
    policies.for_room(room.as_str()).buffer_life().unwrap_or(Span::ZERO)
}
