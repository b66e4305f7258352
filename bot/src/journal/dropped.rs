//! Deletes words that are not to be kept: those of deleted messages, the earlier text of edited ones, and those of closed
//! rooms.
//!
//! A record stays as a number and a time; the engines that the journal begins with lose the words too. What a start still
//! needs is left until a snapshot holds it. Then the old pages have to leave the files.

use std::collections::BTreeMap;
use std::sync::Arc;

use aizuchi_core::types::{Change, MessageId, Place, RoomId};
use aizuchi_core::{Input, Policies, Time};

use super::edited::{Edit, Outdated};
use super::engines::Engines;
use super::found::readable;
use super::read::{Records, look_up};
use super::withdrawn::{Deletion, Withdrawn, WordsGone};
use super::write::{Journal, ShardState};
use crate::ports::{FileCleanup, JobStep, NewBase, OldRecords, Position, RecordKind, Rewrite, Selection};
use crate::stores::StoreError;

impl Journal {
    /// Deletes everything recorded in these rooms, as far as no start needs it.
    pub async fn forget_rooms(&self, rooms: Vec<RoomId>) -> Result<(), StoreError> {
        self.stores.journal.rewrite(Arc::new(Rewrite { rooms, ..Rewrite::default() }), None).await.map(drop)
    }

    /// Deletes everything recorded in a room that is closed for good. `state` is its engine without the room, so that no
    /// start needs what was said there.
    pub async fn forget_closed(&self, room: RoomId, policies: &Policies, state: ShardState) -> Result<(), StoreError> {
        let left = vec![Input::Told(room.clone(), aizuchi_core::input::Command::Left)];
        let (rooms, snapshot) = (vec![room], Some(state.encode().await));
        self.rewrite_with_base(Rewrite { rooms, snapshot, ..Rewrite::default() }, left, policies).await
    }

    /// Deletes from the journal what old records deleted or replaced, once no start needs its records: deleted messages, the
    /// answers that were withdrawn with them, the earlier text of edited messages, and what judges said and tools found of it. Returns how
    /// many records were deleted or lost words.
    pub async fn drop_deleted(&self, old: impl Into<OldRecords>, policies: &Policies) -> Result<usize, StoreError> {
        let old = old.into();
        let Some(up_to) = self.stores.journal.locate(Position::InEverySnapshot).await? else { return Ok(0) };
        let mut changes = self.changes(old, up_to).await?;
        let (mut rewrite, edits) = loop {
            let Outdated { records: outdated, edits } = self.outdated(&changes.edited).await?;
            let edited = edits.keys().map(|key| (key.clone(), changes.edited[key].deletion()));
            let words_gone =
                changes.deleted.iter().map(|(key, deletion)| (key.clone(), deletion.clone())).chain(edited).collect();
            let Withdrawn { records, decisions, mut unfinished, .. } = self.withdrawn(&words_gone, up_to).await?;
            let mut rewrite = Rewrite { records, decisions, ..Rewrite::default() };
            let quotable = self.quotable(&words_gone).await?;
            unfinished.extend(self.take_quotes(&quotable, up_to, &mut rewrite).await?);
            if unfinished.is_empty() {
                rewrite.records.extend(outdated);
                break (rewrite, edits);
            }
            // The record of a deletion is emptied with the message, and nothing else tells what belongs to it. After an edit
            // nothing tells what the message said before.
            changes.deleted.retain(|(room, _), _| !unfinished.contains(room));
            changes.edited.retain(|(room, _), _| !unfinished.contains(room));
        };
        let gone: Vec<(Place, MessageId)> =
            changes.deleted.iter().map(|((_, id), deletion)| (deletion.place.clone(), id.clone())).collect();
        rewrite.records.extend(self.records_of(&gone, old, up_to).await?);
        let edited = edits.keys().map(|key| (key.clone(), changes.edited[key].at));
        let until = changes.deleted.iter().map(|(key, deletion)| (key.clone(), deletion.at)).chain(edited);
        let said = self.said_at(changes.deleted.keys().chain(edits.keys())).await?;
        self.take_found(&readable(&said, until), up_to, &mut rewrite).await?;
        let inputs = deletions(gone, old.before).chain(edits.into_values()).collect();
        self.drop_records(rewrite, inputs, policies).await
    }

    /// The records of these messages that contain words, emptied.
    async fn records_of(
        &self,
        gone: &[(Place, MessageId)],
        old: OldRecords,
        up_to: i64,
    ) -> Result<Vec<(i64, Input)>, StoreError> {
        let messages = gone.iter().map(|(place, id)| (place.room.clone(), id.clone())).collect();
        let mut records = Vec::new();
        look_up(&*self.stores.index, &Selection::Messages(messages), |record| {
            let is_words = matches!(record.input, Input::Said(_) | Input::Changed(_));
            if is_words && old.has(record.at) && record.seq <= up_to {
                records.push((record.seq, Input::Forgotten));
            }
        })
        .await?;
        Ok(records)
    }

    /// Rewrites records if there are any, and removes the old pages from the files.
    pub(super) async fn drop_records(
        &self,
        rewrite: Rewrite,
        inputs: Vec<Input>,
        policies: &Policies,
    ) -> Result<usize, StoreError> {
        let dropped = rewrite.records.len();
        if dropped > 0 {
            self.rewrite_with_base(rewrite, inputs, policies).await?;
            self.settle().await?;
        }
        Ok(dropped)
    }

    /// Rewrites records, and lets the engines that the journal begins with handle these inputs, in one commit.
    async fn rewrite_with_base(
        &self,
        rewrite: Rewrite,
        inputs: Vec<Input>,
        policies: &Policies,
    ) -> Result<(), StoreError> {
        let rewrite = Arc::new(rewrite);
        loop {
            let (engines, instead_of) = Engines::at_the_beginning(&*self.stores.snapshots, policies).await?;
            let base = match engines {
                Ok(engines) if !engines.is_fresh() => {
                    Some(NewBase { instead_of, states: engines.encode_after(inputs.clone()).await })
                }
                // There is none, or it cannot be read, which a start reports.
                Ok(_) | Err(_) => None,
            };
            // If retention moves the base in the meantime, the rewrite is retried with the new one.
            if self.stores.journal.rewrite(rewrite.clone(), base).await? {
                return Ok(());
            }
        }
    }

    /// Removes the old pages from the files, now or as soon as nobody reads them any more.
    async fn settle(&self) -> Result<(), StoreError> {
        match self.stores.files.settle().await? {
            FileCleanup::Done => Ok(()),
            FileCleanup::StillRead => self.stores.jobs.begin(JobStep::Settle).await.map(drop),
        }
    }

    /// What was deleted and edited according to old records that no start needs.
    async fn changes(&self, old: OldRecords, up_to: i64) -> Result<PastChanges, StoreError> {
        let mut past = PastChanges::default();
        let mut changes = Records::all(&*self.stores.journal).await?;
        changes.only(&[RecordKind::Changed]);
        while let Some(record) = changes.next_whole().await? {
            let Input::Changed(Change { place, id, text, .. }) = record.input else { continue };
            if !old.has(record.at) || record.seq > up_to {
                continue;
            }
            let key = (place.room.clone(), id);
            match text {
                Some(text) => drop(past.edited.insert(key, Edit { seq: record.seq, at: record.at, place, text })),
                None => drop(past.deleted.insert(key, Deletion { place, at: record.at, why: WordsGone::Deleted })),
            }
        }
        past.edited.retain(|key, _| !past.deleted.contains_key(key));
        Ok(past)
    }
}

/// Deletions and edits of messages.
#[derive(Default)]
struct PastChanges {
    deleted: BTreeMap<(RoomId, MessageId), Deletion>,
    /// The last edit of each.
    edited: BTreeMap<(RoomId, MessageId), Edit>,
}

/// The inputs that tell engines about the deletions.
pub(super) fn deletions(gone: Vec<(Place, MessageId)>, at: Time) -> impl Iterator<Item = Input> {
    gone.into_iter().map(move |(place, id)| Input::Changed(Change { place, id, at, text: None }))
}
