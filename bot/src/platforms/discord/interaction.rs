//! Slash commands as they arrive: acknowledged at once, then answered to the caller alone.

use std::sync::Arc;

use aizuchi_core::types::Place;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tracing::{debug, warn};

use super::commands::command_text;
use super::platform::Discord;
use super::read::{bits, id, text};
use super::translate::person;
use crate::language::Language;
use crate::ports::{Caller, Commands};

/// Types of interactions, of responses, and of messages.
const COMMAND: u64 = 2;
const LATER: u8 = 5;
const EPHEMERAL: u64 = 1 << 6;

const ADMINISTRATOR: u64 = 1 << 3;
const MANAGE_CHANNELS: u64 = 1 << 4;
const MANAGE_GUILD: u64 = 1 << 5;

const TOGETHER_MAX: usize = 64;
const ANSWER_CHARS_MAX: usize = 2000;
const ANSWERS_MAX: usize = 5;

/// Receives interactions. Cheap to clone.
#[derive(Clone)]
pub struct Interactions {
    discord: Arc<Discord>,
    commands: Arc<dyn Commands>,
    together: Arc<Semaphore>,
}

/// A command, ready to run.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Interaction {
    text: String,
    caller: Caller,
    place: Place,
    id: u64,
    application: u64,
    token: String,
}

impl Interactions {
    pub fn new(discord: Arc<Discord>, commands: Arc<dyn Commands>) -> Interactions {
        Interactions { discord, commands, together: Arc::new(Semaphore::new(TOGETHER_MAX)) }
    }

    /// Discord waits three seconds for a response, so interactions do not wait behind messages.
    pub fn serve(&self, event: &str) {
        if !event.contains("\"INTERACTION_CREATE\"") {
            return;
        }
        let Ok(event) = serde_json::from_str::<Value>(event) else { return };
        if event.get("t").and_then(Value::as_str) != Some("INTERACTION_CREATE") {
            return;
        }
        let Some(interaction) = event.get("d").and_then(|data| self.read(data)) else { return };
        let Ok(permit) = self.together.clone().try_acquire_owned() else {
            return debug!("too many interactions at once");
        };
        let interactions = self.clone();
        tokio::spawn(async move {
            interactions.run(interaction).await;
            drop(permit);
        });
    }

    fn read(&self, data: &Value) -> Option<Interaction> {
        if bits(data, "type") != COMMAND {
            return None;
        }
        let member = data.get("member").filter(|member| member.is_object());
        let user = member.unwrap_or(data).get("user")?;
        let (channel, guild) = (id(data, "channel_id")?, id(data, "guild_id"));
        let place = self.discord.places(|places| {
            if let Some(told) = data.get("channel")
                && places.get(channel).is_none()
                && id(told, "id") == Some(channel)
            {
                places.learn(told, guild);
            }
            places.place(channel, guild).0
        });
        let may = |member: &Value| bits(member, "permissions") & (ADMINISTRATOR | MANAGE_CHANNELS | MANAGE_GUILD) != 0;
        let caller = Caller {
            person: person(id(user, "id")?),
            // In a direct message with the bot, everybody may change the settings.
            manages: member.map_or(guild.is_none(), may),
            language: text(data, "locale").and_then(Language::from_tag).unwrap_or_default(),
        };
        let command = command_text(data.get("data")?)?;
        // Both become part of a URL path.
        let token = text(data, "token")
            .filter(|token| token.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)))?;
        Some(Interaction {
            text: command,
            caller,
            place,
            id: id(data, "id")?,
            application: id(data, "application_id")?,
            token: token.to_owned(),
        })
    }

    async fn run(&self, interaction: Interaction) {
        let Interaction { text, caller, place, id, application, token } = interaction;
        let rest = &self.discord.rest;
        let later = json!({"type": LATER, "data": {"flags": EPHEMERAL}});
        if let Err(error) = rest.post_openly(format!("interactions/{id}/{token}/callback"), &later).await {
            return warn!(%error, "cannot acknowledge a command");
        }
        let answer = self.commands.run(&text, &caller, &place).await;
        for (number, part) in parts(&answer).into_iter().enumerate() {
            let body = json!({"content": part, "flags": EPHEMERAL, "allowed_mentions": {"parse": []}});
            let told = if number == 0 {
                rest.patch_openly(format!("webhooks/{application}/{token}/messages/@original"), &body).await
            } else {
                rest.post_openly(format!("webhooks/{application}/{token}"), &body).await
            };
            if let Err(error) = told {
                return warn!(%error, "cannot answer a command");
            }
        }
    }
}

/// Split at line breaks if possible. Never empty: Discord shows "thinking…" until it gets a response.
fn parts(answer: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    for line in answer.split_inclusive('\n') {
        let chars: Vec<char> = line.chars().collect();
        for piece in chars.chunks(ANSWER_CHARS_MAX) {
            let last = parts.last_mut().expect("there is always one");
            if last.chars().count() + piece.len() <= ANSWER_CHARS_MAX {
                last.extend(piece);
            } else {
                parts.push(piece.iter().collect());
            }
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    parts.truncate(ANSWERS_MAX);
    if parts.is_empty() { vec!["✓".to_owned()] } else { parts }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_answers_are_told_in_parts() {
        assert_eq!(parts(""), ["✓"]);
        assert_eq!(parts("a\nb"), ["a\nb"]);
        let lines = format!("{}\n", "あ".repeat(900)).repeat(4);
        let told = parts(&lines);
        assert_eq!(told.len(), 2);
        assert!(told.iter().all(|part| part.chars().count() <= ANSWER_CHARS_MAX));
        assert_eq!(parts(&"x".repeat(50_000)).len(), ANSWERS_MAX);
    }
}
