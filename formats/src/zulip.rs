//! A Zulip export, as a folder or a zip: `realm.json` with streams and people, and `messages-000001.json` and so on. A stream
//! is a channel, and a topic of it a thread.

use std::collections::HashMap;

use aizuchi_core::Input;
use aizuchi_core::types::{Author, Message, MessageId, PersonId, Place, RoomId, ThreadId, Time, Visibility, Voice};
use serde::Deserialize;
use serde_json::Value;

use super::archive::Archive;
use super::error::ReadError;
use super::log::{Event, Format, Log, Options};

const REALM: &str = "realm.json";

#[derive(Default, Deserialize)]
#[serde(default)]
struct Realm {
    zerver_stream: Vec<Stream>,
    zerver_recipient: Vec<Recipient>,
    zerver_userprofile: Vec<User>,
    /// Zulip's own bots.
    zerver_userprofile_crossrealm: Vec<User>,
}

#[derive(Deserialize)]
struct Stream {
    id: u64,
    #[serde(default)]
    invite_only: bool,
}

#[derive(Deserialize)]
struct Recipient {
    id: u64,
    #[serde(rename = "type")]
    kind: u8,
    type_id: u64,
}

/// The type of a recipient that is a stream; others are people.
const STREAM: u8 = 2;

#[derive(Deserialize)]
struct User {
    id: u64,
    #[serde(default)]
    full_name: String,
    #[serde(default)]
    is_bot: bool,
}

#[derive(Deserialize)]
struct ZulipPost {
    id: u64,
    sender: u64,
    recipient: u64,
    #[serde(default)]
    subject: String,
    content: String,
    date_sent: f64,
}

/// The folder of the export in the archive, if there is one: empty, or with a trailing `/`.
pub fn root(files: &[String]) -> Option<String> {
    let roots = files.iter().filter_map(|file| file.strip_suffix(REALM));
    let has_messages = |root: &&str| files.iter().any(|file| is_messages(file, root));
    roots.filter(|root| root.is_empty() || root.ends_with('/')).find(has_messages).map(str::to_owned)
}

fn is_messages(file: &str, root: &str) -> bool {
    let number = file.strip_prefix(root).and_then(|name| name.strip_prefix("messages-")?.strip_suffix(".json"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|letter| letter.is_ascii_digit()))
}

pub fn read(
    archive: &mut Archive<'_>,
    root: &str,
    options: &Options,
    progress: &mut dyn FnMut(u64),
) -> Result<Log, ReadError> {
    let mut log = Log::empty(Format::Zulip);
    let name = format!("{root}{REALM}");
    let realm: Realm = serde_json::from_slice(&archive.read(&name)?)
        .map_err(|error| ReadError::Unrecognized(format!("{name} cannot be read: {error}")))?;
    let names = Names::of(realm);
    let files: Vec<String> = archive.files.iter().filter(|file| is_messages(file, root)).cloned().collect();
    for file in files {
        let json = archive.read(&file)?;
        progress(archive.unpacked);
        let list = match serde_json::from_slice::<Value>(&json) {
            Ok(mut whole) => whole["zerver_message"].take(),
            Err(error) => {
                log.note(options, &file, error.line() as u64, format!("invalid JSON: {error}"))?;
                continue;
            }
        };
        let Value::Array(list) = list else {
            log.note(options, &file, 1, "no list `zerver_message`".to_owned())?;
            continue;
        };
        for (number, post) in (1..).zip(list) {
            match serde_json::from_value(post).map_err(|error| error.to_string()).and_then(|post| names.message(post)) {
                Ok(message) => log.events.push(Event { line: number, at: message.at, input: Input::Said(message) }),
                Err(problem) => log.note(options, &file, number, problem)?,
            }
        }
    }
    log.events.sort_by_key(|event| event.at);
    Ok(log)
}

/// Names by the numbers that messages refer to.
struct Names {
    people: HashMap<u64, User>,
    by_name: HashMap<String, u64>,
    recipients: HashMap<u64, Recipient>,
    private: HashMap<u64, bool>,
}

impl Names {
    fn of(realm: Realm) -> Names {
        let users = realm.zerver_userprofile.into_iter().chain(realm.zerver_userprofile_crossrealm);
        let people: HashMap<u64, User> = users.map(|user| (user.id, user)).collect();
        Names {
            by_name: people.values().map(|user| (user.full_name.clone(), user.id)).collect(),
            people,
            recipients: realm.zerver_recipient.into_iter().map(|one| (one.id, one)).collect(),
            private: realm.zerver_stream.into_iter().map(|stream| (stream.id, stream.invite_only)).collect(),
        }
    }

    fn message(&self, post: ZulipPost) -> Result<Message, String> {
        let unknown = || format!("no recipient {} in {REALM}", post.recipient);
        let recipient = self.recipients.get(&post.recipient).ok_or_else(unknown)?;
        let (place, visibility) = if recipient.kind == STREAM {
            let thread = Some(post.subject).filter(|topic| !topic.is_empty()).map(ThreadId::new);
            let private = self.private.get(&recipient.type_id).copied().unwrap_or(false);
            let visibility = if private { Visibility::Private } else { Visibility::Public };
            (Place { room: RoomId::new(recipient.type_id.to_string()), thread }, visibility)
        } else {
            (Place::room(format!("direct-{}", recipient.id)), Visibility::Direct)
        };
        let user = self.people.get(&post.sender);
        let name = user.map_or_else(|| post.sender.to_string(), |user| user.full_name.clone());
        let voice = if user.is_some_and(|user| user.is_bot) { Voice::Bot } else { Voice::Person };
        let (text, mentions) = self.plain(&post.content);
        Ok(Message {
            id: MessageId::new(post.id.to_string()),
            place,
            at: Time((post.date_sent * 1000.0).max(0.0) as u64),
            author: Author { id: PersonId::new(post.sender.to_string()), name: name.into(), voice },
            text: text.into(),
            reply: None,
            mentions,
            mentions_me: false,
            visibility,
            backfilled: false,
            heard: None,
        })
    }

    /// `@**Name**`, `@_**Name**` and `@**Name|7**` are shown as `@Name`; and who is mentioned.
    fn plain(&self, content: &str) -> (String, Vec<PersonId>) {
        let (mut text, mut mentions, mut rest) = (String::new(), Vec::new(), content);
        while let Some(at) = rest.find('@') {
            text.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            let marked = rest.strip_prefix("_**").or(rest.strip_prefix("**"));
            let Some((name, after)) = marked.and_then(|marked| marked.split_once("**")) else { continue };
            let (name, id) = name.split_once('|').map_or((name, None), |(name, id)| (name, id.parse().ok()));
            let known = id.or_else(|| self.by_name.get(name).copied());
            mentions.extend(known.map(|id| PersonId::new(id.to_string())));
            text.push_str(name);
            rest = after;
        }
        text.push_str(rest);
        (text, mentions)
    }
}

#[cfg(test)]
mod tests {
    use super::super::archive::testing::Scratch;
    use super::super::labelled::read_labelled_log;
    use super::super::open::read;
    use super::*;

    const REALM: &str = r#"{"zerver_stream": [{"id": 4, "name": "general"}, {"id": 5, "name": "staff", "invite_only": true}],
        "zerver_recipient": [{"id": 30, "type": 2, "type_id": 4}, {"id": 31, "type": 1, "type_id": 8}, {"id": 32, "type": 2, "type_id": 5}],
        "zerver_userprofile": [{"id": 8, "full_name": "Ann Lee", "is_bot": false}, {"id": 9, "full_name": "Bob", "is_bot": true}]}"#;
    const MESSAGES: &str = r#"{"zerver_message": [
        {"id": 2, "sender": 9, "recipient": 30, "subject": "lunch", "content": "@**Ann Lee** yes @_**Ann Lee|8**", "date_sent": 1700000060.5},
        {"id": 1, "sender": 8, "recipient": 30, "subject": "lunch", "content": "who? a@b", "date_sent": 1700000000.0},
        {"id": 3, "sender": 8, "recipient": 31, "subject": "", "content": "psst", "date_sent": 1700000061.0},
        {"id": 4, "sender": 8, "recipient": 32, "subject": "pay", "content": "more", "date_sent": 1700000062.0},
        {"id": 5, "sender": 8, "recipient": 99, "subject": "", "content": "lost", "date_sent": 1700000063.0},
        {"id": 6}]}"#;

    #[test]
    fn a_stream_is_a_channel_and_a_topic_is_a_thread_and_a_label() {
        let files = [
            ("zulip/realm.json", REALM),
            ("zulip/messages-000001.json", MESSAGES),
            ("zulip/migration_status.json", "{}"),
        ];
        let scratch = Scratch::new("zulip", &files);
        let log = read(scratch.path(), &Options::default(), &mut |_| ()).unwrap();
        assert_eq!(log.format, Format::Zulip);
        let said: Vec<&Message> = log
            .events
            .iter()
            .filter_map(|event| if let Input::Said(said) = &event.input { Some(said) } else { None })
            .collect();
        let places: Vec<(String, Visibility)> =
            said.iter().map(|one| (one.place.to_string(), one.visibility)).collect();
        let lunch = || ("4/lunch".to_owned(), Visibility::Public);
        let others = [("direct-31".to_owned(), Visibility::Direct), ("5/pay".to_owned(), Visibility::Private)];
        assert_eq!(places, [vec![lunch(), lunch()], others.to_vec()].concat());
        assert_eq!((said[0].at.0, &*said[0].author.name, &*said[0].text), (1_700_000_000_000, "Ann Lee", "who? a@b"));
        assert_eq!(
            (said[1].at.0, said[1].author.voice, &*said[1].text),
            (1_700_000_060_500, Voice::Bot, "@Ann Lee yes @Ann Lee")
        );
        assert_eq!(said[1].mentions, [PersonId::new("8"), PersonId::new("8")]);
        let bad: Vec<String> = log.bad.iter().map(ToString::to_string).collect();
        assert_eq!(bad[0], "zulip/messages-000001.json:5: no recipient 99 in realm.json");
        assert!(bad[1].starts_with("zulip/messages-000001.json:6: missing field"), "{bad:?}");
        let labelled = read_labelled_log(scratch.path(), &Options::default()).unwrap();
        let topics: Vec<Option<&str>> = labelled.messages.iter().map(|one| one.conversation.as_deref()).collect();
        assert_eq!(topics, [Some("lunch"), Some("lunch"), None, Some("pay")]);
    }
}
