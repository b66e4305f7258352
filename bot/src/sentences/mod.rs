//! Decisions as text: a trace becomes messages with typed arguments, and those become a sentence in some language.

mod cause;
mod channel;
#[cfg(test)]
mod tests;
mod trace;

pub use cause::cause;
pub use channel::format_channel;
pub use trace::{outcome_name, reason, sentence, why};

use aizuchi_core::effect::{ApprovalRequest, Excuse};
use aizuchi_core::reminders::ReminderPost;
use aizuchi_core::tools::{APPROVE, REFUSE, shown_arguments};

use crate::language::{Language, say};

/// The question whether a tool may run.
pub fn approval(request: &ApprovalRequest, language: Language) -> String {
    let arguments = shown_arguments(&request.arguments).unwrap_or_default();
    say!(
        language,
        "approval-question",
        tool = &*request.tool,
        arguments = arguments,
        minutes = request.minutes,
        yes = APPROVE,
        no = REFUSE,
    )
}

/// A reminder as it is posted. `due` says in words when it was due.
pub fn reminder(post: &ReminderPost, due: &str, language: Language) -> String {
    let text = match &post.asked_by {
        Some(name) => say!(language, "reminder-post-for", name = &**name, text = &*post.text),
        None => say!(language, "reminder-post", text = &*post.text),
    };
    if post.is_late { format!("{text}\n{}", say!(language, "reminder-late", due = due)) } else { text }
}

pub fn format_excuse(excuse: Excuse, language: Language) -> String {
    language.text(match excuse {
        Excuse::NoWords => "excuse-no-words",
        Excuse::TooMany => "excuse-too-many",
        Excuse::BudgetSpent => "excuse-budget-spent",
    })
}
