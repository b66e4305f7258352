//! The friendly line of somebody who was asked and has no answer.

use aizuchi_core::effect::Excuse;

use crate::language::Language;

pub fn words(excuse: Excuse, language: Language) -> String {
    language.text(match excuse {
        Excuse::NoWords => "excuse-no-words",
        Excuse::TooMany => "excuse-too-many",
        Excuse::BudgetSpent => "excuse-budget-spent",
    })
}
