//! Settings that can be parsed but make no sense: emoji that are none, and values that contradict each other.

use std::fmt;

use super::flat::Flat;
use super::schema::Settings;
use crate::types::is_invisible;

pub(super) fn check(settings: &Settings, flat: &mut Flat) {
    let (score, kinds, listen) = (&settings.score, &settings.kinds, &settings.listen);
    at_most(flat, ("score.turn_low", score.turn_low), ("score.turn_high", score.turn_high));
    at_most(flat, ("score.low", score.low), ("score.high", score.high));
    at_most(flat, ("kinds.acknowledge_from", kinds.acknowledge_from), ("kinds.full_from", kinds.full_from));
    at_most(
        flat,
        ("gates.messages_min", settings.gates.messages_min),
        ("listen.buffer_messages", listen.buffer_messages),
    );
    if score.learned && !listen.conversations {
        match flat.is_to_blame("listen.conversations", "score.learned") {
            true => flat.misfit("listen.conversations", "true if `score.learned` is true"),
            false => flat.misfit("score.learned", "false if `listen.conversations` is false"),
        }
    }
    if listen.channels_off.iter().any(|channel| is_invisible(channel)) {
        flat.misfit("listen.channels_off", r#"ids or names of channels, or "*" for all"#);
    }
    if kinds.emoji.is_empty() {
        flat.misfit("kinds.emoji", "at least one emoji");
    } else if !kinds.emoji.iter().all(|text| may_be_emoji(text)) {
        flat.misfit("kinds.emoji", r#"emoji such as ["👀", "👍"]"#);
    }
    if !settings.memory.familiarity.is_sorted() {
        flat.misfit("memory.familiarity", "numbers in ascending order such as [6, 31, 101]");
    }
    let response = &settings.response;
    let (least, most) = (response.min_wait_seconds, response.max_wait_seconds);
    if most != 0 && least > most && flat.is_to_blame("response.max_wait_seconds", "response.min_wait_seconds") {
        flat.misfit("response.max_wait_seconds", &format!("0, or at least `response.min_wait_seconds` ({least})"));
    } else if most != 0 {
        at_most(flat, ("response.min_wait_seconds", least), ("response.max_wait_seconds", most));
    }
}

/// One setting must not exceed another. The error names the one that a person set.
fn at_most<N: PartialOrd + fmt::Display>(flat: &mut Flat, (low, least): (&str, N), (high, most): (&str, N)) {
    if least <= most {
        return;
    }
    match flat.is_to_blame(high, low) {
        true => flat.misfit(high, &format!("at least `{low}` ({least})")),
        false => flat.misfit(low, &format!("at most `{high}` ({most})")),
    }
}

/// Whether a text can be one emoji. Which ones exist is up to the platforms.
fn may_be_emoji(text: &str) -> bool {
    // Some emoji are letters in a box or a circle.
    let is_letter = |c: char| c.is_alphabetic() && c < '\u{1f000}' && !['ℹ', 'Ⓜ'].contains(&c);
    !is_invisible(text) && !text.is_ascii() && !text.contains(|c: char| c.is_whitespace() || is_letter(c))
}
