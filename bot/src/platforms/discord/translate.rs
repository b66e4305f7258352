//! Converts Discord's messages, changes and reactions into the engine's inputs.

use aizuchi_core::types::{Author, Change, MessageId, PersonId, Place, Reaction, Reply, Time, Voice};
use aizuchi_core::{Input, Message};
use serde_json::Value;

use super::places::{PREFIX, Places, on_one_line};
use super::read::{as_id, bits, id, is, list, made_ms, text};
use super::readable::{NameResolver, OwnNames, readable};

/// Types of messages that people write; the others are written by Discord itself.
const DEFAULT: u64 = 0;
const REPLY: u64 = 19;
const THREAD_STARTER: u64 = 21;

const FORWARD: u64 = 1;
const MARKS_MAX: usize = 10;

/// The bot's identity, and what is known of channels.
pub struct MessageContext<'a> {
    pub me: u64,
    pub own_names: &'a OwnNames,
    pub places: &'a Places,
    /// The guild, if the event itself does not contain it.
    pub guild: Option<u64>,
}

/// A message and its Discord ids.
#[derive(Debug)]
pub struct DiscordMessage {
    pub id: u64,
    pub message: Message,
    /// Set for the bot's own posts.
    pub nonce: Option<String>,
}

pub fn person(id: u64) -> PersonId {
    PersonId::new(format!("{PREFIX}{id}"))
}

impl MessageContext<'_> {
    /// `None` if it is not a message of anybody.
    pub fn to_message(&self, event: &Value) -> Option<DiscordMessage> {
        let kind = bits(event, "type");
        if !matches!(kind, DEFAULT | REPLY | THREAD_STARTER) {
            return None;
        }
        let (message_id, channel) = (id(event, "id")?, id(event, "channel_id")?);
        let guild = id(event, "guild_id").or(self.guild);
        let (place, visibility) = self.places.place(channel, guild);
        // The message a thread starts from is shown in the thread too: its text is in the original.
        let original = event.get("referenced_message").filter(|it| kind == THREAD_STARTER && it.is_object());
        let body = original.unwrap_or(event);
        let raw = message_text(body);
        let author = author(body, event, self.me)?;
        let message = Message {
            id: MessageId::new(message_id.to_string()),
            at: Time(made_ms(message_id)),
            reply: (kind == REPLY).then(|| self.reply(event)).flatten(),
            mentions: self.mentions(body, &raw),
            mentions_me: self.mentions_me(&raw, guild),
            author,
            text: self.readable(&raw, body, guild).into(),
            place,
            visibility,
            backfilled: false,
            heard: None,
        };
        let nonce = event.get("nonce").and_then(Value::as_str).filter(|_| message.author.voice == Voice::Me);
        Some(DiscordMessage { id: message_id, message, nonce: nonce.map(str::to_owned) })
    }

    fn reply(&self, event: &Value) -> Option<Reply> {
        let link = event.get("message_reference")?;
        if bits(link, "type") == FORWARD {
            return None;
        }
        let to = id(link, "message_id");
        let by = event.get("referenced_message").and_then(|it| it.get("author")).and_then(|author| id(author, "id"));
        let to_me = by == Some(self.me);
        Some(Reply {
            to: to.map(|to| MessageId::new(to.to_string())),
            to_me,
            to_person: by.filter(|_| !to_me).map(person),
        })
    }

    /// Those who are mentioned in the text: Discord's list also contains the person who is replied to.
    fn mentions(&self, event: &Value, text: &str) -> Vec<PersonId> {
        let ids = list(event, "mentions").iter().filter_map(|user| id(user, "id"));
        ids.filter(|id| *id != self.me && mentions(text, *id)).map(person).collect()
    }

    fn mentions_me(&self, text: &str, guild: Option<u64>) -> bool {
        let roles = guild.map_or(&[][..], |guild| self.places.my_roles(guild));
        mentions(text, self.me) || roles.iter().any(|role| text.contains(&format!("<@&{role}>")))
    }

    /// The text as people see it. References to the bot itself become its main name.
    fn readable(&self, text: &str, event: &Value, guild: Option<u64>) -> String {
        readable(text, &MessageNames { context: self, event, guild: guild.unwrap_or(0) })
    }

    /// An edited text. Unfurling a link updates a message too, but nobody edited it.
    pub fn to_edit(&self, event: &Value, now: Time) -> Option<Input> {
        let at = text(event, "edited_timestamp")?;
        let by = event.get("author").and_then(|author| id(author, "id"));
        event.get("content")?.as_str()?;
        if by == Some(self.me) {
            return None;
        }
        let at = at.parse::<jiff::Timestamp>().map_or(now, |at| Time(at.as_millisecond().max(0) as u64));
        let (message, place) = self.known_message(event, "id")?;
        let text = self.readable(&message_text(event), event, id(event, "guild_id").or(self.guild));
        Some(Input::Changed(Change { place, id: message, at, text: Some(text.into()) }))
    }

    /// One message, or many at once.
    pub fn to_deletions(&self, event: &Value, now: Time) -> Vec<Input> {
        let Some(channel) = id(event, "channel_id") else { return Vec::new() };
        let (place, _) = self.places.place(channel, id(event, "guild_id").or(self.guild));
        let many = list(event, "ids").iter().filter_map(as_id);
        let gone = |gone: u64| {
            Input::Changed(Change { place: place.clone(), id: MessageId::new(gone.to_string()), at: now, text: None })
        };
        many.chain(id(event, "id")).map(gone).collect()
    }

    pub fn to_reaction(&self, event: &Value, on: bool, now: Time) -> Option<Input> {
        let by = id(event, "user_id").filter(|by| *by != self.me)?;
        // Reactions of other bots are ignored.
        if event.pointer("/member/user/bot").and_then(Value::as_bool) == Some(true) {
            return None;
        }
        let (message, place) = self.known_message(event, "message_id")?;
        let emoji = event.get("emoji")?;
        let name = text(emoji, "name").filter(|name| !name.is_empty())?;
        // Custom emoji have an id; their name alone would look like a word.
        let emoji = if id(emoji, "id").is_some() { format!(":{name}:") } else { name.to_owned() };
        Some(Input::Reacted(Reaction { place, message, at: now, by: person(by), emoji: emoji.into(), on }))
    }

    fn known_message(&self, event: &Value, field: &str) -> Option<(MessageId, Place)> {
        let (id, channel, guild) = (id(event, field)?, id(event, "channel_id")?, id(event, "guild_id"));
        let (place, _) = self.places.place(channel, guild.or(self.guild));
        Some((MessageId::new(id.to_string()), place))
    }
}

fn mentions(text: &str, id: u64) -> bool {
    text.contains(&format!("<@{id}>")) || text.contains(&format!("<@!{id}>"))
}

/// Webhooks and other programs are bots. A webhook may use a different name for each message.
fn author(body: &Value, event: &Value, me: u64) -> Option<Author> {
    let user = body.get("author")?;
    let user_id = id(user, "id")?;
    let voice = if user_id == me {
        Voice::Me
    } else if is(user, "bot") || is(user, "system") || event.get("webhook_id").is_some_and(|hook| !hook.is_null()) {
        Voice::Bot
    } else {
        Voice::Person
    };
    let nick = body.get("member").and_then(|member| text(member, "nick"));
    let name = name(user, nick).unwrap_or_else(|| user_id.to_string());
    Some(Author { id: person(user_id), name: name.into(), voice })
}

/// The name that people see.
fn name(user: &Value, nick: Option<&str>) -> Option<String> {
    let names = [nick, text(user, "global_name"), text(user, "username")];
    names.into_iter().flatten().map(on_one_line).find(|name| !name.is_empty())
}

/// The names behind the ids in a message.
struct MessageNames<'a> {
    context: &'a MessageContext<'a>,
    event: &'a Value,
    guild: u64,
}

impl NameResolver for MessageNames<'_> {
    /// Discord includes everybody whom a message mentions.
    fn person(&self, wanted: u64) -> Option<String> {
        if wanted == self.context.me {
            return Some(self.context.own_names.first().to_owned());
        }
        let user = list(self.event, "mentions").iter().find(|user| id(user, "id") == Some(wanted))?;
        let nick = user.get("member").and_then(|member| text(member, "nick"));
        name(user, nick).filter(|name| !self.context.own_names.stand_in(name))
    }

    fn role(&self, wanted: u64) -> Option<String> {
        let is_mine = self.context.places.my_roles(self.guild).contains(&wanted);
        let name = self.context.places.role(wanted, self.guild)?;
        match self.context.own_names.stand_in(name) {
            // The role that came with the bot has its name.
            true => is_mine.then(|| self.context.own_names.first().to_owned()),
            false => Some(name.trim_start_matches('@').to_owned()),
        }
    }

    fn channel(&self, wanted: u64) -> Option<String> {
        let name = self.context.places.name(wanted, self.guild)?;
        (!self.context.own_names.stand_in(name)).then(|| name.to_owned())
    }
}

/// The text, or a description of what is there instead.
fn message_text(event: &Value) -> String {
    let content = text(event, "content").unwrap_or_default();
    if !content.trim().is_empty() {
        return content.to_owned();
    }
    let forwarded = list(event, "message_snapshots").iter().filter_map(|snapshot| snapshot.get("message"));
    let forwarded = forwarded.map(|message| format!("[forwarded] {}", message_text(message)));
    let files = list(event, "attachments").iter().map(|file| {
        let kind = text(file, "content_type").and_then(|kind| kind.split('/').next()).unwrap_or_default();
        let kind = if matches!(kind, "image" | "video" | "audio") { kind } else { "file" };
        attachment_label(kind, text(file, "filename"))
    });
    let stickers =
        list(event, "sticker_items").iter().map(|sticker| attachment_label("sticker", text(sticker, "name")));
    let embeds = list(event, "embeds").iter().map(|embed| {
        let shown = [text(embed, "title"), text(embed, "description"), text(embed, "url")];
        attachment_label("embed", shown.into_iter().flatten().next())
    });
    let poll = event
        .get("poll")
        .and_then(|poll| poll.get("question"))
        .map(|asked| attachment_label("poll", text(asked, "text")));
    let all = forwarded.chain(files).chain(stickers).chain(embeds).chain(poll);
    all.take(MARKS_MAX).collect::<Vec<_>>().join(" ")
}

const MARK_CHARS_MAX: usize = 200;

fn attachment_label(kind: &str, name: Option<&str>) -> String {
    match name.map(str::trim).filter(|name| !name.is_empty()) {
        Some(name) => format!("[{kind}: {}]", name.chars().take(MARK_CHARS_MAX).collect::<String>()),
        None => format!("[{kind}]"),
    }
}
