//! Matches decisions with the messages they belong to.

use std::collections::{BTreeMap, HashMap};

use aizuchi_core::Trace;
use aizuchi_core::listen::Unheard;
use aizuchi_core::types::{Message, MessageId, Place, RoomId};

use super::Decided;

/// Decisions and the lines of the log they belong to.
#[derive(Default)]
pub struct Pairing {
    done: Vec<Option<Decided>>,
    /// Lines without a decision yet; of a repeated message the latest is decided first.
    open: HashMap<(Place, MessageId), Vec<OpenLine>>,
}

/// The number of a line, and its text.
type OpenLine = (usize, Box<str>);

impl Pairing {
    pub fn expect_one(&mut self) -> usize {
        self.done.push(None);
        self.done.len() - 1
    }

    pub fn open(&mut self, line: usize, message: &Message) {
        let key = (message.place.clone(), message.id.clone());
        self.open.entry(key).or_default().push((line, message.text.clone()));
    }

    pub fn pass_over(&mut self, line: usize, message: &Message) {
        let trace = Trace::passed_over(message, Unheard::Itself);
        self.done[line] = Some(Decided { trace, text: message.text.clone() });
    }

    /// Whether the message of this decision is in the log.
    pub fn awaits(&self, trace: &Trace) -> bool {
        self.open.contains_key(&(trace.place.clone(), trace.message.clone()))
    }

    pub fn take(&mut self, trace: Trace) {
        let key = (trace.place.clone(), trace.message.clone());
        let lines = self.open.get_mut(&key).expect("only what was said is decided");
        let (line, text) = lines.pop().expect("a message is decided once");
        if lines.is_empty() {
            self.open.remove(&key);
        }
        self.done[line] = Some(Decided { trace, text });
    }

    pub fn finish(self) -> Vec<Decided> {
        self.done.into_iter().map(|decided| decided.expect("in the end every message is decided")).collect()
    }

    /// The decisions so far, and how many messages of each room have none.
    pub fn finish_early(self) -> (Vec<Decided>, BTreeMap<RoomId, u64>) {
        let mut open: BTreeMap<RoomId, u64> = BTreeMap::new();
        for ((place, _), lines) in &self.open {
            *open.entry(place.room.clone()).or_default() += lines.len() as u64;
        }
        (self.done.into_iter().flatten().collect(), open)
    }
}
