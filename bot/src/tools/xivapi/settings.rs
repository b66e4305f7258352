//! The section `[tools.xivapi]` of the settings.

use aizuchi_core::settings::{Any, Flat};
use aizuchi_core::settings_section;
use url::Url;

use crate::config;

settings_section! {
    "tools.xivapi": XivapiSettings {
        enabled: bool = Any,
        url: String = Any,
        seconds_max: u32 = 1..=600,
    }
    defaults: include_str!("default.toml"),
    check: check
}

fn check(xivapi: &XivapiSettings, flat: &mut Flat) {
    let url = Url::parse(&xivapi.url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    if url.is_none() {
        flat.misfit("tools.xivapi.url", "a URL such as \"https://v2.xivapi.com/api\"");
    }
}

impl Default for XivapiSettings {
    fn default() -> XivapiSettings {
        config::new_layers().section().expect("the defaults are sound")
    }
}
