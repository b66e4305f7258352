//! Checks everything the bot needs on Discord, for `doctor`: token, intent, guilds, permissions.

use secrecy::SecretString;
use serde_json::Value;

use super::errors::{PORTAL, examination_advice};
use super::read::{bits, id, text};
use super::rest::{Rest, RestError};
use super::settings::DiscordSettings;
use crate::check::Check;

const PART: &str = "discord";

/// The required permissions by Discord's names, and what each is for.
pub const PERMISSIONS: &[(u64, &str)] = &[
    (1 << 10, "View Channels"),
    (1 << 11, "Send Messages"),
    (1 << 38, "Send Messages in Threads"),
    (1 << 6, "Add Reactions"),
    (1 << 16, "Read Message History"),
    (1 << 14, "Embed Links"),
];
const ADMINISTRATOR: u64 = 1 << 3;

/// The flags that allow an application to read messages: one for verified bots and one for all others.
const MESSAGE_CONTENT: u64 = 1 << 18 | 1 << 19;

const GUILDS_MAX: usize = 200;

/// All permissions as the number in an invite link.
pub fn permissions() -> u64 {
    PERMISSIONS.iter().fold(0, |all, (bit, _)| all | bit)
}

pub async fn examine(settings: &DiscordSettings, token: &SecretString) -> Vec<Check> {
    let rest = Rest::new(&settings.api_url, token);
    let mut findings = Vec::new();
    let me = match rest.get("users/@me".to_owned()).await {
        Ok(me) => me,
        Err(error) => return vec![unreachable(&error, &settings.token_variable)],
    };
    findings.push(Check::ok(
        PART,
        format!("the token is valid: logged in as {}", text(&me, "username").unwrap_or("a bot")),
    ));
    findings.push(match rest.get("applications/@me".to_owned()).await {
        Ok(application) if bits(&application, "flags") & MESSAGE_CONTENT != 0 => {
            Check::ok(PART, "Message Content Intent is on")
        }
        Ok(_) => Check::fail(
            PART,
            "Message Content Intent is off, so the bot cannot read messages",
            format!("switch on Message Content Intent at {PORTAL} (Bot, Privileged Gateway Intents)"),
        ),
        Err(error) => unreachable(&error, &settings.token_variable),
    });
    match rest.get(format!("users/@me/guilds?limit={GUILDS_MAX}")).await {
        Ok(guilds) => findings.extend(of_guilds(&guilds, id(&me, "id").unwrap_or(0))),
        Err(error) => findings.push(unreachable(&error, &settings.token_variable)),
    }
    findings
}

fn of_guilds(guilds: &Value, me: u64) -> Vec<Check> {
    let invitation = || {
        format!(
            "invite the bot: https://discord.com/oauth2/authorize?client_id={me}&scope=bot+applications.commands&permissions={}",
            permissions()
        )
    };
    let guilds = guilds.as_array().map_or(&[][..], Vec::as_slice);
    if guilds.is_empty() {
        return vec![Check::warn(PART, "the bot is in no server yet", invitation())];
    }
    let check = |guild: &Value| {
        let (name, held) = (text(guild, "name").unwrap_or("a server"), bits(guild, "permissions"));
        if guild.get("permissions").is_none_or(Value::is_null) {
            return Check::warn(
                PART,
                format!("Discord does not report the bot's permissions in {name}"),
                format!("check in the server settings that the bot has: {}", needed_names().join(", ")),
            );
        }
        let lacks = |bit: u64| held & bit == 0 && held & ADMINISTRATOR == 0;
        let missing: Vec<&str> = PERMISSIONS.iter().filter(|(bit, _)| lacks(*bit)).map(|(_, name)| *name).collect();
        if missing.is_empty() {
            return Check::ok(PART, format!("in {name} the bot has all permissions it needs"));
        }
        Check::warn(
            PART,
            format!("in {name} the bot lacks: {}", missing.join(", ")),
            "give its role these permissions (Server Settings, Roles), or ".to_owned() + &invitation(),
        )
    };
    guilds.iter().map(check).collect()
}

fn needed_names() -> Vec<&'static str> {
    PERMISSIONS.iter().map(|(_, name)| *name).collect()
}

fn unreachable(error: &RestError, variable: &str) -> Check {
    Check::fail(PART, error.to_string(), examination_advice(error, variable))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::check::Level;

    #[test]
    fn the_missing_permission_is_named() {
        let all = permissions();
        let guilds = json!([
            {"id": "1", "name": "garden", "permissions": all.to_string()},
            {"id": "2", "name": "attic", "permissions": (all & !(1 << 6)).to_string()},
            {"id": "3", "name": "mine", "permissions": "8"},
        ]);
        let findings = of_guilds(&guilds, 9);
        assert!(findings[0].level == Level::Ok && findings[2].level == Level::Ok);
        assert_eq!(
            (findings[1].level, findings[1].told.as_str()),
            (Level::Warn, "in attic the bot lacks: Add Reactions")
        );
        let advice = of_guilds(&json!([]), 9)[0].fix.clone().expect("it can be fixed");
        assert!(advice.contains(&format!("permissions={all}")), "{advice}");
        assert_eq!(all, 274_877_992_000);
    }
}
