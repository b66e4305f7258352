//! The chat platforms. A platform is a folder, a line for its module and a line in the table.

use aizuchi_core::settings::{Flat, VARIABLE_RIGHT, is_url, is_variable_name};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

mod spec;

mod at_rest;
mod backoff;
mod server_clock;
mod web_socket;

pub mod discord;
pub mod slack;
pub mod web;

pub use at_rest::PlatformsAtRest;
pub use spec::{
    Environment, JoinedPlatform, Opening, PlatformKind, PlatformSpec, TokenSpec, Tokens, is_same_token, read_tokens,
    token_variables,
};

/// In the order in which they are listed and checked.
pub const PLATFORMS: &[PlatformSpec] = &[web::PLATFORM, discord::PLATFORM, slack::PLATFORM];

/// Percent-encodes text as one component of a URL path or query.
pub fn url_component(text: &str) -> percent_encoding::PercentEncode<'_> {
    const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
    utf8_percent_encode(text, PLAIN)
}

/// Reports a problem if the setting is not a URL. An empty one stands for the platform's own.
fn check_url(key: &str, url: &str, schemes: [&str; 2], example: &str, flat: &mut Flat) {
    if !url.is_empty() && !is_url(url, &schemes) {
        flat.misfit(key, &format!("\"\", or a URL such as {example:?}"));
    }
}

/// Reports a problem if the setting is not a variable name: it may be the token itself, so it is not shown.
fn check_variable(key: &str, variable: &str, flat: &mut Flat) {
    if !is_variable_name(variable) {
        flat.refuse(key, VARIABLE_RIGHT);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn platforms_are_folders_and_rows() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/platforms");
        let entries = std::fs::read_dir(folder).expect("the folder can be listed");
        let folders: BTreeSet<String> = entries
            .map(|entry| entry.expect("an entry"))
            .filter(|entry| entry.path().is_dir())
            .map(|entry| entry.file_name().into_string().expect("a name"))
            .collect();
        assert_eq!(folders, PLATFORMS.iter().map(|spec| spec.name().to_owned()).collect());
    }

    #[test]
    fn a_platform_can_be_switched_off_and_names_its_tokens() {
        for spec in PLATFORMS {
            let has = |key: &str| spec.section.keys.iter().any(|known| known.name == key);
            assert!(has(&format!("{}.enabled", spec.name())), "{}", spec.name());
            if let PlatformKind::Joined { tokens, .. } = spec.kind {
                for token in tokens {
                    assert!(has(token.setting), "{}", token.setting);
                }
            }
        }
    }
}
