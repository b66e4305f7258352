//! The input of a rule: the newest message, what was said before it, and what the bot did here.

use crate::phrases::trim;
use crate::policy::Policy;
use crate::room::{HeardMessage, MessageSummary, PlaceState};
use crate::types::{Span, Time};

pub(crate) struct Scene<'a> {
    pub policy: &'a Policy,
    pub place: &'a PlaceState,
    /// The message that is scored; it is also the newest of the buffer.
    pub message: HeardMessage<'a>,
    pub text: &'a str,
    /// The messages of people that the rules see, newest first. The bot's own posts count towards the window and are
    /// skipped.
    pub people: &'a [MessageSummary],
}

impl<'a> Scene<'a> {
    /// The scene of the newest message, if there is one. `summaries` is filled for it.
    pub(crate) fn of_newest(
        policy: &'a Policy,
        place: &'a PlaceState,
        summaries: &'a mut Vec<MessageSummary>,
    ) -> Option<Scene<'a>> {
        let message = place.buffer.newest()?;
        place.summarize_people(policy, message.at, policy.settings.score.window_messages, summaries);
        Some(Scene { policy, place, message, text: message.text(), people: summaries })
    }

    /// The time the message carries.
    pub(crate) fn now(&self) -> Time {
        self.message.at
    }

    pub(crate) fn trimmed(&self) -> &'a str {
        trim(self.text)
    }

    /// How long ago the bot last acted here in any way.
    pub(crate) fn since_it_acted(&self) -> Option<Span> {
        self.place.acted_at().map(|at| self.now().since(at))
    }
}
