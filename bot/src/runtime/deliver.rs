//! Posting: part by part, each with an idempotency key that never changes, with retries where they make sense.

use std::time::Duration;

use aizuchi_core::effect::{Delivery, Failure, Post, Withdrawal};
use aizuchi_core::tools::{APPROVE, REFUSE};
use aizuchi_core::types::MessageId;

use super::RuntimeContext;
use crate::language::Language;
use crate::ports::{Platform, PostError, PostRequest};
use crate::sentences;

/// Returns the ids of the posts. `due` says in words when a reminder was due. A part that cannot be posted ends the answer:
/// the parts before it stay.
pub async fn deliver(
    context: &RuntimeContext,
    delivery: &Delivery,
    (language, due): (Language, &str),
    retries_max: u32,
) -> Result<Vec<MessageId>, Failure> {
    let room = delivery.place.room.as_str();
    let Some(platform) = context.platform(room) else {
        return Err(Failure::new(format!("no platform has the room {room}")));
    };
    let done = match &delivery.post {
        Post::Reaction(emoji) => react(&**platform, delivery, emoji, retries_max).await,
        Post::Text(parts) => {
            let parts: Vec<&str> = parts.iter().map(|part| &**part).collect();
            post(&**platform, delivery, &parts, retries_max).await
        }
        Post::Excuse(excuse) => {
            post(&**platform, delivery, &[&*sentences::format_excuse(*excuse, language)], retries_max).await
        }
        Post::Reminder(reminder) => {
            let text = sentences::reminder(reminder, due, language);
            post(&**platform, delivery, &[&text], retries_max).await
        }
        Post::Approval(request) => {
            let question = sentences::approval(request, language);
            ask(&**platform, delivery, &question, retries_max).await
        }
    };
    let outcome = if done.is_ok() { "posted" } else { "failed" };
    metrics::counter!("aizuchi_posts_total", "outcome" => outcome).increment(1);
    if let Err(error) = &done {
        tracing::warn!(room, %error, "posting failed");
    }
    done.map_err(|error| Failure::new(error.to_string()))
}

async fn react(
    platform: &dyn Platform,
    delivery: &Delivery,
    emoji: &str,
    retries_max: u32,
) -> Result<Vec<MessageId>, PostError> {
    let react = || platform.react(&delivery.place, &delivery.answering, emoji);
    with_retries(react, retries_max).await.map(|()| Vec::new())
}

/// Posts a question that people answer with a reaction, and adds both reactions to it. If the platform cannot add them,
/// people still can.
async fn ask(
    platform: &dyn Platform,
    delivery: &Delivery,
    question: &str,
    retries_max: u32,
) -> Result<Vec<MessageId>, PostError> {
    let ids = post(platform, delivery, &[question], retries_max).await?;
    for (id, emoji) in ids.iter().flat_map(|id| [(id, APPROVE), (id, REFUSE)]) {
        if let Err(error) = with_retries(|| platform.react(&delivery.place, id, emoji), retries_max).await {
            tracing::warn!(place = %delivery.place, %error, "cannot add a reaction to a question");
            break;
        }
    }
    Ok(ids)
}

async fn post(
    platform: &dyn Platform,
    delivery: &Delivery,
    parts: &[&str],
    retries_max: u32,
) -> Result<Vec<MessageId>, PostError> {
    let mut ids = Vec::new();
    for (part, text) in parts.iter().enumerate() {
        let key = format!("{}/{part}", delivery.call);
        let answering =
            Some(delivery.reply_to()).filter(|to| part == 0 && !delivery.continues && !to.as_str().is_empty());
        let posting = PostRequest { key: &key, place: &delivery.place, text, answering, more: part + 1 < parts.len() };
        match with_retries(|| platform.post(posting), retries_max).await {
            Ok(id) => ids.push(id),
            Err(error) if ids.is_empty() => return Err(error),
            Err(error) => {
                tracing::warn!(part, %error, "posting the rest of an answer failed");
                break;
            }
        }
    }
    Ok(ids)
}

/// Deletes posts; returns the ones that are gone.
pub async fn withdraw(context: &RuntimeContext, withdrawal: &Withdrawal, retries_max: u32) -> Vec<MessageId> {
    let place = &withdrawal.place;
    let Some(platform) = context.platform(place.room.as_str()) else { return Vec::new() };
    let mut gone = Vec::new();
    for post in &withdrawal.posts {
        match with_retries(|| platform.withdraw(place, post), retries_max).await {
            Ok(()) => gone.push(post.clone()),
            Err(error) => tracing::warn!(%place, %post, %error, "cannot withdraw an answer"),
        }
    }
    gone
}

const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Retries as long as the platform asks to wait.
async fn with_retries<'a, T>(
    attempt: impl Fn() -> crate::ports::BoxFuture<'a, Result<T, PostError>>,
    retries_max: u32,
) -> Result<T, PostError> {
    let mut pause = FIRST_PAUSE;
    for _ in 0..retries_max {
        match attempt().await {
            Err(PostError::TryLater { after, what }) => {
                let wait = after.unwrap_or(pause).min(LONGEST_PAUSE);
                tracing::debug!(what, ?wait, "posting is delayed; retrying");
                tokio::time::sleep(wait).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            done => return done,
        }
    }
    attempt().await
}
