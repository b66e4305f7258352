//! The section `[slack]` of the settings.

use aizuchi_core::settings::{Any, Flat};
use aizuchi_core::settings_section;

use crate::platforms::{check_url, check_variable};

settings_section! {
    "slack": SlackSettings {
        enabled: bool = Any,
        bot_token_variable: String = Any,
        app_token_variable: String = Any,
        api_url: String = Any,
        connections: u32 = 1..=10,
        backfill_messages: u32 = 0..=1000,
    }
    defaults: include_str!("default.toml"),
    check: check
}

fn check(slack: &SlackSettings, flat: &mut Flat) {
    check_variable("slack.bot_token_variable", &slack.bot_token_variable, flat);
    check_variable("slack.app_token_variable", &slack.app_token_variable, flat);
    check_url("slack.api_url", &slack.api_url, ["http://", "https://"], "https://slack.com/api/", flat);
}
