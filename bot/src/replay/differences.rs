//! What different settings would have changed: messages whose outcome differs from the stored one.

use std::collections::{BTreeMap, HashMap};

use aizuchi_core::Trace;
use aizuchi_core::listen::Unheard;
use aizuchi_core::trace::Cause;
use aizuchi_core::types::{MessageId, RoomId};

use super::Decided;

/// The stored decisions, by room and message.
#[derive(Default)]
pub struct StoredTraces(HashMap<RoomId, HashMap<MessageId, Trace>>);

impl FromIterator<Trace> for StoredTraces {
    fn from_iter<I: IntoIterator<Item = Trace>>(traces: I) -> StoredTraces {
        let mut stored = StoredTraces::default();
        for trace in traces {
            stored.0.entry(trace.place.room.clone()).or_default().insert(trace.message.clone(), trace);
        }
        stored
    }
}

impl StoredTraces {
    pub fn find(&self, trace: &Trace) -> Option<&Trace> {
        self.0.get(&trace.place.room)?.get(&trace.message)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Trace> {
        self.0.values().flat_map(HashMap::values)
    }
}

/// Of several decisions about one message, the one that a store keeps: those about a message that was received again do not
/// count.
pub fn without_repeats(decided: &[Decided]) -> impl Iterator<Item = &Decided> {
    let mut indexes: HashMap<(&RoomId, &MessageId), usize> = HashMap::new();
    for (index, Decided { trace, .. }) in decided.iter().enumerate() {
        let key = (&trace.place.room, &trace.message);
        let again = |unheard: Unheard| unheard == Unheard::Repeated || unheard.is_late();
        if matches!(trace.cause, Cause::Unheard(unheard) if again(unheard)) {
            indexes.entry(key).or_insert(index);
        } else {
            indexes.insert(key, index);
        }
    }
    let mut indexes: Vec<usize> = indexes.into_values().collect();
    indexes.sort_unstable();
    indexes.into_iter().map(|index| &decided[index])
}

/// A message with a different outcome.
#[derive(Clone, Copy, Debug)]
pub struct Difference<'a> {
    pub before: &'a Trace,
    pub after: &'a Decided,
}

#[derive(Debug, Default)]
pub struct Differences<'a> {
    pub messages: Vec<Difference<'a>>,
    /// How many messages changed from one outcome to another.
    pub counts: BTreeMap<(&'static str, &'static str), u64>,
    /// How many messages were compared.
    pub compared: u64,
    /// How many messages have no stored decision.
    pub missing: u64,
}

impl<'a> Differences<'a> {
    pub fn of(decided: &'a [Decided], stored: &'a StoredTraces) -> Differences<'a> {
        let mut differences = Differences::default();
        for after in without_repeats(decided) {
            let Some(before) = stored.find(&after.trace) else {
                differences.missing += 1;
                continue;
            };
            differences.compared += 1;
            if before.outcome != after.trace.outcome {
                *differences.counts.entry((before.outcome.name(), after.trace.outcome.name())).or_default() += 1;
                differences.messages.push(Difference { before, after });
            }
        }
        differences
    }
}
