//! Names of servers' tools: each is valid for every provider, and no two are the same.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

/// The maximum length that every provider accepts.
const CHARS_MAX: usize = 64;

/// The names in use, with server and tool.
#[derive(Debug, Default)]
pub struct ToolNames(Mutex<BTreeMap<String, (String, String)>>);

impl ToolNames {
    /// Assigns names to the tools of a server, and releases those of its previous list.
    pub fn assign<'a>(&self, server: &str, tools: impl Iterator<Item = &'a str>) -> Vec<String> {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        taken.retain(|_, (owner, _)| owner != server);
        let mut names = Vec::new();
        for tool in tools {
            let mut name = fitting(&format!("{server}_{tool}"));
            let mut again = 1;
            while taken.contains_key(&name) {
                again += 1;
                name = numbered(&fitting(&format!("{server}_{tool}")), again);
            }
            taken.insert(name.clone(), (server.to_owned(), tool.to_owned()));
            names.push(name);
        }
        names
    }
}

fn fitting(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let plain: String = name.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    if plain.len() <= CHARS_MAX {
        return plain;
    }
    // A hash of the whole name keeps truncated names distinct.
    let end = format!("_{:08x}", xxh3_64(name.as_bytes()) as u32);
    format!("{}{end}", &plain[..CHARS_MAX - end.len()])
}

fn numbered(name: &str, number: u32) -> String {
    let end = format!("_{number}");
    format!("{}{end}", &name[..name.len().min(CHARS_MAX - end.len())])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_and_differ() {
        let names = ToolNames::default();
        let long = "x".repeat(100);
        let given =
            names.assign("time", ["get time", "get_time", "../../etc", "時", &long, &format!("{long}y")].into_iter());
        assert_eq!(given[..4], ["time_get_time", "time_get_time_2", "time_______etc", "time__"]);
        let fits = |name: &String| {
            (1..=64).contains(&name.len())
                && name.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-'))
        };
        assert!(given.iter().all(fits), "{given:?}");
        assert!(given[4] != given[5] && given[4].len() == 64, "{given:?}");
    }

    #[test]
    fn two_servers_never_share_a_name_and_a_new_list_frees_the_old() {
        let names = ToolNames::default();
        assert_eq!(names.assign("a", ["b_c"].into_iter()), ["a_b_c"]);
        assert_eq!(names.assign("a_b", ["c"].into_iter()), ["a_b_c_2"]);
        assert_eq!(names.assign("a", ["b_c"].into_iter()), ["a_b_c"], "a list again changes no name");
        names.assign("a", std::iter::empty());
        assert_eq!(names.assign("a_b", ["c"].into_iter()), ["a_b_c"]);
    }
}
