//! What a rule looks at: the newest message, what was said before it, and what the bot did here.

use crate::listen::trim;
use crate::policy::Policy;
use crate::room::{Floor, Heard};
use crate::types::{Span, Time};

pub struct Scene<'a> {
    pub policy: &'a Policy,
    pub floor: &'a Floor,
    /// The message that is scored; it is also the newest of the buffer.
    pub message: Heard<'a>,
}

impl<'a> Scene<'a> {
    /// The scene of the newest message, if there is one.
    pub fn of_newest(policy: &'a Policy, floor: &'a Floor) -> Option<Scene<'a>> {
        floor.buffer.newest().map(|message| Scene { policy, floor, message })
    }

    /// The time the message carries.
    pub fn now(&self) -> Time {
        self.message.at
    }

    pub fn trimmed(&self) -> &'a str {
        trim(self.message.text)
    }

    /// The messages of people the rules look at, newest first. Its own posts take up places and are skipped.
    pub fn people(&self) -> impl Iterator<Item = Heard<'a>> {
        let life = self.policy.buffer_life();
        let now = self.now();
        let window = self.policy.settings.score.window_messages as usize;
        let young = move |heard: &Heard<'_>| life.is_none_or(|life| now.since(heard.at) < life);
        self.floor.buffer.iter().rev().filter(young).take(window).filter(Heard::is_person)
    }

    /// How long ago it last acted here in any way.
    pub fn since_it_acted(&self) -> Option<Span> {
        self.floor.acted_at().map(|at| self.now().since(at))
    }
}
