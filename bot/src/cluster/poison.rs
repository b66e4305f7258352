//! What panics in a room, and how the room goes on.
//!
//! A bug of the engine, or a state that it should never have reached, must not stop a room for ever, nor take with it what is sound. An
//! input that panics is set aside, unless one after the other does. Whatever else panics does so because of what the room remembers: the room begins anew, with what was
//! set for it and without what was said and is pending. If that does not help, the step is left out where the room can do without it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::runtime::panic_message;

/// A part of what a room does in an invocation. Inputs are named by their index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Other settings hold.
    Settings,
    /// It goes on with a room of a single process.
    TakeOver,
    /// The clock was set before this input.
    Clock(usize),
    /// What is due before this input.
    Due(usize),
    Hear(usize),
    /// The same after so many that panicked that the room itself is in doubt.
    HearInDoubt(usize),
    Forget,
    /// Its state is packed.
    Pack,
}

impl Step {
    /// For the record of what was set aside. It is no input.
    pub fn shown(self) -> &'static str {
        match self {
            Step::Settings => "(other settings)",
            Step::TakeOver => "(taking over the room)",
            Step::Clock(_) => "(setting the clock)",
            Step::Due(_) => "(what was due)",
            Step::Hear(_) | Step::HearInDoubt(_) => "(what was said and pending)",
            Step::Forget => "(forgetting somebody)",
            Step::Pack => "(packing the room)",
        }
    }

    /// What helps after so many panics; `None` if nothing does.
    fn remedy(self, panics: usize) -> Option<Remedy> {
        match (self, panics) {
            (Step::Hear(_), 1) => Some(Remedy::LeaveOut),
            (Step::Hear(_), _) => None,
            (_, 1) => Some(Remedy::BeginAnew),
            (Step::Settings | Step::TakeOver | Step::Clock(_) | Step::HearInDoubt(_), 2) => Some(Remedy::LeaveOut),
            (Step::Settings | Step::TakeOver | Step::Clock(_) | Step::HearInDoubt(_), _) => None,
            (Step::Due(_) | Step::Forget | Step::Pack, _) => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// The room begins anew before it.
    BeginAnew,
    LeaveOut,
}

#[derive(Debug)]
pub struct Panicked {
    step: Step,
    /// May quote what people said.
    error: String,
}

/// Steps that are known to panic, in the order in which that was found.
#[derive(Debug, Default)]
pub struct Poison(Vec<Panicked>);

impl Poison {
    /// `Err` if nothing more can be done about it.
    pub fn add(&mut self, panicked: Panicked) -> Result<(), String> {
        let step = panicked.step;
        self.0.push(panicked);
        match step.remedy(self.panics(step).count()) {
            Some(_) => Ok(()),
            // Quotes nobody.
            None => Err(format!("the engine panics in a room that has begun anew {}", step.shown())),
        }
    }

    /// How to do this step, and why not as usual; `None` if it is not known to panic.
    pub fn remedy(&self, step: Step) -> Option<(Remedy, &str)> {
        let last = self.panics(step).last()?;
        Some((step.remedy(self.panics(step).count())?, &last.error))
    }

    fn panics(&self, step: Step) -> impl Iterator<Item = &Panicked> {
        self.0.iter().filter(move |panicked| panicked.step == step)
    }
}

pub fn caught(step: Step, act: impl FnOnce()) -> Result<(), Panicked> {
    catch_unwind(AssertUnwindSafe(act)).map_err(|panic| Panicked { step, error: panic_message(&*panic) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panics(step: Step) -> Panicked {
        caught(step, || panic!("odd")).expect_err("it panics")
    }

    #[test]
    fn a_room_begins_anew_before_something_is_left_out_and_some_things_never_are() {
        let remedies = |step: Step| {
            let (mut poison, mut found) = (Poison::default(), Vec::new());
            while poison.add(panics(step)).is_ok() {
                found.push(poison.remedy(step).expect("there is one").0);
            }
            found
        };
        assert_eq!(remedies(Step::Hear(3)), [Remedy::LeaveOut]);
        assert_eq!(remedies(Step::HearInDoubt(3)), [Remedy::BeginAnew, Remedy::LeaveOut]);
        for step in [Step::Settings, Step::TakeOver, Step::Clock(0)] {
            assert_eq!(remedies(step), [Remedy::BeginAnew, Remedy::LeaveOut], "{step:?}");
        }
        // Nobody may take somebody for forgotten who is not.
        for step in [Step::Due(0), Step::Forget, Step::Pack] {
            assert_eq!(remedies(step), [Remedy::BeginAnew], "{step:?}");
        }
        let mut poison = Poison::default();
        poison.add(panics(Step::Hear(1))).expect("it is left out");
        assert_eq!(poison.remedy(Step::Hear(2)), None);
        let error = poison.add(panics(Step::Hear(1))).expect_err("it was left out");
        assert!(!error.contains("odd"), "{error}");
    }
}
