//! A hint for an unknown key: the key that was probably meant, if any.

use super::documents;
use super::schema::PROVIDER_KEYS;
use super::section::FamilyRow;

/// From this similarity on a key is a likely misspelling of another; below, the nearest would not help.
const LIKELY: f64 = 0.8;

/// A sentence about an unknown key. `keys` are all existing ones.
pub(super) fn unknown_setting(key: &str, keys: impl Iterator<Item = String>, families: &[FamilyRow]) -> String {
    if let Some(rest) = key.strip_prefix("channel.") {
        let channel = rest.split('.').next().unwrap_or(rest);
        return format!(
            "unknown setting `{key}`; the settings of one channel are in sections of the settings file, such as \
             [channel.\"{channel}\".gates]"
        );
    }
    if key.starts_with("providers.") {
        let fields = PROVIDER_KEYS.map(|field| format!("`{field}`")).join(", ");
        return format!("unknown setting `{key}`; a provider has {fields}");
    }
    let is_of = |family: &&FamilyRow| key.strip_prefix(family.name).is_some_and(|rest| rest.starts_with('.'));
    if let Some(family) = families.iter().find(is_of) {
        let fields: Vec<String> = family.fields.iter().map(|field| format!("`{field}`")).collect();
        let fields = fields.join(", ");
        let is_section = key.matches('.').count() == 1;
        return match is_section {
            true => format!("[{key}] must be a section with some of {fields}"),
            false => format!("unknown setting `{key}`; a section [{}.NAME] has {fields}", family.name),
        };
    }
    let by_document =
        documents::NAMES.iter().find(|name| name.name.eq_ignore_ascii_case(key)).map(|name| name.key.to_owned());
    let similar = || {
        let scored = keys.map(|known| (strsim::jaro_winkler(&known, key), known));
        let nearest = scored.max_by(|(a, _), (b, _)| a.total_cmp(b));
        nearest.filter(|(similarity, _)| *similarity >= LIKELY).map(|(_, known)| known)
    };
    match by_document.or_else(similar) {
        Some(likely) => format!("unknown setting `{key}`; did you mean `{likely}`?"),
        None => format!("unknown setting `{key}`; `aizuchi settings` lists all of them"),
    }
}
