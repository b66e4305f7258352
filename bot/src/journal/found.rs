//! What tools found while a message was readable that has since been deleted or edited.
//!
//! A tool's result may quote any message of its room. So every tool request and result of that room and time is deleted,
//! from the records and from the decisions.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use aizuchi_core::types::{MessageId, RoomId, Span};
use aizuchi_core::{Input, Time};

use super::read::Records;
use super::traces::each;
use super::write::Journal;
use crate::ports::{DecisionPart, RecordKind, Replacement, Rewrite, StoredDecision};
use crate::stores::StoreError;

/// For each room, the times at which text was readable that is gone.
pub(super) type Readable = BTreeMap<RoomId, Vec<RangeInclusive<Time>>>;

/// How long a tool that was running then may still take to return.
const ON_ITS_WAY: Span = Span::minutes(1);

/// When messages were readable that were deleted or edited at these times.
pub(super) fn readable(
    said: &BTreeMap<(RoomId, MessageId), Time>,
    gone: impl Iterator<Item = ((RoomId, MessageId), Time)>,
) -> Readable {
    let mut spans = Readable::new();
    for (key, until) in gone {
        if let Some(from) = said.get(&key) {
            spans.entry(key.0).or_default().push(*from..=until + ON_ITS_WAY);
        }
    }
    spans
}

impl Journal {
    /// Deletes it from records up to this one, and from decisions, unless they are rewritten already.
    pub(super) async fn take_found(
        &self,
        readable: &Readable,
        up_to: i64,
        rewrite: &mut Rewrite,
    ) -> Result<(), StoreError> {
        for (room, spans) in readable {
            let rewritten: BTreeSet<i64> = rewrite.records.iter().map(|(seq, _)| *seq).collect();
            let mut own = Records::all(&*self.stores.journal).await?.in_room(room);
            own.only(&[RecordKind::Own]);
            while let Some(record) = own.next_whole().await? {
                let is_found = matches!(record.input, Input::ToolCalls(..) | Input::ToolResult(..))
                    && spans.iter().any(|span| span.contains(&record.at));
                if is_found && record.seq <= up_to && !rewritten.contains(&record.seq) {
                    rewrite.records.push((record.seq, Input::Forgotten));
                }
            }
            let replaced: BTreeSet<MessageId> =
                rewrite.decisions.iter().filter(|one| one.room == *room).map(|one| one.message.clone()).collect();
            each(&*self.stores.decisions, DecisionPart::WordedIn(room), |stored| {
                let StoredDecision { room, message, body, trace } = stored;
                let Ok(mut trace) = trace else { return };
                let (began, ended) = (trace.at, trace.acted_at);
                let could_find = |span: &RangeInclusive<Time>| {
                    began <= *span.end() && ended.is_none_or(|ended| ended >= *span.start())
                };
                if spans.iter().any(could_find) && !replaced.contains(&message) && trace.forget_tool_words() {
                    let after = Some(Box::new(trace));
                    rewrite.decisions.push(Replacement { room, message, before: body, after });
                }
            })
            .await?;
        }
        Ok(())
    }
}
