//! The HTTP client for remote MCP servers. It follows no redirect, and limits how much of a response it reads.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::connection::cause;
use super::guard::MESSAGE_BYTES_MAX;
use crate::tls;

const ACCEPTED: &str = "text/event-stream, application/json";
const SESSION: &str = "mcp-session-id";

#[derive(Clone)]
pub struct BoundedHttp(reqwest::Client);

/// Why a request failed, without the layers around it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct HttpFailure(String);

impl From<reqwest::Error> for HttpFailure {
    fn from(error: reqwest::Error) -> HttpFailure {
        HttpFailure(cause(&error))
    }
}

type HttpError = StreamableHttpError<HttpFailure>;

fn failed(error: reqwest::Error) -> HttpError {
    StreamableHttpError::Client(error.into())
}

/// Converts the error of the library's own client.
fn translated(error: StreamableHttpError<reqwest::Error>) -> HttpError {
    match error {
        StreamableHttpError::Client(error) => failed(error),
        StreamableHttpError::SessionExpired => StreamableHttpError::SessionExpired,
        StreamableHttpError::ServerDoesNotSupportSse => StreamableHttpError::ServerDoesNotSupportSse,
        other => unexpected(other.to_string()),
    }
}

impl BoundedHttp {
    pub fn new() -> Result<BoundedHttp, String> {
        let client = tls::client_builder().redirect(reqwest::redirect::Policy::none()).build();
        client.map(BoundedHttp).map_err(|error| format!("cannot set up TLS: {error}"))
    }
}

impl StreamableHttpClient for BoundedHttp {
    type Error = HttpFailure;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let mut request = self.0.post(uri.as_ref()).header(ACCEPT, ACCEPTED);
        if let Some(token) = auth_header {
            request = request.bearer_auth(token);
        }
        for (name, value) in custom_headers {
            request = request.header(name, value);
        }
        if let Some(id) = &session_id {
            request = request.header(SESSION, id.as_ref());
        }
        let response = request.json(&message).send().await.map_err(failed)?;
        let wants_answer = matches!(message, JsonRpcMessage::Request(_));
        answer(response, session_id.is_some(), wants_answer).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), HttpError> {
        self.0.delete_session(uri, session_id, auth_header, custom_headers).await.map_err(translated)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpError> {
        let size = MESSAGE_BYTES_MAX;
        self.0
            .get_stream_with_max_sse_event_size(uri, session_id, last_event_id, auth_header, custom_headers, size)
            .await
            .map_err(translated)
    }
}

async fn answer(response: Response, in_session: bool, wanted: bool) -> Result<StreamableHttpPostResponse, HttpError> {
    let status = response.status();
    let header = |name: &str| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
    let (kind, session) = (header(CONTENT_TYPE.as_str()).unwrap_or_default(), header(SESSION));
    match status {
        StatusCode::ACCEPTED | StatusCode::NO_CONTENT => Ok(StreamableHttpPostResponse::Accepted),
        StatusCode::NOT_FOUND if in_session => Err(StreamableHttpError::SessionExpired),
        _ if !status.is_success() => {
            let body = if kind.starts_with("application/json") { read(response).await? } else { Vec::new() };
            match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
                Ok(message @ JsonRpcMessage::Error(_)) => Ok(StreamableHttpPostResponse::Json(message, session)),
                _ => Err(unexpected(format!("HTTP {status}"))),
            }
        }
        _ if kind.starts_with("text/event-stream") => {
            // One response, including everything sent along with it.
            let mut total = 0;
            let bytes = response.bytes_stream().map(move |chunk| {
                let chunk = chunk.map_err(io::Error::other)?;
                total += chunk.len();
                if total > MESSAGE_BYTES_MAX { Err(io::Error::other(too_large())) } else { Ok(chunk) }
            });
            Ok(StreamableHttpPostResponse::Sse(SseStream::from_bytes_stream(bytes).boxed(), session))
        }
        _ if kind.starts_with("application/json") => {
            let body = read(response).await?;
            match serde_json::from_slice(&body) {
                Ok(message) => Ok(StreamableHttpPostResponse::Json(message, session)),
                Err(_) if !wanted => Ok(StreamableHttpPostResponse::Accepted),
                Err(error) => Err(unexpected(format!("not a message of the protocol: {error}"))),
            }
        }
        _ if !wanted => Ok(StreamableHttpPostResponse::Accepted),
        _ => Err(unexpected(format!("unexpected content type {:?}", kind.chars().take(100).collect::<String>()))),
    }
}

fn unexpected(what: impl Into<Cow<'static, str>>) -> HttpError {
    StreamableHttpError::UnexpectedServerResponse(what.into())
}

async fn read(mut response: Response) -> Result<Vec<u8>, HttpError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        if body.len() + chunk.len() > MESSAGE_BYTES_MAX {
            return Err(unexpected(too_large()));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

pub fn too_large() -> String {
    format!("the answer is larger than {} MB", MESSAGE_BYTES_MAX / (1024 * 1024))
}
