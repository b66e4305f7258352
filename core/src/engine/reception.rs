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
        let (at, strand) = (self.now, self.strand);
        let followed = Followed { trace, ids, at, strand, heard: 0 };
        let past = self.floor_mut().past_mut();
        past.followed.push(followed);
        if past.followed.len() > FOLLOWED_MAX {
            self.received(0, Response::Ignored);
        }
        self.set_alarm();
    }

    fn follow_span(&self) -> Span {
        Span::minutes(self.policy.settings.effect.follow_minutes.into())
    }

    /// When the first of them is no longer followed.
    pub(super) fn followed_until(&self) -> Option<Time> {
        let past = self.floor().past.as_ref()?;
        past.followed.first().map(|followed| followed.at + self.follow_span())
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
        let strand = self.strand;
        let Some(past) = self.floor_mut().past.as_mut().filter(|past| !past.followed.is_empty()) else { return };
        past.followed.iter_mut().for_each(|followed| followed.heard += 1);
        let tone = tone(&message.text);
        let link = message.reply.as_ref().and_then(|reply| reply.to.as_ref()).or(answered);
        let link = link.map(|id| stable_hash(0, id.as_str()));
        let newest = past.followed.len() - 1;
        let response = |(place, followed): (usize, &Followed)| {
            let answers = link.is_some_and(|link| followed.ids.contains(&link)) || (to_me && place == newest);
            let thanks =
                message.author.id == followed.trace.author_id && strand == followed.strand && tone == Tone::Thanks;
            match (answers, tone) {
                (true, Tone::TellsOff) => Some((place, Response::ToldOff)),
                (true, Tone::Thanks) => Some((place, Response::Thanked)),
                (true, Tone::Neither) => Some((place, Response::Answered)),
                (false, _) if thanks => Some((place, Response::Thanked)),
                (false, _) => (followed.heard >= most).then_some((place, Response::Ignored)),
            }
        };
        let responses: Vec<_> = past.followed.iter().enumerate().filter_map(response).collect();
        for (place, response) in responses.into_iter().rev() {
            self.received(place, response);
        }
    }

    /// Somebody gave a message an emoji.
    pub(super) fn note_reaction(&mut self, reaction: &Reaction) {
        let place = self.followed_post(&reaction.message).filter(|_| reaction.on);
        let response = if frowns(&reaction.emoji) { Response::ToldOff } else { Response::Reacted };
        if let Some(place) = place {
            self.received(place, response);
        }
    }

    /// A contribution that is deleted was not wanted.
    pub(super) fn note_deletion(&mut self, id: &MessageId) {
        if let Some(place) = self.followed_post(id) {
            self.received(place, Response::Deleted);
        }
    }

    fn followed_post(&self, id: &MessageId) -> Option<usize> {
        let id = stable_hash(0, id.as_str());
        self.floor().past.as_ref()?.followed.iter().position(|followed| followed.ids.contains(&id))
    }

    fn received(&mut self, place: usize, response: Response) {
        let Followed { mut trace, .. } = self.floor_mut().past_mut().followed.remove(place);
        if self.policy.settings.effect.feedback
            && let Some((talk, _)) = self.room.talk_mut(self.policy)
        {
            talk.receive(response);
        }
        trace.received = Some(response);
        self.out.push(Effect::Received(trace));
    }
}
