//! Handles a restart of the program.

use super::turn::Turn;
use super::{answer, change, end, outbox};
use crate::effect::Effect;
use crate::room::Phase;
use crate::trace::Cause;
use crate::types::Span;

/// After a restart, what is long overdue is dropped, and what was in flight is requested again.
pub(super) fn resume(turn: &mut Turn<'_>) {
    let sent: Vec<_> =
        turn.place().bot.iter().flat_map(|bot| &bot.delivering).map(|sent| sent.delivery.clone()).collect();
    turn.out.extend(sent.into_iter().map(|delivery| Effect::Deliver(Box::new(delivery))));
    let stale_after = Span::seconds(turn.policy.settings.response.stale_after_seconds.into());
    outbox::resume(turn, stale_after);
    for pending in turn.place_mut().take_slots() {
        let wanted_at = match pending.phase {
            Phase::Waiting { due } | Phase::Holding { due } => due,
            Phase::Judging { asked_at, .. } | Phase::Writing { asked_at, .. } => asked_at,
        };
        let overdue = turn.now.since(wanted_at);
        // People may still agree, or the timer expires.
        if pending.approval().is_some() {
            turn.place_mut().put_back(pending);
            continue;
        }
        if overdue > stale_after {
            end::end(turn, *pending, &Cause::Stale { overdue });
        } else {
            change::start_over(turn, pending);
        }
    }
    answer::write_next(turn);
}
