//! `/aizuchi …`: acknowledged at once, obeyed, and answered to whoever gave the order alone.

use std::sync::Arc;

use aizuchi_core::types::Place;
use serde_json::Value;

use super::inbox;
use super::listen::Desk;
use super::mrkdwn::mrkdwn;
use super::read::{id, owned, text};
use super::translate::Me;
use crate::language::Language;
use crate::ports::Orderer;

/// An order that came.
struct Given {
    order: String,
    user: String,
    channel: String,
    /// Where Slack wants the answer.
    answer_to: Option<String>,
}

/// Begins to obey, once. Whether the envelope can be acknowledged.
pub async fn obey(desk: &Arc<Desk>, me: &Arc<Me>, envelope: &str, payload: Value) -> bool {
    let (key, at) = (envelope.to_owned(), desk.slack.clock.now());
    match desk.slack.database.write(move |transaction| inbox::is_new(transaction, &key, at)).await {
        Ok(true) => (),
        Ok(false) => return true,
        Err(failed) => {
            tracing::error!(%failed, "can not note an order from Slack");
            return false;
        }
    }
    let Some(given) = read(&payload, &desk.slack.settings.api_url) else { return true };
    let Ok(permit) = desk.obeying.clone().try_acquire_owned() else {
        tracing::warn!("too many orders at once");
        return true;
    };
    let (desk, me) = (desk.clone(), me.clone());
    desk.tasks.clone().spawn(async move {
        tokio::select! {
            () = carry_out(&desk, &me, given) => (),
            () = desk.stop.cancelled() => (),
        }
        drop(permit);
    });
    true
}

fn read(payload: &Value, api_url: &str) -> Option<Given> {
    // In the clear only where Slack itself is spoken to in the clear: on loopback.
    let is_safe =
        |url: &String| url.starts_with("https://") || (url.starts_with("http://") && api_url.starts_with("http://"));
    Some(Given {
        order: text(payload, "text").unwrap_or_default().chars().take(2000).collect(),
        user: id(payload, "user_id")?.to_owned(),
        channel: id(payload, "channel_id")?.to_owned(),
        answer_to: owned(payload, "response_url").filter(is_safe),
    })
}

async fn carry_out(desk: &Desk, me: &Me, given: Given) {
    let person = desk.slack.names.orderer(&given.user).await.unwrap_or_default();
    let orderer = Orderer {
        person: me.person(&given.user),
        // In a direct message people may set what they like: it is their own.
        manages: person.manages || given.channel.starts_with('D'),
        language: if person.japanese.unwrap_or(false) { Language::Japanese } else { Language::English },
    };
    let place = Place { room: me.room(&given.channel), thread: None };
    let answer = desk.orders.obey(&given.order, &orderer, &place).await;
    if let Err(error) = tell(desk, &given, &mrkdwn(&answer)).await {
        tracing::warn!(%error, "an order was obeyed, and could not be answered");
    }
}

/// For whoever gave the order alone, on the way that Slack offers or on the other.
async fn tell(desk: &Desk, given: &Given, answer: &str) -> Result<(), super::trouble::ApiError> {
    let api = &desk.slack.api;
    if let Some(url) = &given.answer_to {
        match api.respond(url, answer).await {
            Ok(()) => return Ok(()),
            Err(error) => tracing::debug!(%error, "answers an order on another way"),
        }
    }
    let form = [("channel", given.channel.as_str()), ("user", &given.user), ("text", answer)];
    api.call("chat.postEphemeral", &form).await.map(|_| ())
}
