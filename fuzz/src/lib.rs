//! What the targets share: a talk is lived through, and every message in it is decided once.
//!
//! The parts of the bot that read what strangers write are taken by their path and not as a crate, which would bring its
//! web server, its models and its store along, to be built with the fuzzer's flags.

pub mod discord;
pub mod slack;

/// Stands for the store, which is not fuzzed here.
pub mod stores {
    pub type StoreError = String;
}

#[path = "../../bot/src/language.rs"]
pub mod language;
#[path = "../../bot/src/lookalike.rs"]
pub mod lookalike;
#[path = "../../bot/src/meter.rs"]
pub mod meter;
#[path = "../../bot/src/ports.rs"]
pub mod ports;
#[path = "../../bot/src/prompts/mod.rs"]
pub mod prompts;
#[path = "../../bot/src/transcript/mod.rs"]
pub mod transcript;

use std::collections::BTreeMap;

use aizuchi_core::sim::{Sim, StandIn};
use aizuchi_core::types::{MessageId, RoomId, Time};
use aizuchi_core::{Engine, Input, Policies};

/// Feeds what happened to an engine, in this order, and lets time run out.
pub fn live(policies: Policies, agrees: bool, talk: impl IntoIterator<Item = (Time, Input)>) {
    let stand_in = StandIn::new(agrees, Vec::new(), &policies);
    let mut sim = Sim::new(Engine::new(policies), stand_in);
    // Said, less decided.
    let mut open: BTreeMap<(RoomId, MessageId), i64> = BTreeMap::new();
    for (at, input) in talk {
        if let Input::Said(message) = &input {
            *open.entry((message.place.room.clone(), message.id.clone())).or_default() += 1;
        }
        sim.feed(at, input);
    }
    sim.finish();
    for trace in sim.traces {
        assert!(!trace.sentence().is_empty());
        *open.entry((trace.place.room, trace.message)).or_default() -= 1;
    }
    open.retain(|_, difference| *difference != 0);
    assert!(open.is_empty(), "said more or less often than decided: {open:?}");
}

/// What is told to a person about a mistake is a line in a terminal or a log.
pub fn assert_one_line(text: &str) {
    assert!(!text.trim().is_empty(), "says nothing");
    assert!(!text.contains(['\n', '\r']), "more than one line: {text:?}");
}
