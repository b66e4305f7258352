//! Which journal marks and messages of the web room belong to.
//!
//! A mark is a position in one journal, and `w3` is a message of one store; several stores may share this memory. So marks are
//! kept for each journal, and what is stored calls a message of the web room `w3@JOURNAL`. A reader knows its own messages by the ids
//! that it gave them, and no id of another store's messages is like one of its own. Ids of Discord and Slack are the same for everybody.

use std::borrow::Cow;

use crate::ports::JournalId;

/// The journal on whose behalf documents are read and written.
#[derive(Clone, Debug)]
pub struct MessageScope {
    journal: Option<JournalId>,
    /// What follows the ids of its messages.
    suffix: String,
}

impl MessageScope {
    pub fn of(journal: JournalId) -> MessageScope {
        let suffix = format!("@{}", journal.0);
        MessageScope { journal: Some(journal), suffix }
    }

    /// Of all journals: everything is called as it is stored.
    pub fn all() -> MessageScope {
        MessageScope { journal: None, suffix: String::new() }
    }

    /// `None` for all.
    pub fn journal(&self) -> Option<&JournalId> {
        self.journal.as_ref()
    }

    /// What a message is called where it is stored.
    pub fn stored_id<'a>(&self, id: &'a str) -> Cow<'a, str> {
        match is_of_web_room(id) {
            true => Cow::Owned(format!("{id}{}", self.suffix)),
            false => Cow::Borrowed(id),
        }
    }

    fn own_id<'a>(&self, id: &'a str) -> Cow<'a, str> {
        Cow::Borrowed(id.strip_suffix(&self.suffix).filter(|own| is_of_web_room(own)).unwrap_or(id))
    }

    /// An item as it is stored.
    pub fn to_stored<'a>(&self, json: &'a str) -> Cow<'a, str> {
        match self.journal.is_none() || !json.contains("\"w") {
            true => Cow::Borrowed(json),
            false => Cow::Owned(map_messages(json, |id| self.stored_id(id))),
        }
    }

    /// A stored item as this journal has it.
    pub fn to_own<'a>(&self, json: &'a str) -> Cow<'a, str> {
        match self.journal.is_none() || !json.contains(&self.suffix) {
            true => Cow::Borrowed(json),
            false => Cow::Owned(map_messages(json, |id| self.own_id(id))),
        }
    }
}

/// The web room counts its messages; other platforms have numbers without a letter.
fn is_of_web_room(id: &str) -> bool {
    id.strip_prefix('w').is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Changes the ids of messages, which items have in `message` and `messages`, and not a letter of anything else: what is copied
/// between stores is compared as text.
fn map_messages<'a>(json: &'a str, map: impl Fn(&'a str) -> Cow<'a, str>) -> String {
    let (mut mapped, mut rest, mut are_messages) = (String::with_capacity(json.len()), json, false);
    while let Some(start) = rest.find('"') {
        let (before, string) = rest.split_at(start + 1);
        let end = end_of_string(string);
        let (text, after) = string.split_at(end);
        mapped.push_str(before);
        if after[1..].trim_start().starts_with(':') {
            are_messages = matches!(text, "message" | "messages");
            mapped.push_str(text);
        } else if are_messages {
            mapped.push_str(&map(text));
        } else {
            mapped.push_str(text);
        }
        mapped.push('"');
        rest = &after[1..];
    }
    mapped + rest
}

/// Where the closing quotation mark is.
fn end_of_string(string: &str) -> usize {
    let mut escaped = false;
    let closes = move |byte: u8| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    };
    string.bytes().position(closes).expect("what is stored is JSON")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_the_web_room_and_nothing_else_get_the_name_of_their_journal() {
        let scope = MessageScope::of(JournalId("ab12".into()));
        let json = r#"{"content":"w3 \"w4\"","keywords":["w3"],"messages":["w3","170.5","w7@cd34"],"context":[{"message":"w2","text":"w1"}],"messages_":"w9","x":0.10000000000000001}"#;
        let stored = r#"{"content":"w3 \"w4\"","keywords":["w3"],"messages":["w3@ab12","170.5","w7@cd34"],"context":[{"message":"w2@ab12","text":"w1"}],"messages_":"w9","x":0.10000000000000001}"#;
        assert_eq!(scope.to_stored(json), stored);
        assert_eq!(scope.to_own(stored), json);
        assert_eq!(MessageScope::of(JournalId("cd34".into())).to_own(stored), stored.replace("w7@cd34", "w7"));
        assert_eq!(MessageScope::all().to_own(stored), stored);
        assert_eq!(MessageScope::all().to_stored(stored), stored);
        for global in ["1234567890123", "170.5", "wx", "w", "W3", "m1"] {
            assert_eq!(scope.stored_id(global), global);
        }
    }
}
