//! The section `[tools.fetch]` of the settings.

use aizuchi_core::settings::{Any, Flat};
use aizuchi_core::settings_section;

use super::hosts::HostPattern;
use crate::config;

settings_section! {
    "tools.fetch": FetchSettings {
        hosts: Vec<String> = Any,
        allow_http: bool = Any,
        bytes_max: u32 = 1_000..=50_000_000,
        seconds_max: u32 = 1..=600,
        redirects_max: u32 = 0..=20,
    }
    defaults: include_str!("default.toml"),
    check: check
}

fn check(fetch: &FetchSettings, flat: &mut Flat) {
    if let Some(problem) = fetch.hosts.iter().find_map(|host| HostPattern::parse(host).err()) {
        flat.misfit("tools.fetch.hosts", &format!("a list of hosts, such as [\"example.org\"] ({problem})"));
    }
}

impl Default for FetchSettings {
    fn default() -> FetchSettings {
        config::new_layers().section().expect("the defaults are sound")
    }
}
