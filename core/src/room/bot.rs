//! What the bot did in a place, what it owes there, and how people respond.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::exchanges::Exchanges;
use super::outgoing::{PendingDelivery, WaitingPost};
use super::pending::Pending;
use crate::judge::Cache;
use crate::trace::Trace;
use crate::transcript::Lines;
use crate::types::{ConversationId, MessageId, Time, or_zero};

/// What the bot did and owes in a place.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct BotState {
    /// The answer to a person who addressed it, being written.
    pub answering: Option<Box<Pending>>,
    /// People who addressed it meanwhile: answered next, together.
    pub next: Option<Box<Pending>>,
    /// More people who addressed it meanwhile than fit into one answer: answered after those, in groups; oldest first.
    #[serde(default)]
    pub later: Vec<Pending>,
    /// Answers that continue once a person agrees to a tool.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaiting: Vec<Pending>,
    /// When it last acted in any way, including a reaction.
    pub acted_at: Option<Time>,
    /// When it last contributed unasked.
    pub spoke_up_at: Option<Time>,
    /// Its unasked contributions that are shown to the judge; oldest first.
    pub interventions: VecDeque<Intervention>,
    pub cache: Cache,
    /// Posts that are being sent to the platform.
    pub delivering: Vec<PendingDelivery>,
    /// Posts that wait because an answer in several posts is not complete; in the order in which they will be sent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outbox: Vec<WaitingPost>,
    /// Ids that were received but are not in the buffer, so that they are recognised when they are received again; newest
    /// last.
    pub known: VecDeque<u64>,
    /// Ids of its own posts, newest last.
    pub own: VecDeque<u64>,
    /// Contributions whose response is not known yet; oldest first.
    #[serde(default, rename = "followed")]
    pub tracked: Vec<TrackedContribution>,
    /// Consecutive remarks of its own initiative that nobody responded to.
    #[serde(default)]
    pub ignored_remarks: u32,
    /// Its latest answers, as long as they may be withdrawn; oldest first.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    pub sent: VecDeque<SentAnswer>,
    /// What people said to it and what it answered, if the buffer does not contain both.
    #[serde(default)]
    pub exchanges: Exchanges,
}

/// An unasked contribution.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TrackedContribution {
    /// The decision that led to it.
    pub trace: Box<Trace>,
    /// Hashes of the ids of its posts.
    pub ids: Vec<u64>,
    pub at: Time,
    #[serde(default, rename = "strand", with = "or_zero")]
    pub conversation: Option<ConversationId>,
    /// The number of people's messages since.
    pub heard: u32,
    /// Whether the bot spoke first, to mention something that it remembers.
    #[serde(default, rename = "told")]
    pub spoke_first: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Intervention {
    pub at: Time,
    /// `None` if conversations are not separated.
    #[serde(default, rename = "strand", with = "or_zero")]
    pub conversation: Option<ConversationId>,
    /// The talk that the bot joined.
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
/// More answers than a place gets in the time in which they may be withdrawn.
const SENT_MAX: usize = 1024;

impl BotState {
    /// Its contributions to a conversation, or to the place as a whole.
    pub(crate) fn interventions_of(
        &self,
        conversation: Option<ConversationId>,
    ) -> impl DoubleEndedIterator<Item = &Intervention> {
        self.interventions.iter().filter(move |each| conversation.is_none() || each.conversation == conversation)
    }

    /// Takes the people to be answered next.
    pub(crate) fn take_next(&mut self) -> Option<Box<Pending>> {
        let next = self.next.take()?;
        if !self.later.is_empty() {
            self.next = Some(Box::new(self.later.remove(0)));
        }
        Some(next)
    }

    /// Adds a person at the end of those who are to be answered.
    pub(crate) fn put_last(&mut self, owed: Box<Pending>) {
        match &self.next {
            None => self.next = Some(owed),
            Some(_) => self.later.push(*owed),
        }
    }

    /// Notes an answer that may be withdrawn, and drops those from before this time.
    pub(crate) fn note_sent(&mut self, sent: SentAnswer, after: Time) {
        self.sent.retain(|sent| sent.at >= after);
        if self.sent.len() == SENT_MAX {
            self.sent.pop_front();
        }
        self.sent.push_back(sent);
    }

    /// Notes more posts of an answer that may be withdrawn.
    pub(crate) fn note_more_sent(&mut self, first: &MessageId, posts: &[MessageId]) {
        if let Some(sent) = self.sent.iter_mut().find(|sent| sent.posts.contains(first)) {
            sent.posts.extend_from_slice(posts);
        }
    }

    /// Takes the posts sent after this time whose last reason was this message, and answers that repeat it, by their first
    /// posts.
    pub(crate) fn take_unfounded(&mut self, message: &MessageId, quoting: &[MessageId], after: Time) -> Vec<MessageId> {
        self.sent.retain(|sent| sent.at >= after);
        for sent in &mut self.sent {
            let quotes = sent.posts.first().is_some_and(|post| quoting.contains(post));
            sent.to.retain(|to| to != message && !quotes);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_may_be_withdrawn_however_many_followed_within_the_time() {
        let answer = |number: u64| SentAnswer {
            at: Time(number),
            to: vec![MessageId::new(format!("m{number}"))],
            posts: vec![MessageId::new(format!("p{number}"))],
        };
        let mut bot = BotState::default();
        (0..100).for_each(|number| bot.note_sent(answer(number), Time(0)));
        assert_eq!(bot.take_unfounded(&MessageId::new("m0"), &[], Time(0)), [MessageId::new("p0")]);
        bot.note_sent(answer(100), Time(50));
        assert_eq!(bot.sent.len(), 51, "what is older is not kept");
        (0..2_000).for_each(|number| bot.note_sent(answer(1_000 + number), Time(0)));
        assert_eq!(bot.sent.len(), SENT_MAX, "however many there are");
    }
}
