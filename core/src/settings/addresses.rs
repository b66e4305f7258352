//! The addresses of providers: URLs, and the variables that contain their keys.

use super::flat::Flat;
use super::schema::Settings;
use super::variables::{VARIABLE_RIGHT, is_variable_name};

pub(super) fn check(settings: &Settings, flat: &mut Flat) {
    for (name, provider) in &settings.providers {
        let url = provider.url.as_deref();
        if url.is_some_and(|url| url.contains(['?', '#', '@'])) {
            let right = "a URL without a password, a query or a fragment; the API key is read from the environment \
                         variable that `key` names";
            flat.refuse(&format!("providers.{name}.url"), right);
        } else if url.is_some_and(|url| !is_url(url, &["http://", "https://"])) {
            let right = "a URL that begins with http:// or https://, such as \"http://127.0.0.1:8080/v1/\"";
            flat.misfit(&format!("providers.{name}.url"), right);
        }
        if provider.key.as_deref().is_some_and(|key| !key.is_empty() && !is_variable_name(key)) {
            flat.refuse(&format!("providers.{name}.key"), VARIABLE_RIGHT);
        }
    }
}

/// A scheme, a host, perhaps a port and a path.
pub fn is_url(url: &str, schemes: &[&str]) -> bool {
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
}
