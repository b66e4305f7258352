//! `aizuchi web-link`: prints the address of the web room, with the token it requires.

use std::net::SocketAddr;

use anyhow::ensure;
use clap::Args;
use secrecy::{ExposeSecret as _, SecretString};

use super::settings::SettingsArguments;
use crate::platforms::{url_component, web::WebSettings};

#[derive(Args)]
pub struct WebLinkArguments {
    #[command(flatten)]
    settings: SettingsArguments,
}

pub fn run(arguments: &WebLinkArguments) -> anyhow::Result<()> {
    let web: WebSettings = arguments.settings.section()?;
    ensure!(web.enabled, "the web room is disabled (setting web.enabled)");
    let port = web.address.rsplit(':').next();
    ensure!(port != Some("0"), "web.address picks a free port ({}): see the log of the running program", web.address);
    let address = match web.address.parse() {
        Ok(bound) => address_of(bound),
        Err(_) => format!("http://{}/", web.address),
    };
    super::print(&format!("{}\n", with_token(&address, web.token())))
}

/// What somebody at another machine has to know.
pub const FROM_ELSEWHERE: &str =
    "From another machine, use the name or the address of this one instead of 127.0.0.1.\n";

/// Whether it listens on every address of this machine.
pub fn is_open_to_others(web: &WebSettings) -> bool {
    web.address.parse().is_ok_and(|bound: SocketAddr| bound.ip().is_unspecified())
}

/// The address of the room for a browser on this machine.
pub fn address_of(bound: SocketAddr) -> String {
    let shown = if bound.ip().is_unspecified() { SocketAddr::new([127, 0, 0, 1].into(), bound.port()) } else { bound };
    format!("http://{shown}/")
}

/// Anyone who has this link is admitted.
pub fn with_token(address: &str, token: Option<&SecretString>) -> String {
    match token {
        Some(token) => format!("{address}?token={}", url_component(token.expose_secret())),
        None => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_understands_the_address_whatever_the_token_is() {
        let address = address_of("0.0.0.0:80".parse().unwrap());
        assert_eq!(with_token(&address, None), "http://127.0.0.1:80/");
        let token = "pass word&é=+".into();
        assert_eq!(with_token(&address, Some(&token)), "http://127.0.0.1:80/?token=pass%20word%26%C3%A9%3D%2B");
    }
}
