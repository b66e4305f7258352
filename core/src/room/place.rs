//! A place where people talk, a channel or a thread: what was said, what is pending, and what the bot said itself.

use serde::{Deserialize, Deserializer, Serialize};

use super::bot::BotState;
use super::buffer::{Buffer, HeardMessage, MessageSummary};
use super::pending::{Pending, Phase};
use crate::conversations::Conversations;
use crate::policy::Policy;
use crate::types::{CallId, ConversationId, Span, Time, stable_hash};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PlaceState {
    pub buffer: Buffer,
    /// What the bot may say unasked: at most one thing per conversation. If conversations are not separated, the place is
    /// one.
    #[serde(deserialize_with = "one_or_several")]
    pub pending: Vec<Pending>,
    /// Who answers whom here; absent if that is not tracked.
    #[serde(rename = "strands", default, deserialize_with = "if_readable")]
    pub conversations: Option<Box<Conversations>>,
    /// The times of the latest two messages of people, even if the buffer has dropped them.
    pub last_heard: Time,
    pub heard_before: Time,
    /// What the bot did here; absent until it does something.
    #[serde(rename = "past")]
    pub bot: Option<Box<BotState>>,
    /// When the timers will check this place next.
    pub alarm: Option<Time>,
}

/// How many messages are kept beyond the setting, until those among them that need an answer have one.
const KEPT_FOR_ANSWERS_MAX: usize = 500;

impl PlaceState {
    pub(crate) fn bot_mut(&mut self) -> &mut BotState {
        self.bot.get_or_insert_default()
    }

    pub(crate) fn acted_at(&self) -> Option<Time> {
        self.bot.as_ref().and_then(|bot| bot.acted_at)
    }

    /// Whether the bot acted here a short while before.
    pub(crate) fn is_engaged(&self, policy: &Policy, at: Time) -> bool {
        let lasts = Span::seconds(policy.settings.score.engaged_seconds.into());
        self.acted_at().is_some_and(|acted| at.since(acted) < lasts)
    }

    /// What a model may read, newest first: messages that are still kept, however long ago the talk was.
    pub(crate) fn readable(&self, policy: &Policy, now: Time) -> impl Iterator<Item = HeardMessage<'_>> {
        let life = policy.buffer_life();
        self.buffer.iter().rev().filter(move |heard| life.is_none_or(|life| now.since(heard.at) < life))
    }

    /// Messages of the present talk, newest first.
    pub(crate) fn recent(&self, policy: &Policy, now: Time) -> impl Iterator<Item = HeardMessage<'_>> {
        let young = is_young(policy, now);
        self.buffer.iter().rev().filter(move |heard| young(heard.at))
    }

    /// The same for one conversation alone.
    pub(crate) fn recent_of(
        &self,
        policy: &Policy,
        now: Time,
        conversation: Option<ConversationId>,
    ) -> impl Iterator<Item = HeardMessage<'_>> {
        self.recent(policy, now).filter(move |heard| belongs(heard, conversation))
    }

    /// The newest `window` messages of it, newest first.
    pub(crate) fn newest(&self, policy: &Policy, now: Time, window: u32) -> Vec<HeardMessage<'_>> {
        self.buffer.newest_of(window as usize, is_young(policy, now))
    }

    /// A glance at the people among them.
    pub(crate) fn summarize_people(
        &self,
        policy: &Policy,
        now: Time,
        window: u32,
        summaries: &mut Vec<MessageSummary>,
    ) {
        self.buffer.summarize_people(window as usize, is_young(policy, now), summaries);
    }

    /// Whether a message was received: it is remembered, was answered, or is about to be.
    pub(crate) fn knows(&self, id: &str) -> bool {
        let noted = |bot: &BotState| bot.known.contains(&stable_hash(0, id));
        let is_reason = |pending: &Pending| {
            pending.together.iter().chain([&*pending.trace]).any(|trace| trace.message.as_str() == id)
        };
        self.buffer.find(id).is_some() || self.bot.as_deref().is_some_and(noted) || self.slots().any(is_reason)
    }

    /// Whether this is the id of one of the bot's own posts.
    pub(crate) fn is_own(&self, id_hash: u64) -> bool {
        self.bot.as_ref().is_some_and(|bot| bot.own.contains(&id_hash))
    }

    pub(crate) fn waits_for(&self, call: &CallId) -> bool {
        self.pending.iter().any(|pending| pending.seeks(call))
            || self.slots().any(|pending| pending.call() == Some(call))
            || self.bot.as_ref().is_some_and(|bot| bot.delivering.iter().any(|sent| sent.delivery.call == *call))
    }

    /// Somebody spoke; `waited` says whether later messages may have been received before.
    pub(crate) fn note_person(&mut self, at: Time, waited: bool) {
        if waited && at < self.last_heard {
            self.heard_before = self.heard_before.max(at);
        } else {
            (self.heard_before, self.last_heard) = (self.last_heard, at);
        }
    }

    /// How many messages are kept once there is one more: those to be answered stay, however much is said meanwhile.
    pub(crate) fn messages_max(&self, usual: usize) -> usize {
        let first = |owed: &Pending| self.buffer.find(owed.together.first().unwrap_or(&owed.trace).message.as_str());
        let oldest = self.unanswered().filter_map(first).min();
        oldest.map_or(usual, |oldest| (self.buffer.len() + 1 - oldest).clamp(usual, usual + KEPT_FOR_ANSWERS_MAX))
    }

    /// Everything that may still be said here: unasked, being answered, to be answered next, waiting for consent.
    pub(crate) fn slots(&self) -> impl Iterator<Item = &Pending> {
        self.pending.iter().chain(self.unanswered())
    }

    /// The same without what is unasked.
    pub(crate) fn unanswered(&self) -> impl Iterator<Item = &Pending> {
        self.owed().chain(self.bot.iter().flat_map(|bot| &bot.awaiting))
    }

    /// Answers to people who addressed the bot, in the order in which they are given; not those that wait for consent.
    pub(crate) fn owed(&self) -> impl Iterator<Item = &Pending> {
        self.bot
            .as_deref()
            .into_iter()
            .flat_map(|bot| bot.answering.iter().chain(&bot.next).map(|pending| &**pending).chain(&bot.later))
    }

    /// Usually there is one or none, so no capacity is reserved for more.
    pub(crate) fn add_pending(&mut self, pending: Pending) {
        self.pending.reserve_exact(1);
        self.pending.push(pending);
    }

    pub(crate) fn remove_pending(&mut self, index: usize) -> Pending {
        let pending = self.pending.remove(index);
        if self.pending.is_empty() {
            self.pending = Vec::new();
        }
        pending
    }

    /// Takes out everything that may still be said here, in that order.
    pub(crate) fn take_slots(&mut self) -> impl Iterator<Item = Box<Pending>> + use<> {
        let taken = |bot: &mut Box<BotState>| {
            let (later, awaiting) = (std::mem::take(&mut bot.later), std::mem::take(&mut bot.awaiting));
            (bot.answering.take(), bot.next.take(), later.into_iter().chain(awaiting))
        };
        let owed = self.bot.as_mut().map(taken);
        let unasked = std::mem::take(&mut self.pending).into_iter().map(Box::new);
        unasked.chain(
            owed.into_iter()
                .flat_map(|(answering, next, others)| answering.into_iter().chain(next).chain(others.map(Box::new))),
        )
    }

    /// Puts back what was taken out: as an unasked contribution, as the answer being written, or at the end of the queue.
    pub(crate) fn put_back(&mut self, pending: Box<Pending>) {
        match (pending.addressed, &pending.phase) {
            (Some(_), _) if pending.approval().is_some() => self.bot_mut().awaiting.push(*pending),
            (None, _) => self.add_pending(*pending),
            (Some(_), Phase::Writing { .. }) => self.bot_mut().answering = Some(pending),
            (Some(_), Phase::Waiting { .. } | Phase::Judging { .. } | Phase::Holding { .. }) => {
                self.bot_mut().put_last(pending);
            }
        }
    }

    /// Forgets what was said here, but not when the bot spoke, which posts are being sent and which ids are known.
    pub(crate) fn forget(&mut self) {
        self.buffer = Buffer::default();
        if let Some(conversations) = &mut self.conversations {
            conversations.clear();
        }
        (self.last_heard, self.heard_before) = (Time::default(), Time::default());
        if let Some(bot) = self.bot.take() {
            let BotState { acted_at, spoke_up_at, delivering, known, own, .. } = *bot;
            let kept = BotState { acted_at, spoke_up_at, delivering, known, own, ..BotState::default() };
            self.bot = Some(Box::new(kept));
        }
    }

    /// The same, also for the posts that are being sent, without a look at any of it.
    pub(crate) fn start_over(&mut self) {
        let known = self.bot.take().map(|bot| {
            let BotState { acted_at, spoke_up_at, known, own, .. } = *bot;
            Box::new(BotState { acted_at, spoke_up_at, known, own, ..BotState::default() })
        });
        *self = PlaceState { bot: known, ..PlaceState::default() };
    }

    /// Nothing is pending and nothing is being sent.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.slots().next().is_none() && self.bot.as_ref().is_none_or(|bot| bot.on_its_way().next().is_none())
    }
}

/// Whether a message belongs to a conversation, or to the place as a whole.
pub(super) fn belongs(heard: &HeardMessage<'_>, conversation: Option<ConversationId>) -> bool {
    conversation.is_none() || heard.conversation == conversation
}

/// Conversations stored by another version may be unreadable: then they start again.
fn if_readable<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Box<Conversations>>, D::Error> {
    let noted = serde_json::Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(noted).unwrap_or_default())
}

/// Snapshots from before conversations were separated contain one or none.
fn one_or_several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Pending>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Held {
        Several(Vec<Pending>),
        One(Option<Box<Pending>>),
    }
    Ok(match Held::deserialize(deserializer)? {
        Held::Several(pending) => pending,
        Held::One(pending) => pending.into_iter().map(|pending| *pending).collect(),
    })
}

/// Whether something said at a time is part of the talk still.
fn is_young(policy: &Policy, now: Time) -> impl Fn(Time) -> bool + use<> {
    let life = policy.talk_life();
    move |at| life.is_none_or(|life| now.since(at) < life)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conversations::{LinkModel, Utterance};
    use crate::types::MessageId;

    #[test]
    fn conversations_come_back_unless_another_version_noted_them() {
        let mut place = PlaceState::default();
        let conversations = place.conversations.get_or_insert_default();
        for person in 0..90 {
            let (id, name) = (MessageId::new(person.to_string()), format!("p{person}"));
            let reply = (person > 0).then(|| MessageId::new("0"));
            let heard = Utterance {
                id: &id,
                at: Time(person),
                author: person + 1,
                name: &name,
                bot: false,
                text: "to the first",
                reply: reply.as_ref(),
                reply_author: None,
                mentions: &[],
            };
            conversations.hear(&heard, LinkModel::built_in());
        }
        let mut noted = serde_json::to_value(&place).expect("a place can be written");
        let back: PlaceState = serde_json::from_value(noted.clone()).expect("a place can be read");
        assert_eq!(serde_json::to_value(&back).ok().as_ref(), Some(&noted));
        noted["strands"]["lines"][0]["reading"]["width"] = 70_000.into();
        let back: PlaceState = serde_json::from_value(noted).expect("the rest can be read");
        assert!(back.conversations.is_none());
    }
}
