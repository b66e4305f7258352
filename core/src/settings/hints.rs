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
    let keys: Vec<String> = keys.collect();
    if let Some(hint) = section_hint(key, &keys) {
        return hint;
    }
    let by_document =
        documents::NAMES.iter().find(|name| name.name.eq_ignore_ascii_case(key)).map(|name| name.key.to_owned());
    let similar = || nearest(key, keys.iter().map(String::as_str)).map(str::to_owned);
    match by_document.or_else(similar) {
        Some(likely) => format!("unknown setting `{key}`; did you mean `{likely}`?"),
        None => format!("unknown setting `{key}`; `aizuchi settings` lists all of them"),
    }
}

/// If it is a section itself, or its section is none that exists.
fn section_hint(key: &str, keys: &[String]) -> Option<String> {
    let mut sections: Vec<&str> = keys.iter().filter_map(|known| Some(known.split_once('.')?.0)).collect();
    sections.dedup();
    let section = key.split('.').next().unwrap_or(key);
    if section == key && sections.contains(&key) {
        let example = keys.iter().find(|known| known.split('.').next() == Some(key))?;
        return Some(format!("`{key}` is a section of settings, such as `{example}`"));
    }
    if section == key || sections.contains(&section) {
        return None;
    }
    let meant = nearest(section, sections.into_iter())?;
    Some(format!("unknown setting `{key}`; did you mean the section [{meant}]?"))
}

fn nearest<'a>(text: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let scored = known.map(|known| (strsim::jaro_winkler(known, text), known));
    let nearest = scored.max_by(|(a, _), (b, _)| a.total_cmp(b));
    nearest.filter(|(similarity, _)| *similarity >= LIKELY).map(|(_, known)| known)
}
