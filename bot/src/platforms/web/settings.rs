//! The section `[web]` of the settings, and which names a web room can have.

use std::collections::BTreeSet;

use aizuchi_core::settings::{Any, Flat};
use aizuchi_core::settings_section;
use secrecy::{ExposeSecret as _, SecretString};
use unicode_normalization::UnicodeNormalization as _;

settings_section! {
    "web": WebSettings {
        enabled: bool = Any,
        address: String = Any,
        token: SecretString = Any,
        rooms: Vec<String> = Any,
        open_browser: bool = Any,
        message_chars_max: u32 = 1..=1_000_000,
        connections_max: u32 = 1..=100_000,
        trust_proxy: bool = Any,
        address_connections_max: u32 = 0..=100_000,
        address_people_per_hour: u32 = 0..=1_000_000,
        address_rooms_per_hour: u32 = 0..=1_000_000,
        person_rooms_per_hour: u32 = 0..=1_000_000,
        person_messages_per_second: u32 = 0..=100_000,
        people_max: u32 = 10..=10_000_000,
    }
    defaults: include_str!("default.toml"),
    check: check
}

impl WebSettings {
    /// The token that is required, if any.
    pub fn token(&self) -> Option<&SecretString> {
        Some(&self.token).filter(|token| !token.expose_secret().is_empty())
    }
}

/// The maximum length of a web room's name, in characters.
const ROOM_CHARS_MAX: usize = 40;
/// The prefix of the rooms of sample conversations. The program opens them and removes them later.
pub const SAMPLE_ROOM: &str = "sample-";

/// Whether a web room of this name can be entered.
pub fn is_room_name(room: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    // Some systems type a letter and its combining mark separately.
    (1..=ROOM_CHARS_MAX).contains(&room.nfc().count()) && room.nfc().all(fits)
}

fn check(web: &WebSettings, flat: &mut Flat) {
    let bad = |room: &&String| !is_room_name(room) || room.starts_with(SAMPLE_ROOM);
    if web.rooms.is_empty() {
        flat.misfit("web.rooms", r#"at least one room, such as ["lobby"] (`web.enabled` = false closes the web room)"#);
    } else if let Some(room) = web.rooms.iter().find(bad) {
        let right = format!(
            "names of 1–{ROOM_CHARS_MAX} letters, digits, \"-\" and \"_\" that do not begin with {SAMPLE_ROOM:?} \
             (not {room:?})"
        );
        flat.misfit("web.rooms", &right);
    }
    let folded = |room: &String| room.nfkc().flat_map(char::to_lowercase).collect::<String>();
    if web.rooms.iter().map(folded).collect::<BTreeSet<_>>().len() < web.rooms.len() {
        flat.misfit("web.rooms", "different names (upper and lower case are the same room)");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_has_a_name_that_can_be_entered() {
        for room in ["lobby", "お茶の間", "a-b_9", "か\u{3099}", &"x".repeat(40)] {
            assert!(is_room_name(room), "{room}");
        }
        for odd in ["", "a b", "a/b", "\u{1b}[31m", "a\u{0}", &"x".repeat(41)] {
            assert!(!is_room_name(odd), "{odd:?}");
        }
    }

    #[test]
    fn rooms_with_different_names_are_different_rooms() {
        let rooms = |list: &str| {
            let mut layers = crate::config::new_layers();
            layers.add_file("aizuchi.toml", &format!("[web]\nrooms = {list}"));
            layers.section::<WebSettings>().map(|web| web.rooms.len())
        };
        assert_eq!(rooms(r#"["lobby", "lobbi", "か", "が"]"#), Ok(4));
        let told = rooms(r#"["lobby", "Lobby"]"#).unwrap_err()[0].to_string();
        assert!(told.starts_with("aizuchi.toml:2: `web.rooms` must be "), "{told}");
    }
}
