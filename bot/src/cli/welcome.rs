//! The greeting of a program that has just started, and the browser it opens.

use std::io::IsTerminal as _;

use secrecy::SecretString;

use super::effective_settings::EffectiveSettings;
use super::join::JoinedPlatforms;
use super::run::variable;
use super::web_link;
use crate::platforms::web::WebSettings;

/// Prints the address, and opens the room in a browser.
pub fn welcome(
    chosen: &EffectiveSettings,
    joined: &JoinedPlatforms,
    address: Option<&str>,
    web: &WebSettings,
    may_open_browser: bool,
) {
    let token = web.token();
    if let Err(error) = say_hello(chosen, address.map(|room| (room, token)), joined, web) {
        tracing::warn!(%error, "cannot write to standard output");
    }
    if let Some(address) = address.filter(|_| web.open_browser && may_open_browser) {
        open_browser(&web_link::with_token(address, token));
    }
}

/// `room` is the room's address and the token it requires.
fn say_hello(
    chosen: &EffectiveSettings,
    room: Option<(&str, Option<&SecretString>)>,
    joined: &JoinedPlatforms,
    web: &WebSettings,
) -> anyhow::Result<()> {
    let name = super::harmless(&chosen.settings().bot.name);
    let (told, folder) = (&chosen.choice.told, &chosen.store.folder);
    let whereabouts = match room {
        Some((room, token)) => {
            let from_elsewhere = if web_link::is_open_to_others(web) { web_link::FROM_ELSEWHERE } else { "" };
            // Output that does not go to a terminal is kept and read by others: a file, or the log of a service.
            let (room, hint) = match token.is_none() || std::io::stdout().is_terminal() {
                true => (web_link::with_token(room, token), ""),
                false => (room.to_owned(), "A token is needed: `aizuchi web-link` prints the whole link.\n"),
            };
            let elsewhere = joined.titles().into_iter().map(|platform| format!("It also joins {platform}.\n"));
            let elsewhere: String = elsewhere.collect();
            format!("{name} is in the room: {room}\n{from_elsewhere}{hint}{elsewhere}")
        }
        None => format!("{name} joins {}.\n", joined.titles().join(" and ")),
    };
    super::print(&format!("{whereabouts}{told}\nData folder: {folder}. Press Ctrl-C to stop.\n"))
}

/// Only if a person is at the terminal.
fn open_browser(address: &str) {
    let seated = std::io::stdout().is_terminal();
    let program = if cfg!(target_os = "macos") {
        Some("open")
    } else if cfg!(windows) {
        Some("explorer")
    } else {
        let has_screen =
            ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| variable(name).is_some_and(|it| !it.is_empty()));
        has_screen.then_some("xdg-open")
    };
    let Some(program) = program.filter(|_| seated) else { return };
    let null = std::process::Stdio::null;
    let opened = std::process::Command::new(program).arg(address).stdin(null()).stdout(null()).stderr(null()).spawn();
    if let Err(error) = opened {
        tracing::debug!(%error, "cannot open a browser");
    }
}
