//! Converts Slack's events into the engine's inputs.

use aizuchi_core::Input;
use aizuchi_core::types::{Author, Change, Message, MessageId, PersonId, Place, Reaction, Reply, RoomId};
use aizuchi_core::types::{Span, ThreadId, Time, Visibility, Voice};
use aizuchi_formats::slack_markup::{NameLookup, plain};

use super::emoji::emoji;
use super::event::{ChangeEvent, MessageEvent, ReactionEvent};
use super::names::Names;
use super::people::presentable;
use super::read::{is_id, time};

/// A message that is fetched this soon after it was sent counts as fresh.
const FRESH: Span = Span::seconds(30);
/// How many people and channels in a text are resolved; the ids of others stay.
const NAMED_MAX: usize = 20;

/// The bot's identity in this workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlackIdentity {
    pub team: String,
    pub user: String,
    pub bot: Option<String>,
    /// The bot's name in the settings.
    pub name: String,
}

impl SlackIdentity {
    pub fn room(&self, channel: &str) -> RoomId {
        RoomId::new(format!("slack:{}/{channel}", self.team))
    }

    pub fn person(&self, user: &str) -> PersonId {
        PersonId::new(format!("slack:{}/{user}", self.team))
    }

    fn place(&self, channel: &str, thread: Option<&str>) -> Place {
        Place { room: self.room(channel), thread: thread.map(ThreadId::new) }
    }
}

/// How a message arrived.
#[derive(Clone, Copy, Debug)]
pub struct TranslationContext {
    /// Fetched to fill a gap.
    pub fetched: bool,
    pub now: Time,
    /// Whether it is the first below its parent message: that is a reply to it, and what follows is talk.
    pub first_below: bool,
}

pub async fn to_message_input(
    me: &SlackIdentity,
    names: &Names,
    event: MessageEvent,
    telling: TranslationContext,
) -> Option<Input> {
    let at = time(&event.ts)?;
    let author = author(me, names, &event).await?;
    let (text, mentioned) = readable(me, names, &event.text).await;
    let (mine, others): (Vec<String>, Vec<String>) = mentioned.into_iter().partition(|id| *id == me.user);
    Some(Input::Said(Message {
        id: MessageId::new(&event.ts),
        place: me.place(&event.channel, event.thread.as_deref()),
        at,
        author,
        text: text.into(),
        reply: reply(me, &event).filter(|_| telling.first_below),
        mentions: others.iter().map(|id| me.person(id)).collect(),
        mentions_me: !mine.is_empty(),
        visibility: visibility(names, &event).await,
        backfilled: telling.fetched && telling.now.since(at) >= FRESH,
        heard: None,
    }))
}

/// A reply to the parent message of its thread.
fn reply(me: &SlackIdentity, event: &MessageEvent) -> Option<Reply> {
    let parent = event.thread.as_ref()?;
    let by = event.parent.as_deref();
    Some(Reply {
        to: Some(MessageId::new(parent)),
        to_me: by == Some(&me.user),
        to_person: by.filter(|by| *by != me.user).map(|by| me.person(by)),
    })
}

async fn author(me: &SlackIdentity, names: &Names, event: &MessageEvent) -> Option<Author> {
    let id = event.user.as_deref().or(event.bot.as_deref()).or(event.named.as_deref())?;
    let is_me = event.user.as_deref() == Some(&me.user) || (me.bot.is_some() && event.bot == me.bot);
    if is_me {
        return Some(Author { id: me.person(&me.user), name: me.name.as_str().into(), voice: Voice::Me });
    }
    let person = match &event.user {
        Some(user) => names.person(user).await,
        None => None,
    };
    let is_bot = event.bot.is_some() || event.user.is_none() || person.as_ref().is_some_and(|person| person.is_bot);
    let known = person.map(|person| person.name);
    // An app may post under other people's names, so the name in the message comes first.
    let name = if event.bot.is_some() { event.named.clone().or(known) } else { known.or(event.named.clone()) };
    Some(Author {
        id: me.person(&presentable(id)),
        name: presentable(name.as_deref().unwrap_or(id)).into(),
        voice: if is_bot { Voice::Bot } else { Voice::Person },
    })
}

/// The text as shown on the screen, and the ids of the people it mentions.
pub async fn readable(me: &SlackIdentity, names: &Names, text: &str) -> (String, Vec<String>) {
    let mut people = vec![(me.user.clone(), me.name.clone())];
    let mut channels = Vec::new();
    for (mark, id) in mentioned_ids(text).into_iter().take(NAMED_MAX) {
        if mark == '@' && id != me.user {
            people.extend(names.person(&id).await.map(|person| (id, person.name)));
        } else if mark == '#' {
            channels.extend(names.channel(&id).await.and_then(|channel| Some((id, channel.name?))));
        }
    }
    let look = |known: &[(String, String)], id: &str| {
        known.iter().find(|(known, _)| known == id).map(|(_, name)| name.clone())
    };
    let (person, channel) = (|id: &str| look(&people, id), |id: &str| look(&channels, id));
    plain(text, &NameLookup { person: &person, channel: &channel })
}

/// The people and channels mentioned in a text, without duplicates.
fn mentioned_ids(text: &str) -> Vec<(char, String)> {
    let mut found: Vec<(char, String)> = Vec::new();
    for piece in text.split('<').skip(1) {
        let Some((inside, _)) = piece.split_once('>') else { continue };
        let target = inside.split('|').next().unwrap_or(inside);
        let mut chars = target.chars();
        let Some(mark @ ('@' | '#')) = chars.next() else { continue };
        let id = chars.as_str();
        if is_id(id) && !found.iter().any(|(_, known)| known == id) {
            found.push((mark, id.to_owned()));
        }
    }
    found
}

/// If it is unknown who can read it, it is not treated as public.
async fn visibility(names: &Names, event: &MessageEvent) -> Visibility {
    if let Some(told) = event.visibility {
        return told;
    }
    if event.channel.starts_with('D') {
        return Visibility::Direct;
    }
    let known = names.channel(&event.channel).await;
    known.and_then(|channel| channel.visibility).unwrap_or(Visibility::Private)
}

pub async fn to_change_input(me: &SlackIdentity, names: &Names, changing: ChangeEvent) -> Option<Input> {
    let text = match &changing.text {
        Some(text) => Some(readable(me, names, text).await.0.into()),
        None => None,
    };
    Some(Input::Changed(Change {
        place: me.place(&changing.channel, changing.thread.as_deref()),
        id: MessageId::new(&changing.ts),
        at: time(&changing.at)?,
        text,
    }))
}

/// Slack does not say in which thread the message is.
pub fn to_reaction_input(me: &SlackIdentity, reacting: &ReactionEvent, thread: Option<&str>) -> Option<Input> {
    Some(Input::Reacted(Reaction {
        place: me.place(&reacting.channel, thread),
        message: MessageId::new(&reacting.ts),
        at: time(&reacting.at)?,
        by: me.person(&reacting.user),
        emoji: emoji(&reacting.name).into(),
        on: reacting.on,
    }))
}
