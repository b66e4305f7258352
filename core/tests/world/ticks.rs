//! Ticks that carry no information, and the same life without them.

use aizuchi_core::types::{Span, Time};
use aizuchi_core::{Input, Policies};

use super::{Lived, SimulatedRun, Step, Teller, What, live};

/// Traces sorted by message, for lives in which other rooms change the order of decisions.
pub fn by_message(mut lived: Lived) -> Lived {
    lived.traces.sort_by(|a, b| (&a.message, a.at).cmp(&(&b.message, b.at)));
    lived
}

/// The same talk lived plainly, and with these ticks in between and deadlines that are noticed so late.
pub fn with_and_without_ticks(
    policies: impl Fn() -> Policies,
    seed: u64,
    steps: Vec<Step>,
    ticks: Vec<u64>,
    lateness: Span,
) -> (Lived, Lived) {
    let steps: Vec<Step> = steps.into_iter().map(without_thread).collect();
    let plain = by_message(live(policies(), seed, &steps));
    let mut life = SimulatedRun::new(policies(), seed);
    life.sim.lateness = lateness;
    let mut teller = Teller::default();
    let mut ticks = ticks.into_iter();
    let mut last = Time(0);
    for step in &steps {
        let (at, input) = teller.tell(step);
        if let Some(tick) = ticks.next() {
            life.feed((last + Span(tick)).min(at), Input::Tick);
        }
        last = at;
        if let Some(input) = input {
            life.feed(at, input);
        }
    }
    (plain, by_message(life.end()))
}

/// Places of one room share its limits and its call numbers, so that what is noticed late may change their order.
fn without_thread(step: Step) -> Step {
    let what = match step.what {
        What::Says { who, text, replies, .. } => What::Says { who, text, thread: 0, replies },
        other => other,
    };
    Step { what, ..step }
}
