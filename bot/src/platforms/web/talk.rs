//! The talk in the web rooms: messages are said once and changed by their author. The functions here decide from the result
//! of a store's query; what is to be written is part of the decision.

use std::collections::BTreeSet;

use aizuchi_core::types::{Change, MessageId, PersonId, Place, Reaction, RoomId, Span, ThreadId, Time, Voice};
use aizuchi_core::{Input, Message, types};

use super::forget::{first_part, is_forgotten};
use super::mentions::mentions;
use super::wire::{FromServer, WirePost};
use crate::ports::{Speaker, WebBody, WebDecision, WebMessage, WebQuery, WebQueryResult, WebWrite};

/// The prefix of the ids of rooms and people.
const PREFIX: &str = "web:";
/// The maximum number of different emoji on one message, and of people who gave one of them.
const EMOJI_MAX: usize = 20;
const GIVERS_MAX: usize = 100;
/// How many absent members of a room can be mentioned: their names are searched in a text.
const MEMBERS_MAX: usize = 500;
/// The precision of the time at which a person last spoke.
const SPOKE_WITHIN: Span = Span::seconds(60);

pub fn room_id(room: &str) -> RoomId {
    RoomId::new(format!("{PREFIX}{room}"))
}

pub fn person_id(person: &str) -> PersonId {
    PersonId::new(format!("{PREFIX}{person}"))
}

/// The room's name on the pages; `None` for another platform's room.
pub fn room_name(room: &RoomId) -> Option<&str> {
    room.as_str().strip_prefix(PREFIX)
}

/// A person's id on the pages; `None` for another platform's person.
pub fn person_name(person: &PersonId) -> Option<&str> {
    person.as_str().strip_prefix(PREFIX)
}

/// A message to be said.
#[derive(Clone, Debug)]
pub struct SayRequest {
    pub room: String,
    /// If it is sent again with the same key, it is the same message.
    pub key: String,
    pub at: Time,
    pub by: Speaker,
    pub voice: Voice,
    pub text: String,
    pub thread: Option<String>,
    pub reply_to: Option<String>,
}

/// A reaction to be added or removed.
#[derive(Clone, Debug)]
pub struct ReactRequest {
    pub room: String,
    pub id: String,
    pub at: Time,
    pub by: Speaker,
    pub voice: Voice,
    pub emoji: String,
    pub on: bool,
}

/// What is stored, and the number of the change that stored it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredChange {
    pub id: String,
    pub seq: u64,
}

impl From<&WebMessage> for StoredChange {
    fn from(message: &WebMessage) -> StoredChange {
        StoredChange { id: message.id.clone(), seq: message.seq }
    }
}

/// The result of a change, and what is to be written for it.
pub type ChangeResult = (StoredChange, WebDecision);

/// The result if nothing changes.
fn unchanged(message: &WebMessage) -> ChangeResult {
    (StoredChange::from(message), WebDecision::default())
}

/// Why a change is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    NoSuchMessage,
    NoSuchThread,
    NotYours,
    Deleted,
    TooManyReactions,
    RoomClosed,
    NotYourRoom,
}

impl WebMessage {
    /// For a page that knows everything up to `since`.
    pub(super) fn to_frame(&self, since: u64) -> FromServer {
        let message = Box::new(self.post());
        if self.first_seq > since {
            FromServer::Said { seq: self.seq, message }
        } else {
            FromServer::Changed { seq: self.seq, message }
        }
    }

    fn post(&self) -> WirePost {
        let body = self.body.clone();
        let names = |givers: Vec<Speaker>| givers.into_iter().map(|giver| giver.name).collect();
        WirePost {
            id: self.id.clone(),
            order: self.first_seq,
            at: body.at.0,
            author_id: body.by.id,
            author: body.by.name,
            voice: body.voice,
            text: body.text,
            thread: body.thread,
            reply_to: body.reply_to,
            edited: body.edited,
            deleted: body.deleted,
            reactions: body.reactions.into_iter().map(|(emoji, givers)| (emoji, names(givers))).collect(),
        }
    }
}

/// The query that is needed before a message is said.
pub fn look_for_saying(request: &SayRequest) -> WebQuery {
    let first_part = if request.voice == Voice::Me { first_part(&request.key) } else { None };
    let mentions = request.voice != Voice::Me && may_mention(&request.text);
    WebQuery {
        room: Some(request.room.clone()),
        ids: request.thread.iter().chain(&request.reply_to).cloned().collect(),
        keys: std::iter::once(request.key.clone()).chain(first_part).collect(),
        members: if mentions { MEMBERS_MAX } else { 0 },
        ..WebQuery::default()
    }
}

/// Says a message, once. `here` are the people whose pages are in the room.
pub fn say(
    found: &WebQueryResult,
    request: SayRequest,
    my_names: &[String],
    here: &[Speaker],
) -> Result<ChangeResult, Refusal> {
    if let Some(known) = found.by_key(&request.key) {
        return Ok(unchanged(known));
    }
    if found.room.is_none() {
        return Err(Refusal::RoomClosed);
    }
    if request.thread.as_ref().is_some_and(|thread| !is_thread(found, thread)) {
        return Err(Refusal::NoSuchThread);
    }
    let replied = request.reply_to.as_ref().and_then(|id| found.message(id));
    if (request.reply_to.is_some() && replied.is_none()) || is_forgotten(found, &request, replied) {
        return Err(Refusal::NoSuchMessage);
    }
    let seq = found.last_seq + 1;
    let id = format!("w{seq}");
    let input = match request.voice {
        Voice::Me => None,
        Voice::Person | Voice::Bot => {
            let members: Vec<&Speaker> = found.members.iter().chain(here).collect();
            Some(Input::Said(message(&request, &id, replied, my_names, &members)))
        }
    };
    let mut writes = Vec::new();
    if request.voice == Voice::Person {
        let (room, by, at) = (request.room.clone(), request.by.clone(), request.at);
        writes.push(WebWrite::Spoke { room, by, at, unless_since: at - SPOKE_WITHIN });
    }
    let SayRequest { room, key, at, by, voice, text, thread, reply_to } = request;
    let body = WebBody { at, by, voice, text, thread, reply_to, edited: false, deleted: false, reactions: Vec::new() };
    writes.push(WebWrite::Add(WebMessage { id: id.clone(), room, seq, first_seq: seq, key: Some(key), body }));
    Ok((StoredChange { id, seq }, WebDecision { writes, last_seq: Some(seq), input }))
}

pub fn may_mention(text: &str) -> bool {
    text.contains(['@', '＠'])
}

/// The message as the engine's input. `members` are the people whose names are searched in the text.
fn message(
    request: &SayRequest,
    id: &str,
    replied: Option<&WebMessage>,
    my_names: &[String],
    members: &[&Speaker],
) -> Message {
    let mentioned = members.iter().filter(|member| mentions(&request.text, &member.name));
    // A person may be here in two tabs, and may have spoken before.
    let mentioned: BTreeSet<PersonId> = mentioned.map(|member| person_id(&member.id)).collect();
    let reply = replied.map(|replied| types::Reply {
        to: Some(MessageId::new(&replied.id)),
        to_me: replied.body.voice == Voice::Me,
        to_person: (replied.body.voice != Voice::Me).then(|| person_id(&replied.body.by.id)),
    });
    Message {
        id: MessageId::new(id),
        place: place(&request.room, request.thread.as_deref()),
        at: request.at,
        author: types::Author {
            id: person_id(&request.by.id),
            name: request.by.name.as_str().into(),
            voice: request.voice,
        },
        text: request.text.as_str().into(),
        reply,
        mentions: mentioned.into_iter().collect(),
        mentions_me: my_names.iter().any(|name| mentions(&request.text, name)),
        visibility: types::Visibility::Public,
        backfilled: false,
        heard: None,
    }
}

pub fn look_for_message(room: &str, id: &str) -> WebQuery {
    WebQuery { room: Some(room.to_owned()), ids: vec![id.to_owned()], ..WebQuery::default() }
}

/// Changes the text of one's own message; `None` deletes it. If nothing changes, nothing is written.
pub fn change(
    found: &WebQueryResult,
    id: &str,
    by: &str,
    at: Time,
    text: Option<String>,
) -> Result<ChangeResult, Refusal> {
    let known = found.message(id).ok_or(Refusal::NoSuchMessage)?;
    if known.body.by.id != by {
        return Err(Refusal::NotYours);
    }
    match (&text, known.body.deleted) {
        (Some(_), true) => return Err(Refusal::Deleted),
        (None, true) => return Ok(unchanged(known)),
        (Some(text), false) if *text == known.body.text => return Ok(unchanged(known)),
        (Some(_) | None, false) => (),
    }
    let mut message = known.clone();
    match &text {
        Some(text) => (message.body.text, message.body.edited) = (text.clone(), true),
        None => {
            message.body.deleted = true;
            message.body.text.clear();
            message.body.reactions.clear();
        }
    }
    let place = place(&message.room, message.body.thread.as_deref());
    let change = Change { place, id: MessageId::new(id), at, text: text.map(Into::into) };
    Ok(updated(found, message, Some(Input::Changed(change))))
}

/// Adds or removes a reaction. If nothing changes, nothing is written.
pub fn react(found: &WebQueryResult, reacting: ReactRequest) -> Result<ChangeResult, Refusal> {
    let ReactRequest { room, id, at, by, voice, emoji, on } = reacting;
    let known = found.message(&id).ok_or(Refusal::NoSuchMessage)?;
    if known.body.deleted {
        return Err(Refusal::Deleted);
    }
    let mut message = known.clone();
    let (place, giver) = (place(&room, message.body.thread.as_deref()), person_id(&by.id));
    let reactions = &mut message.body.reactions;
    let given = reactions.iter().position(|(given, _)| *given == emoji);
    let by_them = given.and_then(|index| reactions[index].1.iter().position(|giver| giver.id == by.id));
    match (on, given, by_them) {
        (true, _, Some(_)) | (false, _, None) => return Ok(unchanged(known)),
        (true, None, None) if reactions.len() >= EMOJI_MAX => return Err(Refusal::TooManyReactions),
        (true, None, None) => reactions.push((emoji.clone(), vec![by])),
        (true, Some(index), None) if reactions[index].1.len() >= GIVERS_MAX => {
            return Err(Refusal::TooManyReactions);
        }
        (true, Some(index), None) => reactions[index].1.push(by),
        (false, given, Some(giver)) => {
            reactions[given.expect("somebody gave it")].1.remove(giver);
            reactions.retain(|(_, givers)| !givers.is_empty());
        }
    }
    let reaction = Reaction { place, message: MessageId::new(id), at, by: giver, emoji: emoji.into(), on };
    Ok(updated(found, message, (voice != Voice::Me).then_some(Input::Reacted(reaction))))
}

fn updated(found: &WebQueryResult, mut message: WebMessage, input: Option<Input>) -> ChangeResult {
    message.seq = found.last_seq + 1;
    let stored = StoredChange::from(&message);
    let last_seq = Some(message.seq);
    (stored, WebDecision { writes: vec![WebWrite::Update(message)], last_seq, input })
}

/// Whether a thread can start there: at a message of the room that is not itself in a thread.
pub fn is_thread(found: &WebQueryResult, id: &str) -> bool {
    found.message(id).is_some_and(|first| first.body.thread.is_none())
}

fn place(room: &str, thread: Option<&str>) -> Place {
    Place { room: room_id(room), thread: thread.map(ThreadId::new) }
}
