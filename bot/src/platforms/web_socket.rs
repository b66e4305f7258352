//! Opens a web socket with the same client as all our requests: with its proxy, its certificates and its user agent.

use std::time::Duration;

use reqwest::{Client, StatusCode, Upgraded, header};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

pub type Socket = WebSocketStream<Upgraded>;

const OPENS_WITHIN: Duration = Duration::from_secs(15);

/// The client must speak HTTP/1.1 only, which an upgrade needs. A message larger than `bytes_max` ends the connection.
/// `Err` says why it does not open, without the URL, which may be secret.
pub async fn open(client: &Client, url: &str, bytes_max: usize) -> Result<Socket, String> {
    let url = match url.split_once("://") {
        Some(("wss", rest)) => format!("https://{rest}"),
        Some(("ws", rest)) => format!("http://{rest}"),
        _ => return Err("invalid WebSocket URL".to_owned()),
    };
    match timeout(OPENS_WITHIN, upgrade(client, url, bytes_max)).await {
        Ok(opened) => opened,
        Err(_) => Err(format!("no WebSocket handshake within {} s", OPENS_WITHIN.as_secs())),
    }
}

async fn upgrade(client: &Client, url: String, bytes_max: usize) -> Result<Socket, String> {
    let key = generate_key();
    let request = client
        .get(url)
        .header(header::CONNECTION, "Upgrade")
        .header(header::UPGRADE, "websocket")
        .header(header::SEC_WEBSOCKET_VERSION, "13")
        .header(header::SEC_WEBSOCKET_KEY, &key);
    let response = request.send().await.map_err(error_chain)?;
    if response.status() != StatusCode::SWITCHING_PROTOCOLS {
        return Err(format!("WebSocket handshake refused: status {}", response.status()));
    }
    let accepted = response.headers().get(header::SEC_WEBSOCKET_ACCEPT).map(header::HeaderValue::as_bytes);
    if accepted != Some(derive_accept_key(key.as_bytes()).as_bytes()) {
        return Err("the server does not speak WebSocket: unexpected Sec-WebSocket-Accept header".to_owned());
    }
    let upgraded = response.upgrade().await.map_err(error_chain)?;
    let bounds = WebSocketConfig::default().max_message_size(Some(bytes_max)).max_frame_size(Some(bytes_max));
    Ok(WebSocketStream::from_raw_socket(upgraded, Role::Client, Some(bounds)).await)
}

/// With its causes, and without the URL.
pub fn error_chain(error: reqwest::Error) -> String {
    format!("{:#}", anyhow::Error::from(error.without_url()))
}
