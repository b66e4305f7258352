//! Which tools a writer may request, and what it is shown of those it used.

use super::turn::Turn;
use crate::room::{Pending, ToolSession};
use crate::settings::ToolSettings;
use crate::tools::{ToolOffer, ToolStep};
use crate::types::{Kind, Span};
use crate::usage::tokens_of_bytes;

/// Which tools the writer may request at this point.
pub(super) fn offer(turn: &Turn<'_>, pending: &Pending) -> ToolOffer {
    let settings = &turn.policy.settings.tools;
    let is_used_up = |tools: &ToolSession| {
        tools.rounds >= settings.rounds_max || turn.now.since(tools.began) >= seconds_max(settings)
    };
    match &pending.tools {
        _ if !settings.enabled || pending.kind != Kind::Full => ToolOffer::None,
        Some(tools) if is_used_up(tools) => ToolOffer::None,
        _ if pending.addressed.is_some() => ToolOffer::All,
        _ => ToolOffer::Reading,
    }
}

/// The results of the tools so far, for the writer.
pub(super) fn closed_steps(pending: &Pending) -> Vec<ToolStep> {
    let steps = pending.tools.iter().flat_map(|tools| &tools.steps);
    steps.filter(|step| step.outcome.is_some()).cloned().collect()
}

/// How many tokens they add to the prompt.
pub(super) fn tokens_of(steps: &[ToolStep]) -> u64 {
    steps.iter().map(|step| tokens_of_bytes(step.call.arguments.len() + step.words().len())).sum()
}

/// The maximum time for the tools of one answer.
pub(super) fn seconds_max(settings: &ToolSettings) -> Span {
    Span::seconds(settings.seconds_max.into())
}
