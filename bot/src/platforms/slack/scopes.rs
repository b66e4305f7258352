//! What the app must be allowed to do, and why: the manifest asks for it, the doctor looks for it.

/// A permission of the bot's token, and what it is for.
pub const NEEDED: &[(&str, &str)] = &[
    ("app_mentions:read", "hears that it is mentioned"),
    ("channels:history", "hears public channels"),
    ("channels:read", "knows public channels by name"),
    ("chat:write", "answers"),
    ("commands", "takes /aizuchi"),
    ("groups:history", "hears private channels it is in"),
    ("groups:read", "knows private channels it is in by name"),
    ("im:history", "hears direct messages"),
    ("im:read", "knows direct messages from channels"),
    ("mpim:history", "hears direct messages among several"),
    ("mpim:read", "knows direct messages among several from channels"),
    ("reactions:read", "hears reactions"),
    ("reactions:write", "reacts"),
    ("users:read", "knows people by name"),
];

/// The permission of the app's token.
pub const OF_APP: &str = "connections:write";

/// What Slack is asked to tell.
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
