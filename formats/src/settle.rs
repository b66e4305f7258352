//! Fills in what a single line cannot know: which author is the bot, and whom a reply answers.

use std::collections::{HashMap, HashSet};

use aizuchi_core::Input;
use aizuchi_core::types::{Message, PersonId, Voice};

use super::log::{Event, Options};

pub fn settle(events: &mut [Event], options: &Options) {
    if !options.me.is_empty() {
        let mine = ids_of_me(events, options);
        said_mut(events).for_each(|message| recognise_me(message, &mine));
    }
    if message_of(events).any(is_open) {
        name_the_answered(events);
    }
}

fn message_of(events: &[Event]) -> impl Iterator<Item = &Message> {
    events.iter().filter_map(|event| if let Input::Said(message) = &event.input { Some(message) } else { None })
}

fn said_mut(events: &mut [Event]) -> impl Iterator<Item = &mut Message> {
    events.iter_mut().filter_map(|event| if let Input::Said(message) = &mut event.input { Some(message) } else { None })
}

fn is_mine(message: &Message) -> bool {
    message.author.voice == Voice::Me
}

/// As given, and the ids of people who speak under such a name.
fn ids_of_me(events: &[Event], options: &Options) -> HashSet<PersonId> {
    let by_name = message_of(events).map(|message| &message.author).filter(|author| options.is_me(&author.name));
    options.me.iter().map(PersonId::new).chain(by_name.map(|author| author.id.clone())).collect()
}

fn recognise_me(message: &mut Message, mine: &HashSet<PersonId>) {
    if mine.contains(&message.author.id) {
        message.author.voice = Voice::Me;
    }
    let mentioned = message.mentions.len();
    message.mentions.retain(|person| !mine.contains(person));
    message.mentions_me |= message.mentions.len() < mentioned;
    if let Some(reply) = &mut message.reply
        && reply.to_person.take_if(|person| mine.contains(person)).is_some()
    {
        reply.to_me = true;
    }
}

/// Whether it is a reply to a message with an unknown author.
fn is_open(message: &Message) -> bool {
    message.reply.as_ref().is_some_and(|reply| reply.to.is_some() && !reply.to_me && reply.to_person.is_none())
}

/// A message by its room and id.
type Key<'e> = (&'e str, &'e str);

fn key(message: &Message) -> Key<'_> {
    (message.place.room.as_str(), message.id.as_str())
}

/// Fills in the authors of messages that came earlier in the same room.
fn name_the_answered(events: &mut [Event]) {
    let mut earlier: HashMap<Key<'_>, &Message> = HashMap::new();
    let mut answered: Vec<Option<(PersonId, bool)>> = Vec::new();
    for message in message_of(events) {
        if is_open(message) {
            let to = message.reply.as_ref().and_then(|reply| reply.to.as_ref()).map_or("", |to| to.as_str());
            let original = earlier.get(&(message.place.room.as_str(), to));
            answered.push(original.map(|original| (original.author.id.clone(), is_mine(original))));
        }
        earlier.insert(key(message), message);
    }
    let open = said_mut(events).filter(|message| is_open(message));
    for (message, answered) in open.zip(answered) {
        let (Some(reply), Some((person, me))) = (&mut message.reply, answered) else { continue };
        reply.to_me = me;
        reply.to_person = Some(person).filter(|_| !me);
    }
}

#[cfg(test)]
mod tests {
    use super::super::lines;
    use super::*;

    const TALK: &str = r#"
{"ts": 1, "channel": "c", "id": "m1", "author": "アイ", "author_id": "U9", "text": "どうぞ"}
{"ts": 2, "channel": "c", "id": "m2", "author": "alice", "author_id": "U1", "text": "thanks", "reply_to": "m1", "mentions": ["U9", "U2"]}
{"ts": 3, "channel": "c", "id": "m3", "author": "bob", "author_id": "U2", "text": "np", "reply_to": "m2"}
{"ts": 4, "channel": "d", "id": "m4", "author": "bob", "author_id": "U2", "text": "?", "reply_to": "m2"}
{"ts": 5, "channel": "c", "id": "m5", "author": "bob", "author_id": "U2", "text": "?", "reply_to": "m6", "reply_to_author": "U9"}
{"ts": 6, "channel": "c", "id": "m1", "author": "アイ", "text": "どうぞ！", "type": "edited"}
{"ts": 7, "channel": "d", "id": "m1", "author": "alice", "text": "else", "type": "edited"}
"#;

    fn settled(options: &Options) -> Vec<Event> {
        let mut events = lines::read("talk", TALK.as_bytes(), options, &mut |_| ()).unwrap().events;
        settle(&mut events, options);
        events
    }

    fn message<'e>(events: &'e [Event], id: &str) -> &'e Message {
        message_of(events).find(|message| message.id.as_str() == id).unwrap()
    }

    #[test]
    fn the_answered_person_is_looked_up_in_the_same_room() {
        let events = settled(&Options::default());
        let to_person = |id| message(&events, id).reply.clone().unwrap().to_person;
        assert_eq!(to_person("m2"), Some(PersonId::new("U9")));
        assert_eq!(to_person("m3"), Some(PersonId::new("U1")));
        assert_eq!(to_person("m4"), None);
    }

    #[test]
    fn the_bot_is_recognised_by_id_or_name_wherever_it_is_named() {
        for me in ["U9", "アイ"] {
            let events = settled(&Options { me: vec![me.into()], ..Options::default() });
            assert_eq!(message(&events, "m1").author.voice, Voice::Me);
            let thanks = message(&events, "m2").reply.clone().unwrap();
            assert!(thanks.to_me && thanks.to_person.is_none());
            assert!(message(&events, "m2").mentions_me);
            assert_eq!(message(&events, "m2").mentions, [PersonId::new("U2")]);
            assert!(message(&events, "m5").reply.as_ref().unwrap().to_me);
        }
    }
}
