//! The REST API's manners: authorization, rate limits, scripted mishaps, and answers with the right headers.

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::Response;
use futures_util::stream;
use serde_json::{Value, json};

use super::Shared;
use super::limits::BucketState;
use super::routes::{Reply, route};

/// A request as it came.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    /// `POST channels/1/messages`
    pub line: String,
    pub body: Value,
}

/// What goes wrong with one request.
#[derive(Clone, Debug)]
pub enum ScriptedFailure {
    /// It is done, and the answer is lost on the way.
    AnswerLost,
    Refused {
        status: u16,
        code: u64,
        message: &'static str,
    },
    /// Too many requests: of this bucket, or of all.
    Limited {
        after_s: f64,
        global: bool,
    },
    /// A page of whatever is before Discord.
    Page(u16),
    /// With a body of its own.
    Answer(u16, Value),
}

pub fn refused(status: u16, code: u64, message: &str) -> Reply {
    (status, json!({"message": message, "code": code}))
}

pub async fn answer(
    State(world): State<Shared>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let Some(path) = uri.path().strip_prefix("/api/v10/") else {
        return response(refused(404, 0, "404: Not Found"), None);
    };
    let line = format!("{method} {path}");
    let parsed: Value = serde_json::from_slice(&body).unwrap_or_else(|_| multipart(&body));
    let query: Vec<(String, String)> = uri.query().map(pairs).unwrap_or_default();
    world.with(|world| world.asked.push(RecordedRequest { line: line.clone(), body: parsed.clone() }));
    // What is before Discord lets nobody in who does not say that they are a bot.
    let agent = headers.get("user-agent").and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !agent.starts_with("DiscordBot (http") {
        return response(refused(403, 40333, "internal network error"), None);
    }
    let open = path.starts_with("interactions/") || path.starts_with("webhooks/");
    let token = headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
    let known = world.with(|world| token.strip_prefix("Bot ") == Some(world.token.as_str()));
    if !open && !known {
        return response(refused(401, 0, "401: Unauthorized"), None);
    }
    let segments: Vec<&str> = path.split('/').collect();
    let bucket = match segments[..] {
        ["channels", channel, kind, ..] => format!("{method}-{channel}-{kind}"),
        [first, ..] => format!("{method}-{first}"),
        [] => String::new(),
    };
    let standing = world.with(|world| world.buckets.take(bucket));
    if standing.exceeded {
        return limited(standing.reset_after.as_secs_f64(), false, &standing);
    }
    let mishap = world.with(|world| {
        let index = world.mishaps.iter().position(|(wanted, _)| line.contains(wanted.as_str()))?;
        Some(world.mishaps.remove(index).1)
    });
    match mishap {
        Some(ScriptedFailure::Refused { status, code, message }) => {
            response(refused(status, code, message), Some(&standing))
        }
        Some(ScriptedFailure::Limited { after_s, global }) => limited(after_s, global, &standing),
        Some(ScriptedFailure::Answer(status, body)) => response((status, body), Some(&standing)),
        Some(ScriptedFailure::Page(status)) => {
            Response::builder().status(status).header("content-type", "text/html").body("<html>".into()).unwrap()
        }
        Some(ScriptedFailure::AnswerLost) => {
            world.with(|world| route(world, &method, &segments, &query, &parsed));
            let broken =
                stream::iter([Ok(Bytes::from_static(b"{\"id")), Err(std::io::Error::other("the line is cut"))]);
            Response::builder().status(200).body(Body::from_stream(broken)).unwrap()
        }
        None => {
            let done = world.with(|world| route(world, &method, &segments, &query, &parsed));
            response(done, Some(&standing))
        }
    }
}

fn pairs(query: &str) -> Vec<(String, String)> {
    query.split('&').filter_map(|pair| pair.split_once('=')).map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
}

/// The JSON part of a form, as clients send it beside files.
fn multipart(body: &[u8]) -> Value {
    let text = String::from_utf8_lossy(body);
    let Some((_, rest)) = text.split_once("name=\"payload_json\"") else { return Value::Null };
    let json = rest.split_once("\r\n\r\n").map_or("", |(_, json)| json.split("\r\n--").next().unwrap_or(""));
    serde_json::from_str(json).unwrap_or_default()
}

fn response((status, body): Reply, standing: Option<&BucketState>) -> Response<Body> {
    let mut builder = Response::builder().status(status);
    if status != 204 {
        builder = builder.header("content-type", "application/json");
    }
    if let Some(standing) = standing {
        builder = builder
            .header("x-ratelimit-bucket", &standing.bucket)
            .header("x-ratelimit-limit", standing.limit)
            .header("x-ratelimit-remaining", standing.remaining)
            .header("x-ratelimit-reset-after", format!("{:.3}", standing.reset_after.as_secs_f64()))
            .header(
                "x-ratelimit-reset",
                format!(
                    "{:.3}",
                    jiff::Timestamp::now().as_millisecond() as f64 / 1000.0 + standing.reset_after.as_secs_f64()
                ),
            );
    }
    let body = if status == 204 { Body::empty() } else { Body::from(body.to_string()) };
    builder.body(body).unwrap()
}

fn limited(after_s: f64, global: bool, standing: &BucketState) -> Response<Body> {
    let body = json!({"message": "You are being rate limited.", "retry_after": after_s, "global": global});
    let mut builder = Response::builder()
        .status(429)
        .header("content-type", "application/json")
        .header("retry-after", format!("{}", after_s.ceil() as u64))
        .header("x-ratelimit-scope", if global { "global" } else { "user" });
    builder = if global {
        builder.header("x-ratelimit-global", "true")
    } else {
        builder
            .header("x-ratelimit-bucket", &standing.bucket)
            .header("x-ratelimit-limit", standing.limit)
            .header("x-ratelimit-remaining", 0)
            .header("x-ratelimit-reset-after", format!("{after_s:.3}"))
    };
    builder.body(body.to_string().into()).unwrap()
}
