//! The same world by a clock that was set.

use aizuchi_core::types::{ClockShift, Time};
use aizuchi_core::{Engine, Input, Trace};

use super::{Lived, Logged};

/// The same, told by a clock that was set.
pub fn shifted(mut input: Input, by: ClockShift) -> Input {
    match &mut input {
        Input::Said(message) => {
            (message.at, message.heard) = (message.at.shifted(by), message.heard.map(|heard| heard.shifted(by)));
        }
        Input::Changed(change) => change.at = change.at.shifted(by),
        _ => (),
    }
    input
}

/// What was decided and asked, but not when.
pub fn timeless(lived: Lived) -> Lived {
    let untimed = |mut trace: Trace| {
        (trace.at, trace.acted_at) = (Time(0), trace.acted_at.map(|_| Time(0)));
        trace.asked.iter_mut().for_each(|asked| asked.at = Time(0));
        trace
    };
    let mut log = lived.log;
    for logged in &mut log {
        match logged {
            Logged::Asked(ask) => ask.at = Time(0),
            Logged::Wrote(brief) => brief.at = Time(0),
            Logged::Posted(delivery) => delivery.at = Time(0),
        }
    }
    Lived { traces: lived.traces.into_iter().map(untimed).collect(), log }
}

/// Everything it knows, but what it spent on which day: that is counted as spent today.
pub fn noted(engine: &Engine) -> serde_json::Value {
    let mut all = serde_json::to_value(engine.snapshot()).unwrap();
    for room in all["rooms"].as_array_mut().unwrap() {
        room.as_object_mut().unwrap().remove("spent");
    }
    all
}
