//! Everything stored about a person, looked up before any of it is deleted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::memory::words::{NameFinder, Phrases};
use aizuchi_core::types::{MessageId, PersonId, RoomId, Voice};
use aizuchi_core::{Input, Message, Time};

use serde::Serialize;

use super::forget::answers_to;
use super::read::{Records, look_up};
use super::traces::acted_for;
use super::write::Journal;
use crate::ports::{OwnTalk, PersonName, Platform, RecordKind, Selection, StoredUtterance, Stores, TalkOf};
use crate::stores::StoreError;

/// Where a person occurs, and under which names.
#[derive(Debug, Default)]
pub struct PersonTrail {
    /// The names they used.
    pub names: BTreeSet<Box<str>>,
    /// The rooms in which they spoke.
    pub rooms: BTreeSet<RoomId>,
    /// Posts of the bot that answered them.
    pub answers: BTreeSet<(RoomId, MessageId)>,
    /// What they said, if the bot repeated it and nobody else said it in the rooms where they spoke or where it was
    /// repeated.
    pub phrases: Phrases,
    /// The names that everybody else uses.
    pub others: BTreeSet<Box<str>>,
    messages: BTreeSet<(RoomId, MessageId)>,
    /// The bot's posts and the messages they answer.
    replies: Vec<(RoomId, MessageId, MessageId)>,
    /// What the bot said, and the rooms in which it may have repeated them.
    own: Phrases,
    repeated_in: BTreeSet<RoomId>,
}

/// A message of a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OwnMessage {
    pub room: RoomId,
    pub id: MessageId,
    pub at: Time,
    pub text: Box<str>,
}

/// The journal, and the talk that platforms keep themselves.
struct Sources<'a> {
    stores: &'a Stores,
    own_talks: Vec<&'a dyn OwnTalk>,
}

impl Journal {
    pub async fn trail(&self, ids: &[PersonId], platforms: &[Arc<dyn Platform>]) -> Result<PersonTrail, StoreError> {
        trail(&Sources::new(&self.stores, platforms), ids).await
    }

    /// The names these people use, and those that everybody else uses.
    pub async fn names_of(
        &self,
        ids: &[PersonId],
        platforms: &[Arc<dyn Platform>],
    ) -> Result<(BTreeSet<Box<str>>, BTreeSet<Box<str>>), StoreError> {
        let (mut own, mut others) = (BTreeSet::new(), BTreeSet::new());
        for (person, name) in Sources::new(&self.stores, platforms).names().await? {
            (if ids.contains(&person) { &mut own } else { &mut others }).insert(name);
        }
        Ok((own, others))
    }

    /// What these people said, in its current text, oldest first.
    pub async fn messages_of(
        &self,
        ids: &[PersonId],
        platforms: &[Arc<dyn Platform>],
    ) -> Result<Vec<OwnMessage>, StoreError> {
        let recorded = self.recorded_of(ids).await?;
        let mut said: BTreeMap<(RoomId, MessageId), (Time, Box<str>)> = recorded
            .into_iter()
            .map(|message| ((message.place.room, message.id), (message.at, message.text)))
            .collect();
        Sources::new(&self.stores, platforms)
            .each_kept(TalkOf::People(ids), &mut |utterance| {
                let key = (utterance.room.clone(), utterance.id.clone());
                match utterance.deleted {
                    true => drop(said.remove(&key)),
                    false => drop(said.insert(key, (utterance.at, utterance.text.clone()))),
                }
            })
            .await?;
        let message = |((room, id), (at, text))| OwnMessage { room, id, at, text };
        let mut messages: Vec<OwnMessage> = said.into_iter().map(message).collect();
        messages.sort_by_key(|message| message.at);
        Ok(messages)
    }

    /// What these people said according to the journal, with edits applied and without deleted messages.
    pub async fn recorded_of(&self, ids: &[PersonId]) -> Result<Vec<Message>, StoreError> {
        let mut said: BTreeMap<(RoomId, MessageId), Message> = BTreeMap::new();
        look_up(&*self.stores.index, &Selection::People(ids.to_vec()), |record| {
            if let Input::Said(message) = record.input
                && ids.contains(&message.author.id)
            {
                said.insert((message.place.room.clone(), message.id.clone()), message);
            }
        })
        .await?;
        let known = said.keys().cloned().collect();
        look_up(&*self.stores.index, &Selection::Messages(known), |record| {
            let Input::Changed(change) = record.input else { return };
            let key = (change.place.room, change.id);
            match change.text {
                Some(text) => drop(said.get_mut(&key).map(|message| message.text = text)),
                None => drop(said.remove(&key)),
            }
        })
        .await?;
        Ok(said.into_values().collect())
    }

    /// Which of the names occur in something the bot said that the request does not delete.
    pub async fn names_it_used(
        &self,
        names: Vec<Box<str>>,
        request: &ForgetRequest,
        platforms: &[Arc<dyn Platform>],
    ) -> Result<Vec<Box<str>>, StoreError> {
        let mut looked: Vec<(Box<str>, NameFinder, bool)> =
            names.into_iter().map(|name| (name.clone(), NameFinder::new([&name]), false)).collect();
        let (theirs, scope) = (request.recognizer(), request.person_names().scope);
        let goes = |room: &RoomId, text: &str, post: Option<&StoredUtterance>| match post {
            Some(post) => theirs.takes_own_post(room, post.id.as_str(), text),
            None => request.rooms.contains(room) || theirs.speaks_of_them(room, text),
        };
        let sources = Sources::new(&self.stores, platforms);
        sources
            .each_own_text(&mut |room, text, post| {
                if scope.has_room(room) && !goes(room, text, post) {
                    looked.iter_mut().for_each(|(_, names, found)| *found = *found || names.may_be_in(text));
                }
            })
            .await?;
        Ok(looked.into_iter().filter(|(.., found)| *found).map(|(name, ..)| name).collect())
    }
}

async fn trail(sources: &Sources<'_>, ids: &[PersonId]) -> Result<PersonTrail, StoreError> {
    let mut trail = PersonTrail::default();
    sources.each_said_by(ids, &mut |said| trail.note_theirs(said)).await?;
    for (person, name) in sources.names().await? {
        (if ids.contains(&person) { &mut trail.names } else { &mut trail.others }).insert(name);
    }
    sources.each_own_text(&mut |room, text, post| trail.note_own(room, text, post)).await?;
    trail.find_answers();
    let acted = acted_for(&*sources.stores.decisions, ids).await?;
    trail.rooms.extend(acted.into_iter().map(|(room, _)| room));
    trail.answers.extend(answers_to(sources.stores, ids).await?);
    trail.phrases.retain_common(&std::mem::take(&mut trail.own));
    // If somebody else said it, they said it here, or the bot learnt it from them.
    let rooms: BTreeSet<RoomId> = trail.rooms.iter().chain(&trail.repeated_in).cloned().collect();
    for room in &rooms {
        if trail.phrases.is_empty() {
            break;
        }
        let is_other = |said: &StoredUtterance| said.voice != Voice::Me && !ids.contains(&said.by);
        let phrases = &mut trail.phrases;
        sources
            .each_said_in(room, &mut |said| {
                if is_other(said) {
                    phrases.remove(&said.text)
                }
            })
            .await?;
    }
    Ok(trail)
}

impl PersonTrail {
    fn note_theirs(&mut self, said: &StoredUtterance) {
        self.names.insert(said.name.clone());
        self.rooms.insert(said.room.clone());
        self.messages.insert((said.room.clone(), said.id.clone()));
        self.phrases.add(&said.text);
    }

    fn note_own(&mut self, room: &RoomId, text: &str, post: Option<&StoredUtterance>) {
        self.own.add(text);
        if !self.repeated_in.contains(room) && self.phrases.are_in(text) {
            self.repeated_in.insert(room.clone());
        }
        if let Some((post, to)) = post.and_then(|post| Some((post, post.reply.as_ref()?))) {
            self.replies.push((room.clone(), post.id.clone(), to.clone()));
        }
    }

    fn find_answers(&mut self) {
        for (room, post, to) in std::mem::take(&mut self.replies) {
            if self.messages.contains(&(room.clone(), to)) {
                self.answers.insert((room, post));
            }
        }
    }
}

impl<'a> Sources<'a> {
    fn new(stores: &'a Stores, platforms: &'a [Arc<dyn Platform>]) -> Sources<'a> {
        Sources { stores, own_talks: platforms.iter().filter_map(|platform| platform.own_talk()).collect() }
    }

    async fn each_said_by(
        &self,
        ids: &[PersonId],
        see: &mut (dyn FnMut(&StoredUtterance) + Send),
    ) -> Result<(), StoreError> {
        look_up(&*self.stores.index, &Selection::People(ids.to_vec()), |record| {
            if let Some(said) = to_utterance(record.input).filter(|said| ids.contains(&said.by)) {
                see(&said);
            }
        })
        .await?;
        self.each_kept(TalkOf::People(ids), see).await
    }

    /// Everybody with every name they used, except the bot.
    async fn names(&self) -> Result<Vec<PersonName>, StoreError> {
        let mut names = self.stores.index.names().await?;
        for talk in &self.own_talks {
            names.extend(talk.names().await?);
        }
        Ok(names)
    }

    /// Everything the bot said or wanted to say: where, what, and the post if there is one.
    async fn each_own_text(
        &self,
        see: &mut (dyn FnMut(&RoomId, &str, Option<&StoredUtterance>) + Send),
    ) -> Result<(), StoreError> {
        look_up(&*self.stores.index, &Selection::Of(RecordKind::Own), |record| {
            if let Input::Written(call, Ok(answer)) = &record.input {
                see(&call.room, &answer.text, None);
            } else if let Some(said) = to_utterance(record.input) {
                see(&said.room, &said.text, Some(&said));
            }
        })
        .await?;
        self.each_kept(TalkOf::Bot, &mut |said| see(&said.room, &said.text, Some(said))).await
    }

    async fn each_said_in(
        &self,
        room: &RoomId,
        see: &mut (dyn FnMut(&StoredUtterance) + Send),
    ) -> Result<(), StoreError> {
        let mut records = Records::all(&*self.stores.journal).await?.in_room(room);
        while let Some(record) = records.next_whole().await? {
            if let Some(said) = to_utterance(record.input) {
                see(&said);
            }
        }
        self.each_kept(TalkOf::Room(room), see).await
    }

    /// The same for what platforms keep themselves.
    async fn each_kept(
        &self,
        of: TalkOf<'_>,
        see: &mut (dyn FnMut(&StoredUtterance) + Send),
    ) -> Result<(), StoreError> {
        for talk in &self.own_talks {
            talk.utterances(of).await?.iter().for_each(&mut *see);
        }
        Ok(())
    }
}

fn to_utterance(input: Input) -> Option<StoredUtterance> {
    let Input::Said(message) = input else { return None };
    Some(StoredUtterance {
        room: message.place.room,
        id: message.id,
        at: message.at,
        by: message.author.id,
        name: message.author.name,
        voice: message.author.voice,
        text: message.text,
        reply: message.reply.and_then(|reply| reply.to),
        deleted: false,
    })
}
