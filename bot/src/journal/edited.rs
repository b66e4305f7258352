//! The earlier text of edited messages.
//!
//! The message keeps its record, with the text of its last edit: the journal contains what people can read.

use std::collections::BTreeMap;

use aizuchi_core::types::{Change, MessageId, Place, RoomId};
use aizuchi_core::{Input, Message, Time};

use super::read::look_up;
use super::withdrawn::{Deletion, WordsGone};
use super::write::Journal;
use crate::ports::Selection;
use crate::stores::StoreError;

/// The text that a message was edited to by the record `seq`.
pub(super) struct Edit {
    pub seq: i64,
    pub at: Time,
    pub place: Place,
    pub text: Box<str>,
}

impl Edit {
    /// Its earlier words are gone.
    pub fn deletion(&self) -> Deletion {
        Deletion { place: self.place.clone(), at: self.at, why: WordsGone::Edited }
    }
}

/// Where text that edits have replaced is still stored.
pub(super) struct Outdated {
    /// The records that contain it, and their replacements.
    pub records: Vec<(i64, Input)>,
    /// The edits, for engines that remember the earlier text.
    pub edits: BTreeMap<(RoomId, MessageId), Input>,
}

impl Journal {
    /// Finds where text that these edits have replaced is still stored.
    pub(super) async fn outdated(&self, edited: &BTreeMap<(RoomId, MessageId), Edit>) -> Result<Outdated, StoreError> {
        let (mut records, mut edits) = (Vec::new(), BTreeMap::new());
        look_up(&*self.stores.index, &Selection::Messages(edited.keys().cloned().collect()), |record| {
            let (seq, at) = (record.seq, record.at);
            let (input, key, words) = match record.input {
                Input::Said(message) => {
                    let (key, words) = ((message.place.room.clone(), message.id.clone()), message.text.clone());
                    (Some(message), key, Some(words))
                }
                Input::Changed(change) => (None, (change.place.room, change.id), change.text),
                Input::Reacted(_)
                | Input::Told(..)
                | Input::PolicyChanged(_)
                | Input::Tick
                | Input::Resumed
                | Input::Judged(..)
                | Input::Written(..)
                | Input::ToolCalls(..)
                | Input::ToolResult(..)
                | Input::Scheduled(..)
                | Input::Delivered(..)
                | Input::Recalled(..)
                | Input::Remembered(..)
                | Input::Refused(..)
                | Input::Billed(..)
                | Input::Siblings(..)
                | Input::StartedOver(_)
                | Input::LetGo(..)
                | Input::ClockSet(_)
                | Input::Forgotten => return,
            };
            let Some(Edit { seq: edited, place, text, .. }) = edited.get(&key) else { return };
            if seq >= *edited || words.is_none_or(|words| words == *text) {
                return;
            }
            let reworded = |message| Input::Said(Message { text: text.clone(), ..message });
            records.push((seq, input.map_or(Input::Forgotten, reworded)));
            let change = Change { place: place.clone(), id: key.1.clone(), at, text: Some(text.clone()) };
            edits.insert(key, Input::Changed(change));
        })
        .await?;
        Ok(Outdated { records, edits })
    }
}
