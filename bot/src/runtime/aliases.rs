//! People with several ids: the engine always gets the first one.

use std::collections::HashMap;

use aizuchi_core::Input;
use aizuchi_core::settings::SamePeople;
use aizuchi_core::types::PersonId;

/// Maps every other id of a person to the first.
#[derive(Debug, Default)]
pub struct PersonAliases(HashMap<PersonId, PersonId>);

impl PersonAliases {
    pub fn new(people: &SamePeople) -> PersonAliases {
        let mut first_of = HashMap::new();
        for ids in &people.0 {
            let Some((first, others)) = ids.split_first() else { continue };
            let first = PersonId::new(first);
            first_of.extend(others.iter().map(|other| (PersonId::new(other), first.clone())));
        }
        PersonAliases(first_of)
    }

    pub fn unite(&self, input: &mut Input) {
        if self.0.is_empty() {
            return;
        }
        match input {
            Input::Said(message) => {
                self.rename(&mut message.author.id);
                message.mentions.iter_mut().for_each(|mentioned| self.rename(mentioned));
                if let Some(person) = message.reply.as_mut().and_then(|reply| reply.to_person.as_mut()) {
                    self.rename(person);
                }
            }
            Input::Reacted(reaction) => self.rename(&mut reaction.by),
            Input::Changed(_)
            | Input::Told(..)
            | Input::PolicyChanged(_)
            | Input::Tick
            | Input::Resumed
            | Input::Judged(..)
            | Input::Written(..)
            | Input::ToolCalls(..)
            | Input::ToolResult(..)
            | Input::Delivered(..)
            | Input::Recalled(..)
            | Input::Remembered(..)
            | Input::Refused(..)
            | Input::Scheduled(..)
            | Input::Billed(..)
            | Input::Siblings(..)
            | Input::StartedOver(_)
            | Input::LetGo(..)
            | Input::ClockSet(_)
            | Input::Forgotten => (),
        }
    }

    /// The id this person is known by.
    pub fn first(&self, id: &PersonId) -> PersonId {
        self.0.get(id).unwrap_or(id).clone()
    }

    /// Every id of this person, the first one first.
    pub fn all(&self, id: &PersonId) -> Vec<PersonId> {
        let first = self.first(id);
        let mut others: Vec<PersonId> =
            self.0.iter().filter(|(_, of)| **of == first).map(|(other, _)| other.clone()).collect();
        others.sort();
        std::iter::once(first).chain(others).collect()
    }

    fn rename(&self, id: &mut PersonId) {
        if let Some(first) = self.0.get(id) {
            *id = first.clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use aizuchi_core::Time;
    use aizuchi_core::types::{Author, Message, MessageId, Place, Reaction, Reply, Visibility, Voice};

    use super::*;

    #[test]
    fn anyone_who_is_named_goes_by_the_first_id() {
        let same = PersonAliases::new(&SamePeople(vec![vec!["discord:1".into(), "slack:T/U".into(), "web:x".into()]]));
        let mut said = Input::Said(Message {
            id: MessageId::new("m"),
            place: Place::room("slack:T/C"),
            at: Time(0),
            author: Author { id: PersonId::new("slack:T/U"), name: "mia".into(), voice: Voice::Person },
            text: "slack:T/U says hello".into(),
            reply: Some(Reply { to: None, to_me: false, to_person: Some(PersonId::new("web:x")) }),
            mentions: ["slack:T/V", "slack:T/U", "discord:1"].map(PersonId::new).into(),
            mentions_me: false,
            visibility: Visibility::Public,
            backfilled: false,
            heard: None,
        });
        assert_eq!(same.all(&PersonId::new("web:x")), ["discord:1", "slack:T/U", "web:x"].map(PersonId::new));
        assert_eq!(same.all(&PersonId::new("web:y")), [PersonId::new("web:y")]);
        same.unite(&mut said);
        let Input::Said(message) = said else { unreachable!("it is the same input") };
        assert_eq!((message.author.id.as_str(), &*message.author.name), ("discord:1", "mia"));
        assert_eq!(message.mentions, ["slack:T/V", "discord:1", "discord:1"].map(PersonId::new));
        assert_eq!(message.reply.and_then(|reply| reply.to_person), Some(PersonId::new("discord:1")));
        assert_eq!(&*message.text, "slack:T/U says hello", "what is said is nobody's to change");

        let (place, message, emoji) = (Place::room("web:lobby"), MessageId::new("m"), "👍".into());
        let mut reacted =
            Input::Reacted(Reaction { place, message, at: Time(0), by: PersonId::new("web:x"), emoji, on: true });
        same.unite(&mut reacted);
        assert!(matches!(&reacted, Input::Reacted(reaction) if reaction.by.as_str() == "discord:1"), "{reacted:?}");
    }
}
