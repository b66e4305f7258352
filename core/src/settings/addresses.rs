//! What a room of the web room can be called, and what is a URL.

use unicode_normalization::UnicodeNormalization as _;

use super::layers::Flat;
use super::schema::Settings;

/// The longest name of a web room, in characters.
const ROOM_CHARS_MAX: usize = 40;
/// What the rooms of sample conversations are called. They are opened by the program and let go of later.
pub const SAMPLE_ROOM: &str = "sample-";

/// Whether somebody can enter a web room of this name.
pub fn is_room_name(room: &str) -> bool {
    let fits = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    // Some systems type a letter and its mark one after the other.
    (1..=ROOM_CHARS_MAX).contains(&room.nfc().count()) && room.nfc().all(fits)
}

pub(super) fn check(settings: &Settings, flat: &mut Flat) {
    let bad = |room: &&String| !is_room_name(room) || room.starts_with(SAMPLE_ROOM);
    let rooms = &settings.web.rooms;
    if rooms.is_empty() {
        flat.misfit("web.rooms", r#"at least one room, such as ["lobby"]; `web.enabled` = false closes the web room"#);
    } else if let Some(room) = rooms.iter().find(bad) {
        let right = format!(
            "names of 1 to {ROOM_CHARS_MAX} letters, digits, \"-\" and \"_\" that do not begin with {SAMPLE_ROOM:?}; \
             nobody can enter {room:?}"
        );
        flat.misfit("web.rooms", &right);
    }
    for (name, provider) in &settings.providers {
        if provider.url.as_deref().is_some_and(|url| !is_url(url, &["http://", "https://"])) {
            let right = "a URL that begins with http:// or https://, such as \"http://127.0.0.1:8080/v1/\"";
            flat.misfit(&format!("providers.{name}.url"), right);
        }
    }
    let (discord, slack) = (&settings.discord, &settings.slack);
    for (key, url, schemes, example) in [
        ("discord.api_url", &discord.api_url, ["http://", "https://"], "https://discord.com/api/v10"),
        ("discord.gateway_url", &discord.gateway_url, ["ws://", "wss://"], "wss://gateway.discord.gg"),
        ("slack.api_url", &slack.api_url, ["http://", "https://"], "https://slack.com/api/"),
    ] {
        if !url.is_empty() && !is_url(url, &schemes) {
            flat.misfit(key, &format!("\"\", or a URL such as {example:?}"));
        }
    }
}

/// A scheme, a host, perhaps a port and a path.
fn is_url(url: &str, schemes: &[&str]) -> bool {
    let url = url.trim();
    let Some(rest) = schemes.iter().find_map(|scheme| url.strip_prefix(scheme)) else { return false };
    let server = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let (host, port) = match server.rsplit_once(':') {
        Some((host, port)) if !server.ends_with(']') => (host, Some(port)),
        _ => (server, None),
    };
    let is_plain = !rest.contains(|c: char| c.is_whitespace() || c.is_control());
    is_plain && !host.is_empty() && port.is_none_or(|port| port.parse::<u16>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_scheme_and_a_host() {
        let is_url = |url: &str| is_url(url, &["http://", "https://"]);
        for url in ["http://127.0.0.1:8080/v1/", "https://models.example", "http://[::1]:8080", "http://[::1]/v1"] {
            assert!(is_url(url), "{url}");
        }
        for odd in
            ["", "nonsense", "http://", "https:///v1", "ftp://x", "http://a b/", "http://x:port", "http://x:99999"]
        {
            assert!(!is_url(odd), "{odd}");
        }
    }

    #[test]
    fn a_room_has_a_name_that_can_be_entered() {
        for room in ["lobby", "お茶の間", "a-b_9", "か\u{3099}", &"x".repeat(40)] {
            assert!(is_room_name(room), "{room}");
        }
        for odd in ["", "a b", "a/b", "\u{1b}[31m", "a\u{0}", &"x".repeat(41)] {
            assert!(!is_room_name(odd), "{odd:?}");
        }
    }
}
