//! Feeds a log to the engine and collects what was decided.

use std::collections::HashMap;

use aizuchi_core::listen::Unheard;
use aizuchi_core::sim::{Oracle, Sim};
use aizuchi_core::types::{Message, MessageId, Place, RoomId, Time, Voice};
use aizuchi_core::{Engine, Input, Policies, Trace};

use crate::transcript::Event;

/// One message and what was decided about it.
#[derive(Clone, Debug)]
pub struct Decided {
    pub trace: Trace,
    pub text: Box<str>,
}

/// A replay, with what it was run on.
#[derive(Clone, Debug)]
pub struct Replay {
    pub log: String,
    pub preset: String,
    /// Settings changed on the command line, as given.
    pub changes: Vec<String>,
    pub judge: String,
    /// Lines that could not be read.
    pub bad_lines: u64,
    /// In the order of the log.
    pub decided: Vec<Decided>,
    pub low: u32,
    pub high: u32,
}

/// What becomes of the bot's own posts in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OwnInLog {
    /// Passed over: its own posts are those of the replay.
    Ignored,
    /// Heard as its own.
    Recorded,
}

/// Runs the events in virtual time. Rooms keep the order of the log; among rooms, time decides. `progress` is told after
/// each event how many are done.
pub fn run(
    policies: Policies,
    oracle: impl Oracle,
    events: Vec<Event>,
    own: OwnInLog,
    progress: &mut dyn FnMut(u64),
) -> Vec<Decided> {
    let mut decisions = Decisions::default();
    let mut sim = Sim::new(Engine::new(policies), oracle);
    let mut said = vec![None; events.len()];
    for (place, event) in events.iter().enumerate() {
        if matches!(event.input, Input::Said(_)) {
            said[place] = Some(decisions.expect_one());
        }
    }
    let mut events: Vec<Option<Event>> = events.into_iter().map(Some).collect();
    for (done, (arrives, place)) in in_order_of_arrival(&events).into_iter().enumerate() {
        let event = events[place].take().expect("each event is fed once");
        if let (Input::Said(message), Some(line)) = (&event.input, said[place]) {
            if own == OwnInLog::Ignored && message.author.voice == Voice::Me {
                decisions.pass_over(line, message);
                continue;
            }
            decisions.open(line, message);
        }
        sim.feed(arrives, event.input);
        decisions.take(&mut sim.traces);
        progress(done as u64);
    }
    sim.finish();
    decisions.take(&mut sim.traces);
    decisions.finish()
}

/// A message arrives when its room has come to its time: what is dated earlier than its predecessor arrives late, with it.
fn in_order_of_arrival(events: &[Option<Event>]) -> Vec<(Time, usize)> {
    let mut newest: HashMap<&RoomId, Time> = HashMap::new();
    let mut order = Vec::with_capacity(events.len());
    for (place, event) in events.iter().flatten().enumerate() {
        let clock = newest.entry(event.input.room().expect("a log holds what people did")).or_default();
        *clock = event.at.max(*clock);
        order.push((*clock, place));
    }
    order.sort();
    order
}

/// Decisions on their way to the lines they belong to.
#[derive(Default)]
struct Decisions {
    done: Vec<Option<Decided>>,
    /// Lines that wait for their decision; of a repeated message the latest is decided first.
    open: HashMap<(Place, MessageId), Vec<OpenLine>>,
}

/// The number of a line, and what was said there.
type OpenLine = (usize, Box<str>);

impl Decisions {
    fn expect_one(&mut self) -> usize {
        self.done.push(None);
        self.done.len() - 1
    }

    fn open(&mut self, line: usize, message: &Message) {
        let key = (message.place.clone(), message.id.clone());
        self.open.entry(key).or_default().push((line, message.text.clone()));
    }

    fn pass_over(&mut self, line: usize, message: &Message) {
        let trace = Trace::passed_over(message, Unheard::Itself);
        self.done[line] = Some(Decided { trace, text: message.text.clone() });
    }

    fn take(&mut self, traces: &mut Vec<Trace>) {
        for trace in traces.drain(..) {
            let key = (trace.place.clone(), trace.message.clone());
            let lines = self.open.get_mut(&key).expect("only what was said is decided");
            let (line, text) = lines.pop().expect("a message is decided once");
            if lines.is_empty() {
                self.open.remove(&key);
            }
            self.done[line] = Some(Decided { trace, text });
        }
    }

    fn finish(self) -> Vec<Decided> {
        self.done.into_iter().map(|decided| decided.expect("in the end every message is decided")).collect()
    }
}
