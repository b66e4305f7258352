//! Events parsed from Slack's JSON. Only the channel and the time are required.

use aizuchi_core::types::Visibility;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::people::{SlackChannel, SlackPerson};
use super::read::{flag, id, list, owned, stamp, text};

/// A parsed event.
#[derive(Clone, Debug, PartialEq)]
pub enum ParsedEvent {
    Event(SlackEvent),
    /// A person joined or changed their name.
    Person(SlackPerson),
    /// A channel was renamed.
    Renamed(SlackChannel),
    /// Not relevant.
    Nothing,
}

/// An event in a channel. This is what the inbox stores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SlackEvent {
    Said(MessageEvent),
    Changed(ChangeEvent),
    Reacted(ReactionEvent),
    Joined {
        channel: String,
        user: String,
    },
    /// The bot is no longer in a channel.
    Left {
        channel: String,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MessageEvent {
    pub channel: String,
    /// If the event says who can read it.
    pub visibility: Option<Visibility>,
    pub ts: String,
    pub thread: Option<String>,
    /// The author of the parent message.
    pub parent: Option<String>,
    pub user: Option<String>,
    pub bot: Option<String>,
    /// A name that the message itself contains.
    pub named: Option<String>,
    /// In Slack's markup.
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChangeEvent {
    pub channel: String,
    pub ts: String,
    pub thread: Option<String>,
    pub at: String,
    /// `None` if it was deleted.
    pub text: Option<String>,
    /// Its authors, before and after.
    pub by: Vec<String>,
    /// When the text was edited; an unfurled link is not an edit.
    #[serde(default)]
    pub edited: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReactionEvent {
    pub channel: String,
    pub ts: String,
    pub user: String,
    pub name: String,
    pub at: String,
    pub on: bool,
}

/// Longer text is truncated. This is Slack's own limit.
const TEXT_CHARS_MAX: usize = 40_000;
/// Slack's own notices (joins, topics, pins) are not talk; these subtypes are.
const TALK: [&str; 5] = ["bot_message", "me_message", "file_share", "thread_broadcast", "slackbot_response"];

impl ParsedEvent {
    pub fn read(event: &Value) -> ParsedEvent {
        ParsedEvent::find(event).unwrap_or(ParsedEvent::Nothing)
    }

    fn find(event: &Value) -> Option<ParsedEvent> {
        Some(ParsedEvent::Event(match text(event, "type")? {
            "message" => match text(event, "subtype") {
                None => SlackEvent::Said(parse_message(event)?),
                Some(subtype) if TALK.contains(&subtype) => SlackEvent::Said(parse_message(event)?),
                Some("message_changed") => SlackEvent::Changed(parse_edit(event)?),
                Some("message_deleted") => SlackEvent::Changed(parse_deletion(event)?),
                Some(_) => return None,
            },
            "app_mention" => SlackEvent::Said(parse_message(event)?),
            "reaction_added" => SlackEvent::Reacted(parse_reaction(event, true)?),
            "reaction_removed" => SlackEvent::Reacted(parse_reaction(event, false)?),
            "user_change" | "team_join" => return Some(ParsedEvent::Person(SlackPerson::read(event.get("user")?)?)),
            "channel_rename" | "group_rename" => {
                return Some(ParsedEvent::Renamed(SlackChannel::read(event.get("channel")?)?));
            }
            "member_joined_channel" => {
                SlackEvent::Joined { channel: id(event, "channel")?.to_owned(), user: id(event, "user")?.to_owned() }
            }
            "channel_left" | "group_left" => SlackEvent::Left { channel: id(event, "channel")?.to_owned() },
            _ => return None,
        }))
    }
}

impl SlackEvent {
    /// The event in a channel, if it is one.
    pub fn read(event: &Value) -> Option<SlackEvent> {
        match ParsedEvent::read(event) {
            ParsedEvent::Event(event) => Some(event),
            ParsedEvent::Person(_) | ParsedEvent::Renamed(_) | ParsedEvent::Nothing => None,
        }
    }

    /// One text has one key, however often, on whichever way and under whatever names it arrives.
    pub fn key(&self) -> Option<String> {
        match self {
            SlackEvent::Said(saying) => Some(format!("{}/{}", saying.channel, saying.ts)),
            SlackEvent::Changed(ChangeEvent { channel, ts, text: None, .. }) => Some(format!("{channel}/{ts}/gone")),
            SlackEvent::Changed(ChangeEvent { channel, ts, edited, .. }) => {
                edited.as_ref().map(|at| format!("{channel}/{ts}/{at}"))
            }
            SlackEvent::Reacted(_) | SlackEvent::Joined { .. } | SlackEvent::Left { .. } => None,
        }
    }

    /// The thread of a message.
    pub fn thread(&self) -> Option<&str> {
        match self {
            SlackEvent::Said(saying) => saying.thread.as_deref(),
            SlackEvent::Changed(_) | SlackEvent::Reacted(_) | SlackEvent::Joined { .. } | SlackEvent::Left { .. } => {
                None
            }
        }
    }

    /// Whether one of these people did it, or wrote the message it is about.
    pub fn is_by(&self, users: &[&str]) -> bool {
        let is_one = |user: &String| users.contains(&user.as_str());
        match self {
            SlackEvent::Said(saying) => saying.user.iter().chain(&saying.bot).any(is_one),
            SlackEvent::Changed(changing) => changing.by.iter().any(is_one),
            SlackEvent::Reacted(reacting) => is_one(&reacting.user),
            SlackEvent::Joined { user, .. } => is_one(user),
            SlackEvent::Left { .. } => false,
        }
    }
}

/// The authors of these messages.
fn authors<'v>(messages: impl IntoIterator<Item = &'v Value>) -> Vec<String> {
    let of_one = |message: &'v Value| ["user", "bot_id"].into_iter().filter_map(|field| id(message, field));
    let mut authors: Vec<String> = messages.into_iter().flat_map(of_one).map(str::to_owned).collect();
    authors.dedup();
    authors
}

fn parse_message(event: &Value) -> Option<MessageEvent> {
    let ts = stamp(event, "ts")?.to_owned();
    let profile = event.get("user_profile").unwrap_or(&Value::Null);
    let bot = event.get("bot_profile").unwrap_or(&Value::Null);
    let named = [(profile, "display_name"), (profile, "real_name"), (event, "username"), (bot, "name")];
    Some(MessageEvent {
        channel: id(event, "channel")?.to_owned(),
        visibility: text(event, "channel_type").and_then(visibility),
        thread: thread(event, &ts),
        parent: id(event, "parent_user_id").map(str::to_owned),
        user: id(event, "user").map(str::to_owned),
        bot: id(event, "bot_id").map(str::to_owned),
        named: named.into_iter().find_map(|(from, field)| owned(from, field)),
        text: message_text(event),
        ts,
    })
}

fn visibility(kind: &str) -> Option<Visibility> {
    match kind {
        "channel" => Some(Visibility::Public),
        "group" => Some(Visibility::Private),
        "im" | "mpim" | "app_home" => Some(Visibility::Direct),
        _ => None,
    }
}

/// The thread it is in. The parent message of a thread is in the channel.
fn thread(message: &Value, ts: &str) -> Option<String> {
    stamp(message, "thread_ts").filter(|thread| *thread != ts).map(str::to_owned)
}

/// The text; for an app's card, its fallback; for a file alone, a description.
fn message_text(message: &Value) -> String {
    if let Some(text) = text(message, "text").filter(|text| !text.trim().is_empty()) {
        return truncate(text);
    }
    let cards = list(message, "attachments").iter().filter_map(|card| text(card, "text").or(text(card, "fallback")));
    let files = list(message, "files").iter().map(file_label);
    let marks: Vec<String> = cards.map(str::to_owned).chain(files).take(10).collect();
    truncate(&marks.join("\n"))
}

fn file_label(file: &Value) -> String {
    let kind = text(file, "mimetype").and_then(|kind| kind.split('/').next());
    let kind = match kind {
        Some("image") => "image",
        Some("video") => "video",
        Some("audio") => "audio",
        _ => "file",
    };
    match text(file, "name").or(text(file, "title")) {
        Some(name) => format!("[{kind}: {name}]"),
        None => format!("[{kind}]"),
    }
}

fn truncate(text: &str) -> String {
    text.char_indices().nth(TEXT_CHARS_MAX).map_or(text, |(end, _)| &text[..end]).to_owned()
}

fn parse_edit(event: &Value) -> Option<ChangeEvent> {
    let message = event.get("message")?;
    let before = event.get("previous_message").unwrap_or(&Value::Null);
    let ts = stamp(message, "ts")?.to_owned();
    // A deleted message that has replies leaves this behind.
    let gone = text(message, "subtype") == Some("tombstone") || flag(message, "hidden");
    // Slack also sends this when a link is unfurled or a thread gets a reply.
    if !gone && before.is_object() && message_text(before) == message_text(message) {
        return None;
    }
    Some(ChangeEvent {
        channel: id(event, "channel")?.to_owned(),
        thread: thread(message, &ts).or_else(|| thread(before, &ts)),
        at: at(event, &ts),
        text: (!gone).then(|| message_text(message)),
        by: authors([event, message, before]),
        edited: message.get("edited").and_then(|edited| stamp(edited, "ts")).map(str::to_owned),
        ts,
    })
}

fn parse_deletion(event: &Value) -> Option<ChangeEvent> {
    let before = event.get("previous_message").unwrap_or(&Value::Null);
    let ts = stamp(event, "deleted_ts").or(stamp(before, "ts"))?.to_owned();
    Some(ChangeEvent {
        channel: id(event, "channel")?.to_owned(),
        thread: thread(before, &ts),
        at: at(event, &ts),
        text: None,
        by: authors([event, before]),
        edited: None,
        ts,
    })
}

fn parse_reaction(event: &Value, on: bool) -> Option<ReactionEvent> {
    let item = event.get("item")?;
    let ts = stamp(item, "ts")?.to_owned();
    Some(ReactionEvent {
        channel: id(item, "channel")?.to_owned(),
        user: id(event, "user")?.to_owned(),
        name: text(event, "reaction").filter(|name| name.len() <= 100)?.to_owned(),
        at: at(event, &ts),
        on,
        ts,
    })
}

fn at(event: &Value, or: &str) -> String {
    stamp(event, "event_ts").or(stamp(event, "ts")).unwrap_or(or).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn said(event: Value) -> MessageEvent {
        match SlackEvent::read(&event) {
            Some(SlackEvent::Said(saying)) => saying,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn one_text_has_one_key() {
        let message = json!({"type": "message", "channel": "C1", "user": "U1", "ts": "1700000000.000100", "text": "x"});
        let mut mention = message.clone();
        mention["type"] = json!("app_mention");
        assert_eq!(said(message), said(mention));
    }

    #[test]
    fn an_edit_has_one_key_told_by_slack_or_found_in_the_history() {
        let message = json!({"ts": "1700000000.000100", "user": "U1", "text": "x",
                             "edited": {"user": "U1", "ts": "1700000009.000000"}});
        let event = |event_ts: &str| {
            SlackEvent::read(&json!({"type": "message", "subtype": "message_changed", "channel": "C1",
                                     "message": message, "event_ts": event_ts}))
        };
        let keys = ["1700000009.000300", "1700000099.000000"].map(|at| event(at).and_then(|event| event.key()));
        assert_eq!(keys, [Some("C1/1700000000.000100/1700000009.000000".to_owned()), keys[0].clone()]);
        let gone = json!({"type": "message", "subtype": "message_deleted", "channel": "C1", "deleted_ts": "1700000000.000100",
                          "event_ts": "1700000010.000000"});
        let gone = SlackEvent::read(&gone).and_then(|event| event.key());
        assert_eq!(gone.as_deref(), Some("C1/1700000000.000100/gone"));
    }

    #[test]
    fn an_odd_field_loses_the_field() {
        let odd = json!({"type": "message", "channel": "C1", "ts": "1700000000.000100", "user": 7, "bot_id": {},
                         "text": ["x"], "thread_ts": "soon", "channel_type": "moon", "files": 3, "user_profile": "?"});
        let expected = MessageEvent { channel: "C1".into(), ts: "1700000000.000100".into(), ..MessageEvent::default() };
        assert_eq!(said(odd), expected);
        for lost in [
            json!({"type": "message", "ts": "1700000000.000100"}),
            json!({"type": "message", "channel": "C1"}),
            json!(null),
            json!([]),
            json!({"type": 3}),
        ] {
            assert_eq!(ParsedEvent::read(&lost), ParsedEvent::Nothing);
        }
    }

    #[test]
    fn a_file_alone_is_a_mark() {
        let files = json!([{"name": "cat.png", "mimetype": "image/png"}, {"mimetype": 3}]);
        let message = json!({"type": "message", "subtype": "file_share", "channel": "C1", "ts": "1700000000.000100",
                             "text": "", "files": files});
        assert_eq!(said(message).text, "[image: cat.png]\n[file]");
    }

    #[test]
    fn a_picture_for_a_link_is_no_change() {
        let change = |text: &str, subtype: Option<&str>| {
            json!({"type": "message", "subtype": "message_changed", "channel": "C1", "event_ts": "1700000009.000000",
                   "message": {"ts": "1700000000.000100", "text": text, "subtype": subtype},
                   "previous_message": {"ts": "1700000000.000100", "text": "x"}})
        };
        assert_eq!(ParsedEvent::read(&change("x", None)), ParsedEvent::Nothing);
        let Some(SlackEvent::Changed(edit)) = SlackEvent::read(&change("y", None)) else { panic!("an edit") };
        assert_eq!((edit.text.as_deref(), edit.at.as_str()), (Some("y"), "1700000009.000000"));
        let Some(SlackEvent::Changed(gone)) = SlackEvent::read(&change("x", Some("tombstone"))) else {
            panic!("a deletion")
        };
        assert_eq!(gone.text, None);
    }
}
