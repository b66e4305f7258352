//! Slack's Web API: sends a form, receives JSON, and returns errors that the caller can act on.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use reqwest::{Body, Client, Response, StatusCode, header};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;
use url::form_urlencoded;

use super::errors::ApiError;
use super::read::{flag, owned};
use super::timely_body::TimelyBody;
use crate::platforms::is_same_token;
use crate::platforms::server_clock::ServerClock;
use crate::platforms::web_socket::error_chain;
use crate::runtime::Clock;
use crate::tls;

const SLACK: &str = "https://slack.com/api";
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// How long a post that has left may be under way. Beyond that the connection is given up.
pub(super) const ARRIVES_WITHIN: Duration = Duration::from_secs(2);
/// Enough for a page of a thousand people; a larger response is an error.
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// If Slack asks to wait and does not say how long.
const USUAL_PATIENCE: Duration = Duration::from_secs(30);

/// A call that works with every valid bot token.
const WHO_AM_I: &str = "auth.test";

pub struct Api {
    client: Client,
    /// The same for posts: it does not go on trying to get one through that another process may post by then.
    poster: Client,
    base: String,
    tokens: watch::Sender<Arc<SlackTokens>>,
    /// Why nothing works until a person helps.
    given_up: watch::Sender<Option<String>>,
    pub their_clock: ServerClock,
}

pub struct SlackTokens {
    bot: SecretString,
    app: SecretString,
}

/// Which token a call uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    Bot,
    App,
}

/// Slack's response, and the scopes of the token if it includes them.
pub struct ApiResponse {
    pub body: Value,
    pub scopes: Option<String>,
}

impl Api {
    /// `url` is "" for Slack itself.
    pub fn new(url: &str, bot: SecretString, app: SecretString) -> anyhow::Result<Api> {
        let base = if url.is_empty() { SLACK } else { url.trim_end_matches('/') }.to_owned();
        // An upgrade to a web socket needs HTTP/1.1; the few calls we make lose nothing by it.
        let builder = || {
            tls::client_builder()
                .http1_only()
                .connect_timeout(CONNECT_WITHIN)
                .redirect(reqwest::redirect::Policy::none())
                .user_agent(concat!("aizuchi/", env!("CARGO_PKG_VERSION")))
        };
        let poster = builder();
        #[cfg(target_os = "linux")]
        let poster = poster.tcp_user_timeout(ARRIVES_WITHIN);
        let what = "cannot create the HTTP client for Slack";
        let (client, poster) = (builder().build().context(what)?, poster.build().context(what)?);
        let their_clock = ServerClock::new("Slack", Clock::Wall);
        let tokens = watch::Sender::new(Arc::new(SlackTokens { bot, app }));
        Ok(Api { client, poster, base, tokens, given_up: watch::Sender::new(None), their_clock })
    }

    /// From now on calls are made with these tokens. Returns whether they are other ones.
    pub fn set_tokens(&self, bot: SecretString, app: SecretString) -> bool {
        let held = self.tokens();
        if is_same_token(&held.bot, &bot) && is_same_token(&held.app, &app) {
            return false;
        }
        self.tokens.send_replace(Arc::new(SlackTokens { bot, app }));
        self.given_up.send_replace(None);
        true
    }

    fn tokens(&self) -> Arc<SlackTokens> {
        self.tokens.borrow().clone()
    }

    /// Resolves when another token for connections holds than when this was called.
    pub fn other_app_token(&self) -> impl Future<Output = ()> + Send + use<> {
        let (mut tokens, held) = (self.tokens.subscribe(), self.tokens());
        async move {
            let changed = tokens.wait_for(|tokens| !is_same_token(&tokens.app, &held.app)).await.is_ok();
            if !changed {
                std::future::pending().await
            }
        }
    }

    /// The first reason is kept.
    pub fn give_up(&self, why: &str) {
        self.given_up.send_if_modified(|known| {
            let is_first = known.is_none();
            known.get_or_insert_with(|| why.to_owned());
            is_first
        });
    }

    pub fn stopped(&self) -> Option<String> {
        self.given_up.borrow().clone()
    }

    /// Waits until the platform has given up, and returns why.
    pub async fn given_up(&self) -> String {
        let mut given_up = self.given_up.subscribe();
        let why = given_up.wait_for(Option::is_some).await.ok().and_then(|why| why.clone());
        why.expect("the sender lives as long as this")
    }

    pub async fn call(&self, method: &str, form: &[(&str, &str)]) -> Result<Value, ApiError> {
        self.call_with(TokenKind::Bot, method, form).await.map(|answered| answered.body)
    }

    /// The same for what is done once: it leaves before `until` or not at all.
    pub async fn call_before(&self, until: Instant, method: &str, form: &[(&str, &str)]) -> Result<Value, ApiError> {
        self.call_checked(TokenKind::Bot, method, form, Some(until)).await.map(|answered| answered.body)
    }

    pub async fn call_with(
        &self,
        with: TokenKind,
        method: &str,
        form: &[(&str, &str)],
    ) -> Result<ApiResponse, ApiError> {
        self.call_checked(with, method, form, None).await
    }

    /// A refused token is tried once more before that is believed: refusals have been seen to disappear with the next call.
    async fn call_checked(
        &self,
        with: TokenKind,
        method: &str,
        form: &[(&str, &str)],
        until: Option<Instant>,
    ) -> Result<ApiResponse, ApiError> {
        let tokens = self.tokens();
        let refused = match self.call_once(&tokens, with, method, form, until).await {
            Err(error) if error.is_about_token() => error,
            done => return done,
        };
        let again = match with {
            TokenKind::App => self.call_once(&tokens, with, method, form, until).await,
            TokenKind::Bot if method == WHO_AM_I => self.call_once(&tokens, with, method, form, until).await,
            TokenKind::Bot => match self.call_once(&tokens, with, WHO_AM_I, &[], None).await {
                Ok(_) => return Err(ApiError::Disputed(refused.to_string())),
                failed => failed,
            },
        };
        match again {
            Ok(answered) => Ok(answered),
            // Another one holds by now.
            Err(_) if !Arc::ptr_eq(&tokens, &self.tokens()) => Err(ApiError::Disputed(refused.to_string())),
            Err(error) if error.is_about_token() => {
                self.give_up(&refused.to_string());
                Err(refused)
            }
            Err(_) => Err(ApiError::Disputed(refused.to_string())),
        }
    }

    async fn call_once(
        &self,
        tokens: &SlackTokens,
        with: TokenKind,
        method: &str,
        form: &[(&str, &str)],
        until: Option<Instant>,
    ) -> Result<ApiResponse, ApiError> {
        let token = match with {
            TokenKind::Bot => &tokens.bot,
            TokenKind::App => &tokens.app,
        };
        let url = format!("{}/{method}", self.base);
        let request = match until {
            None => self.client.post(url).form(form),
            Some(until) => {
                let body = form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
                let request = self.poster.post(url).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
                request.body(Body::wrap(TimelyBody::new(body, until)))
            }
        };
        let request = request.timeout(ANSWER_WITHIN).bearer_auth(token.expose_secret());
        let sent = request.send().await.map_err(unsent)?;
        self.their_clock.note(sent.headers());
        let scopes = sent.headers().get("x-oauth-scopes").and_then(|scopes| scopes.to_str().ok()).map(str::to_owned);
        let body = body(sent).await?;
        if flag(&body, "ok") {
            return Ok(ApiResponse { body, scopes });
        }
        let error =
            owned(&body, "error").unwrap_or_else(|| "the response has neither a result nor an error".to_owned());
        if error == "ratelimited" || error == "rate_limited" {
            return Err(ApiError::Limited { after: USUAL_PATIENCE });
        }
        Err(ApiError::Refused { needed: owned(&body, "needed"), error })
    }

    /// Answers the user of a slash command. The URL is Slack's and secret; no token is sent there.
    pub async fn respond(&self, url: &str, text: &str) -> Result<(), ApiError> {
        let answer = serde_json::json!({"response_type": "ephemeral", "text": text});
        let sent = self.client.post(url).timeout(ANSWER_WITHIN).json(&answer).send().await.map_err(unsent)?;
        match sent.status() {
            status if status.is_success() => Ok(()),
            status => Err(ApiError::NoAnswer(format!("status {status}"))),
        }
    }

    /// For the web socket, which uses the same settings, including proxies.
    pub fn client(&self) -> &Client {
        &self.client
    }
}

async fn body(mut response: Response) -> Result<Value, ApiError> {
    let status = response.status();
    if status == StatusCode::TOO_MANY_REQUESTS {
        let told = response.headers().get(header::RETRY_AFTER).and_then(|after| after.to_str().ok()?.parse().ok());
        return Err(ApiError::Limited { after: told.map_or(USUAL_PATIENCE, Duration::from_secs) });
    }
    if status.is_server_error() {
        return Err(ApiError::NoAnswer(format!("status {status}")));
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| ApiError::NoAnswer(error_chain(error)))? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > ANSWER_BYTES_MAX {
            return Err(ApiError::NoAnswer("the response is too large".into()));
        }
    }
    serde_json::from_slice(&bytes).map_err(|error| ApiError::NoAnswer(format!("status {status}, not JSON: {error}")))
}

fn unsent(error: reqwest::Error) -> ApiError {
    if error.is_connect() || error.is_builder() {
        ApiError::NotSent(error_chain(error))
    } else {
        ApiError::NoAnswer(error_chain(error))
    }
}
