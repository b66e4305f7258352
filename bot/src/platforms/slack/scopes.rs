//! The scopes that the app needs, and why: the manifest requests them, and `doctor` checks them.

/// A scope of the bot token, and what it is for.
pub const NEEDED: &[(&str, &str)] = &[
    ("app_mentions:read", "sees mentions of itself"),
    ("channels:history", "reads public channels"),
    ("channels:read", "reads the names of public channels"),
    ("chat:write", "answers"),
    ("commands", "takes /aizuchi"),
    ("groups:history", "reads private channels it is in"),
    ("groups:read", "reads the names of private channels it is in"),
    ("im:history", "reads direct messages"),
    ("im:read", "distinguishes direct messages from channels"),
    ("mpim:history", "reads group direct messages"),
    ("mpim:read", "distinguishes group direct messages from channels"),
    ("reactions:read", "hears reactions"),
    ("reactions:write", "reacts"),
    ("users:read", "reads people's names"),
];

/// The scope of the app token.
pub const OF_APP: &str = "connections:write";

/// The events that the app subscribes to.
pub const EVENTS: &[&str] = &[
    "app_mention",
    "channel_left",
    "channel_rename",
    "group_left",
    "group_rename",
    "member_joined_channel",
    "message.channels",
    "message.groups",
    "message.im",
    "message.mpim",
    "reaction_added",
    "reaction_removed",
    "team_join",
    "user_change",
];

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = include_str!("../../../../docs/slack-manifest.yaml");

    /// The entries of a list in the manifest, which is plain enough to be read by lines.
    fn listed(name: &str) -> Vec<&'static str> {
        let after = MANIFEST.lines().skip_while(|line| line.trim() != format!("{name}:")).skip(1);
        after.map_while(|line| line.trim().strip_prefix("- ")).collect()
    }

    #[test]
    fn the_manifest_asks_for_what_is_needed_and_no_more() {
        assert_eq!(listed("bot"), NEEDED.iter().map(|(scope, _)| *scope).collect::<Vec<_>>());
        assert_eq!(listed("bot_events"), EVENTS);
        assert!(MANIFEST.contains("socket_mode_enabled: true") && MANIFEST.contains("command: /aizuchi"));
    }
}
