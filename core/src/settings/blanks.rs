//! Settings that hold text which somebody must be able to see: an empty word is found in every message.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;

use super::layers::Flat;
use super::schema::Settings;

pub(super) fn check(settings: &Settings, flat: &mut Flat) {
    let Settings { bot, score, listen, store, discord, slack, web, .. } = settings;
    if is_blank(&bot.name) {
        flat.misfit("bot.name", "a name");
    }
    for (key, words) in [("bot.aliases", &bot.aliases), ("score.keywords", &score.keywords)] {
        if words.iter().any(|word| is_blank(word)) {
            flat.misfit(key, "words that are not empty");
        }
    }
    if listen.channels.iter().any(|channel| is_blank(channel)) {
        flat.misfit("listen.channels", "names of channels");
    }
    if is_blank(&store.folder) {
        flat.misfit("store.folder", "a folder, such as \"data\"");
    }
    for (key, variable) in [
        ("discord.token_variable", &discord.token_variable),
        ("slack.bot_token_variable", &slack.bot_token_variable),
        ("slack.app_token_variable", &slack.app_token_variable),
    ] {
        if is_blank(variable) {
            flat.misfit(key, "the name of an environment variable");
        }
    }
    let folded = |room: &String| room.nfkc().flat_map(char::to_lowercase).collect::<String>();
    if web.rooms.iter().map(folded).collect::<BTreeSet<_>>().len() < web.rooms.len() {
        flat.misfit("web.rooms", "different names: upper and lower case are the same room");
    }
}

/// Whether nothing of it can be seen.
fn is_blank(text: &str) -> bool {
    let invisible = |c: char| {
        matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'..='\u{1160}'
                | '\u{17b4}'..='\u{17b5}'
                | '\u{180b}'..='\u{180f}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{2800}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff0}'..='\u{fffc}'
                | '\u{e0000}'..='\u{e0fff}'
        )
    };
    text.chars().all(|c| c.is_whitespace() || c.is_control() || invisible(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_blank() {
        for blank in ["", " ", "\u{200b}", "\u{3164}\u{2800}", "\t\u{feff} "] {
            assert!(is_blank(blank), "{blank:?}");
        }
        for text in ["a", "相槌", ".", "👍\u{fe0f}", " x "] {
            assert!(!is_blank(text), "{text:?}");
        }
    }
}
