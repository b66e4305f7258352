//! Decisions in words: a trace becomes messages with typed arguments, and those a sentence in some language.

mod cause;
mod channel;
#[cfg(test)]
mod tests;
mod trace;

pub use cause::cause;
pub use channel::channel;
pub use trace::{outcome, reason, sentence, why};

use aizuchi_core::effect::Excuse;

use crate::language::Language;

/// The friendly line of somebody who was asked and has no answer.
pub fn excuse(excuse: Excuse, language: Language) -> String {
    language.text(match excuse {
        Excuse::NoWords => "excuse-no-words",
        Excuse::TooMany => "excuse-too-many",
        Excuse::BudgetSpent => "excuse-budget-spent",
    })
}
