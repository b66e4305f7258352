//! Something the bot may do in a place, and its progress.

use serde::{Deserialize, Serialize};

use crate::judge::JudgeLadder;
use crate::memory::FactId;
use crate::tools::{ToolAccess, ToolCall, ToolOutcome, ToolStep};
use crate::trace::{Cause, Stage, ToolTrace, Trace};
use crate::types::{Addressed, CallId, ConversationId, Kind, MessageId, PersonId, Span, Time, or_zero};

/// Something the bot may do, and why.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Pending {
    /// The decision on the message that gave the reason, in its current state.
    pub trace: Box<Trace>,
    pub addressed: Option<Addressed>,
    /// `None` if conversations are not separated.
    #[serde(default, rename = "strand", with = "or_zero")]
    pub conversation: Option<ConversationId>,
    /// Further messages that addressed the bot meanwhile and will be answered together.
    pub together: Vec<Trace>,
    /// Since when something has continuously been waiting here: the upper bound of the wait counts from then.
    pub since: Time,
    pub kind: Kind,
    pub by_bot: bool,
    /// Whether a model has to agree.
    pub ask: bool,
    pub phase: Phase,
    /// A fact to mention, if that is the reason to speak.
    #[serde(default)]
    pub telling: Option<FirstWords>,
    /// The reaction that the judge chose, one of `kinds.emoji`; without it, one is drawn.
    #[serde(default)]
    pub emoji: Option<Box<str>>,
    /// The message that the judge chose to reply to, instead of the one that gave the reason.
    #[serde(default)]
    pub quote: Option<MessageId>,
    /// The tools of this answer; absent if its writer requested none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Box<ToolSession>>,
    /// The task of a schedule; `None` if a message is the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errand: Option<Box<str>>,
}

/// The tools of one answer.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ToolSession {
    pub began: Time,
    /// How often the writer requested tools.
    pub rounds: u32,
    /// In the order in which they are run.
    pub steps: Vec<ToolStep>,
    /// Whether the first open step is running.
    pub running: bool,
    /// Who agreed to the first open step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<PersonId>,
    /// Set while people are asked whether the first open step may run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
}

/// A question to people whether a tool may run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Approval {
    /// Hashes of the ids of its posts, once it is posted.
    pub posts: Vec<u64>,
    /// Reactions to posts that may turn out to be the question: a fast person reacts before the platform has acknowledged
    /// it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub early: Vec<(u64, Consent)>,
    pub until: Time,
}

/// A person with the permission said whether a tool may run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Consent {
    pub yes: bool,
    pub by: PersonId,
}

impl ToolSession {
    pub(crate) fn new(began: Time) -> ToolSession {
        ToolSession { began, rounds: 0, steps: Vec::new(), running: false, approved_by: None, approval: None }
    }

    /// The writer requested these calls together.
    pub(crate) fn add_round(&mut self, calls: Vec<ToolCall>) {
        self.rounds += 1;
        let round = self.rounds;
        let step = |call| ToolStep { call, round, outcome: None, took: Span::ZERO, decided_by: None };
        self.steps.extend(calls.into_iter().map(step));
    }

    /// Keeps that something was done, but not what was said about it and who agreed.
    pub(crate) fn forget_words(&mut self) {
        self.approved_by = None;
        for step in &mut self.steps {
            step.decided_by = None;
            if let Some(ToolOutcome::Returned(output)) = &mut step.outcome {
                output.text = "done".into();
            }
        }
    }

    /// Deletes results, which may quote messages that have been deleted since.
    pub(crate) fn forget_results(&mut self) {
        for step in self.steps.iter_mut().filter(|step| step.call.access == ToolAccess::Reads) {
            if let Some(ToolOutcome::Returned(output)) = &mut step.outcome {
                output.text = "no longer available: look it up again".into();
            }
        }
    }

    /// Whether one of these people agreed to something or refused it.
    pub(crate) fn is_decided_by(&self, is_of: impl Fn(&PersonId) -> bool) -> bool {
        let early = self.approval.iter().flat_map(|approval| &approval.early).map(|(_, consent)| &consent.by);
        let decided = self.steps.iter().filter_map(|step| step.decided_by.as_ref());
        self.approved_by.iter().chain(early).chain(decided).any(is_of)
    }

    /// A person refused the first open step.
    pub(crate) fn refuse(&mut self, by: PersonId) {
        if let Some(step) = self.steps.iter_mut().find(|step| step.outcome.is_none()) {
            step.decided_by = Some(by);
        }
    }

    pub(crate) fn first_open(&self) -> Option<&ToolStep> {
        self.steps.iter().find(|step| step.outcome.is_none())
    }

    /// The first open step has ended.
    pub(crate) fn close(&mut self, outcome: ToolOutcome, took: Span) -> Option<&ToolStep> {
        let approved_by = self.approved_by.take();
        (self.running, self.approval) = (false, None);
        let step = self.steps.iter_mut().find(|step| step.outcome.is_none())?;
        // If the settings deny a call meanwhile, the person who agreed to it did not refuse it.
        let has_run = !matches!(outcome, ToolOutcome::Denied(_));
        step.decided_by = step.decided_by.take().or(approved_by.filter(|_| has_run));
        (step.outcome, step.took) = (Some(outcome), took);
        Some(step)
    }

    /// The answer starts again: lookups are repeated, changes stay.
    pub(crate) fn start_over(&mut self) {
        if self.running {
            self.close(ToolOutcome::Interrupted, Span::ZERO);
        }
        (self.approved_by, self.approval) = (None, None);
        self.steps.retain(|step| step.outcome.is_some() && step.call.access == ToolAccess::Writes);
    }
}

/// What the bot would mention on its own initiative.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum FirstWords {
    /// Being looked for; if nothing is found, the bot stays silent for this reason.
    Sought {
        call: u64,
        otherwise: Cause,
    },
    Found(FactId),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Phase {
    /// Waiting for quiet.
    Waiting { due: Time },
    /// Waiting for a model's answer.
    Judging {
        call: CallId,
        asked_at: Time,
        prompt_chars: u64,
        #[serde(rename = "climb")]
        ladder: JudgeLadder,
        cache_key: Option<u64>,
        /// The lines it was shown, by number, if it may choose one of them.
        #[serde(default)]
        shown: Vec<MessageId>,
    },
    /// Waiting for the moment the judge chose.
    Holding { due: Time },
    /// Waiting for the words.
    Writing { call: CallId, asked_at: Time },
}

impl Pending {
    /// For one message that nobody addressed to the bot.
    pub(crate) fn new(trace: Box<Trace>, kind: Kind, since: Time, phase: Phase) -> Pending {
        Pending {
            trace,
            addressed: None,
            conversation: None,
            together: Vec::new(),
            since,
            kind,
            by_bot: false,
            ask: false,
            phase,
            telling: None,
            emoji: None,
            quote: None,
            tools: None,
            errand: None,
        }
    }

    pub(crate) fn call(&self) -> Option<&CallId> {
        match &self.phase {
            Phase::Judging { call, .. } | Phase::Writing { call, .. } => Some(call),
            Phase::Waiting { .. } | Phase::Holding { .. } => None,
        }
    }

    pub(crate) fn due(&self) -> Option<Time> {
        match self.phase {
            Phase::Waiting { due } | Phase::Holding { due } => Some(due),
            Phase::Judging { .. } | Phase::Writing { .. } => None,
        }
    }

    /// The decisions it includes; the last is the one that gave the reason.
    pub(crate) fn traces(self) -> impl Iterator<Item = Trace> {
        self.together.into_iter().chain([*self.trace])
    }

    /// The messages it is about; the last is the one that gave the reason.
    pub(crate) fn reasons(&self) -> impl Iterator<Item = &MessageId> {
        self.together.iter().chain([&*self.trace]).map(|trace| &trace.message)
    }

    /// Whether this call looks for what it would mention.
    pub(crate) fn seeks(&self, call: &CallId) -> bool {
        matches!(&self.telling, Some(FirstWords::Sought { call: sought, .. }) if *sought == call.serial)
    }

    /// The fact it is about to mention.
    pub(crate) fn tells(&self) -> Option<FactId> {
        match self.telling {
            Some(FirstWords::Found(fact)) => Some(fact),
            Some(FirstWords::Sought { .. }) | None => None,
        }
    }

    /// The first open tool call has ended, and the decision says how.
    pub(crate) fn close_step(&mut self, outcome: ToolOutcome, took: Span) {
        let step = self.tools.as_mut().and_then(|tools| tools.close(outcome, took).map(ToolTrace::of));
        self.trace.tools.extend(step);
    }

    /// The answer is abandoned or starts again: the running call may have been carried out.
    pub(crate) fn interrupt_tool(&mut self, took: Span) {
        if self.tools.as_ref().is_some_and(|tools| tools.running) {
            self.close_step(ToolOutcome::Interrupted, took);
        }
    }

    /// Whether its writer requested tools that have not ended.
    pub(crate) fn wants_tools(&self) -> bool {
        self.tools.as_ref().is_some_and(|tools| tools.first_open().is_some())
    }

    /// Whether it continues with what was done for it already, or with the task of a schedule: then no other message is
    /// answered together with it.
    pub(crate) fn has_begun(&self) -> bool {
        self.tools.is_some() || self.errand.is_some()
    }

    /// Set if a person has to agree before it continues.
    pub(crate) fn approval(&self) -> Option<&Approval> {
        self.tools.as_ref().and_then(|tools| tools.approval.as_ref())
    }

    /// Its stage, if it ends now.
    pub(crate) fn stage(&self) -> Stage {
        match self.phase {
            Phase::Waiting { .. } | Phase::Judging { .. } => Stage::Judge,
            Phase::Holding { .. } | Phase::Writing { .. } => Stage::Hold,
        }
    }
}
