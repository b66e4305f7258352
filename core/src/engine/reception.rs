//! What people make of a contribution: each is followed for some messages and minutes, and its share follows from that.

use crate::effect::{Effect, Response, Trace};
use crate::engine::turn::Turn;
use crate::listen::{Tone, frowns, tone};
use crate::room::Followed;
use crate::types::{Message, MessageId, Reaction, Span, Time, stable_hash};

/// Contributions followed at the same time; the oldest counts as ignored when there are more.
const FOLLOWED_MAX: usize = 16;

impl Turn<'_> {
    /// People see a contribution from now on.
    pub(super) fn follow_up(&mut self, trace: Box<Trace>, ids: &[MessageId]) {
        let ids = ids.iter().map(|id| stable_hash(0, id.as_str())).collect();
        let (at, conversation) = (self.now, self.conversation);
        let followed = Followed { trace, ids, at, conversation, heard: 0 };
        let bot = self.place_mut().bot_mut();
        bot.followed.push(followed);
        if bot.followed.len() > FOLLOWED_MAX {
            self.received(0, Response::Ignored);
        }
        self.set_alarm();
    }

    fn follow_span(&self) -> Span {
        Span::minutes(self.policy.settings.effect.follow_minutes.into())
    }

    /// When the first of them is no longer followed.
    pub(super) fn followed_until(&self) -> Option<Time> {
        let bot = self.place().bot.as_ref()?;
        bot.followed.first().map(|followed| followed.at + self.follow_span())
    }

    /// Nobody said anything to it for long enough.
    pub(super) fn let_pass(&mut self) {
        while self.followed_until().is_some_and(|until| until <= self.now) {
            self.received(0, Response::Ignored);
        }
    }

    /// Somebody spoke: to it, thanking it, or past it. `answered` is what the message seems to answer.
    pub(super) fn note_reception(&mut self, message: &Message, answered: Option<&MessageId>, to_me: bool) {
        let most = self.policy.settings.effect.follow_messages;
        let conversation = self.conversation;
        let Some(bot) = self.place_mut().bot.as_mut().filter(|bot| !bot.followed.is_empty()) else { return };
        bot.followed.iter_mut().for_each(|followed| followed.heard += 1);
        let tone = tone(&message.text);
        let link = message.reply.as_ref().and_then(|reply| reply.to.as_ref()).or(answered);
        let link = link.map(|id| stable_hash(0, id.as_str()));
        let newest = bot.followed.len() - 1;
        let response = |(index, followed): (usize, &Followed)| {
            let answers = link.is_some_and(|link| followed.ids.contains(&link)) || (to_me && index == newest);
            let thanks = message.author.id == followed.trace.author_id
                && conversation == followed.conversation
                && tone == Tone::Thanks;
            match (answers, tone) {
                (true, Tone::TellsOff) => Some((index, Response::ToldOff)),
                (true, Tone::Thanks) => Some((index, Response::Thanked)),
                (true, Tone::Neither) => Some((index, Response::Answered)),
                (false, _) if thanks => Some((index, Response::Thanked)),
                (false, _) => (followed.heard >= most).then_some((index, Response::Ignored)),
            }
        };
        let responses: Vec<_> = bot.followed.iter().enumerate().filter_map(response).collect();
        for (index, response) in responses.into_iter().rev() {
            self.received(index, response);
        }
    }

    /// Somebody gave a message an emoji.
    pub(super) fn note_reaction(&mut self, reaction: &Reaction) {
        let index = self.followed_post(&reaction.message).filter(|_| reaction.on);
        let response = if frowns(&reaction.emoji) { Response::ToldOff } else { Response::Reacted };
        if let Some(index) = index {
            self.received(index, response);
        }
    }

    /// A contribution that is deleted was not wanted.
    pub(super) fn note_deletion(&mut self, id: &MessageId) {
        if let Some(index) = self.followed_post(id) {
            self.received(index, Response::Deleted);
        }
    }

    fn followed_post(&self, id: &MessageId) -> Option<usize> {
        let id = stable_hash(0, id.as_str());
        self.place().bot.as_ref()?.followed.iter().position(|followed| followed.ids.contains(&id))
    }

    fn received(&mut self, index: usize, response: Response) {
        let Followed { mut trace, .. } = self.place_mut().bot_mut().followed.remove(index);
        if self.policy.settings.effect.feedback
            && let Some((talk, _)) = self.room.talk_mut(self.policy)
        {
            talk.receive(response);
        }
        trace.received = Some(response);
        self.out.push(Effect::Received(trace));
    }
}
