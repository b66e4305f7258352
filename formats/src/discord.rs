//! A channel export of DiscordChatExporter: one JSON object with all messages.

use std::borrow::Cow;

use aizuchi_core::Input;
use aizuchi_core::types::{Author, Message, MessageId, PersonId, Place, Reply, RoomId, ThreadId, Visibility, Voice};
use serde::Deserialize;

use super::error::ReadError;
use super::json::{Field, key_and_value, pieces, value};
use super::log::{Event, Format, Log, Options};
use super::text_lines::without_mark;
use super::when;

#[derive(Default, Deserialize)]
#[serde(default)]
struct DiscordChannel<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    /// For a thread, its parent channel.
    #[serde(borrow, rename = "categoryId")]
    category_id: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DiscordPost<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    timestamp: Field<'a>,
    #[serde(borrow)]
    content: Field<'a>,
    #[serde(borrow)]
    author: Field<'a, DiscordUser<'a>>,
    #[serde(borrow)]
    mentions: Field<'a, DiscordUser<'a>>,
    #[serde(borrow)]
    reference: Field<'a, Reference<'a>>,
    #[serde(borrow)]
    reactions: Field<'a, DiscordReaction<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DiscordUser<'a> {
    #[serde(borrow)]
    id: Field<'a>,
    #[serde(borrow)]
    name: Field<'a>,
    #[serde(borrow)]
    nickname: Field<'a>,
    #[serde(borrow, rename = "isBot")]
    is_bot: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Reference<'a> {
    #[serde(borrow, rename = "messageId")]
    message_id: Field<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct DiscordReaction<'a> {
    #[serde(borrow)]
    count: Field<'a>,
}

/// Whether the text is such an export, complete or not. A transcript has a whole event on its first line.
pub fn recognise(text: &[u8]) -> bool {
    let text = without_mark(text).trim_ascii_start();
    if !text.starts_with(b"{") {
        return false;
    }
    let first_line = pieces(text.split(|byte| *byte == b'\n').next().unwrap_or_default());
    if first_line.closed {
        return holds_messages(&first_line.pieces);
    }
    let whole = pieces(text);
    let guild_first = whole
        .pieces
        .first()
        .and_then(|member| key_and_value(member))
        .is_some_and(|(key, value)| key == b"guild" && value.starts_with(b"{"));
    guild_first || (first_line.pieces.is_empty() && holds_messages(&whole.pieces))
}

fn holds_messages(members: &[&[u8]]) -> bool {
    members.iter().any(|member| key_and_value(member).is_some_and(is_messages))
}

fn is_messages((key, value): (&[u8], &[u8])) -> bool {
    key == b"messages" && value.starts_with(b"[")
}

pub fn read(name: &str, text: &[u8], options: &Options, progress: &mut dyn FnMut(u64)) -> Result<Log, ReadError> {
    let mut log = Log::empty(Format::Discord);
    let export = pieces(without_mark(text));
    let members = || export.pieces.iter().filter_map(|member| key_and_value(member));
    let channel = members().find(|(key, _)| *key == b"channel").map_or(&b"null"[..], |(_, value)| value);
    let place = match place(channel) {
        Ok(place) => place,
        Err(problem) => {
            return Err(ReadError::Unrecognized(format!("{name} has no channel to read: {problem}")));
        }
    };
    let list = pieces(members().find(|member| is_messages(*member)).map_or(&b"[]"[..], |(_, value)| value));
    let mut number = 0;
    for piece in list.pieces {
        number += 1;
        match post(piece, number, &place, options, &mut log.reactions) {
            Ok(event) => log.events.extend(event),
            Err(problem) => log.note(options, name, number, problem)?,
        }
    }
    if !(export.closed && list.closed) {
        log.note(options, name, number, "the export ends early here".to_owned())?;
    }
    // An export may have the newest message first.
    log.events.sort_by_key(|event| event.at);
    progress(text.len() as u64);
    Ok(log)
}

fn place(channel: &[u8]) -> Result<(Place, Visibility), String> {
    let channel: DiscordChannel<'_> = value(channel)?.object("channel")?;
    let id = channel.id.needed("channel.id")?;
    let kind = channel.kind.text("channel.type")?.unwrap_or_default();
    let parent = channel.category_id.text("channel.categoryId")?.filter(|_| kind.ends_with("Thread"));
    let visibility = match &*kind {
        "DirectTextChat" | "DirectGroupTextChat" => Visibility::Direct,
        "GuildPrivateThread" => Visibility::Private,
        _ => Visibility::Public,
    };
    let place = match parent {
        Some(parent) => Place { room: RoomId::new(parent), thread: Some(ThreadId::new(id)) },
        None => Place::room(id),
    };
    Ok((place, visibility))
}

/// `None` for messages of the platform itself: joins, pins, calls.
fn post(
    json: &[u8],
    number: u64,
    (place, visibility): &(Place, Visibility),
    options: &Options,
    reactions: &mut u64,
) -> Result<Option<Event>, String> {
    let post: DiscordPost<'_> = value(json)?.object(&format!("messages[{}]", number - 1))?;
    let kind = post.kind.text("type")?;
    let is_reply = kind.as_deref() == Some("Reply");
    if !is_reply && kind.is_some_and(|kind| kind != "Default") {
        return Ok(None);
    }
    let at = when::from_field("timestamp", &post.timestamp)?;
    let (author, is_me) = author(post.author.object("author")?, options)?;
    let (mentions, mentions_me) = read_mentions(post.mentions, options)?;
    let message = Message {
        id: MessageId::new(post.id.needed("id")?),
        place: place.clone(),
        at,
        author: if is_me { Author { voice: Voice::Me, ..author } } else { author },
        text: post.content.words("content")?.unwrap_or_default().into(),
        // A forwarded message has a reference too, but is not a reply.
        reply: if is_reply { reply(post.reference)? } else { None },
        mentions,
        mentions_me,
        visibility: *visibility,
        backfilled: false,
        heard: None,
    };
    for reaction in post.reactions.list("reactions")? {
        *reactions = reactions.saturating_add(count(reaction));
    }
    Ok(Some(Event { line: number, at, input: Input::Said(message) }))
}

/// Also returns whether it has a name of the bot itself: the account's, or the one people see.
fn author(user: DiscordUser<'_>, options: &Options) -> Result<(Author, bool), String> {
    let id = user.id.needed("author.id")?;
    let name = user.name.text("author.name")?;
    let nickname = user.nickname.text("author.nickname")?;
    let is_me = [Some(&id), name.as_ref(), nickname.as_ref()].into_iter().flatten().any(|name| options.is_me(name));
    let voice = if user.is_bot.flag("author.isBot")? { Voice::Bot } else { Voice::Person };
    let name = nickname.or(name).ok_or("no `author.name`")?;
    Ok((Author { id: PersonId::new(id), name: name.into(), voice }, is_me))
}

fn read_mentions(mentions: Field<'_, DiscordUser<'_>>, options: &Options) -> Result<(Vec<PersonId>, bool), String> {
    let mut others = Vec::new();
    let mut me = false;
    for user in mentions.list("mentions")? {
        let user = user.object("mentions[]")?;
        let id = user.id.needed("mentions[].id")?;
        let names = [user.name.text("mentions[].name")?, user.nickname.text("mentions[].nickname")?];
        if options.is_me(&id) || names.iter().flatten().any(|name| options.is_me(name)) {
            me = true;
        } else {
            others.push(PersonId::new(id));
        }
    }
    Ok((others, me))
}

fn reply(reference: Field<'_, Reference<'_>>) -> Result<Option<Reply>, String> {
    // The message that was answered may have been deleted since.
    let Field::Object(reference) = reference else { return Ok(None) };
    let to = reference.message_id.text("reference.messageId")?;
    Ok(to.map(|to: Cow<'_, str>| Reply { to: Some(MessageId::new(to)), to_me: false, to_person: None }))
}

fn count(reaction: Field<'_, DiscordReaction<'_>>) -> u64 {
    let Field::Object(DiscordReaction { count: Field::Number(count) }) = reaction else { return 1 };
    count.as_u64().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXPORT: &str = r#"{
  "guild": {"id": "1", "name": "みんなの部屋", "iconUrl": "x"},
  "channel": {"id": "20", "type": "GuildTextChat", "categoryId": "10", "category": "Text", "name": "general", "topic": null},
  "dateRange": {"after": null, "before": null},
  "messages": [
    {"id": "102", "type": "Reply", "timestamp": "2023-11-14T22:13:21.25+00:00", "timestampEdited": null, "content": "it works",
     "author": {"id": "5", "name": "bob", "nickname": "", "isBot": false}, "attachments": [], "embeds": [{"fields": [{}]}],
     "mentions": [{"id": "4", "name": "hanako", "nickname": "花子"}, {"id": "9", "name": "aizuchi", "nickname": "アイ"}],
     "reactions": [{"emoji": {"name": "👍"}, "count": 3}, {"emoji": {"name": "🎉"}, "count": 1}],
     "reference": {"type": "Default", "messageId": "101", "channelId": "20", "guildId": "1"}},
    {"id": "101", "type": "Default", "timestamp": "2023-11-15T07:13:20+09:00", "content": "動きますか？",
     "author": {"id": "4", "name": "hanako", "nickname": "花子", "isBot": false}, "mentions": [], "reactions": []},
    {"id": "103", "type": "GuildMemberJoin", "timestamp": "2023-11-14T22:13:22Z", "content": "Joined.", "author": {"id": "6", "name": "x"}},
    {"id": "104", "type": "Default", "timestamp": "soon", "content": "?", "author": {"id": "6", "name": "x"}},
    7,
    {"id": "105", "type": "Default", "timestamp": "2023-11-14T22:13:23Z", "content": "\ud800", "author": {"id": "6", "name": "x"}},
    {"id": "106", "type": "Default", "timestamp": "2023-11-14T22:13:24Z", "content": "", "attachments": [{"id": "1"}],
     "author": {"id": "9", "name": "aizuchi", "nickname": "アイ", "isBot": true}, "reference": {"type": "Forward", "messageId": "1"}},
    {"id": "107", "type": "20", "timestamp": "2023-11-14T22:13:25Z", "content": "/roll", "author": {"id": "6", "name": "x"}}
  ],
  "messageCount": 8
}"#;

    fn export(text: &str, options: &Options) -> Log {
        assert!(recognise(text.as_bytes()));
        read("general.json", text.as_bytes(), options, &mut |_| ()).unwrap()
    }

    fn messages(log: &Log) -> Vec<&Message> {
        log.events
            .iter()
            .filter_map(|event| if let Input::Said(said) = &event.input { Some(said) } else { None })
            .collect()
    }

    #[test]
    fn talk_is_taken_and_the_platforms_own_words_are_not() {
        let log = export(EXPORT, &Options::default());
        let said = messages(&log);
        assert_eq!(said.iter().map(|message| message.id.as_str()).collect::<Vec<_>>(), ["101", "102", "106"]);
        assert_eq!(said[0].at.0, 1_700_000_000_000);
        assert_eq!((&*said[0].author.name, said[0].author.id.as_str(), &*said[0].text), ("花子", "4", "動きますか？"));
        assert_eq!(&*said[1].author.name, "bob");
        assert_eq!(said[1].at.0, 1_700_000_001_250);
        assert_eq!(said[1].reply.as_ref().unwrap().to, Some(MessageId::new("101")));
        assert_eq!(said[1].mentions, [PersonId::new("4"), PersonId::new("9")]);
        assert_eq!((said[2].author.voice, &*said[2].text, &said[2].reply), (Voice::Bot, "", &None));
        assert_eq!(said[0].place, Place::room("20"));
        assert_eq!(log.reactions, 4);
    }

    #[test]
    fn broken_messages_are_told_by_their_place_in_the_list() {
        let bad: Vec<String> = export(EXPORT, &Options::default()).bad.iter().map(ToString::to_string).collect();
        assert_eq!(bad.len(), 3, "{bad:?}");
        assert_eq!(bad[0], "general.json:4: `timestamp` must be seconds or RFC 3339, got \"soon\"");
        assert_eq!(bad[1], "general.json:5: `messages[4]` must be an object, got 7");
        assert!(bad[2].starts_with("general.json:6: invalid JSON: "), "{}", bad[2]);
    }

    #[test]
    fn the_bot_is_recognised_by_account_nickname_or_id() {
        for me in ["9", "aizuchi", "アイ"] {
            let log = export(EXPORT, &Options { me: vec![me.into()], ..Options::default() });
            let said = messages(&log);
            assert_eq!(said[2].author.voice, Voice::Me, "{me}");
            assert!(said[1].mentions_me);
            assert_eq!(said[1].mentions, [PersonId::new("4")]);
        }
    }

    #[test]
    fn a_thread_is_a_place_in_its_channel_and_a_direct_chat_is_direct() {
        let place_of = |kind: &str| {
            let text = EXPORT.replace("GuildTextChat", kind);
            let log = export(&text, &Options::default());
            let message = messages(&log)[0];
            (message.place.to_string(), message.visibility)
        };
        assert_eq!(place_of("GuildPublicThread"), ("10/20".into(), Visibility::Public));
        assert_eq!(place_of("GuildPrivateThread"), ("10/20".into(), Visibility::Private));
        assert_eq!(place_of("DirectTextChat"), ("20".into(), Visibility::Direct));
    }

    #[test]
    fn a_half_written_export_gives_what_it_has() {
        let cut = EXPORT.find("\"id\": \"103\"").unwrap();
        let log = export(&EXPORT[..cut], &Options::default());
        assert_eq!(messages(&log).len(), 2);
        assert_eq!(log.bad.last().unwrap().problem, "the export ends early here");
    }

    #[test]
    fn an_export_is_told_from_a_transcript() {
        let one_line = EXPORT.replace('\n', " ");
        let sorted =
            one_line.replacen("\"guild\": {\"id\": \"1\", \"name\": \"みんなの部屋\", \"iconUrl\": \"x\"},", "", 1);
        assert!(!sorted.contains("guild\": {") && recognise(sorted.as_bytes()) && recognise(one_line.as_bytes()));
        assert!(!recognise(
            br#"{"guild": {"id": 1}, "ts": 1, "channel": "c", "author": "a", "text": "\"messages\": ["}"#
        ));
        assert!(!recognise(b"{\n"));
        let nowhere = br#"{"channel": "c", "messages": []}"#;
        assert!(
            read("x", nowhere, &Options::default(), &mut |_| ())
                .unwrap_err()
                .to_string()
                .contains("must be an object, got \"c\"")
        );
    }
}
