//! People, as far as their public messages show: how often they are here, what they talk about, how well the bot knows
//! them.

use serde::{Deserialize, Serialize};

use super::walls::{Origin, allowed};
use super::words::bare_name;
use super::{HeardFrom, MemoryChange, NameScope, PersonNames};
use crate::types::{MessageId, PersonId, RoomId, Time};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Person {
    pub id: PersonId,
    /// Their names, latest first.
    pub names: Vec<Box<str>>,
    pub messages: u64,
    pub mentions_of_me: u64,
    /// The rooms in which they spoke, latest first.
    pub rooms: Vec<RoomId>,
    pub first_seen: Time,
    pub last_seen: Time,
    /// Words of their latest messages, the latest first.
    pub topics: Vec<Remark>,
    pub tags: Vec<Remark>,
    pub notes: Vec<Remark>,
    /// What they last talked about, one for each room, latest first.
    pub talks: Vec<Remark>,
    /// They opted out: nothing else is known of them.
    pub opted_out: bool,
    /// Names of theirs that somebody had too who was forgotten: what is said by these may be about either.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared_names: Vec<Box<str>>,
}

/// A remark about a person, and where it was said: it has the same access limits as a fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remark {
    #[serde(flatten)]
    pub origin: Origin,
    pub text: Box<str>,
    pub at: Time,
    /// The messages it rests on.
    pub messages: Vec<MessageId>,
    /// Messages of anybody that contain words of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub echoes: Vec<EchoedMessage>,
}

/// A message whose words may be in a remark: the remark is deleted with it, and when its author is forgotten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EchoedMessage {
    pub message: MessageId,
    pub person: PersonId,
}

/// What a reflection adds to a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    pub person: PersonId,
    pub tags: Vec<Box<str>>,
    pub notes: Vec<Box<str>>,
    pub last_talk: Option<Box<str>>,
    /// The messages it rests on.
    pub messages: Vec<MessageId>,
    /// Messages of anybody that contain words of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub echoes: Vec<EchoedMessage>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Familiarity {
    Stranger,
    Acquaintance,
    Regular,
    Close,
}

impl Familiarity {
    /// From the number of messages and the thresholds for an acquaintance, a regular, and somebody close.
    pub fn of(messages: u64, thresholds: &[u32]) -> Familiarity {
        let passed = thresholds.iter().take(3).filter(|from| messages >= u64::from(**from)).count();
        [Familiarity::Stranger, Familiarity::Acquaintance, Familiarity::Regular, Familiarity::Close][passed]
    }

    pub fn id(self) -> &'static str {
        match self {
            Familiarity::Stranger => "stranger",
            Familiarity::Acquaintance => "acquaintance",
            Familiarity::Regular => "regular",
            Familiarity::Close => "close",
        }
    }
}

/// The part of a person's profile that may be known in a room.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownPerson {
    pub id: PersonId,
    pub name: Box<str>,
    pub familiarity: Familiarity,
    pub messages: u64,
    pub last_seen: Time,
    pub topics: Vec<Box<str>>,
    pub tags: Vec<Box<str>>,
    pub notes: Vec<Box<str>>,
    pub last_talk: Option<Box<str>>,
}

const NAMES_MAX: usize = 5;
const ROOMS_MAX: usize = 50;
/// How many messages' words are kept, and how many words of each.
const TOPICS_MAX: usize = 5;
const TAGS_MAX: usize = 20;
const NOTES_MAX: usize = 10;
const TALKS_MAX: usize = 10;

impl Person {
    pub fn new(id: PersonId, at: Time) -> Person {
        Person {
            id,
            names: Vec::new(),
            messages: 0,
            mentions_of_me: 0,
            rooms: Vec::new(),
            first_seen: at,
            last_seen: at,
            topics: Vec::new(),
            tags: Vec::new(),
            notes: Vec::new(),
            talks: Vec::new(),
            opted_out: false,
            shared_names: Vec::new(),
        }
    }

    /// The entry of a person who opted out.
    pub fn opted_out(id: PersonId) -> Person {
        Person { opted_out: true, ..Person::new(id, Time(0)) }
    }

    pub fn name(&self) -> &str {
        self.names.first().map_or(self.id.as_str(), |name| name)
    }

    pub fn hear(&mut self, heard: &HeardFrom) {
        self.messages += 1;
        self.mentions_of_me += u64::from(heard.mentions_me);
        self.first_seen = self.first_seen.min(heard.at);
        self.last_seen = self.last_seen.max(heard.at);
        to_front(&mut self.names, heard.name.clone(), NAMES_MAX, |a, b| a == b);
        to_front(&mut self.rooms, heard.origin.room.clone(), ROOMS_MAX, |a, b| a == b);
        if !heard.topics.is_empty() {
            let text = heard.topics.join(" ").into();
            let messages = vec![heard.message.clone()];
            let topic = Remark { origin: heard.origin.clone(), text, at: heard.at, messages, echoes: Vec::new() };
            to_front(&mut self.topics, topic, TOPICS_MAX, |a, b| a.messages == b.messages);
        }
    }

    pub fn note(&mut self, note: &Note, origin: &Origin, at: Time) {
        let remark = |text: &str| Remark {
            origin: origin.clone(),
            text: text.into(),
            at,
            messages: note.messages.clone(),
            echoes: note.echoes.clone(),
        };
        let same = |a: &Remark, b: &Remark| a.text == b.text && a.origin == b.origin;
        note.tags.iter().rev().for_each(|tag| to_front(&mut self.tags, remark(tag), TAGS_MAX, same));
        note.notes.iter().rev().for_each(|text| to_front(&mut self.notes, remark(text), NOTES_MAX, same));
        if let Some(talk) = &note.last_talk {
            to_front(&mut self.talks, remark(talk), TALKS_MAX, |a, b| a.origin == b.origin);
        }
    }

    /// Every name, where they spoke.
    pub fn all_names(&self) -> PersonNames {
        let scope = NameScope { rooms: self.rooms.clone(), homes: Vec::new() };
        PersonNames { certain: self.names.clone(), confirmed: Vec::new(), scope }
    }

    /// Notes that somebody who is being forgotten had a name of theirs too. Returns whether that is new.
    pub fn share_names(&mut self, others: &[Box<str>]) -> bool {
        let before = self.shared_names.len();
        for name in &self.names {
            let is_shared = others.iter().any(|other| bare_name(other) == bare_name(name));
            if is_shared && !self.shared_names.contains(name) && self.shared_names.len() < NAMES_MAX {
                self.shared_names.push(name.clone());
            }
        }
        self.shared_names.len() > before
    }

    /// The part of the profile that may be known where `reader` is.
    pub fn known_to(&self, reader: &Origin, across_rooms: bool, thresholds: &[u32]) -> KnownPerson {
        let may = |remark: &&Remark| allowed(&remark.origin, reader, across_rooms).is_some();
        let texts = |remarks: &[Remark]| -> Vec<Box<str>> {
            let mut texts: Vec<Box<str>> = Vec::new();
            for remark in remarks.iter().filter(may) {
                if !texts.contains(&remark.text) {
                    texts.push(remark.text.clone());
                }
            }
            texts
        };
        let mut topics: Vec<Box<str>> = Vec::new();
        for word in texts(&self.topics).iter().flat_map(|text| text.split(' ')) {
            if topics.len() < TOPICS_MAX && !topics.iter().any(|known| **known == *word) {
                topics.push(word.into());
            }
        }
        KnownPerson {
            id: self.id.clone(),
            name: self.name().into(),
            familiarity: Familiarity::of(self.messages, thresholds),
            messages: self.messages,
            last_seen: self.last_seen,
            topics,
            tags: texts(&self.tags),
            notes: texts(&self.notes),
            last_talk: self.talks.iter().find(may).map(|talk| talk.text.clone()),
        }
    }

    /// Everything that was noted about them.
    pub fn remarks(&self) -> impl Iterator<Item = &Remark> {
        [&self.topics, &self.tags, &self.notes, &self.talks].into_iter().flatten()
    }

    fn remarks_mut(&mut self) -> [&mut Vec<Remark>; 4] {
        [&mut self.topics, &mut self.tags, &mut self.notes, &mut self.talks]
    }

    /// Applies a change that affects what is known of this person. Returns whether anything changed.
    pub fn apply(&mut self, change: &MemoryChange) -> bool {
        let before = self.clone();
        match change {
            MemoryChange::MessageGone { room, message } => self.remarks_mut().into_iter().for_each(|remarks| {
                // As with a fact, nobody can tell which of its words are from which message.
                remarks.retain(|remark| {
                    let echoes = || remark.echoes.iter().any(|of| of.message == *message);
                    remark.origin.room != *room || !(remark.messages.contains(message) || echoes())
                });
            }),
            MemoryChange::RoomForgotten { room } => {
                self.rooms.retain(|of| of != room);
                self.remarks_mut().into_iter().for_each(|remarks| remarks.retain(|remark| remark.origin.room != *room));
            }
            MemoryChange::Narrowed { origin } => {
                for remark in self.remarks_mut().into_iter().flatten().filter(|of| of.origin.room == origin.room) {
                    remark.origin.visibility = super::walls::narrower(remark.origin.visibility, origin.visibility);
                }
            }
            MemoryChange::Summarized(_)
            | MemoryChange::Reflected { .. }
            | MemoryChange::Heard(_)
            | MemoryChange::Answered(_)
            | MemoryChange::Kept(_)
            | MemoryChange::Imported(_)
            | MemoryChange::Used { .. }
            | MemoryChange::Told { .. }
            | MemoryChange::Edited { .. }
            | MemoryChange::Pinned { .. }
            | MemoryChange::Forgotten { .. }
            | MemoryChange::Embedded { .. }
            | MemoryChange::PersonForgotten { .. }
            | MemoryChange::OptedOut { .. }
            | MemoryChange::Faded { .. } => return false,
        }
        *self != before
    }

    /// Deletes whatever mentions a person by one of their names, or contains their words.
    pub fn unmention(&mut self, somebody: &PersonId, mentions: &dyn Fn(&Remark) -> bool) -> bool {
        let before = self.remarks().count();
        let is_theirs = |remark: &Remark| remark.echoes.iter().any(|of| of.person == *somebody);
        self.remarks_mut()
            .into_iter()
            .for_each(|remarks| remarks.retain(|remark| !mentions(remark) && !is_theirs(remark)));
        self.remarks().count() != before
    }
}

fn to_front<T>(list: &mut Vec<T>, item: T, max: usize, same: impl Fn(&T, &T) -> bool) {
    list.retain(|known| !same(known, &item));
    list.insert(0, item);
    list.truncate(max);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Visibility::{Private, Public};

    fn heard(room: &str, visibility: crate::types::Visibility, message: &str, topics: &[&str]) -> HeardFrom {
        HeardFrom {
            origin: Origin::new(room, visibility),
            up_to: 1,
            message: MessageId::new(message),
            person: PersonId::new("web:ann"),
            name: "Ann".into(),
            at: Time(1000),
            mentions_me: message == "m1",
            topics: topics.iter().map(|topic| (*topic).into()).collect(),
        }
    }

    #[test]
    fn familiarity_grows_with_messages() {
        let of = |messages| Familiarity::of(messages, &[6, 31, 101]).id();
        assert_eq!([of(0), of(5), of(6), of(30)], ["stranger", "stranger", "acquaintance", "acquaintance"]);
        assert_eq!([of(31), of(100), of(101)], ["regular", "regular", "close"]);
    }

    #[test]
    fn a_profile_stays_behind_the_walls_of_its_rooms() {
        let mut ann = Person::new(PersonId::new("web:ann"), Time(0));
        ann.hear(&heard("g:1/a", Public, "m1", &["rust", "tokyo"]));
        ann.hear(&heard("g:1/b", Private, "m2", &["surgery"]));
        let note = Note {
            person: ann.id.clone(),
            tags: vec!["patient".into()],
            notes: vec!["is ill".into()],
            last_talk: Some("her surgery".into()),
            messages: vec![MessageId::new("m2")],
            echoes: Vec::new(),
        };
        ann.note(&note, &Origin::new("g:1/b", Private), Time(2000));
        let public = ann.known_to(&Origin::new("g:1/c", Public), true, &[6, 31, 101]);
        assert_eq!(public.topics, ["rust".into(), "tokyo".into()]);
        assert!(public.tags.is_empty() && public.notes.is_empty() && public.last_talk.is_none());
        let private = ann.known_to(&Origin::new("g:1/b", Private), true, &[6, 31, 101]);
        assert_eq!(private.last_talk.as_deref(), Some("her surgery"));
        assert_eq!((ann.messages, ann.mentions_of_me, ann.rooms.len()), (2, 1, 2));
    }

    #[test]
    fn a_deleted_message_takes_its_words_along() {
        let mut ann = Person::new(PersonId::new("web:ann"), Time(0));
        ann.hear(&heard("g:1/a", Public, "m1", &["rust"]));
        let gone = |message| MemoryChange::MessageGone { room: RoomId::new("g:1/a"), message: MessageId::new(message) };
        assert!(!ann.apply(&gone("m7")));
        assert!(ann.apply(&gone("m1")) && ann.topics.is_empty());
    }

    #[test]
    fn a_note_goes_with_any_message_it_rests_on_as_a_fact_does() {
        let mut zoe = Person::new(PersonId::new("web:zoe"), Time(0));
        let note = Note {
            person: zoe.id.clone(),
            tags: vec!["ox".into()],
            notes: vec!["has an ox".into()],
            last_talk: Some("her ox".into()),
            messages: vec![MessageId::new("z1"), MessageId::new("z2")],
            echoes: Vec::new(),
        };
        zoe.note(&note, &Origin::new("g:1/a", Public), Time(2000));
        let gone = |room| MemoryChange::MessageGone { room: RoomId::new(room), message: MessageId::new("z1") };
        assert!(!zoe.apply(&gone("g:1/b")) && zoe.remarks().count() == 3, "a message of another room");
        assert!(zoe.apply(&gone("g:1/a")) && zoe.remarks().count() == 0);
    }

    #[test]
    fn a_note_goes_with_the_words_of_others_in_it() {
        let zoe = || {
            let mut zoe = Person::new(PersonId::new("web:zoe"), Time(0));
            let note = Note {
                person: zoe.id.clone(),
                tags: Vec::new(),
                notes: vec!["asked about a new harpsichord".into()],
                last_talk: Some("heard of a new harpsichord".into()),
                messages: vec![MessageId::new("z1"), MessageId::new("z2")],
                echoes: vec![EchoedMessage { message: MessageId::new("a1"), person: PersonId::new("web:ann") }],
            };
            zoe.note(&note, &Origin::new("g:1/a", Public), Time(2000));
            zoe
        };
        let gone = |message| MemoryChange::MessageGone { room: RoomId::new("g:1/a"), message: MessageId::new(message) };
        let (mut after_deletion, mut after_forgetting) = (zoe(), zoe());
        assert!(after_deletion.apply(&gone("a1")) && after_deletion.remarks().count() == 0);
        assert!(!after_forgetting.unmention(&PersonId::new("web:bob"), &|_| false));
        assert!(after_forgetting.unmention(&PersonId::new("web:ann"), &|_| false));
        assert_eq!(after_forgetting.remarks().count(), 0);
    }
}
