//! Settings that had another name once: what people have in their files goes on working.

use super::flat::Entry;
use super::problem::Problem;

/// The earlier name of each, and the one it has now.
const RENAMED: &[(&str, &str)] = &[("listen.strands", "listen.conversations")];

/// What a setting is called now, if it was given by an earlier name.
pub(super) fn current_name(key: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(earlier, _)| *earlier == key).map(|(_, now)| *now)
}

/// What is said about an earlier name.
pub(super) fn notice(earlier: &str, now: &str) -> String {
    format!("`{earlier}` is called `{now}` now; the earlier name still works")
}

/// A problem for each setting that one file has by both names, since nobody knows which of them is meant.
pub(super) fn given_twice(found: &[(Vec<String>, Entry)]) -> Vec<Problem> {
    let both = |(path, entry): &(Vec<String>, Entry)| {
        let (section, key) = path.split_at(path.len().checked_sub(2)?);
        let (earlier, now) = RENAMED.iter().find(|(earlier, _)| *earlier == key.join("."))?;
        let is_there =
            |(other, _): &(Vec<String>, Entry)| other.starts_with(section) && other[section.len()..].join(".") == *now;
        let message = format!("`{earlier}` is the earlier name of `{now}`, and both are set; remove it");
        found.iter().any(is_there).then(|| Problem { source: entry.source.clone(), line: entry.line, message })
    };
    found.iter().filter_map(both).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::keys;

    #[test]
    fn earlier_names_lead_to_settings_that_exist() {
        for (earlier, now) in RENAMED {
            assert!(keys().any(|key| key == *now), "{now} is not a setting");
            assert!(keys().all(|key| key != *earlier), "{earlier} is a setting");
        }
    }
}
