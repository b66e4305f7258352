//! What the bot did in a place, what it owes there, and what people make of it.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::exchanges::Exchanges;
use super::outgoing::{PendingDelivery, WaitingPost};
use super::pending::Pending;
use crate::judge::Cache;
use crate::trace::Trace;
use crate::transcript::Lines;
use crate::types::{ConversationId, MessageId, Time, or_zero};

/// What it did and owes in a place.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct BotState {
    /// The answer to a person who addressed it, being written.
    pub answering: Option<Box<Pending>>,
    /// Who addressed it meanwhile: answered next, together.
    pub next: Option<Box<Pending>>,
    /// More who addressed it meanwhile than one answer has room for: answered after those, as many together; oldest first.
    #[serde(default)]
    pub later: Vec<Pending>,
    /// Answers that go on once a person agrees to a tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaiting: Vec<Pending>,
    /// When it last acted in any way, a reaction too.
    pub acted_at: Option<Time>,
    /// When it last contributed unasked.
    pub spoke_up_at: Option<Time>,
    /// What it contributed unasked, as far as the judge is told; oldest first.
    pub interventions: VecDeque<Intervention>,
    pub cache: Cache,
    /// Posts on their way to the platform.
    pub delivering: Vec<PendingDelivery>,
    /// Posts that have not left, because an answer in several posts is not out yet; in the order in which they leave.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outbox: Vec<WaitingPost>,
    /// Ids that were heard but are not in the buffer, so that they are not heard again; newest last.
    pub known: VecDeque<u64>,
    /// Ids of its own posts, newest last.
    pub own: VecDeque<u64>,
    /// Contributions of which it is not known yet what people make of them; oldest first.
    #[serde(default, rename = "followed")]
    pub tracked: Vec<TrackedContribution>,
    /// Remarks of its own accord in a row that nobody took up.
    #[serde(default)]
    pub ignored_remarks: u32,
    /// Its latest answers, as long as they may be taken back; oldest first.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    pub sent: VecDeque<SentAnswer>,
    /// What people said to it and what it answered, where the buffer does not hold both.
    #[serde(default)]
    pub exchanges: Exchanges,
}

/// A contribution that nobody had asked for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TrackedContribution {
    /// The decision that led to it.
    pub trace: Box<Trace>,
    /// Hashes of the ids of its posts.
    pub ids: Vec<u64>,
    pub at: Time,
    #[serde(default, rename = "strand", with = "or_zero")]
    pub conversation: Option<ConversationId>,
    /// Messages of people since.
    pub heard: u32,
    /// Whether it spoke first, to tell something that it remembers.
    #[serde(default)]
    pub told: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Intervention {
    pub at: Time,
    /// None where conversations are not told apart.
    #[serde(default, rename = "strand", with = "or_zero")]
    pub conversation: Option<ConversationId>,
    /// The talk it stepped into.
    pub lines: Lines,
}

/// An answer that people see.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SentAnswer {
    pub at: Time,
    /// The messages it answers.
    pub to: Vec<MessageId>,
    pub posts: Vec<MessageId>,
}

const KNOWN_MAX: usize = 64;
const SENT_MAX: usize = 32;

impl BotState {
    /// What it contributed to a conversation, or to the place as a whole.
    pub(crate) fn interventions_of(
        &self,
        conversation: Option<ConversationId>,
    ) -> impl DoubleEndedIterator<Item = &Intervention> {
        self.interventions.iter().filter(move |each| conversation.is_none() || each.conversation == conversation)
    }

    /// Who is to be answered next, with those who are answered together with them.
    pub(crate) fn take_next(&mut self) -> Option<Box<Pending>> {
        let next = self.next.take()?;
        if !self.later.is_empty() {
            self.next = Some(Box::new(self.later.remove(0)));
        }
        Some(next)
    }

    /// Puts somebody at the end of those who are to be answered.
    pub(crate) fn put_last(&mut self, owed: Box<Pending>) {
        match &self.next {
            None => self.next = Some(owed),
            Some(_) => self.later.push(*owed),
        }
    }

    /// An answer that may be taken back.
    pub(crate) fn note_sent(&mut self, sent: SentAnswer) {
        if self.sent.len() == SENT_MAX {
            self.sent.pop_front();
        }
        self.sent.push_back(sent);
    }

    /// More of an answer that may be taken back.
    pub(crate) fn note_more_sent(&mut self, first: &MessageId, posts: &[MessageId]) {
        if let Some(sent) = self.sent.iter_mut().find(|sent| sent.posts.contains(first)) {
            sent.posts.extend_from_slice(posts);
        }
    }

    /// The posts whose last reason is gone with this message, of those that were sent after this time.
    pub(crate) fn take_unfounded(&mut self, message: &MessageId, after: Time) -> Vec<MessageId> {
        self.sent.retain(|sent| sent.at >= after);
        for sent in &mut self.sent {
            sent.to.retain(|to| to != message);
        }
        let unfounded = |sent: &SentAnswer| sent.to.is_empty();
        let posts = self.sent.iter().filter(|sent| unfounded(sent)).flat_map(|sent| sent.posts.clone()).collect();
        self.sent.retain(|sent| !unfounded(sent));
        posts
    }

    pub(crate) fn note_known(&mut self, id_hash: u64) {
        note(&mut self.known, id_hash);
    }

    pub(crate) fn note_own(&mut self, id_hash: u64) {
        note(&mut self.own, id_hash);
    }
}

fn note(ring: &mut VecDeque<u64>, id_hash: u64) {
    if ring.len() == KNOWN_MAX {
        ring.pop_front();
    }
    ring.push_back(id_hash);
}
