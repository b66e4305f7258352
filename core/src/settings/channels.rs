//! What one channel can have of its own, and what holds for all of them together.

use super::schema::keys;

/// What is there once for all channels. A name that ends with a dot is a whole section.
const OF_ALL_CHANNELS: &[&str] = &[
    "budget.total_calls_per_day",
    "budget.total_dollars_per_day",
    "budget.total_tokens_per_day",
    "discord.",
    "log.",
    "memory.channel_context_store",
    "memory.facts_store",
    "memory.left_days",
    "memory.profiles_store",
    "models.embed",
    "people.",
    "prices.",
    "prompts.folder",
    "runtime.inbox_max",
    "runtime.shards",
    "runtime.shutdown_seconds",
    "slack.",
    "store.",
    "web.",
];

/// Why a key cannot be set for one channel, and what can.
pub(super) fn refusal(key: &str) -> Option<String> {
    let named = OF_ALL_CHANNELS.iter().find(|name| match name.strip_suffix('.') {
        Some(section) => key == section || key.starts_with(**name),
        None => key == **name,
    })?;
    let section = key.split('.').next().unwrap_or(key);
    let allowed = match named.ends_with('.') {
        true => format!(
            "set it in [{section}]. Allowed for a channel are `preset`, `talk` and the sections {}",
            sections().join(", ")
        ),
        false => format!("set it in [{section}]"),
    };
    Some(format!("`{key}` holds for all channels together and cannot be set for one of them; {allowed}"))
}

/// The sections of which a channel can have settings of its own.
fn sections() -> Vec<String> {
    let mut sections: Vec<String> = keys().filter_map(|key| Some(key.split_once('.')?.0.to_owned())).collect();
    sections.push("providers".into());
    sections.sort_unstable();
    sections.dedup();
    sections.retain(|section| !OF_ALL_CHANNELS.contains(&format!("{section}.").as_str()));
    sections
}
