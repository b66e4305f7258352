//! Calls Discord's REST API: one call, its response as JSON, and errors by what can be done about them. Twilight tracks the
//! rate limit buckets; if the wait is too long, it is returned to the caller.

use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, redirect};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};
use twilight_http_ratelimiting::{Endpoint, Method, Permit, RateLimitHeaders, RateLimiter};

use super::read::{bits, is, list, text};
use crate::platforms::backoff::Backoff;
use crate::platforms::server_clock::ServerClock;
use crate::platforms::web_socket::error_chain;
use crate::runtime::Clock;
use crate::tls;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RestError {
    /// It is unknown whether it was done.
    #[error("unclear response from Discord: {0}")]
    Unclear(String),
    /// For longer than a call waits by itself.
    #[error("rate limited by Discord for {after:?}")]
    Busy { after: Duration },
    #[error("Discord server error (status {0})")]
    Broken(u16),
    #[error("Discord refused the request: {what} (status {status}, code {code})")]
    Refused { status: u16, code: u64, what: String },
    #[error("Discord rejected the bot's token: create a new one in the developer portal (Bot, Reset Token)")]
    BadToken,
}

const DISCORD: &str = "https://discord.com";
const VERSION: &str = "/api/v10";
/// In the form that Discord requires, with the library that knows its limits; clients without it are blocked.
pub const USER_AGENT: &str =
    concat!("DiscordBot (https://github.com/twilight-rs/twilight, 0.18) aizuchi/", env!("CARGO_PKG_VERSION"));

const ANSWER_WITHIN: Duration = Duration::from_secs(10);
const ANSWER_BYTES_MAX: usize = 16 * 1024 * 1024;
/// A call that has to wait longer returns an error instead.
const WAITS_MAX: Duration = Duration::from_secs(5);
/// If Discord asks to wait and does not say how long.
const USUAL_PATIENCE: Duration = Duration::from_secs(30);
/// Rate-limited attempts count too: beyond this many the caller waits.
const ATTEMPTS_MAX: u32 = 3;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Authorization {
    Bot,
    /// The path itself contains the token.
    Anybody,
}

pub struct Rest {
    /// Or why no client could be created.
    client: Result<Client, String>,
    base: String,
    token: RwLock<Arc<RestToken>>,
    limiter: RateLimiter,
    /// No call may be made before then.
    closed_until: Mutex<Option<Instant>>,
    pub their_clock: ServerClock,
}

/// A token, and whether Discord refuses it.
struct RestToken {
    /// `None` if it is not a valid header value.
    header: Option<HeaderValue>,
    /// After repeated requests with a refused token, Discord blocks the whole IP address.
    refused: watch::Sender<bool>,
}

impl RestToken {
    fn new(token: &SecretString) -> Arc<RestToken> {
        let mut header = HeaderValue::from_str(&format!("Bot {}", token.expose_secret())).ok();
        header.iter_mut().for_each(|header| header.set_sensitive(true));
        Arc::new(RestToken { header, refused: watch::Sender::new(false) })
    }
}

/// The result of one attempt.
enum AttemptOutcome {
    Done(Result<Value, RestError>),
    /// Rate limited.
    Limited {
        after: Duration,
    },
}

impl Rest {
    /// `api_url` is the address of Discord's API; "" is Discord itself. Must be called inside a tokio runtime.
    pub fn new(api_url: &str, token: &SecretString) -> Rest {
        let client = tls::client_builder().timeout(ANSWER_WITHIN);
        let client = client.redirect(redirect::Policy::none()).user_agent(USER_AGENT);
        let base = match api_url.trim_end_matches('/') {
            "" => DISCORD.to_owned(),
            url if url.contains("://") => url.to_owned(),
            host => format!("https://{host}"),
        };
        Rest {
            client: client.build().map_err(error_chain),
            base: base + VERSION,
            token: RwLock::new(RestToken::new(token)),
            limiter: RateLimiter::default(),
            closed_until: Mutex::default(),
            their_clock: ServerClock::new("Discord", Clock::Wall),
        }
    }

    /// From now on calls are made with this token.
    pub fn set_token(&self, token: &SecretString) {
        *self.token.write().unwrap_or_else(PoisonError::into_inner) = RestToken::new(token);
    }

    fn token(&self) -> Arc<RestToken> {
        self.token.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub async fn get(&self, path: String) -> Result<Value, RestError> {
        self.call(Authorization::Bot, Method::Get, path, None).await
    }

    pub async fn post(&self, path: String, body: Option<&Value>) -> Result<Value, RestError> {
        self.call(Authorization::Bot, Method::Post, path, body).await
    }

    pub async fn put(&self, path: String, body: Option<&Value>) -> Result<Value, RestError> {
        self.call(Authorization::Bot, Method::Put, path, body).await
    }

    pub async fn delete(&self, path: String) -> Result<Value, RestError> {
        self.call(Authorization::Bot, Method::Delete, path, None).await
    }

    /// Interactions carry their own token.
    pub async fn post_openly(&self, path: String, body: &Value) -> Result<Value, RestError> {
        self.call(Authorization::Anybody, Method::Post, path, Some(body)).await
    }

    pub async fn patch_openly(&self, path: String, body: &Value) -> Result<Value, RestError> {
        self.call(Authorization::Anybody, Method::Patch, path, Some(body)).await
    }

    async fn call(
        &self,
        by: Authorization,
        method: Method,
        path: String,
        body: Option<&Value>,
    ) -> Result<Value, RestError> {
        let endpoint = || Endpoint { method, path: path.split('?').next().unwrap_or_default().to_owned() };
        let mut after = USUAL_PATIENCE;
        for attempt in 1..=ATTEMPTS_MAX {
            self.wait_for_all().await?;
            let permit = timeout(WAITS_MAX, self.limiter.acquire(endpoint())).await;
            let permit = permit.map_err(|_| RestError::Busy { after: WAITS_MAX })?;
            match self.attempt(by, method, &path, body, permit).await? {
                AttemptOutcome::Done(done) => return done,
                AttemptOutcome::Limited { after: told } => after = told,
            }
            if after > WAITS_MAX || attempt == ATTEMPTS_MAX {
                break;
            }
            tokio::time::sleep(after).await;
        }
        Err(RestError::Busy { after })
    }

    /// Waits for a global rate limit to end.
    async fn wait_for_all(&self) -> Result<(), RestError> {
        let until = *self.closed_until.lock().expect("nobody panics while holding it");
        let Some(after) = until.map(|until| until.saturating_duration_since(Instant::now())) else { return Ok(()) };
        if after > WAITS_MAX {
            return Err(RestError::Busy { after });
        }
        tokio::time::sleep(after).await;
        Ok(())
    }

    async fn attempt(
        &self,
        by: Authorization,
        method: Method,
        path: &str,
        body: Option<&Value>,
        permit: Permit,
    ) -> Result<AttemptOutcome, RestError> {
        let client = self.client.as_ref().map_err(|why| RestError::Unclear(why.clone()))?;
        let name = reqwest::Method::from_bytes(method.name().as_bytes()).expect("a method of HTTP");
        let mut request = client.request(name, format!("{}/{path}", self.base));
        let token = self.token();
        if by == Authorization::Bot {
            let header = token.header.clone().filter(|_| !*token.refused.borrow());
            request = request.header("authorization", header.ok_or(RestError::BadToken)?);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.map_err(to_rest_error)?;
        self.their_clock.note(response.headers());
        let (status, headers) = (response.status(), response.headers().clone());
        permit.complete(bucket(&headers));
        let told = read(response).await?;
        if status.is_success() {
            return Ok(AttemptOutcome::Done(told.ok_or_else(|| RestError::Unclear("the response is not JSON".into()))));
        }
        Ok(AttemptOutcome::Done(Err(match status {
            StatusCode::TOO_MANY_REQUESTS => return Ok(self.limited(&headers, &told.unwrap_or_default())),
            StatusCode::UNAUTHORIZED if by == Authorization::Bot => self.check_token(client, &token).await,
            status if status.is_server_error() => RestError::Broken(status.as_u16()),
            status => match told {
                Some(told) => {
                    let (what, fields) = (text(&told, "message").unwrap_or("no reason given"), field_errors(&told));
                    let what = if fields.is_empty() { what.to_owned() } else { format!("{what}: {fields}") };
                    RestError::Refused { status: status.as_u16(), code: bits(&told, "code"), what }
                }
                // A page from a proxy in front of Discord, not a response of the API.
                None => RestError::Unclear(format!("status {status}, not JSON")),
            },
        })))
    }

    /// A call was refused as if the token were invalid: a second call, which every valid token may make, shows whether it
    /// is.
    async fn check_token(&self, client: &Client, token: &Arc<RestToken>) -> RestError {
        let header = token.header.clone().expect("it was sent a moment ago");
        let asked = client.get(format!("{}/users/@me", self.base)).header("authorization", header).send().await;
        match asked.map(|response| response.status()) {
            Ok(StatusCode::UNAUTHORIZED) if !Arc::ptr_eq(token, &self.token()) => {
                RestError::Unclear("status 401 with the token of before".into())
            }
            Ok(StatusCode::UNAUTHORIZED) => {
                token.refused.send_replace(true);
                RestError::BadToken
            }
            Ok(status) if status.is_success() => {
                RestError::Unclear("status 401 for this call, although the token is accepted".into())
            }
            Ok(status) => RestError::Unclear(format!("status 401, and status {status} when the token was checked")),
            Err(error) => {
                RestError::Unclear(format!("status 401, and the token cannot be checked: {}", error_chain(error)))
            }
        }
    }

    /// Waits until the token is known to be invalid.
    pub async fn token_refused(&self) {
        let token = self.token();
        let mut refused = token.refused.subscribe();
        refused.wait_for(|refused| *refused).await.expect("the sender lives as long as this");
    }

    /// The gateway has accepted the token, so earlier doubts are void.
    pub fn token_works(&self) {
        self.token().refused.send_if_modified(|refused| std::mem::replace(refused, false));
    }

    fn limited(&self, headers: &HeaderMap, told: &Value) -> AttemptOutcome {
        let seconds = told.get("retry_after").and_then(Value::as_f64).or_else(|| number(headers, RETRY_AFTER.as_str()));
        let after = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()).unwrap_or(USUAL_PATIENCE);
        // A page instead of a response comes from a proxy in front of Discord, which blocks everything too.
        if is(told, "global") || !told.is_object() {
            let until = Instant::now().checked_add(after);
            *self.closed_until.lock().expect("nobody panics while holding it") = until;
        }
        tracing::info!(?after, "rate limited by Discord; waiting");
        AttemptOutcome::Limited { after }
    }
}

/// Discord's rate limit headers of the bucket a call belongs to.
fn bucket(headers: &HeaderMap) -> Option<RateLimitHeaders> {
    if headers.get(RateLimitHeaders::SCOPE).is_some_and(|scope| scope == "global") {
        return None;
    }
    let reset_after = Duration::try_from_secs_f64(number(headers, RateLimitHeaders::RESET_AFTER)?).ok()?;
    Some(RateLimitHeaders {
        bucket: headers.get(RateLimitHeaders::BUCKET)?.as_bytes().to_vec(),
        limit: number(headers, RateLimitHeaders::LIMIT)? as u16,
        remaining: number(headers, RateLimitHeaders::REMAINING)? as u16,
        reset_at: std::time::Instant::now().checked_add(reset_after)?,
    })
}

fn number(headers: &HeaderMap, name: &str) -> Option<f64> {
    headers.get(name)?.to_str().ok()?.parse().ok()
}

/// `None` if it is not JSON; an empty body is null.
async fn read(mut response: Response) -> Result<Option<Value>, RestError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(to_rest_error)? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() > ANSWER_BYTES_MAX {
            return Err(RestError::Unclear("the response is too large".into()));
        }
    }
    Ok(if bytes.is_empty() { Some(Value::Null) } else { serde_json::from_slice(&bytes).ok() })
}

fn to_rest_error(error: reqwest::Error) -> RestError {
    RestError::Unclear(error_chain(error))
}

/// The errors by field: `0.options.2.name: Must be 1-32 in length`.
fn field_errors(told: &Value) -> String {
    let mut found = Vec::new();
    collect_field_errors(told.get("errors").unwrap_or(&Value::Null), "", &mut found);
    found.truncate(FIELDS_MAX);
    found.join("; ")
}

const FIELDS_MAX: usize = 8;
const FIELD_CHARS_MAX: usize = 200;

fn collect_field_errors(errors: &Value, path: &str, out: &mut Vec<String>) {
    for error in list(errors, "_errors").iter().filter_map(|error| text(error, "message")) {
        out.push(format!("{path}: {error}").chars().take(FIELD_CHARS_MAX).collect());
    }
    for (field, below) in errors.as_object().into_iter().flatten().filter(|(field, _)| *field != "_errors") {
        if out.len() < FIELDS_MAX {
            let path = if path.is_empty() { field.clone() } else { format!("{path}.{field}") };
            collect_field_errors(below, &path, out);
        }
    }
}

const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Retries while that can help, up to a maximum: for calls that nobody waits for.
pub async fn with_retries<T, F>(attempts_max: u32, ask: impl Fn() -> F) -> Result<T, RestError>
where
    F: Future<Output = Result<T, RestError>>,
{
    let mut backoff = Backoff::new(FIRST_PAUSE, LONGEST_PAUSE);
    for _ in 1..attempts_max {
        match ask().await {
            Err(RestError::Unclear(_) | RestError::Broken(_)) => tokio::time::sleep(backoff.next()).await,
            Err(RestError::Busy { after }) => tokio::time::sleep(backoff.next().max(after)).await,
            done => return done,
        }
    }
    ask().await
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_fields_that_are_wrong_are_named() {
        let long = json!({"_errors": [{"code": "X", "message": "Must be 100 or fewer in length."}]});
        let told = json!({"errors": {"0": {"options": {"2": {"description": long}}}, "_errors": [{"message": "odd"}]}});
        assert_eq!(field_errors(&told), ": odd; 0.options.2.description: Must be 100 or fewer in length.");
        for odd in [json!(null), json!({"errors": 3}), json!({"errors": {"a": [1], "_errors": "x"}})] {
            assert_eq!(field_errors(&odd), "");
        }
    }
}
