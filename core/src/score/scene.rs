//! What a rule looks at: the newest message, what was said before it, and what the bot did here.

use crate::listen::trim;
use crate::policy::Policy;
use crate::room::{Flags, Floor, Heard};
use crate::types::{Span, Time};

pub struct Scene<'a> {
    pub policy: &'a Policy,
    pub floor: &'a Floor,
    /// The message that is scored; it is also the newest of the buffer.
    pub message: Heard<'a>,
    pub text: &'a str,
    /// The messages of people the rules look at, newest first. Its own posts take up places and are skipped.
    pub people: Vec<Heard<'a>>,
}

impl<'a> Scene<'a> {
    /// The scene of the newest message, if there is one.
    pub fn of_newest(policy: &'a Policy, floor: &'a Floor) -> Option<Scene<'a>> {
        let message = floor.buffer.newest()?;
        let people = floor.newest(policy, message.at, policy.settings.score.window_messages, Flags::of_person);
        Some(Scene { policy, floor, message, text: message.text(), people })
    }

    /// The time the message carries.
    pub fn now(&self) -> Time {
        self.message.at
    }

    pub fn trimmed(&self) -> &'a str {
        trim(self.text)
    }

    /// How long ago it last acted here in any way.
    pub fn since_it_acted(&self) -> Option<Span> {
        self.floor.acted_at().map(|at| self.now().since(at))
    }
}
