//! Settings that can be read and make no sense: emoji that are none, and values that contradict each other.

use super::flat::Flat;
use super::schema::Settings;
use crate::types::is_invisible;

pub(super) fn check(settings: &Settings, flat: &mut Flat) {
    let score = &settings.score;
    if score.turn_low > score.turn_high {
        flat.misfit("score.turn_low", &format!("at most `score.turn_high` ({})", score.turn_high));
    }
    if score.low > score.high {
        flat.misfit("score.low", &format!("at most `score.high` ({})", score.high));
    }
    if settings.kinds.acknowledge_from > settings.kinds.full_from {
        flat.misfit("kinds.acknowledge_from", &format!("at most `kinds.full_from` ({})", settings.kinds.full_from));
    }
    if score.learned && !settings.listen.strands {
        flat.misfit("score.learned", "false if `listen.strands` is false");
    }
    let most = settings.listen.buffer_messages;
    if settings.gates.messages_min > most {
        flat.misfit("gates.messages_min", &format!("at most `listen.buffer_messages` ({most})"));
    }
    let (kinds, response) = (&settings.kinds, &settings.response);
    if settings.listen.channels_off.iter().any(|channel| is_invisible(channel)) {
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
    let (least, most) = (response.min_wait_seconds, response.max_wait_seconds);
    if most != 0 && least > most {
        match flat.is_given("response.max_wait_seconds") && !flat.is_given("response.min_wait_seconds") {
            true => {
                let right = format!("0, or at least `response.min_wait_seconds` ({least})");
                flat.misfit("response.max_wait_seconds", &right);
            }
            false => {
                let right = format!("at most `response.max_wait_seconds` ({most})");
                flat.misfit("response.min_wait_seconds", &right);
            }
        }
    }
}

/// Whether a text can be one emoji. Which ones there are is for the platforms to say.
fn may_be_emoji(text: &str) -> bool {
    // Some emoji are letters in a box or a circle.
    let is_letter = |c: char| c.is_alphabetic() && c < '\u{1f000}' && !['ℹ', 'Ⓜ'].contains(&c);
    !is_invisible(text) && !text.is_ascii() && !text.contains(|c: char| c.is_whitespace() || is_letter(c))
}
