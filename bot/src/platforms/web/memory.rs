//! Memory of the web rooms, which everybody with access to them may see and change. Other platforms' rooms are not shown:
//! people here may not have access there.

use std::sync::Arc;

use aizuchi_core::memory::{Fact, FactId, Filter, MemoryChange, Origin, Person, allowed, pairs_of_ties, words};
use aizuchi_core::types::{PersonId, RoomId, Time, Visibility};
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::server::WebContext;
use super::{rooms, talk};
use crate::keeper::Keeper;
use crate::stores::StoreError;

const FACTS_MAX: usize = 500;
const PEOPLE_MAX: usize = 200;
const PAIRS_MAX: usize = 100;
const KEYWORDS: usize = 8;
const CONTENT_CHARS: usize = 500;

pub async fn room(State(context): State<Arc<WebContext>>, Path(room): Path<String>) -> Response {
    let Some(keeper) = context.keeper.clone() else { return not_found() };
    match keeper.in_time(describe_memory(&context, &keeper, &room)).await {
        Ok(shown) => Json(shown).into_response(),
        Err(error) => store_error(&error),
    }
}

async fn describe_memory(context: &WebContext, keeper: &Keeper, room: &str) -> Result<Value, StoreError> {
    keeper.catch_up().await?;
    let (id, now) = (talk::room_id(room), context.web.clock.now());
    let policy = keeper.policies().for_room(id.as_str()).settings.memory.clone();
    let (channel, _) = keeper.memory().channel(&id).await?;
    let reader = Origin::new(id.as_str(), Visibility::Public);
    let may_read = |origin: &Origin| allowed(origin, &reader, false).is_some();
    let facts = keeper.memory().facts(Filter { room: Some(id.clone()), ..Filter::default() }).await?;
    let facts: Vec<Fact> = facts.into_iter().filter(|fact| may_read(&fact.origin)).take(FACTS_MAX).collect();
    let all = keeper.memory().people(None).await?;
    let here = all.iter().filter(|person| !person.opted_out && person.rooms.contains(&id)).take(PEOPLE_MAX);
    let people: Vec<Value> = here
        .map(|person| {
            let known = person.known_to(&reader, false, &policy.familiarity);
            json!({
                "name": known.name, "familiarity": known.familiarity.id(), "messages": known.messages,
                "last_seen": known.last_seen.0, "topics": known.topics, "tags": known.tags, "notes": known.notes,
                "last_talk": known.last_talk,
            })
        })
        .collect();
    let name_of = |id: &PersonId| {
        let known = all.iter().find(|person| person.id == *id && !person.opted_out);
        known.map_or("", |person| person.name()).to_owned()
    };
    let facts: Vec<Value> = facts
        .iter()
        .map(|fact| {
            json!({
                "id": fact.id.0, "content": fact.content, "keywords": fact.keywords, "messages": fact.messages,
                "people": fact.people.iter().map(name_of).collect::<Vec<_>>(),
                "at": fact.at.0, "uses": fact.uses, "pinned": fact.pinned, "shareable": fact.shareable,
                "strength": fact.strength(now, policy.facts_half_life_days), "confidence": fact.confidence,
                "former": fact.former.map(|former| former.since.0),
            })
        })
        .collect();
    let channel = channel.filter(|channel| !channel.is_empty() && may_read(&channel.origin)).map(|channel| {
        let active: Vec<&str> = channel.active.iter().map(|(_, name)| &**name).collect();
        json!({
            "summary": channel.summary, "mood": channel.mood, "topics": channel.topics, "active": active,
            "at": channel.at.0,
        })
    });
    let rooms = rooms::all(&*context.web.stores.web).await?;
    let pairs = describe_pairs(keeper, &id, &all, now).await?;
    Ok(json!({
        "room": room, "rooms": rooms, "channel": channel, "people": people, "pairs": pairs, "facts": facts, "now": now.0,
    }))
}

/// Who in the room answers whom: everybody with access here could read that.
async fn describe_pairs(
    keeper: &Keeper,
    room: &RoomId,
    people: &[Person],
    now: Time,
) -> Result<Vec<Value>, StoreError> {
    let reader = Origin::new(room.as_str(), Visibility::Public);
    let mut ties = keeper.memory().ties(Some(room), None).await?;
    ties.retain(|tie| tie.is_known_to(&reader, false));
    let pairs = pairs_of_ties(&ties, now).into_iter().take(PAIRS_MAX).map(|pair| {
        json!({
            "people": pair.people.each_ref().map(|person| keeper.name_of(person, people)), "answers": pair.answers,
            "last": pair.last.0, "words": pair.words,
        })
    });
    Ok(pairs.collect())
}

/// An action on a fact.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FactAction {
    Edit { content: String },
    Pin { pinned: bool },
    Forget,
}

pub async fn change(
    State(context): State<Arc<WebContext>>,
    Path((room, fact)): Path<(String, u64)>,
    Json(action): Json<FactAction>,
) -> Response {
    let Some(keeper) = context.keeper.clone() else { return not_found() };
    let (room, fact) = (talk::room_id(&room), FactId(fact));
    let waiting = keeper.waiting();
    match waiting.within(is_of(&keeper, &room, fact)).await.flatten() {
        Ok(true) => (),
        Ok(false) => return (StatusCode::NOT_FOUND, "there is no such fact in this room\n").into_response(),
        Err(error) => return store_error(&error),
    }
    let change = match action {
        FactAction::Edit { content } => {
            let content = content.trim();
            if content.is_empty() || content.chars().count() > CONTENT_CHARS {
                let wrong = format!("a fact must have 1–{CONTENT_CHARS} characters\n");
                return (StatusCode::UNPROCESSABLE_ENTITY, wrong).into_response();
            }
            MemoryChange::Edited { fact, content: content.into(), keywords: words::topics(content, KEYWORDS) }
        }
        FactAction::Pin { pinned } => MemoryChange::Pinned { fact, pinned },
        FactAction::Forget => MemoryChange::Forgotten { fact },
    };
    match waiting.within(keeper.change(vec![change])).await.flatten() {
        Ok(()) => StatusCode::NO_CONTENT.into_response(),
        Err(error) => store_error(&error),
    }
}

/// A page has no access to facts of other rooms, nor to what was said in private.
async fn is_of(keeper: &Keeper, room: &RoomId, fact: FactId) -> Result<bool, StoreError> {
    let reader = Origin::new(room.as_str(), Visibility::Public);
    let facts = keeper.memory().facts(Filter { room: Some(room.clone()), ..Filter::default() }).await?;
    Ok(facts.iter().any(|known| known.id == fact && allowed(&known.origin, &reader, false).is_some()))
}

fn not_found() -> Response {
    (StatusCode::NOT_FOUND, "long-term memory is off\n").into_response()
}

fn store_error(error: &StoreError) -> Response {
    tracing::warn!(%error, "cannot read memory for the page");
    (StatusCode::SERVICE_UNAVAILABLE, "the store cannot be read; see the log\n").into_response()
}
