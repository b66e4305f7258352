//! Shared by the targets: replays a talk, and checks that every message in it is decided once.

use std::collections::BTreeMap;

use aizuchi::language::Language;
use aizuchi::sentences::sentence;
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
        assert!(!sentence(&trace, Language::ENGLISH).is_empty());
        *open.entry((trace.place.room, trace.message)).or_default() -= 1;
    }
    open.retain(|_, difference| *difference != 0);
    assert!(open.is_empty(), "said more or less often than decided: {open:?}");
}

/// An error message is one line in a terminal or a log.
pub fn assert_one_line(text: &str) {
    assert!(!text.trim().is_empty(), "says nothing");
    assert!(!text.contains(['\n', '\r']), "more than one line: {text:?}");
}
