//! The bot's posts that are being sent, and those that wait for their time.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::bot::BotState;
use crate::effect::{Delivery, Post};
use crate::trace::{RestStopped, Trace};
use crate::types::{ClockShift, ConversationId, MessageId, Time, or_zero};

/// A post that was sent and not acknowledged yet, or is about to be sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PendingDelivery {
    pub delivery: Delivery,
    /// What is remembered of it; a reaction has no words.
    pub text: Option<Box<str>>,
    pub addressed: bool,
    /// `None` if conversations are not separated.
    #[serde(default, rename = "strand", with = "or_zero")]
    pub conversation: Option<ConversationId>,
    /// The decisions it concludes; the last is the one that gave the reason.
    pub traces: Vec<Trace>,
    /// Those of their messages that were deleted since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deleted: Vec<MessageId>,
    /// Set if it is one of several posts of one answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk: Option<Box<Chunk>>,
}

/// The rest of the answer that a post is a part of.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Chunk {
    /// Posts of this answer that people see already, and their words.
    pub posts: Vec<MessageId>,
    pub said: Box<str>,
    /// The posts that follow, each in the parts that the platform accepts.
    pub rest: VecDeque<Vec<Box<str>>>,
    /// Why nothing follows although something was to.
    pub stopped: Option<RestStopped>,
}

/// A post that was not sent yet: the next one of the current answer, or another answer behind it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WaitingPost {
    pub due: Time,
    pub post: PendingDelivery,
}

impl PendingDelivery {
    /// For a post that concludes no decision.
    pub(crate) fn new(delivery: Delivery, text: Option<Box<str>>) -> PendingDelivery {
        PendingDelivery {
            delivery,
            text,
            addressed: true,
            conversation: None,
            traces: Vec::new(),
            deleted: Vec::new(),
            chunk: None,
        }
    }

    fn is_text(&self) -> bool {
        !matches!(self.delivery.post, Post::Reaction(_))
    }

    /// All words of its answer that it contains.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        let chunk = self.chunk.iter().flat_map(|chunk| {
            let rest = chunk.rest.iter().flatten().map(|part| &**part);
            std::iter::once(&*chunk.said).chain(rest)
        });
        self.text.as_deref().into_iter().chain(chunk)
    }

    /// Whether everything it answers was deleted.
    pub(crate) fn is_unfounded(&self) -> bool {
        !self.traces.is_empty() && self.traces.iter().all(|trace| self.deleted.contains(&trace.message))
    }

    /// Nothing follows this post.
    pub(crate) fn stop(&mut self, why: &RestStopped) {
        if let Some(chunk) = self.chunk.as_mut().filter(|chunk| !chunk.rest.is_empty()) {
            chunk.rest.clear();
            chunk.stopped = Some(why.clone());
        }
    }

    pub(super) fn set_clock(&mut self, by: ClockShift) {
        self.delivery.at = self.delivery.at.shifted(by);
        self.traces.iter_mut().for_each(|trace| trace.set_clock(by));
    }
}

impl BotState {
    /// Posts that were sent and posts that wait.
    pub(crate) fn on_its_way(&self) -> impl Iterator<Item = &PendingDelivery> {
        self.delivering.iter().chain(self.outbox.iter().map(|waiting| &waiting.post))
    }

    /// Whether an answer is being written or posted: people who address the bot now are answered after that.
    pub(crate) fn is_busy(&self) -> bool {
        self.answering.is_some() || self.is_mid_answer()
    }

    /// Whether a part of an answer is posted and the rest is not, or something waits behind it.
    pub(crate) fn is_mid_answer(&self) -> bool {
        !self.outbox.is_empty() || self.delivering.iter().any(|sent| sent.chunk.is_some())
    }

    /// Whether a post would come between the posts of another answer if it were sent now.
    pub(crate) fn must_wait(&self, post: &PendingDelivery) -> bool {
        post.is_text() && (!self.outbox.is_empty() || self.is_blocked(post))
    }

    fn is_blocked(&self, post: &PendingDelivery) -> bool {
        self.delivering.iter().any(|sent| sent.chunk.is_some() || (post.chunk.is_some() && sent.is_text()))
    }

    /// When the next post is sent; `None` if none waits, or only for the acknowledgement of another.
    pub(crate) fn next_departure(&self) -> Option<Time> {
        self.outbox.first().filter(|waiting| !self.is_blocked(&waiting.post)).map(|waiting| waiting.due)
    }
}
