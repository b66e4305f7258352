//! Where a judge, a tool or the bot repeats words that are gone, while it dealt with another message.
//!
//! A model reads the whole talk, and may quote any of it. What shares a rare word or a run of words with what is gone, from the
//! time at which that could be read, goes too.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use aizuchi_core::memory::words::Phrases;
use aizuchi_core::trace::Cause;
use aizuchi_core::types::{MessageId, RoomId, Voice};
use aizuchi_core::{Input, Time, Trace};

use super::read::{Records, look_up};
use super::traces::each;
use super::withdrawn::{DeletedMessages, WordsGone};
use super::write::Journal;
use crate::ports::{DecisionPart, RecordKind, Replacement, Rewrite, Selection, StoredDecision};
use crate::stores::StoreError;

/// Words of a room that are gone.
#[derive(Debug)]
pub(super) struct GoneWords {
    /// When they could be read.
    pub readable: RangeInclusive<Time>,
    pub phrases: Phrases,
    pub why: WordsGone,
}

pub(super) type Quotable = BTreeMap<RoomId, Vec<GoneWords>>;

impl GoneWords {
    fn are_in(&self, input: &Input) -> bool {
        // What people can still read stays, unless it repeats somebody who opted out.
        let of_bot = self.why == WordsGone::OptedOut;
        match input {
            Input::Judged(_, Ok(answer)) => self.phrases.are_in(&answer.text),
            Input::Written(_, Ok(answer)) => of_bot && self.phrases.are_in(&answer.text),
            Input::ToolCalls(_, calls, _) => calls.iter().any(|call| self.phrases.are_in(&call.arguments)),
            Input::ToolResult(_, Ok(output)) => self.phrases.are_in(&output.text),
            Input::Said(message) => of_bot && message.author.voice == Voice::Me && self.phrases.are_in(&message.text),
            Input::Judged(_, Err(_))
            | Input::Written(_, Err(_))
            | Input::ToolResult(_, Err(_))
            | Input::Changed(_)
            | Input::Reacted(_)
            | Input::Told(..)
            | Input::PolicyChanged(_)
            | Input::Tick
            | Input::Resumed
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
            | Input::Forgotten => false,
        }
    }

    /// Whether a decision that was made in that time repeats them.
    fn are_in_decision(&self, trace: &Trace) -> bool {
        let ended = trace.acted_at.is_none_or(|ended| ended >= *self.readable.start());
        let reason = if let Cause::SaidNo { reason } | Cause::SaidYes { reason, .. } = &trace.cause {
            Some(&**reason)
        } else {
            None
        };
        let asked = trace.asked.iter().map(|asked| &*asked.answer);
        let tools = trace.tools.iter().flat_map(|tool| [&*tool.arguments, &*tool.result]);
        trace.at <= *self.readable.end()
            && ended
            && asked.chain(tools).chain(reason).any(|text| self.phrases.are_in(text))
    }
}

impl Journal {
    /// The words of these messages that are gone, and when they could be read.
    pub(super) async fn quotable(&self, gone: &DeletedMessages) -> Result<Quotable, StoreError> {
        /// When it was said, and its texts: as it was said and after each edit.
        type SaidTexts = (Time, Vec<Box<str>>);
        let mut texts: BTreeMap<(RoomId, MessageId), SaidTexts> = BTreeMap::new();
        look_up(&*self.stores.index, &Selection::Messages(gone.keys().cloned().collect()), |record| {
            let (key, text) = if let Input::Said(message) = record.input {
                ((message.place.room, message.id), Some(message.text))
            } else if let Input::Changed(change) = record.input {
                ((change.place.room, change.id), change.text)
            } else {
                return;
            };
            texts.entry(key).or_insert((record.at, Vec::new())).1.extend(text);
        })
        .await?;
        let mut quotable = Quotable::new();
        for (key, (said, mut texts)) in texts {
            let Some(deletion) = gone.get(&key) else { continue };
            let mut phrases = Phrases::default();
            let left = if deletion.why == WordsGone::Edited { texts.pop() } else { None };
            texts.iter().for_each(|text| phrases.add(text));
            left.iter().for_each(|text| phrases.remove(text));
            if !phrases.is_empty() {
                let words = GoneWords { readable: said..=deletion.at, phrases, why: deletion.why };
                quotable.entry(key.0).or_default().push(words);
            }
        }
        Ok(quotable)
    }

    /// Adds what repeats these words, in records up to this one and in decisions. Returns the rooms in which later records do.
    pub(super) async fn take_quotes(
        &self,
        quotable: &Quotable,
        up_to: i64,
        rewrite: &mut Rewrite,
    ) -> Result<BTreeSet<RoomId>, StoreError> {
        let mut unfinished = BTreeSet::new();
        for (room, gone) in quotable {
            let known: BTreeSet<i64> = rewrite.records.iter().map(|(seq, _)| *seq).collect();
            let mut own = Records::all(&*self.stores.journal).await?.in_room(room);
            own.only(&[RecordKind::Own]);
            while let Some(record) = own.next_whole().await? {
                let is_in = |words: &GoneWords| words.readable.contains(&record.at) && words.are_in(&record.input);
                if !gone.iter().any(is_in) || known.contains(&record.seq) {
                    continue;
                }
                match record.seq <= up_to {
                    true => rewrite.records.push((record.seq, Input::Forgotten)),
                    false => drop(unfinished.insert(room.clone())),
                }
            }
            let known: BTreeSet<MessageId> =
                rewrite.decisions.iter().filter(|one| one.room == *room).map(|one| one.message.clone()).collect();
            each(&*self.stores.decisions, DecisionPart::WordedIn(room), |stored| {
                let StoredDecision { room, message, body, trace } = stored;
                let Ok(mut trace) = trace else { return };
                if !known.contains(&message) && gone.iter().any(|words| words.are_in_decision(&trace)) {
                    trace.forget_words();
                    rewrite.decisions.push(Replacement { room, message, before: body, after: Some(Box::new(trace)) });
                }
            })
            .await?;
        }
        Ok(unfinished)
    }
}
