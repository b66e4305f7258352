//! What a person is given of an entry about them: their own words and what is said about them, without the words, the names
//! and the ids of others.

use super::{ChannelMemory, Fact, Person, PersonMatcher, Remark, Wording};
use crate::types::{MessageId, PersonId, RoomId};

/// Reduces entries to what is one person's.
#[derive(Clone, Copy)]
pub struct OwnPart<'a> {
    theirs: &'a PersonMatcher,
    /// Whether a message is known to be theirs.
    is_own: &'a (dyn Fn(&RoomId, &MessageId) -> bool + Sync),
}

impl<'a> OwnPart<'a> {
    pub fn new(theirs: &'a PersonMatcher, is_own: &'a (dyn Fn(&RoomId, &MessageId) -> bool + Sync)) -> OwnPart<'a> {
        OwnPart { theirs, is_own }
    }

    /// A fact that they said, or that is about them.
    pub fn of_fact(self, mut fact: Fact) -> Fact {
        let said = self.theirs.is_said_by_them(&fact);
        let origin = fact.origin.clone();
        let is_shown = |wording: &Wording| match said {
            true => wording.people.iter().any(|person| self.theirs.is(person)),
            false => self.theirs.is_named_in(&wording.content, &origin),
        };
        fact.wordings.retain(is_shown);
        if let Some(first) = fact.wordings.first() {
            fact.content = first.content.clone();
            fact.keywords = fact.wordings.iter().flat_map(|wording| wording.keywords.clone()).collect();
        }
        fact.forget_turns(|turn| !self.theirs.is(&turn.person));
        let own: Vec<MessageId> = fact.context.iter().map(|turn| turn.message.clone()).collect();
        let room = fact.origin.room.clone();
        self.reduce(&mut fact.people, &mut fact.messages, &room, &own);
        for wording in &mut fact.wordings {
            self.reduce(&mut wording.people, &mut wording.messages, &room, &own);
        }
        if fact.wordings.len() == 1 {
            fact.wordings.clear();
        }
        fact
    }

    /// What nobody else said rests on their messages alone.
    fn reduce(self, people: &mut Vec<PersonId>, messages: &mut Vec<MessageId>, room: &RoomId, own: &[MessageId]) {
        let others = people.len();
        people.retain(|person| self.theirs.is(person));
        if people.is_empty() || people.len() < others {
            messages.retain(|message| own.contains(message) || (self.is_own)(room, message));
        }
    }

    /// A remark about them, on their own profile or on another's.
    pub fn of_remark(self, mut remark: Remark) -> Remark {
        let room = &remark.origin.room;
        let echoed = |message: &MessageId| {
            remark.echoes.iter().any(|echo| echo.message == *message && self.theirs.is(&echo.person))
        };
        remark.messages.retain(|message| echoed(message) || (self.is_own)(room, message));
        remark.echoes.retain(|echo| self.theirs.is(&echo.person));
        remark
    }

    /// Their own profile.
    pub fn of_person(self, mut person: Person) -> Person {
        for remarks in [&mut person.topics, &mut person.tags, &mut person.notes, &mut person.talks] {
            *remarks = std::mem::take(remarks).into_iter().map(|remark| self.of_remark(remark)).collect();
        }
        person
    }

    /// The summary of a room.
    pub fn of_channel(self, mut channel: ChannelMemory) -> ChannelMemory {
        let room = channel.origin.room.clone();
        channel.active.retain(|(person, _)| self.theirs.is(person));
        channel.messages.retain(|message| (self.is_own)(&room, message));
        channel
    }
}

#[cfg(test)]
mod tests {
    use super::super::fact::tests::fact;
    use super::super::{EchoedMessage, FactDraft, PersonNames};
    use super::*;
    use crate::types::Time;

    fn said(content: &str, person: &str, message: &str) -> FactDraft {
        FactDraft {
            people: vec![PersonId::new(person)],
            messages: vec![MessageId::new(message)],
            keywords: vec![format!("word of {person}").into()],
            ..fact(0, content).into()
        }
    }

    #[test]
    fn of_a_merged_fact_only_their_own_wording_is_theirs() {
        let theirs = PersonMatcher::new(&[PersonId::new("mia")], &PersonNames::default());
        let mut merged = said("Mia really likes the tea", "jonas", "m2").keep(super::super::FactId(1));
        merged.absorb(said("Mia likes tea", "mia", "m1"));
        let part = OwnPart::new(&theirs, &|_, _| false).of_fact(merged);
        assert_eq!((&*part.content, part.keywords), ("Mia likes tea", vec!["word of mia".into()]));
        assert_eq!((part.people, part.messages), (vec![PersonId::new("mia")], vec![]));
        assert!(part.wordings.is_empty());
    }

    #[test]
    fn a_remark_names_nobody_elses_message() {
        let theirs = PersonMatcher::new(&[PersonId::new("mia")], &PersonNames::default());
        let remark = Remark {
            origin: fact(0, "x").origin,
            text: "plays the glockenspiel".into(),
            at: Time(1),
            messages: ["m1", "m2", "m3"].map(MessageId::new).to_vec(),
            echoes: [("m1", "mia"), ("m2", "jonas")]
                .map(|(message, person)| EchoedMessage {
                    message: MessageId::new(message),
                    person: PersonId::new(person),
                })
                .to_vec(),
        };
        let part = OwnPart::new(&theirs, &|_, message| message.as_str() == "m3").of_remark(remark);
        assert_eq!((part.messages, part.echoes.len()), (["m1", "m3"].map(MessageId::new).to_vec(), 1));
    }
}
