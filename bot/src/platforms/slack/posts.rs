//! Posts each part of an answer exactly once. The attempt is stored first: after a crash or a lost connection the channel
//! is searched for the post, by the key in its metadata, or, if a server drops that, by its author, its words and its time.

use std::time::Duration;

use aizuchi_core::types::{Span, Time};
use aizuchi_formats::slack_markup::{NameLookup, plain};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::api::ARRIVES_WITHIN;
use super::errors::ApiError;
use super::listen::POSTS_WITHIN;
use super::mrkdwn::mrkdwn;
use super::platform::{PLATFORM, Slack};
use super::read::{list, stamp, stamp_of, text, time};
use super::translate::SlackIdentity;
use crate::ports::{PostError, PostKey, PostLedger, PostProgress, PostRequest};
use crate::stores::StoreError;

/// The type of the metadata on our posts.
const KIND: &str = "aizuchi_post";
/// How long a post may take to appear in the channel.
const SHOWS_WITHIN: Span = Span::seconds(1);
/// The platform's clock and ours may differ.
const CLOCKS_DIFFER: Span = Span::minutes(5);
const PAGE: &str = "200";
const PAGES_MAX: usize = 10;
const KEPT: Span = Span::minutes(30 * 24 * 60);

/// Returns the time stamp of the post.
pub async fn post(slack: &Slack, channel: &str, posting: &PostRequest<'_>) -> Result<String, PostError> {
    // By a clock that goes on while the process is stopped. The one that stamps the attempt must not be later.
    let (mut since, now) = (Instant::now(), slack.clock.now());
    let posts = &slack.stores.posts;
    let known = posts.begin(ledger_key(posting.key), now).await.map_err(try_later)?;
    let thread = posting.place.thread.as_ref().map(|thread| thread.as_str());
    match known {
        PostProgress::Posted(ts) => return Ok(ts),
        PostProgress::New => (),
        PostProgress::Begun(at) => {
            let shows_within = shows_within(posts.has_others());
            let shown = (at + shows_within).since(now);
            tokio::time::sleep(Duration::from_millis(shown.0.min(shows_within.0))).await;
            let wanted = UnconfirmedPost { key: posting.key, text: &mrkdwn(posting.text), since: at - CLOCKS_DIFFER };
            if let Some(ts) = find(slack, channel, thread, &wanted).await.map_err(to_post_error)? {
                tracing::info!(channel, ts, "found a post from before the restart");
                note(slack, posting.key, Some(&ts)).await;
                return Ok(ts);
            }
            since = Instant::now();
            if !posts.begin_again(ledger_key(posting.key), at, slack.clock.now()).await.map_err(try_later)? {
                return Err(PostError::TryLater { after: None, what: "another process is posting it".into() });
            }
        }
    }
    let until = since + slack.pace.posts_within;
    let text = mrkdwn(posting.text);
    let metadata = json!({"event_type": KIND, "event_payload": {"key": posting.key}}).to_string();
    let mut form = vec![
        ("channel", channel),
        ("text", text.as_str()),
        ("metadata", metadata.as_str()),
        ("unfurl_links", "false"),
        ("unfurl_media", "false"),
        ("link_names", "false"),
    ];
    form.extend(thread.map(|thread| ("thread_ts", thread)));
    match slack.api.call_before(until, "chat.postMessage", &form).await {
        Ok(answer) => {
            let unstamped =
                || PostError::TryLater { after: None, what: "the response has no message timestamp".into() };
            let ts = stamp(&answer, "ts").ok_or_else(unstamped)?.to_owned();
            note(slack, posting.key, Some(&ts)).await;
            Ok(ts)
        }
        Err(error) => {
            // Later the attempt may be that of another process.
            if error.is_certain() && Instant::now() < until {
                note(slack, posting.key, None).await;
            }
            Err(error.into())
        }
    }
}

/// How long after it was begun a post may become visible. A program that starts again knows that the one before has ended; another process
/// of a cluster may only be stopped, or cut off.
fn shows_within(has_others: bool) -> Span {
    match has_others {
        true => Span((POSTS_WITHIN + ARRIVES_WITHIN).as_millis() as u64 + SHOWS_WITHIN.0),
        false => SHOWS_WITHIN,
    }
}

/// A post that may already be visible.
struct UnconfirmedPost<'a> {
    key: &'a str,
    /// In Slack's own format.
    text: &'a str,
    since: Time,
}

/// Looks for a post of ours: the one with the key, or the first with the same words that belongs to no other key.
async fn find(
    slack: &Slack,
    channel: &str,
    thread: Option<&str>,
    wanted: &UnconfirmedPost<'_>,
) -> Result<Option<String>, ApiError> {
    let me = slack.me().await?;
    let oldest = stamp_of(wanted.since);
    let (mut cursor, mut alike) = (String::new(), Vec::new());
    for _ in 0..PAGES_MAX {
        let mut form = vec![
            ("channel", channel),
            ("oldest", oldest.as_str()),
            ("limit", PAGE),
            ("include_all_metadata", "true"),
            ("cursor", cursor.as_str()),
        ];
        form.extend(thread.map(|thread| ("ts", thread)));
        let method = if thread.is_some() { "conversations.replies" } else { "conversations.history" };
        let page = slack.api.call(method, &form).await?;
        let messages = list(&page, "messages");
        let found = messages.iter().find(|message| key_of(message) == Some(wanted.key));
        if let Some(ts) = found.and_then(|message| stamp(message, "ts")) {
            return Ok(Some(ts.to_owned()));
        }
        let alike_here = messages.iter().filter(|message| is_alike(message, &me, wanted));
        alike.extend(alike_here.filter_map(|message| stamp(message, "ts")).map(str::to_owned));
        match page.get("response_metadata").and_then(|more| text(more, "next_cursor")) {
            Some(next) => cursor = next.to_owned(),
            None => return first_free(slack, alike).await,
        }
    }
    // Too much was said since to decide. Posting twice is worse than not at all.
    Err(ApiError::Refused { error: "too many messages were posted since".into(), needed: None })
}

/// Whether a message without a key is ours, of this time, and has the same text.
fn is_alike(message: &Value, me: &SlackIdentity, wanted: &UnconfirmedPost<'_>) -> bool {
    let by_user = text(message, "user") == Some(&me.user);
    let by_bot = me.bot.is_some() && text(message, "bot_id") == me.bot.as_deref();
    let in_time = stamp(message, "ts").and_then(time).is_some_and(|at| at >= wanted.since);
    let said = text(message, "text").unwrap_or_default();
    (by_user || by_bot) && in_time && key_of(message).is_none() && comparable_text(said) == comparable_text(wanted.text)
}

/// The part of a text that does not depend on how a server writes links, marks and emoji.
fn comparable_text(text: &str) -> String {
    let (plain, _) = plain(text, &NameLookup { person: &|_| None, channel: &|_| None });
    let is_name =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_+-'".contains(&b));
    let mut parts = plain.split(':').peekable();
    let mut kept = parts.next().unwrap_or_default().to_owned();
    while let Some(part) = parts.next() {
        // The name of an emoji ends with another colon.
        match parts.peek().filter(|_| is_name(part)) {
            Some(_) => kept.push_str(parts.next().unwrap_or_default()),
            None => kept.push_str(part),
        }
    }
    kept.retain(char::is_alphanumeric);
    if kept.is_empty() { plain.trim().to_owned() } else { kept }
}

/// The oldest that is not known as another post.
async fn first_free(slack: &Slack, mut stamps: Vec<String>) -> Result<Option<String>, ApiError> {
    stamps.sort_unstable();
    let taken = slack.stores.posts.taken(PLATFORM, &stamps).await;
    let taken = taken.map_err(|error| ApiError::NoAnswer(error.to_string()))?;
    Ok(stamps.into_iter().find(|ts| !taken.contains(ts)))
}

fn key_of(message: &Value) -> Option<&str> {
    let metadata = message.get("metadata")?;
    (text(metadata, "event_type") == Some(KIND)).then_some(())?;
    text(metadata.get("event_payload")?, "key")
}

fn ledger_key(key: &str) -> PostKey<'_> {
    PostKey { platform: PLATFORM, key }
}

/// Stores the result: it is posted, or certainly not. If this fails, the post is searched for the next time.
async fn note(slack: &Slack, key: &str, ts: Option<&str>) {
    let posts = &slack.stores.posts;
    let noted = match ts {
        Some(ts) => posts.posted(ledger_key(key), ts).await,
        None => posts.withdraw(ledger_key(key)).await,
    };
    if let Err(failed) = noted {
        tracing::warn!(%failed, "cannot store the outcome of a Slack post");
    }
}

pub async fn sweep(posts: &dyn PostLedger, now: Time) -> Result<(), StoreError> {
    posts.sweep(PLATFORM, now - KEPT).await
}

fn try_later(error: StoreError) -> PostError {
    PostError::TryLater { after: None, what: error.to_string() }
}

fn to_post_error(error: ApiError) -> PostError {
    match PostError::from(error) {
        PostError::GiveUp { what } => {
            PostError::GiveUp { what: format!("cannot check whether it was posted before: {what}") }
        }
        later @ PostError::TryLater { .. } => later,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_are_the_same_however_they_are_written() {
        for (ours, theirs) in [
            ("see https://a.b/c 👍", "see <https://a.b/c> :+1:"),
            ("*yes* &amp; no", "*yes* & no"),
            ("a:\nb", "a: b"),
            ("👍", "👍"),
        ] {
            assert_eq!(comparable_text(ours), comparable_text(theirs), "{ours}");
        }
        for (one, other) in [("at 10:30", "at 10:31"), ("yes", "no"), ("👍", "👎"), ("at 10:30:45", "at 10:30:46")]
        {
            assert_ne!(comparable_text(one), comparable_text(other), "{one}");
        }
    }
}
