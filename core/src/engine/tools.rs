//! Tools within an answer: whether a call runs, whose consent it needs, and that the answer is written with its result.
//!
//! The caller then answers people who addressed the bot meanwhile. All of it happens while the answer is being written
//! (`Phase::Writing`): the call in flight is then the tool's. Calls run one after the other, so that there is one thing to
//! abort when the answer is no longer wanted. An answer that waits for a person's consent lets others go ahead meanwhile
//! (`BotState::awaiting`).

use super::tool_offer::seconds_max;
use super::turn::Turn;
use super::{alarm, end, gate, outbox, pay, remind, withdraw, write};
use crate::effect::{ApprovalRequest, Effect, Post};
use crate::reminders::{NewReminder, ReminderAsker};
use crate::room::{Approval, Consent, PERSON_LIMIT_SPAN, Pending, PendingDelivery, Phase, ToolRun, ToolSession};
use crate::tools::{
    APPROVE, Denial, REFUSE, ToolAccess, ToolCall, ToolOrder, ToolOutcome, ToolOutput, ToolPermission, ToolStep,
    shown_arguments,
};
use crate::types::{CallId, MessageId, Reaction, Span, stable_hash};
use crate::usage::{Failure, Usage};

/// How many answers of one place may wait for consent.
const AWAITING_MAX: usize = 4;
/// How many reactions are kept while a question is being posted.
const EARLY_MAX: usize = 8;
/// How many tool calls are remembered for the limits per person.
const RUNS_MAX: usize = 1000;

/// Only the reaction named in the question is consent; several count as a refusal.
const YES: [&str; 1] = [APPROVE];
const NO: [&str; 5] = [REFUSE, "👎", "🚫", "⛔", "✖"];

/// The writer wants tools before it answers.
pub(super) fn handle_tool_calls(turn: &mut Turn<'_>, call: &CallId, calls: Vec<ToolCall>, usage: &Usage) {
    pay::settle(turn, call, Some((&Usage { calls: usage.calls.max(1), ..*usage }).into()));
    let Some(mut pending) = write::take_writing(turn, call) else { return };
    pending.trace.micros += usage.micros;
    let now = turn.now;
    let tools = pending.tools.get_or_insert_with(|| Box::new(ToolSession::new(now)));
    if tools.rounds > turn.policy.settings.tools.rounds_max {
        return write::fail(turn, pending, "the model asks for tools again and again instead of answering");
    }
    tools.add_round(calls);
    run_next(turn, Box::new(pending));
}

pub(super) fn handle_tool_result(turn: &mut Turn<'_>, call: &CallId, result: Result<ToolOutput, Failure>) {
    let Some(mut pending) = write::take_writing(turn, call) else { return };
    let Phase::Writing { asked_at, .. } = pending.phase else { return };
    let outcome = match result {
        Ok(mut output) => match output.reminder.take().map_or(Ok(()), |reminder| remind(turn, &pending, *reminder)) {
            Ok(()) => ToolOutcome::Returned(output),
            Err(what) => ToolOutcome::Failed(what.into()),
        },
        Err(failure) => ToolOutcome::Failed(failure.what),
    };
    let took = turn.now.since(asked_at);
    pending.close_step(outcome, took);
    run_next(turn, Box::new(pending));
}

fn remind(turn: &mut Turn<'_>, pending: &Pending, reminder: NewReminder) -> Result<(), String> {
    let trace = &pending.trace;
    let (person, name, message) = (trace.author_id.clone(), trace.author.clone(), trace.message.clone());
    remind::remind(turn, reminder, ReminderAsker { person, name, message })
}

/// The first open call is run, put to people for consent, or denied; after the last one the answer is written.
pub(super) fn run_next(turn: &mut Turn<'_>, mut pending: Box<Pending>) {
    turn.conversation = pending.conversation;
    if let Some(closed) = gate::closed_for(turn, &pending, false) {
        return end::withhold(turn, *pending, closed);
    }
    loop {
        let Some(step) = pending.tools.as_ref().and_then(|tools| tools.first_open()).cloned() else {
            return write::write(turn, pending);
        };
        match decide(turn, &pending, &step.call) {
            CallDecision::Run => return run(turn, pending, step.call),
            CallDecision::Ask => return ask(turn, pending, step.call),
            CallDecision::Deny(why) => pending.close_step(ToolOutcome::Denied(why), Span::ZERO),
        }
    }
}

enum CallDecision {
    Run,
    Ask,
    Deny(Denial),
}

fn decide(turn: &Turn<'_>, pending: &Pending, call: &ToolCall) -> CallDecision {
    let settings = &turn.policy.settings.tools;
    let tools = pending.tools.as_ref().expect("a call is decided where there is one");
    let person = turn.room.speakers.key(&pending.trace.author_id);
    let runs = turn.room.tool_runs.iter().filter(|run| run.person == person);
    let lately = runs.filter(|run| turn.now.since(run.at) < PERSON_LIMIT_SPAN).count();
    let ended = tools.steps.iter().filter(|step| step.outcome.is_some()).count();
    let is_late = turn.now.since(tools.began) >= seconds_max(settings) && tools.approved_by.is_none();
    let limit = settings.person_per_hour as usize;
    let too_many = ended >= settings.calls_max as usize || is_late || (limit > 0 && lately >= limit);
    let writes = call.access == ToolAccess::Writes;
    match settings.permission(&call.name, call.access) {
        _ if call.access == ToolAccess::Invalid => CallDecision::Deny(Denial::Invalid),
        ToolPermission::Deny => CallDecision::Deny(Denial::Policy),
        _ if writes && pending.addressed.is_none() => CallDecision::Deny(Denial::Unasked),
        _ if too_many => CallDecision::Deny(Denial::TooMany),
        _ if tools.approved_by.is_some() => CallDecision::Run,
        // Content from outside must not make the bot change anything on its own.
        ToolPermission::Allow if !(writes && tools.steps.iter().any(ToolStep::is_from_outside)) => CallDecision::Run,
        // Nobody is asked for consent for an unasked contribution.
        _ if pending.addressed.is_none() => CallDecision::Deny(Denial::Unasked),
        _ if turn.place().bot.as_ref().is_some_and(|bot| bot.awaiting.len() >= AWAITING_MAX) => {
            CallDecision::Deny(Denial::TooMany)
        }
        ToolPermission::Allow | ToolPermission::Ask if shown_arguments(&call.arguments).is_none() => {
            CallDecision::Deny(Denial::TooLong)
        }
        ToolPermission::Allow | ToolPermission::Ask => CallDecision::Ask,
    }
}

fn run(turn: &mut Turn<'_>, mut pending: Box<Pending>, tool: ToolCall) {
    let settings = &turn.policy.settings.tools;
    let call = turn.room.next_call();
    let tools = pending.tools.as_mut().expect("a tool runs where one was asked for");
    tools.running = true;
    let spent = turn.now.since(tools.began);
    // After waiting for consent, a call has the full time for itself.
    let timeout = if tools.approved_by.is_some() {
        seconds_max(settings)
    } else {
        Span(seconds_max(settings).0.saturating_sub(spent.0))
    };
    let person = turn.room.speakers.key(&pending.trace.author_id);
    let order = ToolOrder {
        call: call.clone(),
        at: turn.now,
        place: turn.place_id(),
        tool,
        answering: pending.trace.message.clone(),
        asker: pending.trace.author_id.clone(),
        timeout,
        result_chars: settings.result_chars,
    };
    let now = turn.now;
    let runs = &mut turn.room.tool_runs;
    runs.retain(|run| now.since(run.at) < PERSON_LIMIT_SPAN);
    if runs.len() == RUNS_MAX {
        runs.remove(0);
    }
    runs.push(ToolRun { person, at: now });
    pending.phase = Phase::Writing { call, asked_at: now };
    turn.place_mut().put_back(pending);
    turn.out.push(Effect::RunTool(Box::new(order)));
}

/// Asks the people of the room about a call. The answer waits for them, but others do not wait for the answer.
fn ask(turn: &mut Turn<'_>, mut pending: Box<Pending>, tool: ToolCall) {
    let minutes = turn.policy.settings.tools.approval_minutes;
    let tools = pending.tools.as_mut().expect("a tool is asked about where one was asked for");
    tools.approval =
        Some(Approval { posts: Vec::new(), early: Vec::new(), until: turn.now + Span::minutes(minutes.into()) });
    let post = Post::Approval(ApprovalRequest { tool: tool.name, arguments: tool.arguments, minutes });
    let delivery = turn.new_delivery(post, pending.trace.message.clone());
    let conversation = pending.conversation;
    pending.phase = Phase::Writing { call: delivery.call.clone(), asked_at: turn.now };
    turn.place_mut().put_back(pending);
    let question = PendingDelivery { conversation, ..PendingDelivery::new(delivery, None) };
    outbox::send(turn, question);
    alarm::set_alarm(turn);
}

/// The question is posted now, or never will be. Returns whether it was one.
pub(super) fn handle_asked(turn: &mut Turn<'_>, call: &CallId, ids: &Result<Vec<MessageId>, Failure>) -> bool {
    let Some(bot) = &mut turn.place_mut().bot else { return false };
    let asks = |sent: &PendingDelivery| sent.delivery.call == *call && matches!(sent.delivery.post, Post::Approval(_));
    let Some(index) = bot.delivering.iter().position(asks) else { return false };
    bot.delivering.remove(index);
    note_asked(turn, call, ids.clone());
    outbox::release(turn);
    true
}

fn note_asked(turn: &mut Turn<'_>, call: &CallId, ids: Result<Vec<MessageId>, Failure>) {
    let bot = turn.place_mut().bot_mut();
    let Some(index) = bot.awaiting.iter().position(|pending| pending.call() == Some(call)) else {
        return withdraw::withdraw_question(turn, ids.unwrap_or_default());
    };
    let reasons: Vec<MessageId> = bot.awaiting[index].reasons().cloned().collect();
    withdraw::note_question(turn, reasons, ids.as_deref().unwrap_or_default());
    let bot = turn.place_mut().bot_mut();
    match ids {
        Ok(ids) => {
            let hashes: Vec<u64> = ids.iter().map(|id| stable_hash(0, id.as_str())).collect();
            hashes.iter().for_each(|id| bot.note_own(*id));
            let tools = bot.awaiting[index].tools.as_mut();
            if let Some(approval) = tools.and_then(|tools| tools.approval.as_mut()) {
                approval.posts = hashes;
                let early = approval.early.iter().find(|(id, _)| approval.posts.contains(id));
                if let Some(consent) = early.map(|(_, consent)| consent.clone()) {
                    let pending = bot.awaiting.remove(index);
                    conclude(turn, pending, consent);
                }
            }
        }
        Err(failure) => {
            let mut pending = bot.awaiting.remove(index);
            pending.close_step(ToolOutcome::Failed(failure.what), Span::ZERO);
            resume_answer(turn, pending);
        }
    }
}

/// Whether the reaction says that a tool may or may not run.
pub(super) fn note_reaction(turn: &mut Turn<'_>, reaction: &Reaction) -> bool {
    let emoji = reaction.emoji.trim_end_matches('\u{fe0f}');
    let yes = YES.contains(&emoji);
    if !reaction.on || !(yes || NO.contains(&emoji)) || !may_approve(turn, reaction) {
        return false;
    }
    let consent = Consent { yes, by: reaction.by.clone() };
    let id = stable_hash(0, reaction.message.as_str());
    let asks = |pending: &Pending| pending.approval().is_some_and(|approval| approval.posts.contains(&id));
    let Some(bot) = turn.place_mut().bot.as_mut() else { return false };
    let Some(index) = bot.awaiting.iter().position(asks) else {
        let tools = bot.awaiting.iter_mut().filter_map(|pending| pending.tools.as_mut());
        let on_its_way = tools.filter_map(|tools| tools.approval.as_mut()).filter(|approval| approval.posts.is_empty());
        for approval in on_its_way.filter(|approval| approval.early.len() < EARLY_MAX) {
            approval.early.push((id, consent.clone()));
        }
        return false;
    };
    let pending = bot.awaiting.remove(index);
    conclude(turn, pending, consent);
    true
}

/// A person with the permission has said yes or no.
fn conclude(turn: &mut Turn<'_>, mut pending: Pending, Consent { yes, by }: Consent) {
    let tools = pending.tools.as_mut().expect("somebody was asked about a tool");
    if yes {
        (tools.approved_by, tools.approval) = (Some(by), None);
    } else {
        tools.refuse(by);
        pending.close_step(ToolOutcome::Denied(Denial::Refused), Span::ZERO);
    }
    resume_answer(turn, pending);
}

fn may_approve(turn: &Turn<'_>, reaction: &Reaction) -> bool {
    let approvers = &turn.policy.settings.tools.approvers;
    approvers.is_empty() || approvers.iter().any(|id| id == reaction.by.as_str())
}

/// Whether consent to something was not given in time.
pub(super) fn expire(turn: &mut Turn<'_>) -> bool {
    let (now, mut any) = (turn.now, false);
    let is_over = |pending: &Pending| pending.approval().is_some_and(|approval| approval.until <= now);
    while let Some(bot) = turn.place_mut().bot.as_mut()
        && let Some(index) = bot.awaiting.iter().position(is_over)
    {
        let mut pending = bot.awaiting.remove(index);
        pending.close_step(ToolOutcome::Denied(Denial::Expired), Span::ZERO);
        resume_answer(turn, pending);
        any = true;
    }
    any
}

/// The answer continues, or queues if another is being written or posted.
fn resume_answer(turn: &mut Turn<'_>, mut pending: Pending) {
    turn.conversation = pending.conversation;
    let now = turn.now;
    let bot = turn.place_mut().bot_mut();
    if bot.is_busy() {
        // It was people who took their time: it is due only now.
        pending.phase = Phase::Holding { due: now };
        return bot.put_last(Box::new(pending));
    }
    run_next(turn, Box::new(pending));
}
