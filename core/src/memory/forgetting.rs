//! Who is to be forgotten, and how what was made of their words is recognised.

use serde::{Deserialize, Serialize};

use super::words::{NameFinder, Phrases};
use crate::types::{MessageId, PersonId, RoomId};

/// Somebody who wants to be forgotten, with everything that is needed to find what is kept of them. Written down before
/// anything is deleted, so that it can be carried out to its end whenever the program stops.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgetRequest {
    /// One person, on every platform.
    pub ids: Vec<PersonId>,
    /// What they are called and nobody else: the bot's own words that hold one of these go too.
    pub names: Vec<Box<str>>,
    /// Where they ever spoke.
    pub rooms: Vec<RoomId>,
    /// The bot's posts that answered them.
    pub answers: Vec<(RoomId, MessageId)>,
    /// What they said, as far as the bot repeated it and nobody else said it.
    pub phrases: Phrases,
}

impl ForgetRequest {
    pub fn is_of(&self, person: &PersonId) -> bool {
        self.ids.contains(person)
    }

    /// Looks for what speaks of them.
    pub fn recognizer(&self) -> Recognizer<'_> {
        Recognizer { request: self, names: NameFinder::new(&self.names), any_own_words: false }
    }
}

/// Recognises what the bot said because of somebody.
#[derive(Clone, Debug)]
pub struct Recognizer<'a> {
    pub request: &'a ForgetRequest,
    names: NameFinder,
    any_own_words: bool,
}

impl Recognizer<'_> {
    /// The same where nobody can tell any more what was answered: everything it said in their rooms may repeat them.
    pub fn doubting(self) -> Self {
        Recognizer { any_own_words: true, ..self }
    }

    /// Whether a text of the bot or of a model speaks of them or repeats what they said.
    pub fn speaks_of_them(&self, text: &str) -> bool {
        let request = self.request;
        request.ids.iter().any(|id| text.contains(id.as_str()))
            || self.names.are_in(text)
            || request.phrases.are_in(text)
    }

    /// Whether a post of the bot has to go.
    pub fn takes_own_post(&self, room: &RoomId, id: &str, text: &str) -> bool {
        let answers = || self.request.answers.iter().any(|(of, post)| of == room && post.as_str() == id);
        let doubted = || self.any_own_words && self.request.rooms.contains(room);
        answers() || doubted() || self.speaks_of_them(text)
    }
}
