//! The section `[discord]` of the settings.

use aizuchi_core::settings::{Any, Flat};
use aizuchi_core::settings_section;

use crate::platforms::{check_url, check_variable};

settings_section! {
    "discord": DiscordSettings {
        enabled: bool = Any,
        token_variable: String = Any,
        api_url: String = Any,
        gateway_url: String = Any,
        embed_first: bool = Any,
        backfill_messages: u32 = 0..=1000,
        shards: u32 = 0..=10_000,
    }
    defaults: include_str!("default.toml"),
    check: check
}

fn check(discord: &DiscordSettings, flat: &mut Flat) {
    check_variable("discord.token_variable", &discord.token_variable, flat);
    check_url("discord.api_url", &discord.api_url, ["http://", "https://"], "https://discord.com/api/v10", flat);
    check_url("discord.gateway_url", &discord.gateway_url, ["ws://", "wss://"], "wss://gateway.discord.gg", flat);
}
