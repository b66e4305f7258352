//! Who is to be forgotten, and how what was derived from their words is recognised.

use serde::{Deserialize, Serialize};

use super::person_names::ScopedNames;
use super::words::{NameFinder, Phrases};
use super::{ChannelMemory, ContextTurn, Fact, FactId, NameScope, Origin, PersonNames, Wording};
use crate::types::{MessageId, PersonId, RoomId};

/// A person who wants to be forgotten, with everything that is needed to find what is stored about them. It is stored
/// before anything is deleted, so that the job can be completed after the program stops at any point.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForgetRequest {
    /// One person, on every platform.
    pub ids: Vec<PersonId>,
    /// Names that mean only them: the bot's own words that contain one of these are deleted too, on the servers on which they
    /// have spoken.
    pub names: Vec<Box<str>>,
    /// Names that they confirmed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confirmed_names: Vec<Box<str>>,
    /// Servers in which the names count, besides those of the rooms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub homes: Vec<Box<str>>,
    /// Names of theirs that others have too, or that are ordinary words: only what is remembered of talk in which they took
    /// part is deleted by these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared_names: Vec<Box<str>>,
    /// Facts with these names of talk in which they took part, where that is no longer known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared_facts: Vec<FactId>,
    /// The rooms in which they ever spoke.
    pub rooms: Vec<RoomId>,
    /// The bot's posts that answered them.
    pub answers: Vec<(RoomId, MessageId)>,
    /// What they said, if the bot repeated it and nobody else said it.
    pub phrases: Phrases,
}

impl ForgetRequest {
    pub fn is_of(&self, person: &PersonId) -> bool {
        self.ids.contains(person)
    }

    /// Whether a fact has one of the names that others have too, and they were there.
    pub fn has_shared_name(&self, fact: &Fact) -> bool {
        let took_part = || fact.context.iter().any(|turn| self.is_of(&turn.person));
        (self.shared_facts.contains(&fact.id) || took_part()) && {
            let names = NameFinder::new(&self.shared_names);
            fact.texts().any(|text| names.may_be_in(text))
        }
    }

    /// Their names, and where they count.
    pub fn person_names(&self) -> PersonNames {
        let scope = NameScope { rooms: self.rooms.clone(), homes: self.homes.clone() };
        PersonNames { certain: self.names.clone(), confirmed: self.confirmed_names.clone(), scope }
    }

    /// A recognizer of what mentions them.
    pub fn recognizer(&self) -> Recognizer<'_> {
        Recognizer { request: self, names: ScopedNames::new(&self.person_names()), any_own_words: false }
    }
}

/// Recognises what is remembered of a person: one rule for what they are shown, what they can export and what is forgotten.
#[derive(Clone, Debug)]
pub struct PersonMatcher {
    ids: Vec<PersonId>,
    names: ScopedNames,
}

impl PersonMatcher {
    /// `names` are theirs and nobody else's.
    pub fn new(ids: &[PersonId], names: &PersonNames) -> PersonMatcher {
        PersonMatcher { ids: ids.to_vec(), names: ScopedNames::new(names) }
    }

    /// Whether this is one of their ids.
    pub fn is(&self, person: &PersonId) -> bool {
        self.ids.contains(person)
    }

    /// Whether a text from there mentions them.
    pub fn is_named_in(&self, text: &str, origin: &Origin) -> bool {
        self.ids.iter().any(|id| text.contains(id.as_str())) || self.names.are_in(text, origin)
    }

    /// Whether a fact rests on their words.
    pub fn is_said_by_them(&self, fact: &Fact) -> bool {
        fact.people.iter().any(|person| self.is(person))
    }

    /// Whether a fact is forgotten with them: they said it, or it mentions them.
    pub fn has_fact(&self, fact: &Fact) -> bool {
        self.is_said_by_them(fact) || fact.texts().any(|text| self.is_named_in(text, &fact.origin))
    }

    /// Whether a turn beside a fact is theirs or names them.
    pub fn is_in_turn(&self, turn: &ContextTurn, origin: &Origin) -> bool {
        self.is(&turn.person) || self.is_named_in(&turn.text, origin) || self.is_named_in(&turn.name, origin)
    }

    /// Removes them from a fact that others said too. Returns whether anything is left.
    pub fn take_from(&self, fact: &mut Fact) -> bool {
        let origin = fact.origin.clone();
        let is_named = |wording: &Wording| {
            let mut texts = std::iter::once(&wording.content).chain(&wording.keywords);
            texts.any(|text| self.is_named_in(text, &origin))
        };
        fact.lose_wordings(|wording| wording.people.iter().any(|person| self.is(person)) || is_named(wording))
    }

    /// Whether the summary of a room names them or lists them as participants.
    pub fn has_channel(&self, channel: &ChannelMemory) -> bool {
        let takes_part = channel.active.iter().any(|(person, _)| self.is(person));
        takes_part || channel.texts().any(|text| self.is_named_in(text, &channel.origin))
    }
}

/// Recognises what the bot said because of a person.
#[derive(Clone, Debug)]
pub struct Recognizer<'a> {
    pub request: &'a ForgetRequest,
    names: ScopedNames,
    any_own_words: bool,
}

impl Recognizer<'_> {
    /// The same if it is no longer known what was answered: everything it said in their rooms may repeat them.
    pub fn doubting(self) -> Self {
        Recognizer { any_own_words: true, ..self }
    }

    /// Whether a text of the bot or of a model, said in this room, mentions them or repeats what they said.
    pub fn speaks_of_them(&self, room: &RoomId, text: &str) -> bool {
        let request = self.request;
        request.ids.iter().any(|id| text.contains(id.as_str()))
            || self.names.are_in_own(text, room)
            || request.phrases.are_in(text)
    }

    /// Whether a post of the bot has to be deleted.
    pub fn takes_own_post(&self, room: &RoomId, id: &str, text: &str) -> bool {
        let answers = || self.request.answers.iter().any(|(of, post)| of == room && post.as_str() == id);
        let doubted = || self.any_own_words && self.request.rooms.contains(room);
        answers() || doubted() || self.speaks_of_them(room, text)
    }
}
