//! Labels from a platform's own features: which message a message answers, and in which thread it is. A thread is a
//! conversation, with its parent message as the first; a reply answers what it refers to. A message without either has no
//! label: it may belong anywhere.

use std::collections::{HashMap, HashSet};

use aizuchi_core::Input;
use aizuchi_core::types::{Message, MessageId, PersonId, Reply, RoomId};

use super::LabelledMessage;
use crate::log::Event;

/// Removes the labels from the events, which are flattened into their channels.
pub(super) fn take_labels(events: &mut [Event]) -> Vec<LabelledMessage> {
    let threads: HashSet<(RoomId, String)> = messages(events)
        .filter_map(|message| Some((message.place.room.clone(), message.place.thread.as_ref()?.to_string())))
        .collect();
    let mut authors: HashMap<(RoomId, MessageId), (PersonId, Box<str>)> = HashMap::new();
    let mut labelled = Vec::new();
    for event in events {
        if let Input::Changed(change) = &mut event.input {
            change.place.thread = None;
        }
        if let Input::Reacted(reaction) = &mut event.input {
            reaction.place.thread = None;
        }
        let Input::Said(message) = &mut event.input else { continue };
        let (room, id) = (message.place.room.clone(), message.id.clone());
        let thread = message.place.thread.take().map(|thread| thread.to_string());
        let opens = || Some(id.to_string()).filter(|id| threads.contains(&(room.clone(), id.clone())));
        let conversation = thread.or_else(opens);
        let replies_to = take_reply(message, |to| authors.get(&(room.clone(), to.clone())));
        authors.insert((room, id), (message.author.id.clone(), message.author.name.clone()));
        labelled.push(LabelledMessage { message: message.clone(), replies_to, conversation });
    }
    labelled
}

fn messages(events: &[Event]) -> impl Iterator<Item = &Message> {
    events.iter().filter_map(|event| if let Input::Said(message) = &event.input { Some(message) } else { None })
}

/// What a message answers, if that was said before. A platform may also mention the person it answers: that mention is
/// removed too, unless somebody wrote it.
fn take_reply<'a>(
    message: &mut Message,
    author_of: impl Fn(&MessageId) -> Option<&'a (PersonId, Box<str>)>,
) -> Option<Vec<MessageId>> {
    let Reply { to: Some(to), to_me, .. } = message.reply.take_if(|reply| reply.to.is_some())? else { return None };
    let (author, name) = author_of(&to)?;
    let written =
        |name: &str| message.text.contains(&format!("@{name}")) || message.text.contains(&format!("@{author}"));
    if !written(name) {
        message.mentions.retain(|person| person != author);
        message.mentions_me &= !to_me;
    }
    Some(vec![to])
}

#[cfg(test)]
mod tests {
    use super::super::{LabelledLog, read_labelled_log};
    use crate::archive::testing::Scratch;
    use crate::log::Options;
    use aizuchi_core::Input;

    fn labels(log: &LabelledLog) -> Vec<(String, Option<String>, Option<String>)> {
        let one = |labelled: &super::LabelledMessage| {
            let to = labelled.replies_to.as_ref().map(|ids| ids[0].to_string());
            (labelled.message.text.to_string(), to, labelled.conversation.clone())
        };
        log.messages.iter().map(one).collect()
    }

    fn row(text: &str, to: Option<&str>, conversation: Option<&str>) -> (String, Option<String>, Option<String>) {
        (text.to_owned(), to.map(str::to_owned), conversation.map(str::to_owned))
    }

    /// Nothing that is the truth is left in what the engine is shown.
    fn nothing_shows(log: &LabelledLog) {
        for event in &log.events {
            let Input::Said(message) = &event.input else { continue };
            assert!(message.place.thread.is_none() && message.reply.is_none(), "{message:?}");
        }
        assert_eq!(log.events.len(), log.messages.len());
    }

    #[test]
    fn a_slack_thread_is_a_conversation_with_its_first_message() {
        let day = r#"[{"user": "U1", "text": "who?", "ts": "1.0", "thread_ts": "1.0", "reply_count": 2},
            {"user": "U2", "text": "else", "ts": "2.0"},
            {"user": "U2", "text": "me", "ts": "3.0", "thread_ts": "1.0"},
            {"user": "U1", "text": "good", "ts": "4.0", "thread_ts": "1.0"}]"#;
        let scratch = Scratch::new("labelled-slack", &[("general/2023-11-14.json", day)]);
        let log = read_labelled_log(scratch.path(), &Options::default()).unwrap();
        let thread = Some("1.0");
        let expected =
            [row("who?", None, thread), row("else", None, None), row("me", None, thread), row("good", None, thread)];
        assert_eq!(labels(&log), expected);
        nothing_shows(&log);
    }

    #[test]
    fn a_discord_reply_is_a_label_and_its_mention_is_no_hint() {
        let export = r#"{"guild": {"id": "1"}, "channel": {"id": "20", "type": "GuildTextChat"}, "messages": [
{"id": "1", "type": "Default", "timestamp": "2024-01-01T00:00:00Z", "content": "who?", "author": {"id": "4", "name": "ann"}},
{"id": "2", "type": "Reply", "timestamp": "2024-01-01T00:00:01Z", "content": "me", "author": {"id": "5", "name": "bob"},
 "mentions": [{"id": "4", "name": "ann"}], "reference": {"messageId": "1"}},
{"id": "3", "type": "Reply", "timestamp": "2024-01-01T00:00:02Z", "content": "@ann no", "author": {"id": "6", "name": "cem"},
 "mentions": [{"id": "4", "name": "ann"}], "reference": {"messageId": "1"}},
{"id": "4", "type": "Reply", "timestamp": "2024-01-01T00:00:03Z", "content": "what?", "author": {"id": "6", "name": "cem"},
 "reference": {"messageId": "0"}}]}"#;
        let scratch = Scratch::new("labelled-discord", &[("general.json", export)]);
        let path = format!("{}/general.json", scratch.path());
        let log = read_labelled_log(&path, &Options::default()).unwrap();
        let expected = [
            row("who?", None, None),
            row("me", Some("1"), None),
            row("@ann no", Some("1"), None),
            row("what?", None, None),
        ];
        assert_eq!(labels(&log), expected);
        let mentions: Vec<usize> = log.messages.iter().map(|one| one.message.mentions.len()).collect();
        assert_eq!(mentions, [0, 0, 1, 0]);
        nothing_shows(&log);
        let as_ann = read_labelled_log(&path, &Options { me: vec!["ann".into()], ..Options::default() }).unwrap();
        let to_me: Vec<bool> = as_ann.messages.iter().map(|one| one.message.mentions_me).collect();
        assert_eq!(to_me, [false, false, true, false]);
    }

    #[test]
    fn a_transcript_keeps_its_own_labels_and_what_it_shows() {
        let line = |id: u64, more: &str| {
            format!(
                r#"{{"ts": {id}, "channel": "c", "id": "{id}", "author": "a{id}", "text": "t{id}", "reply_to": "1"{more}}}"#
            )
        };
        let gold = format!("{}\n{}\n", line(1, ""), line(2, r#", "gold_reply_to": ["2"], "thread": "x""#));
        let plain = format!("{}\n{}\n", line(1, ""), line(2, ""));
        let scratch = Scratch::new("labelled-lines", &[("gold.jsonl", &gold), ("plain.jsonl", &plain)]);
        let read = |name: &str| read_labelled_log(&format!("{}/{name}", scratch.path()), &Options::default()).unwrap();
        let own = read("gold.jsonl");
        assert_eq!(labels(&own), [row("t1", None, None), row("t2", Some("2"), None)]);
        assert!(own.messages[1].message.reply.is_some());
        let of_platform = read("plain.jsonl");
        assert_eq!(labels(&of_platform), [row("t1", None, None), row("t2", Some("1"), None)]);
        nothing_shows(&of_platform);
    }
}
