//! Lets go of words that are not to be kept: of deleted messages, of rooms that were closed, of people who opted out.
//!
//! A record stays as a number and a time; the engines that the journal begins with lose the words too. What a start still needs
//! is left until a snapshot holds it. Then the old pages have to leave the files.

use std::sync::Arc;

use aizuchi_core::types::{Change, MessageId, PersonId, Place, RoomId};
use aizuchi_core::{Input, Policies, Time};

use super::engines::Engines;
use super::read::{Records, look_up};
use super::write::{Journal, ShardState};
use crate::ports::{FileCleanup, JobStep, NewBase, Position, RecordKind, Rewrite, Selection};
use crate::stores::StoreError;

impl Journal {
    /// Lets go of everything recorded in these rooms, as far as no start needs it.
    pub async fn forget_rooms(&self, rooms: Vec<RoomId>) -> Result<(), StoreError> {
        self.stores.journal.rewrite(Arc::new(Rewrite { rooms, ..Rewrite::default() }), None).await.map(drop)
    }

    /// Lets go of everything recorded in a room that is closed for good. `state` is its engine without the room, so that no
    /// start needs what was said there.
    pub async fn forget_closed(&self, room: RoomId, policies: &Policies, state: ShardState) -> Result<(), StoreError> {
        let left = vec![Input::Told(room.clone(), aizuchi_core::input::Command::Left)];
        let (rooms, snapshot) = (vec![room], Some(state.encode().await));
        self.rewrite_with_base(Rewrite { rooms, snapshot, ..Rewrite::default() }, left, policies).await
    }

    /// What was deleted before this time does not stay in the journal either, once no start needs its records. Returns how
    /// many went.
    pub async fn drop_deleted(&self, before: Time, policies: &Policies) -> Result<usize, StoreError> {
        let gone = self.deleted(before).await?;
        self.drop_messages(gone, before, policies).await
    }

    /// The same of what these people said before this time.
    pub async fn drop_words_of(
        &self,
        people: &[PersonId],
        before: Time,
        policies: &Policies,
    ) -> Result<usize, StoreError> {
        let mut said = Vec::new();
        if !people.is_empty() {
            look_up(&*self.stores.index, &Selection::People(people.to_vec()), |record| {
                if let Input::Said(message) = record.input
                    && people.contains(&message.author.id)
                {
                    said.push((message.place, message.id));
                }
            })
            .await?;
        }
        self.drop_messages(said, before, policies).await
    }

    async fn drop_messages(
        &self,
        gone: Vec<(Place, MessageId)>,
        before: Time,
        policies: &Policies,
    ) -> Result<usize, StoreError> {
        let Some(up_to) = self.stores.journal.locate(Position::InEverySnapshot).await? else { return Ok(0) };
        let messages = gone.iter().map(|(place, id)| (place.room.clone(), id.clone())).collect();
        let mut records = Vec::new();
        look_up(&*self.stores.index, &Selection::Messages(messages), |record| {
            let is_words = matches!(record.input, Input::Said(_) | Input::Changed(_));
            if is_words && record.at < before && record.seq <= up_to {
                records.push((record.seq, Input::Forgotten));
            }
        })
        .await?;
        let dropped = records.len();
        if dropped > 0 {
            let deleted =
                gone.into_iter().map(|(place, id)| Input::Changed(Change { place, id, at: before, text: None }));
            let rewrite = Rewrite { records, ..Rewrite::default() };
            self.rewrite_with_base(rewrite, deleted.collect(), policies).await?;
            self.settle().await?;
        }
        Ok(dropped)
    }

    /// Rewrites records, and has the engines that the journal begins with handle these inputs, in one commit.
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
                // There is none, or one that cannot be read: a start says so.
                Ok(_) | Err(_) => None,
            };
            // If retention moves the base in the meantime, it is tried again with the new one.
            if self.stores.journal.rewrite(rewrite.clone(), base).await? {
                return Ok(());
            }
        }
    }

    /// Has the old pages leave the files, now or as soon as nobody reads them any more.
    async fn settle(&self) -> Result<(), StoreError> {
        match self.stores.files.settle().await? {
            FileCleanup::Done => Ok(()),
            FileCleanup::StillRead => self.stores.jobs.begin(JobStep::Settle).await.map(drop),
        }
    }

    /// Messages that were deleted before this time, by a record that no start needs.
    async fn deleted(&self, before: Time) -> Result<Vec<(Place, MessageId)>, StoreError> {
        let Some(up_to) = self.stores.journal.locate(Position::InEverySnapshot).await? else { return Ok(Vec::new()) };
        let mut gone = Vec::new();
        let mut changes = Records::all(&*self.stores.journal).await?;
        changes.only(&[RecordKind::Changed]);
        while let Some(record) = changes.next_whole().await? {
            let Input::Changed(change) = record.input else { continue };
            if change.text.is_none() && record.at < before && record.seq <= up_to {
                gone.push((change.place, change.id));
            }
        }
        Ok(gone)
    }
}
