//! People and channels parsed from Slack's JSON: their names and permissions.

use aizuchi_core::types::Visibility;
use serde_json::Value;

use super::read::{flag, id, owned, text};
use crate::language::Language;

const NAME_CHARS_MAX: usize = 80;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SlackPerson {
    pub id: String,
    /// The name people see.
    pub name: String,
    pub is_bot: bool,
    /// An administrator or owner of the workspace.
    pub manages: bool,
    /// The language in which they use Slack, if Slack sent it.
    pub language: Option<Language>,
}

impl SlackPerson {
    pub fn read(user: &Value) -> Option<SlackPerson> {
        let id = id(user, "id")?.to_owned();
        let profile = user.get("profile").unwrap_or(&Value::Null);
        let names = [(profile, "display_name"), (user, "real_name"), (profile, "real_name"), (user, "name")];
        let name = names.into_iter().find_map(|(from, field)| owned(from, field));
        Some(SlackPerson {
            name: presentable(name.as_deref().unwrap_or(&id)),
            is_bot: flag(user, "is_bot") || id == "USLACKBOT",
            manages: ["is_admin", "is_owner", "is_primary_owner"].iter().any(|field| flag(user, field)),
            language: text(user, "locale").map(|locale| Language::from_tag(locale).unwrap_or_default()),
            id,
        })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct SlackChannel {
    pub id: String,
    pub name: Option<String>,
    pub visibility: Option<Visibility>,
}

impl SlackChannel {
    pub fn read(channel: &Value) -> Option<SlackChannel> {
        let id = id(channel, "id")?.to_owned();
        let visibility = if flag(channel, "is_im") || flag(channel, "is_mpim") {
            Some(Visibility::Direct)
        } else if flag(channel, "is_private") || flag(channel, "is_group") {
            Some(Visibility::Private)
        } else {
            flag(channel, "is_channel").then_some(Visibility::Public)
        };
        Some(SlackChannel { id, name: text(channel, "name").map(presentable), visibility })
    }
}

/// On one line and of limited length, since it is inserted into other people's text.
pub fn presentable(name: &str) -> String {
    let plain = |c: char| if c.is_control() || c == '\u{2028}' || c == '\u{2029}' { ' ' } else { c };
    name.chars().map(plain).take(NAME_CHARS_MAX).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn people_go_by_the_name_others_see() {
        let name = |user: Value| SlackPerson::read(&user).unwrap().name;
        assert_eq!(
            name(json!({"id": "U1", "name": "h", "real_name": "山田", "profile": {"display_name": "花子"}})),
            "花子"
        );
        assert_eq!(name(json!({"id": "U1", "name": "h", "profile": {"display_name": "", "real_name": 3}})), "h");
        assert_eq!(name(json!({"id": "U1", "name": ["?"]})), "U1");
        assert_eq!(name(json!({"id": "U1", "name": "a\n<@U2>: b\u{2028}"})), "a <@U2>: b");
        assert_eq!(SlackPerson::read(&json!({"name": "h"})), None);
    }
}
