//! Maps between emoji and Slack's names for them.

/// Slack's main name, the emoji, and its other names.
const TABLE: &[(&str, &str, &[&str])] = &[
    ("eyes", "👀", &[]),
    ("blush", "😊", &[]),
    ("thumbsup", "👍", &["+1"]),
    ("thinking_face", "🤔", &["thinking"]),
    ("sparkles", "✨", &[]),
    ("bulb", "💡", &[]),
    ("thumbsdown", "👎", &["-1"]),
    ("heart", "❤️", &[]),
    ("tada", "🎉", &["hooray"]),
    ("pray", "🙏", &[]),
    ("clap", "👏", &[]),
    ("joy", "😂", &[]),
    ("smile", "😄", &[]),
    ("grinning", "😀", &[]),
    ("slightly_smiling_face", "🙂", &[]),
    ("cry", "😢", &[]),
    ("sob", "😭", &[]),
    ("angry", "😠", &[]),
    ("rage", "😡", &[]),
    ("open_mouth", "😮", &[]),
    ("sweat_smile", "😅", &[]),
    ("bow", "🙇", &[]),
    ("raised_hands", "🙌", &[]),
    ("muscle", "💪", &[]),
    ("ok_hand", "👌", &[]),
    ("wave", "👋", &[]),
    ("fire", "🔥", &[]),
    ("rocket", "🚀", &[]),
    ("100", "💯", &[]),
    ("white_check_mark", "✅", &[]),
    ("heavy_check_mark", "✔️", &[]),
    ("x", "❌", &[]),
    ("question", "❓", &[]),
    ("zipper_mouth_face", "🤐", &[]),
    ("mute", "🔇", &[]),
    ("shushing_face", "🤫", &[]),
];

/// Slack's name of an emoji; `None` for an unknown one.
pub fn name(emoji: &str) -> Option<&'static str> {
    let bare = |text: &str| text.replace('\u{fe0f}', "");
    let wanted = bare(emoji);
    TABLE.iter().find(|(_, known, _)| bare(known) == wanted).map(|(name, ..)| *name)
}

/// The emoji of a name, without its skin tone; an unknown or custom one stays a name.
pub fn emoji(name: &str) -> String {
    let bare = name.split("::").next().unwrap_or(name);
    let row = TABLE.iter().find(|(first, _, others)| *first == bare || others.contains(&bare));
    row.map_or_else(|| format!(":{bare}:"), |(_, emoji, _)| (*emoji).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways() {
        for (known, shown, others) in TABLE {
            assert_eq!((name(shown), emoji(known)), (Some(*known), (*shown).to_owned()));
            others.iter().for_each(|other| assert_eq!(emoji(other), *shown));
        }
        for own in ["👀", "😊", "👍", "🤔", "✨", "💡"] {
            assert!(name(own).is_some(), "{own} is one it reacts with");
        }
        assert_eq!((emoji("+1::skin-tone-3"), emoji("party-parrot")), ("👍".into(), ":party-parrot:".into()));
        assert_eq!((name("❤"), name("🦖")), (Some("heart"), None));
    }
}
