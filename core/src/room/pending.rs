//! Something the bot may do in a place, and how far it has come.

use serde::{Deserialize, Serialize};

use crate::judge::JudgeLadder;
use crate::memory::FactId;
use crate::trace::{Cause, Stage, Trace};
use crate::types::{Addressed, CallId, ConversationId, Kind, MessageId, Time, or_zero};

/// Something it may do, and why.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Pending {
    /// The decision on the message that gave the reason, as far as it has come.
    pub trace: Box<Trace>,
    pub addressed: Option<Addressed>,
    /// None where conversations are not told apart.
    #[serde(default, rename = "strand", with = "or_zero")]
    pub conversation: Option<ConversationId>,
    /// Further messages that addressed it meanwhile and will be answered together.
    pub together: Vec<Trace>,
    /// Since when something has been waiting here without a break: the wait's upper bound counts from then.
    pub since: Time,
    pub kind: Kind,
    pub by_bot: bool,
    /// Whether a model has to agree.
    pub ask: bool,
    pub phase: Phase,
    /// Something it remembers, where that is the reason to speak.
    #[serde(default)]
    pub telling: Option<FirstWords>,
    /// What the judge chose to react with, one of `kinds.emoji`; without it, it is drawn.
    #[serde(default)]
    pub emoji: Option<Box<str>>,
    /// The message that the judge chose to reply to, instead of the one that gave the reason.
    #[serde(default)]
    pub quote: Option<MessageId>,
}

/// What it would tell of its own accord.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum FirstWords {
    /// Being looked for; without it, it stays silent for this reason.
    Sought {
        call: u64,
        otherwise: Cause,
    },
    Found(FactId),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Phase {
    /// For quiet.
    Waiting { due: Time },
    /// For a model's answer.
    Judging {
        call: CallId,
        asked_at: Time,
        prompt_chars: u64,
        #[serde(rename = "climb")]
        ladder: JudgeLadder,
        cache_key: Option<u64>,
        /// The lines it was shown, by number, where it may choose one of them.
        #[serde(default)]
        shown: Vec<MessageId>,
    },
    /// For the moment the judge chose.
    Holding { due: Time },
    /// For the words.
    Writing { call: CallId, asked_at: Time },
}

impl Pending {
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

    /// The decisions it stands for; the last is the one that gave the reason.
    pub(crate) fn traces(self) -> impl Iterator<Item = Trace> {
        self.together.into_iter().chain([*self.trace])
    }

    /// Whether this call looks for what it would tell.
    pub(crate) fn seeks(&self, call: &CallId) -> bool {
        matches!(&self.telling, Some(FirstWords::Sought { call: sought, .. }) if *sought == call.serial)
    }

    /// The fact it is about to tell.
    pub(crate) fn tells(&self) -> Option<FactId> {
        match self.telling {
            Some(FirstWords::Found(fact)) => Some(fact),
            Some(FirstWords::Sought { .. }) | None => None,
        }
    }

    /// How far it has come, if it goes no further.
    pub(crate) fn stage(&self) -> Stage {
        match self.phase {
            Phase::Waiting { .. } | Phase::Judging { .. } => Stage::Judge,
            Phase::Holding { .. } | Phase::Writing { .. } => Stage::Hold,
        }
    }
}
