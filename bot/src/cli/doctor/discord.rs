//! Discord: whether the token is taken, whether messages may be read, and what it may do in each server.

use super::check::{Check, Level};
use super::{Calls, Patient, ask};
use crate::cli::join::token;
use crate::platforms::discord::{DiscordSettings, Wrong, check_token, examine};

const PART: &str = "discord";

pub fn check(patient: &Patient<'_>) -> Vec<Check> {
    let Ok(discord) = patient.layers.section::<DiscordSettings>() else { return Vec::new() };
    let variable = &discord.token_variable;
    if !discord.enabled {
        return vec![Check::ok(PART, "switched off")];
    }
    let Some(token) = token(patient.environment, variable) else {
        return vec![Check::ok(PART, format!("not joined: set {variable} to join"))];
    };
    if let Err(error) = check_token(&token) {
        return vec![Check::fail(PART, error.to_string(), format!("put it into {variable} again"))];
    }
    if patient.calls == Calls::None {
        return vec![Check::ok(PART, format!("token in {variable}, not asked"))];
    }
    let told = |finding| match finding {
        Ok(told) => Check::ok(PART, told),
        Err(Wrong { fatal, told, mend }) => {
            Check { part: PART, level: if fatal { Level::Fail } else { Level::Warn }, told, mend: Some(mend) }
        }
    };
    match ask::wait_for(PART, examine(&discord, &token)) {
        Ok(findings) => findings.into_iter().map(told).collect(),
        Err(check) => vec![check],
    }
}
