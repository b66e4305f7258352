//! `/aizuchi …`: acknowledged at once, run, and answered to the caller alone.

use std::sync::Arc;

use aizuchi_core::types::Place;
use serde_json::Value;

use super::inbox;
use super::listen::SlackContext;
use super::mrkdwn::mrkdwn;
use super::read::{id, owned, text};
use super::translate::SlackIdentity;
use crate::ports::Caller;

/// A slash command as Slack sends it.
struct SlashCommand {
    text: String,
    user: String,
    channel: String,
    /// The URL for the response.
    answer_to: Option<String>,
}

/// Starts to run it, once. Returns whether the envelope can be acknowledged.
pub async fn run(context: &Arc<SlackContext>, me: &Arc<SlackIdentity>, envelope: &str, payload: Value) -> bool {
    let (key, at) = (envelope.to_owned(), context.slack.clock.now());
    match inbox::is_new(&*context.slack.stores.inbox, key, at).await {
        Ok(true) => (),
        Ok(false) => return true,
        Err(failed) => {
            tracing::error!(%failed, "cannot record a slash command from Slack");
            return false;
        }
    }
    let Some(command) = read(&payload, &context.slack.settings.api_url) else { return true };
    let Ok(permit) = context.running.clone().try_acquire_owned() else {
        tracing::warn!("too many slash commands at once");
        return true;
    };
    let (context, me) = (context.clone(), me.clone());
    context.tasks.clone().spawn(async move {
        tokio::select! {
            () = run_command(&context, &me, command) => (),
            () = context.stop.cancelled() => (),
        }
        drop(permit);
    });
    true
}

fn read(payload: &Value, api_url: &str) -> Option<SlashCommand> {
    // Unencrypted only if Slack itself is accessed unencrypted: on loopback.
    let is_safe =
        |url: &String| url.starts_with("https://") || (url.starts_with("http://") && api_url.starts_with("http://"));
    Some(SlashCommand {
        text: text(payload, "text").unwrap_or_default().chars().take(2000).collect(),
        user: id(payload, "user_id")?.to_owned(),
        channel: id(payload, "channel_id")?.to_owned(),
        answer_to: owned(payload, "response_url").filter(is_safe),
    })
}

async fn run_command(context: &SlackContext, me: &SlackIdentity, command: SlashCommand) {
    let person = context.slack.names.caller(&command.user).await.unwrap_or_default();
    let caller = Caller {
        person: me.person(&command.user),
        // In a direct message people may change every setting, since the room is their own.
        manages: person.manages || command.channel.starts_with('D'),
        language: person.language.unwrap_or_default(),
    };
    let place = Place { room: me.room(&command.channel), thread: None };
    let answer = context.commands.run(&command.text, &caller, &place).await;
    if let Err(error) = send_answer(context, &command, &mrkdwn(&answer)).await {
        tracing::warn!(%error, "cannot answer a slash command");
    }
}

/// Visible to the caller alone: sent to the URL that Slack provided, or else as an ephemeral message.
async fn send_answer(
    context: &SlackContext,
    command: &SlashCommand,
    answer: &str,
) -> Result<(), super::errors::ApiError> {
    let api = &context.slack.api;
    if let Some(url) = &command.answer_to {
        match api.respond(url, answer).await {
            Ok(()) => return Ok(()),
            Err(error) => tracing::debug!(%error, "cannot use the response URL; posting an ephemeral message"),
        }
    }
    let form = [("channel", command.channel.as_str()), ("user", &command.user), ("text", answer)];
    api.call("chat.postEphemeral", &form).await.map(|_| ())
}
