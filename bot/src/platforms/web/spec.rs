//! The declaration of the web room as a platform.

use aizuchi_core::settings::{Layers, SectionRow};

use super::examine::examine;
use super::guard::addresses;
use super::settings::WebSettings;
use crate::config;
use crate::platforms::{PlatformKind, PlatformSpec};

pub const PLATFORM: PlatformSpec = PlatformSpec {
    title: "the web room",
    section: SectionRow::of::<WebSettings>(),
    takes_effect: &["web.token"],
    kind: PlatformKind::Served { examine },
};

/// Whether the server can listen on its address, which the settings alone do not show.
pub fn check_address(layers: &Layers) -> anyhow::Result<()> {
    let web: WebSettings = config::section(layers)?;
    match addresses(&web.address, web.token()) {
        Err(what) if web.enabled => Err(config::mistake(layers, "web.address", &web.address, what)),
        Ok(_) | Err(_) => Ok(()),
    }
}
