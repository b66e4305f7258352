//! "Forget what I said about …", said to the bot: carried out before it answers, and confirmed by the answer.
//!
//! A message to be forgotten is treated as deleted: the engines, memory and the journal drop it the same way. People still
//! see it where it was said; a person who does not want that deletes it there. Memories that rest on no message are deleted
//! with it; what others stated too keeps their wording.

use std::collections::BTreeSet;
use std::sync::Arc;

use aizuchi_core::effect::Brief;
use aizuchi_core::memory::{Filter, ForgetTopic, MemoryChange, asked_to_forget, asked_to_forget_by, changes_to_unsay};
use aizuchi_core::types::{Change, MessageId, PersonId, Place, RoomId, Voice};
use aizuchi_core::{Input, Time};

use super::Keeper;
use crate::journal::Journal;
use crate::language::{Language, say};
use crate::runtime::EngineHandle;
use crate::stores::StoreError;

/// The result of a request; kept for a while, since forgetting may cause the answer to be written again.
#[derive(Clone, Debug, Default)]
pub(super) struct SpokenRequest {
    room: Option<RoomId>,
    message: Option<MessageId>,
    messages: BTreeSet<(RoomId, MessageId)>,
    facts: BTreeSet<u64>,
}

/// How many requests are remembered.
const REQUESTS_MAX: usize = 100;

impl Keeper {
    /// If a message to the bot is a request to forget something, carries it out and returns the confirmation. Otherwise
    /// `None`.
    pub async fn obey(self: &Arc<Self>, brief: &Brief, seq: u64, language: Language) -> Option<String> {
        let last = brief.answering.last().filter(|_| brief.addressed)?;
        // This check is cheaper than reading the journal for every answer.
        let line = brief.transcript.lines.iter().find(|line| line.id == last.as_str())?;
        let policies = self.policies();
        let bot = &policies.for_room(brief.place.room.as_str()).settings.bot;
        let names: Vec<&str> = std::iter::once(&bot.name).chain(&bot.aliases).map(|name| &**name).collect();
        let topic = asked_to_forget_by(line.text, &names)?;
        let engine = self.engine.get()?.clone();
        let said = self.latest_talk(&brief.place.room, seq).await.ok()?;
        let person = said.iter().find(|said| said.id == *last)?.person.clone();
        let (keeper, request) = (self.clone(), (brief.place.room.clone(), last.clone()));
        let at = brief.at;
        // The request completes even if the answer is cancelled because the talk has changed.
        let done = tokio::spawn(async move { keeper.forget_topic(&topic, &person, request, at, &engine).await });
        match self.in_time(async { done.await.map_err(|_| StoreError::Closed)? }).await {
            Ok(request) => Some(confirmation(&request, language)),
            Err(error) => {
                tracing::warn!(%error, room = %brief.place.room, "cannot forget what was asked for");
                Some(language.text("forgotten-topic-failed"))
            }
        }
    }

    async fn forget_topic(
        &self,
        topic: &ForgetTopic,
        person: &PersonId,
        (room, message): (RoomId, MessageId),
        at: Time,
        engine: &EngineHandle,
    ) -> Result<SpokenRequest, StoreError> {
        let _one = self.obeying.lock().await;
        let ids = engine.ids_of(person);
        let said = Journal::new(self.stores.clone()).recorded_of(&ids).await?;
        let is_asked = |of: &RoomId, id: &MessageId, text: &str| {
            !(*of == room && *id == message) && topic.is_in(text) && asked_to_forget(text).is_none()
        };
        let mut places: Vec<(Place, MessageId)> = Vec::new();
        for said in said {
            if is_asked(&said.place.room, &said.id, &said.text) {
                places.push((said.place, said.id));
            }
        }
        let (mut facts, mut changes): (Vec<u64>, Vec<MemoryChange>) = Default::default();
        for id in &ids {
            let filter = Filter { person: Some(id.clone()), ..Filter::default() };
            for fact in self.memory.facts(filter).await? {
                let unsaid = changes_to_unsay(topic, &fact, &ids);
                if !unsaid.is_empty() && !facts.contains(&fact.id.0) {
                    facts.push(fact.id.0);
                    changes.extend(unsaid);
                }
            }
        }
        let own = self.own_words_about(topic, &ids).await?;
        let request = self.note_request((room, message), &places, &facts);
        self.change(changes).await?;
        let mut promised = Vec::new();
        for (place, id) in places.into_iter().chain(own) {
            let gone = Input::Changed(Change { place, id, at, text: None });
            promised.push(engine.enqueue(gone).await.map_err(|_| StoreError::Closed)?);
        }
        for gone in promised {
            gone.durable().await.map_err(|_| StoreError::Closed)?;
        }
        self.catch_up().await?;
        self.settle().await?;
        Ok(request)
    }

    /// What the bot said about it to these people. They still see it, but it is not shown to a model again.
    async fn own_words_about(
        &self,
        topic: &ForgetTopic,
        ids: &[PersonId],
    ) -> Result<Vec<(Place, MessageId)>, StoreError> {
        let answers = Journal::new(self.stores.clone()).trail(ids, &[]).await?.answers;
        let posts = self.messages(answers.into_iter().collect()).await?.into_values();
        let about = posts.filter(|post| post.author.voice == Voice::Me && topic.is_in(&post.text));
        Ok(about.map(|post| (post.place, post.id)).collect())
    }

    /// Adds to the stored result of a request.
    fn note_request(
        &self,
        (room, message): (RoomId, MessageId),
        places: &[(Place, MessageId)],
        facts: &[u64],
    ) -> SpokenRequest {
        let mut requests = self.requests.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let is_it =
            |known: &SpokenRequest| known.room.as_ref() == Some(&room) && known.message.as_ref() == Some(&message);
        let mut request = match requests.iter().position(is_it) {
            Some(index) => requests.remove(index),
            None => SpokenRequest { room: Some(room), message: Some(message), ..SpokenRequest::default() },
        };
        request.messages.extend(places.iter().map(|(place, id)| (place.room.clone(), id.clone())));
        request.facts.extend(facts);
        if requests.len() == REQUESTS_MAX {
            requests.remove(0);
        }
        requests.push(request.clone());
        request
    }
}

/// The confirmation, without the words that are to be forgotten.
fn confirmation(request: &SpokenRequest, language: Language) -> String {
    match (request.messages.len(), request.facts.len()) {
        (0, 0) => language.text("forgotten-topic-nothing"),
        (messages, facts) => say!(language, "forgotten-topic", messages = messages, facts = facts),
    }
}
