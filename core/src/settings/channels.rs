//! What one channel can have of its own, and what holds for all of them together.

use std::collections::BTreeMap;

use super::schema::keys;
use super::section::{FamilyRow, SectionRow};
use crate::types::own_id;

/// What is set for the channel that a room is. A room is named platform:guild/channel: its own id will do, and what is said of the
/// guild holds for all of it.
pub(crate) fn of_room<'a, T>(channels: &'a BTreeMap<String, T>, room: &str) -> Option<&'a T> {
    if channels.is_empty() {
        return None;
    }
    let by_own_id = || channels.get(own_id(room));
    let of_guild = || room.rsplit_once('/').and_then(|(guild, _)| channels.get(guild));
    channels.get(room).or_else(by_own_id).or_else(of_guild)
}

/// The names of the presets in use: the general one, and those that channels have of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Presets {
    pub(super) general: String,
    pub(super) channels: BTreeMap<String, String>,
}

impl Presets {
    pub fn for_room(&self, room: &str) -> &str {
        of_room(&self.channels, room).unwrap_or(&self.general)
    }
}

impl From<&str> for Presets {
    fn from(general: &str) -> Presets {
        Presets { general: general.to_owned(), channels: BTreeMap::new() }
    }
}

/// What is there once for all channels, beside the sections of the shell. A name that ends with a dot is a whole section.
const OF_ALL_CHANNELS: &[&str] = &[
    "budget.total_calls_per_day",
    "budget.total_dollars_per_day",
    "budget.total_tokens_per_day",
    "memory.channel_context_store",
    "memory.facts_store",
    "memory.left_days",
    "memory.profiles_store",
    "models.embed",
    "models.local_server",
    "models.local_server_ms",
    "people.",
    "prices.",
    "prompts.folder",
    "runtime.inbox_max",
    "runtime.shards",
    "runtime.shutdown_seconds",
];

/// Why a key cannot be set for one channel, and what can.
pub(super) fn refusal(key: &str, of_the_shell: &[SectionRow], families: &[FamilyRow]) -> Option<String> {
    let names = of_the_shell.iter().map(|row| row.name).chain(families.iter().map(|row| row.name));
    let is_in = |name: &&str| key.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let of_the_shell = names.filter(is_in).max_by_key(|name| name.len());
    let section = of_the_shell.unwrap_or_else(|| key.split('.').next().unwrap_or(key));
    let is_whole_section =
        of_the_shell.is_some() || OF_ALL_CHANNELS.iter().any(|name| name.strip_suffix('.') == Some(section));
    if !is_whole_section && !OF_ALL_CHANNELS.contains(&key) {
        return None;
    }
    let allowed = match is_whole_section {
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
