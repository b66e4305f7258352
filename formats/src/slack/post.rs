//! One message of a Slack export.

use aizuchi_core::types::{Author, Message, MessageId, PersonId, Place, RoomId, ThreadId, Visibility, Voice};
use serde::Deserialize;

use super::people::{People, Profile};
use crate::json::{Field, value};
use crate::log::Options;
use crate::slack_markup::{NameLookup, plain};
use crate::when;

#[derive(Default, Deserialize)]
#[serde(default)]
struct RawPost<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    subtype: Field<'a>,
    #[serde(borrow)]
    user: Field<'a>,
    #[serde(borrow)]
    bot_id: Field<'a>,
    #[serde(borrow)]
    username: Field<'a>,
    #[serde(borrow)]
    user_profile: Field<'a, Profile<'a>>,
    #[serde(borrow)]
    text: Field<'a>,
    #[serde(borrow)]
    ts: Field<'a>,
    #[serde(borrow)]
    thread_ts: Field<'a>,
    #[serde(borrow)]
    reactions: Field<'a, SlackReaction<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SlackReaction<'a> {
    #[serde(borrow)]
    count: Field<'a>,
}

/// The context of a message in an export.
pub struct PostContext<'e> {
    pub room: RoomId,
    pub visibility: Visibility,
    pub people: &'e People,
    pub options: &'e Options,
}

pub struct SlackPost {
    pub message: Message,
    pub reactions: u64,
}

/// Slack's own notices (joins, topics, pins) are not talk; these subtypes are.
fn is_talk(kind: Option<&str>, subtype: Option<&str>) -> bool {
    let talk = ["bot_message", "me_message", "file_share", "thread_broadcast", "slackbot_response"];
    kind.is_none_or(|kind| kind == "message") && subtype.is_none_or(|subtype| talk.contains(&subtype))
}

/// `None` for messages of Slack itself.
pub fn post(json: &[u8], setting: &PostContext<'_>) -> Result<Option<SlackPost>, String> {
    let raw: RawPost<'_> = value(json)?.object("message")?;
    let subtype = raw.subtype.clone().text("subtype")?;
    if !is_talk(raw.kind.clone().text("type")?.as_deref(), subtype.as_deref()) {
        return Ok(None);
    }
    let at = when::from_field("ts", &raw.ts)?;
    let id = raw.ts.clone().needed("ts")?;
    let thread = raw.thread_ts.clone().text("thread_ts")?.filter(|thread| *thread != id).map(ThreadId::new);
    let author = author(&raw, setting)?;
    let person = |id: &str| setting.people.get(id).map(|person| person.name.clone());
    let known = NameLookup { person: &person, channel: &|_| None };
    let (text, mentioned) = plain(&raw.text.words("text")?.unwrap_or_default(), &known);
    let is_me = |id: &String| setting.people.get(id).is_some_and(|person| person.is_me) || setting.options.is_me(id);
    let (mine, others): (Vec<String>, Vec<String>) = mentioned.into_iter().partition(is_me);
    let message = Message {
        id: MessageId::new(id),
        place: Place { room: setting.room.clone(), thread },
        at,
        author,
        text: text.into(),
        reply: None,
        mentions: others.iter().map(PersonId::new).collect(),
        mentions_me: !mine.is_empty(),
        visibility: setting.visibility,
        backfilled: false,
        heard: None,
    };
    let reactions = raw.reactions.list("reactions")?.iter().map(count).fold(0, u64::saturating_add);
    Ok(Some(SlackPost { message, reactions }))
}

/// An app may post without a user, under a name of its own.
fn author(raw: &RawPost<'_>, setting: &PostContext<'_>) -> Result<Author, String> {
    let user = raw.user.clone().text("user")?;
    let bot = raw.bot_id.clone().text("bot_id")?;
    let username = raw.username.clone().text("username")?;
    let person = user.as_ref().and_then(|user| setting.people.get(user));
    let profile = if let Field::Object(profile) = raw.user_profile.clone() { profile } else { Profile::default() };
    let id = user.as_ref().or(bot.as_ref()).or(username.as_ref()).ok_or("no `user`")?;
    let name = match person {
        Some(person) => person.name.clone(),
        None => [
            profile.display_name.text("user_profile.display_name")?,
            profile.real_name.text("user_profile.real_name")?,
            profile.name.text("user_profile.name")?,
            username.clone(),
        ]
        .into_iter()
        .flatten()
        .next()
        .unwrap_or_else(|| id.clone())
        .into_owned(),
    };
    let is_me = person.is_some_and(|person| person.is_me)
        || [&user, &bot, &username].into_iter().flatten().any(|name| setting.options.is_me(name));
    let is_bot = person.is_some_and(|person| person.is_bot) || bot.is_some() || user.as_deref().is_none_or(is_slackbot);
    let voice = if is_me {
        Voice::Me
    } else if is_bot {
        Voice::Bot
    } else {
        Voice::Person
    };
    Ok(Author { id: PersonId::new(id), name: name.into(), voice })
}

fn is_slackbot(user: &str) -> bool {
    user == "USLACKBOT"
}

fn count(reaction: &Field<'_, SlackReaction<'_>>) -> u64 {
    let Field::Object(SlackReaction { count: Field::Number(count) }) = reaction else { return 1 };
    count.as_u64().unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_as(json: &str, options: &Options) -> Result<Option<SlackPost>, String> {
        let mut people = People::default();
        let users = r#"[{"id": "U1", "name": "花子"}, {"id": "U9", "name": "aizuchi", "is_bot": true}]"#;
        people.add(users.as_bytes(), options, &mut Vec::new());
        let setting =
            PostContext { room: RoomId::new("C1"), visibility: Visibility::Private, people: &people, options };
        post(json.as_bytes(), &setting)
    }

    fn message(json: &str) -> Message {
        read_as(json, &Options::default()).unwrap().unwrap().message
    }

    #[test]
    fn a_plain_message() {
        let said = message(
            r#"{"type": "message", "user": "U1", "text": "<@U9> 元気？", "ts": "1700000000.500100", "edited": {"ts": "1"}}"#,
        );
        assert_eq!((said.id.as_str(), said.at.0), ("1700000000.500100", 1_700_000_000_500));
        assert_eq!((&*said.author.name, said.author.id.as_str(), said.author.voice), ("花子", "U1", Voice::Person));
        assert_eq!((&*said.text, said.mentions), ("@aizuchi 元気？", vec![PersonId::new("U9")]));
        assert_eq!((said.place, said.visibility), (Place::room("C1"), Visibility::Private));
    }

    #[test]
    fn an_answer_in_a_thread_lies_in_it_and_its_parent_does_not() {
        let parent = message(r#"{"user": "U1", "text": "", "ts": "1700000000.0001", "thread_ts": "1700000000.0001"}"#);
        assert_eq!(parent.place.thread, None);
        let answer = message(r#"{"user": "U1", "text": "", "ts": "1700000001.0001", "thread_ts": "1700000000.0001"}"#);
        assert_eq!(answer.place.thread, Some(ThreadId::new("1700000000.0001")));
    }

    #[test]
    fn apps_are_bots_and_slack_itself_is_not_heard() {
        let posted =
            message(r#"{"subtype": "bot_message", "bot_id": "B1", "username": "天気", "text": "晴れ", "ts": "1"}"#);
        assert_eq!((posted.author.id.as_str(), &*posted.author.name, posted.author.voice), ("B1", "天気", Voice::Bot));
        assert_eq!(message(r#"{"user": "U1", "bot_id": "B1", "text": "", "ts": "1"}"#).author.voice, Voice::Bot);
        assert_eq!(message(r#"{"user": "U9", "text": "", "ts": "1"}"#).author.voice, Voice::Bot);
        for notice in ["channel_join", "channel_topic", "pinned_item", "bot_add", "tombstone", "something_new"] {
            let json = format!(r#"{{"type": "message", "subtype": "{notice}", "user": "U1", "text": "", "ts": "1"}}"#);
            assert!(read_as(&json, &Options::default()).unwrap().is_none(), "{notice}");
        }
        assert!(read_as(r#"{"type": "event", "ts": "1"}"#, &Options::default()).unwrap().is_none());
        for talk in ["thread_broadcast", "me_message", "file_share"] {
            assert_eq!(
                message(&format!(r#"{{"subtype": "{talk}", "user": "U1", "ts": "1"}}"#)).author.voice,
                Voice::Person
            );
        }
    }

    #[test]
    fn a_stranger_is_named_by_the_message() {
        let json =
            r#"{"user": "U5", "ts": "1", "user_profile": {"display_name": "", "real_name": "Eve", "name": "e"}}"#;
        assert_eq!(&*message(json).author.name, "Eve");
        assert_eq!(&*message(r#"{"user": "U5", "ts": "1", "user_profile": 3}"#).author.name, "U5");
        let nobody = read_as(r#"{"ts": "1", "text": "x"}"#, &Options::default());
        assert_eq!(nobody.map(|_| ()), Err("no `user`".into()));
    }

    #[test]
    fn the_bot_is_recognised_by_name() {
        let options = Options { me: vec!["aizuchi".into()], ..Options::default() };
        let own = read_as(r#"{"user": "U9", "text": "<@U1>", "ts": "1"}"#, &options).unwrap().unwrap();
        assert_eq!(own.message.author.voice, Voice::Me);
        let json = r#"{"user": "U1", "text": "<@U9> <@U1>", "ts": "1", "reactions": [{"count": 2}, {"name": "x"}]}"#;
        let called = read_as(json, &options).unwrap().unwrap();
        assert!(called.message.mentions_me);
        assert_eq!(called.message.mentions, [PersonId::new("U1")]);
        assert_eq!(called.reactions, 3);
    }
}
