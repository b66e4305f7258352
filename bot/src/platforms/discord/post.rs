//! Posts each message exactly once: Discord remembers a nonce for minutes, and the store remembers which posts were begun.
//! If it is unknown whether a post was completed, it is searched for before it is posted again.

use aizuchi_core::types::{MessageId, Time, stable_hash};
use serde_json::{Value, json};

use super::errors::{DiscordAction, post_error};
use super::places::channel_of;
use super::platform::{Discord, PLATFORM};
use super::read::{first_id_at, id, list, text};
use super::rest::RestError;
use crate::ports::{PostError, PostKey, PostProgress, PostRequest};
use crate::stores::StoreError;

const CONTENT_CHARS_MAX: usize = 2000;
const EMBED_CHARS_MAX: usize = 4096;

/// Clocks differ: the post may be a little older than the note that it was begun.
const SLACK_MS: u64 = 60_000;
const PAGE: usize = 100;
const PAGES_MAX: usize = 5;

/// A flag of a message.
const SUPPRESS_EMBEDS: u64 = 1 << 2;

const EMPTY_MESSAGE: u64 = 50006;
const MISSING_PERMISSIONS: u64 = 50013;

/// Characters derived from the key: Discord accepts 25.
pub fn nonce(key: &str) -> String {
    format!("{:016x}{:08x}", stable_hash(0, key), stable_hash(1, key) as u32)
}

impl Discord {
    pub(super) async fn post_once(&self, posting: PostRequest<'_>) -> Result<MessageId, PostError> {
        let elsewhere = || PostError::GiveUp { what: format!("{} is not a Discord room", posting.place.room) };
        let channel = channel_of(posting.place).ok_or_else(elsewhere)?;
        let action = if posting.place.thread.is_some() { DiscordAction::PostInThread } else { DiscordAction::Post };
        let nonce = nonce(posting.key);
        let found = match self.posts.begin(ledger_key(&nonce), self.clock.now()).await.map_err(try_later)? {
            PostProgress::Posted(message) => Some(message.parse().map_err(|_| unreadable_response(&message))?),
            PostProgress::New => None,
            PostProgress::Begun(at) => {
                let found = self.look_for(channel, posting.text, at).await;
                found.map_err(|error| post_error(DiscordAction::Look, &error))?
            }
        };
        let message = match found {
            Some(message) => message,
            None => self.send(channel, &posting).await.map_err(|error| post_error(action, &error))?,
        };
        // If this is not stored, the post is found by a search.
        if let Err(error) = self.posted(&nonce, message).await {
            tracing::warn!(%error, "cannot store a post");
        }
        Ok(MessageId::new(message.to_string()))
    }

    async fn send(&self, channel: u64, posting: &PostRequest<'_>) -> Result<u64, RestError> {
        let wants_embed = posting.more && posting.answering.is_some() && self.settings.embed_first;
        let too_long = posting.text.chars().count() > CONTENT_CHARS_MAX;
        let path = || format!("channels/{channel}/messages");
        let mut embedded = None;
        if wants_embed || too_long {
            embedded = Some(self.rest.post(path(), Some(&body(posting, PostForm::Embed))).await);
        }
        let done = match embedded {
            // Without permission to embed, the bot may still post text.
            None | Some(Err(RestError::Refused { code: EMPTY_MESSAGE | MISSING_PERMISSIONS, .. })) => {
                self.rest.post(path(), Some(&body(posting, PostForm::Plain))).await
            }
            Some(done) => done,
        };
        id(&done?, "id").ok_or_else(|| RestError::Unclear("the response has no message id".into()))
    }

    /// Finds a post of ours with this text that belongs to no other key. Discord does not return the nonces of old posts.
    async fn look_for(&self, channel: u64, wanted: &str, since: Time) -> Result<Option<u64>, RestError> {
        if self.me().is_none() {
            let me = self.rest.get("users/@me".to_owned()).await?;
            self.set_me(id(&me, "id").ok_or_else(|| RestError::Unclear("the response has no user id".into()))?);
        }
        let mut after = first_id_at(since.0.saturating_sub(SLACK_MS));
        for _ in 0..PAGES_MAX {
            let path = format!("channels/{channel}/messages?limit={PAGE}&after={after}");
            let page = match self.rest.get(path).await {
                // The bot may post but not read: only the nonce protects against duplicates.
                Err(RestError::Refused { .. }) => return Ok(None),
                page => page?,
            };
            let page = page.as_array().map_or(&[][..], Vec::as_slice);
            let mut ours: Vec<u64> =
                page.iter().filter(|post| self.is_ours(post, wanted)).filter_map(|post| id(post, "id")).collect();
            ours.sort_unstable();
            let ids: Vec<String> = ours.iter().map(u64::to_string).collect();
            let taken =
                self.posts.taken(PLATFORM, &ids).await.map_err(|error| RestError::Unclear(error.to_string()))?;
            if let Some(free) = ours.into_iter().find(|id| !taken.contains(&id.to_string())) {
                return Ok(Some(free));
            }
            match page.iter().filter_map(|post| id(post, "id")).max() {
                Some(newest) if page.len() == PAGE => after = newest,
                _ => return Ok(None),
            }
        }
        Ok(None)
    }

    fn is_ours(&self, post: &Value, wanted: &str) -> bool {
        let by = post.get("author").and_then(|author| id(author, "id"));
        // Discord trims white space at both ends.
        let same = |text: &str, most: usize| text.trim() == cut(wanted, most).trim();
        let embedded = list(post, "embeds").first().and_then(|embed| text(embed, "description"));
        by.is_some()
            && by == self.me()
            && (text(post, "content").is_some_and(|content| same(content, CONTENT_CHARS_MAX))
                || embedded.is_some_and(|embedded| same(embedded, EMBED_CHARS_MAX)))
    }

    /// Notes the id of the post: from Discord's response, or from the gateway if that is faster.
    pub(super) async fn posted(&self, nonce: &str, message: u64) -> Result<(), StoreError> {
        self.posts.posted(ledger_key(nonce), &message.to_string()).await
    }

    /// Deletes notes on posts that are no longer needed.
    pub(super) async fn forget_old_posts(&self) {
        let before = Time(self.clock.now().0.saturating_sub(KEPT_MS));
        if let Err(error) = self.posts.sweep(PLATFORM, before).await {
            tracing::warn!(%error, "cannot remove old posts");
        }
    }
}

/// Posts are recorded under their nonces, by which the gateway identifies them.
fn ledger_key(nonce: &str) -> PostKey<'_> {
    PostKey { platform: PLATFORM, key: nonce }
}

fn unreadable_response(message: &str) -> PostError {
    PostError::GiveUp { what: format!("the recorded id of a Discord message is not a number: {message}") }
}

const KEPT_MS: u64 = 30 * 24 * 3600 * 1000;

#[derive(Clone, Copy, PartialEq, Eq)]
enum PostForm {
    Plain,
    Embed,
}

fn body(posting: &PostRequest<'_>, form: PostForm) -> Value {
    let mut body = json!({
        "nonce": nonce(posting.key),
        "enforce_nonce": true,
        // Only the person who is answered is notified.
        "allowed_mentions": {"parse": [], "replied_user": true},
    });
    match form {
        PostForm::Plain => {
            body["content"] = cut(posting.text, CONTENT_CHARS_MAX).into();
            // Discord would fetch every link in it. The flag hides all embeds, so a post with an embed is sent without it.
            body["flags"] = SUPPRESS_EMBEDS.into();
        }
        PostForm::Embed => body["embeds"] = json!([{"description": cut(posting.text, EMBED_CHARS_MAX)}]),
    }
    if let Some(answering) = posting.answering {
        // If the message was deleted meanwhile, the answer is posted all the same.
        body["message_reference"] = json!({"message_id": answering.as_str(), "fail_if_not_exists": false});
    }
    body
}

fn cut(text: &str, chars_max: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    text.chars().take(chars_max - 1).chain(['…']).collect()
}

fn try_later(error: StoreError) -> PostError {
    PostError::TryLater { after: None, what: error.to_string() }
}

#[cfg(test)]
mod tests {
    use aizuchi_core::types::Place;

    use super::*;

    #[test]
    fn nobody_is_called_and_nothing_is_too_long() {
        let (place, answering) = (Place::room("discord:1/2"), MessageId::new("3"));
        let text = format!("@everyone {}", "あ".repeat(5000));
        let posting = PostRequest { key: "k", place: &place, text: &text, answering: Some(&answering), more: false };
        let plain = body(&posting, PostForm::Plain);
        assert_eq!(plain["allowed_mentions"], json!({"parse": [], "replied_user": true}));
        assert_eq!(plain["content"].as_str().unwrap().chars().count(), CONTENT_CHARS_MAX);
        assert_eq!(body(&posting, PostForm::Embed)["embeds"][0]["description"].as_str().unwrap().chars().count(), 4096);
        assert_eq!(plain["message_reference"], json!({"message_id": "3", "fail_if_not_exists": false}));
        assert_eq!(
            (plain["flags"].as_u64(), body(&posting, PostForm::Embed).get("flags")),
            (Some(4), None),
            "no link is fetched"
        );
        assert_eq!((nonce("k").len(), nonce("k") == nonce("l")), (24, false));
    }
}
