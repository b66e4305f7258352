//! Why a call failed, in words that say what to fix, and whether a retry can help.
#![expect(clippy::wildcard_enum_match_arm, reason = "the client library adds errors with every version")]

use std::time::Duration;

use jiff::Timestamp;
use secrecy::ExposeSecret as _;
use serde_json::Value;

use super::providers::ModelAddress;
use crate::ports::ModelError;

/// Why a provider rejects a request, so that a simpler one may succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelRefusal {
    /// The tools, or their results.
    Tools,
    /// The request is too long.
    Length,
    /// Some other part of it.
    Form,
}

impl ModelRefusal {
    pub fn of(error: &genai::Error) -> Option<ModelRefusal> {
        let status = error.status()?.as_u16();
        refusal(status, body(error))
    }
}

fn refusal(status: u16, body: &str) -> Option<ModelRefusal> {
    if blames_the_key(status, body) {
        return None;
    }
    let told = body.to_lowercase();
    let tells_of = |words: &[&str]| words.iter().any(|word| told.contains(word));
    match status {
        400 | 422 if tells_of(&["context length", "context size", "context window", "too long", "too large"]) => {
            Some(ModelRefusal::Length)
        }
        // Gateways report that there is no such model, and llama.cpp reports an internal error.
        400 | 404 | 422 | 500 | 501 if tells_of(&["tool", "function call"]) => Some(ModelRefusal::Tools),
        400 | 422 => Some(ModelRefusal::Form),
        _ => None,
    }
}

/// Whether the call is free: the request was refused, or never sent.
pub fn is_unpaid(error: &genai::Error) -> bool {
    if error.status().is_some() {
        return true;
    }
    match error {
        genai::Error::WebModelCall { webc_error, .. } | genai::Error::WebAdapterCall { webc_error, .. } => {
            matches!(webc_error, genai::webc::Error::Reqwest(cause) if cause.is_connect() || cause.is_builder())
        }
        genai::Error::ChatResponse { .. } | genai::Error::ChatResponseGeneration { .. } => false,
        // The other errors are about requests we do not make.
        _ => true,
    }
}

pub fn explain(error: &genai::Error, address: &ModelAddress) -> ModelError {
    if let Some(status) = error.status() {
        let after = error.headers().and_then(|headers| {
            let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
            wait_told(text("retry-after-ms"), text("retry-after"), Timestamp::now())
        });
        return of_status(status.as_u16(), after, body(error), address);
    }
    let (provider, url) = (&address.provider, address.shown_url());
    match error {
        genai::Error::WebModelCall { webc_error, .. } | genai::Error::WebAdapterCall { webc_error, .. } => {
            use genai::webc::Error;
            match webc_error {
                Error::Reqwest(cause) if cause.is_connect() => try_later(format!("cannot reach {provider} at {url}")),
                Error::Reqwest(cause) if cause.is_builder() => give_up(format!("{url} is not a valid URL")),
                Error::Reqwest(_) => try_later(format!("the connection to {provider} was lost")),
                Error::ResponseFailedInvalidJson { .. } | Error::JsonValueExt(_) => {
                    try_later(format!("{provider} returned invalid JSON"))
                }
                Error::ResponseFailedNotJson { .. } => {
                    give_up(format!("{url} does not respond like {provider}: check the URL"))
                }
                Error::ResponseFailedStatus { status, .. } => of_status(status.as_u16(), None, body(error), address),
            }
        }
        // Google returns a response without an answer if it blocks what people said.
        genai::Error::ChatResponse { body, .. } if body.get("error").is_none() => {
            give_up(format!("{provider} returned no answer: it may have blocked the content"))
        }
        genai::Error::ChatResponse { body, .. } => {
            try_later(format!("{provider} returned an error{}", told_by(&body.to_string(), address)))
        }
        genai::Error::ChatResponseGeneration { .. } => {
            give_up(format!("{url} does not respond like {provider}: check the provider's format"))
        }
        // The other errors are about requests we do not make; their text may contain what people said.
        _ => give_up(format!("the request to {provider} could not be built")),
    }
}

pub fn try_later(what: String) -> ModelError {
    ModelError::TryLater { after: None, what }
}

pub fn give_up(what: String) -> ModelError {
    ModelError::GiveUp { what }
}

fn body(error: &genai::Error) -> &str {
    match error {
        genai::Error::HttpError { body, .. } => body,
        genai::Error::WebModelCall { webc_error, .. } | genai::Error::WebAdapterCall { webc_error, .. } => {
            match webc_error {
                genai::webc::Error::ResponseFailedStatus { body, .. } => body,
                _ => "",
            }
        }
        _ => "",
    }
}

fn of_status(status: u16, after: Option<Duration>, body: &str, address: &ModelAddress) -> ModelError {
    let (ModelAddress { provider, model, key, .. }, url) = (address, address.shown_url());
    let told = told_by(body, address);
    if blames_the_key(status, body) {
        return give_up(match &key.secret {
            Some(_) => format!("the key in {} was refused by {provider}", key.variable),
            None if key.variable.is_empty() => {
                format!("{provider} needs an API key: name its environment variable in providers.{provider}.key")
            }
            None => format!("{provider} needs an API key: set {}", key.variable),
        });
    }
    match status {
        // Waiting does not help if the account has no credit.
        429 if body.contains("insufficient_quota") => {
            give_up(format!("the account behind {} has no credit left", key.variable))
        }
        429 => ModelError::TryLater {
            after: after.or_else(|| wait_in_body(body)),
            what: format!("rate limited by {provider}{told}"),
        },
        408 | 409 | 425 | 500.. => {
            ModelError::TryLater { after, what: format!("{provider} server error (status {status}){told}") }
        }
        404 => give_up(format!("{provider} has no model {model:?} at {url}{told}")),
        403 => give_up(format!("{provider} does not allow this with the key in {}{told}", key.variable)),
        _ => give_up(format!("{provider} refused the request (status {status}){told}")),
    }
}

/// Google reports an invalid key as a bad request.
fn blames_the_key(status: u16, body: &str) -> bool {
    status == 401 || (status == 400 && (body.contains("API_KEY_INVALID") || body.contains("API key not valid")))
}

/// How long to wait according to the headers: milliseconds, seconds, or a date.
fn wait_told(milliseconds: Option<&str>, after: Option<&str>, now: Timestamp) -> Option<Duration> {
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| (0.0..1e9).contains(number));
    if let Some(milliseconds) = milliseconds.and_then(number) {
        return Some(Duration::from_secs_f64(milliseconds / 1000.0));
    }
    let after = after?;
    if let Some(seconds) = number(after) {
        return Some(Duration::from_secs_f64(seconds));
    }
    let until = jiff::fmt::rfc2822::parse(after).ok()?.timestamp();
    Some(Duration::try_from(until.duration_since(now)).unwrap_or_default())
}

/// Google puts it into the body: `"retryDelay": "34s"`.
fn wait_in_body(body: &str) -> Option<Duration> {
    let body: Value = serde_json::from_str(body).ok()?;
    let details = body.pointer("/error/details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let seconds = delay.strip_suffix('s')?.parse::<f64>().ok()?;
    Duration::try_from_secs_f64(seconds).ok()
}

const TOLD_CHARS_MAX: usize = 200;

/// The provider's message on one line, without the key.
fn told_by(body: &str, address: &ModelAddress) -> String {
    let Ok(body) = serde_json::from_str::<Value>(body) else { return String::new() };
    let said = ["/error/message", "/message", "/error", "/0/error/message"]
        .into_iter()
        .find_map(|place| body.pointer(place)?.as_str().map(str::to_owned));
    let Some(said) = said else { return String::new() };
    let said = match &address.key.secret {
        Some(secret) => said.replace(secret.expose_secret(), "…"),
        None => said,
    };
    let one_line: String = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown: String = one_line.chars().take(TOLD_CHARS_MAX).collect();
    format!(": {shown}{}", if shown.len() < one_line.len() { "…" } else { "" })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::providers::{find, tests::variables};
    use super::*;

    fn anthropic() -> ModelAddress {
        find("anthropic/claude-haiku-4-5", &BTreeMap::new(), &variables(&[("ANTHROPIC_API_KEY", "sk-1")])).unwrap()
    }

    #[test]
    fn a_wait_is_told_in_milliseconds_seconds_or_as_a_date() {
        let now: Timestamp = "1994-11-06T08:49:07Z".parse().unwrap();
        let wait = |milliseconds, after| wait_told(milliseconds, after, now);
        assert_eq!(wait(Some("1500"), Some("9")), Some(Duration::from_millis(1500)));
        assert_eq!(wait(None, Some("2.5")), Some(Duration::from_millis(2500)));
        assert_eq!(wait(None, Some("Sun, 06 Nov 1994 08:49:37 GMT")), Some(Duration::from_secs(30)));
        assert_eq!(wait(None, Some("Sun, 06 Nov 1994 08:00:00 GMT")), Some(Duration::ZERO));
        for odd in ["soon", "-1", "", "1e99"] {
            assert_eq!(wait(None, Some(odd)), None, "{odd}");
        }
        let body = r#"{"error": {"details": [{"@type": "x"}, {"retryDelay": "34s"}]}}"#;
        assert_eq!(wait_in_body(body), Some(Duration::from_secs(34)));
    }

    #[test]
    fn a_refusal_says_what_to_fix() {
        let told = |status, body: &str| match of_status(status, None, body, &anthropic()) {
            ModelError::GiveUp { what } => what,
            later => panic!("{later:?}"),
        };
        assert_eq!(told(401, ""), "the key in ANTHROPIC_API_KEY was refused by anthropic");
        assert_eq!(told(400, "{\"error\": {\"status\": \"API_KEY_INVALID\"}}"), told(401, ""));
        assert!(told(404, "").starts_with("anthropic has no model \"claude-haiku-4-5\""));
        assert!(told(429, "{\"error\": {\"code\": \"insufficient_quota\"}}").contains("no credit"));
        let echoed = told(400, r#"{"error": {"message": "bad\n thing with sk-1"}}"#);
        assert_eq!(echoed, "anthropic refused the request (status 400): bad thing with …");
    }

    #[test]
    fn a_refusal_is_about_tools_where_it_says_so() {
        for (status, body, is) in [
            (
                400,
                r#"{"error": "registry.ollama.ai/library/gemma:2b does not support tools"}"#,
                Some(ModelRefusal::Tools),
            ),
            (404, r#"{"error": {"message": "No endpoints found that support tool use"}}"#, Some(ModelRefusal::Tools)),
            (500, r#"{"error": {"message": "tools param requires --jinja flag"}}"#, Some(ModelRefusal::Tools)),
            (
                400,
                r#"{"error": {"message": "This model's maximum context length is 8192 tokens"}}"#,
                Some(ModelRefusal::Length),
            ),
            (400, r#"{"error": {"message": "response_format is not supported"}}"#, Some(ModelRefusal::Form)),
            (400, r#"{"error": {"status": "API_KEY_INVALID"}}"#, None),
            (404, "{}", None),
            (500, "oops", None),
        ] {
            assert_eq!(refusal(status, body), is, "{body}");
        }
    }

    #[test]
    fn what_passes_is_tried_again() {
        for status in [408, 409, 425, 429, 500, 502, 503, 529] {
            assert!(matches!(of_status(status, None, "", &anthropic()), ModelError::TryLater { .. }), "{status}");
        }
    }
}
