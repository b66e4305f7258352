//! Settings whose text must be visible: an empty word would match every message.

use super::flat::Flat;
use super::schema::Settings;
use crate::types::is_invisible;

pub(super) fn check(settings: &Settings, flat: &mut Flat) {
    let Settings { bot, score, listen, models, .. } = settings;
    if is_invisible(&bot.name) {
        flat.misfit("bot.name", "a visible name");
    }
    if is_invisible(&models.main) {
        flat.misfit("models.main", r#"a model such as "ollama/llama3.2", or "offline""#);
    }
    for (key, words) in [("bot.aliases", &bot.aliases), ("score.keywords", &score.keywords)] {
        if words.iter().any(|word| is_invisible(word)) {
            flat.misfit(key, "words that are not empty");
        }
    }
    if listen.channels.iter().any(|channel| is_invisible(channel)) {
        flat.misfit("listen.channels", "names of channels, none of them empty");
    }
}
