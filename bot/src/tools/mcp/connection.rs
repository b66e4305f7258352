//! A connection to one server: how it is made, and why it fails.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation};
use rmcp::service::{ClientInitializeError, NotificationContext, Peer, RunningService, ServiceError};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransport, StreamableHttpClientTransportConfig};
use rmcp::{ClientHandler, RoleClient, ServiceExt as _};
use tokio::sync::{Notify, watch};

use super::clean::log_line;
use super::guard::{GuardedTransport, LineCounter, MESSAGE_BYTES_MAX, ServerEnd};
use super::http::BoundedHttp;
use super::listing::{ToolListing, list_tools};
use super::process::ServerProcess;
use super::settings::{McpAddress, McpSettings};

/// The environment of this program, by name.
pub type ServerEnvironment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Why a server cannot be used, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectError {
    pub what: String,
    pub fix: String,
}

/// A program that reads nothing for this long is stopped.
const WRITING: Duration = Duration::from_secs(10);
/// How long closing a connection may take.
const CLOSING: Duration = Duration::from_secs(2);

pub struct McpConnection {
    service: RunningService<RoleClient, ListWatcher>,
    process: Option<ServerProcess>,
    end: ServerEnd,
    /// The number of responses that were too long to be read.
    pub too_long: watch::Receiver<u32>,
}

/// Notified when the list of tools changes.
#[derive(Clone, Default)]
struct ListWatcher {
    changed: Arc<Notify>,
}

impl ClientHandler for ListWatcher {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    fn get_info(&self) -> ClientConfig {
        let own = Implementation::new("aizuchi", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), own)
    }
}

/// Connects and lists the tools.
pub async fn connect(
    name: &str,
    settings: &McpSettings,
    environment: &ServerEnvironment,
) -> Result<(McpConnection, ToolListing), ConnectError> {
    let connecting = async {
        let connection = match &settings.reached {
            McpAddress::Program { command, variables } => start_program(name, command, variables, environment).await?,
            McpAddress::Url { url, token_variable } => {
                reach(name, url, token_variable.as_deref(), settings.timeout, environment).await?
            }
        };
        let listing = connection.list().await.map_err(|what| ConnectError {
            what: format!("cannot list its tools: {what}"),
            fix: "check that it is an MCP server with tools".into(),
        })?;
        Ok((connection, listing))
    };
    match tokio::time::timeout(settings.timeout, connecting).await {
        Ok(connected) => connected,
        Err(_) => Err(ConnectError {
            what: format!("no answer within {} s", settings.timeout.as_secs()),
            fix: format!("check that it is an MCP server, or raise mcp.{name}.timeout_seconds"),
        }),
    }
}

/// Starts a server or connects to it, lists its tools, and disconnects.
pub async fn try_server(
    name: &str,
    settings: &McpSettings,
    environment: &ServerEnvironment,
) -> Result<Vec<String>, ConnectError> {
    let (connection, listing) = connect(name, settings, environment).await?;
    connection.stop().await;
    Ok(listing.tools.into_iter().map(|tool| log_line(&tool.name)).collect())
}

async fn start_program(
    name: &str,
    command: &[String],
    variables: &[String],
    environment: &ServerEnvironment,
) -> Result<McpConnection, ConnectError> {
    let program = command.first().map_or("", String::as_str);
    let started = ServerProcess::start(name, command, variables, environment);
    let (mut process, stdout, stdin) = started.map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => ConnectError {
            what: format!("cannot start {program}: there is no such program"),
            fix: format!("install {program}, or correct mcp.{name}.command"),
        },
        _ => ConnectError {
            what: format!("cannot start {program}: {error}"),
            fix: format!("correct mcp.{name}.command"),
        },
    })?;
    let (stdout, too_long) = LineCounter::new(stdout);
    let end = ServerEnd::default();
    let transport = AsyncRwTransport::new_client(stdout, stdin).with_max_line_length(MESSAGE_BYTES_MAX);
    let serving = serve(GuardedTransport::new(transport, WRITING, end.clone())).await;
    match serving {
        Ok(service) => Ok(McpConnection { service, process: Some(process), end, too_long }),
        Err(error) => {
            let what = match error {
                ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. } => {
                    process.why_not_started().await
                }
                other => initialize_error(&other),
            };
            let fix = format!("run `{}` by hand and see what it prints", command.join(" "));
            Err(ConnectError { what, fix })
        }
    }
}

async fn reach(
    name: &str,
    url: &str,
    token_variable: Option<&str>,
    timeout: Duration,
    environment: &ServerEnvironment,
) -> Result<McpConnection, ConnectError> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(url).max_sse_event_size(MESSAGE_BYTES_MAX);
    if let Some(variable) = token_variable {
        let Some(token) = environment(variable).filter(|token| !token.trim().is_empty()) else {
            return Err(ConnectError { what: format!("{variable} is not set"), fix: format!("set {variable}") });
        };
        config = config.auth_header(token.trim());
    }
    let client = BoundedHttp::new().map_err(|what| ConnectError { what, fix: "check the TLS setup".into() })?;
    let transport = StreamableHttpClientTransport::with_client(client, config);
    let end = ServerEnd::default();
    // Over HTTP, sending a message lasts until its response arrives; a call has its own limit.
    let patience = timeout * 2 + WRITING;
    match serve(GuardedTransport::new(transport, patience, end.clone())).await {
        Ok(service) => Ok(McpConnection { service, process: None, end, too_long: watch::channel(0).1 }),
        Err(error) => {
            let what = initialize_error(&error);
            let is_refused = what.contains("401") || what.contains("403");
            let fix = match token_variable {
                Some(variable) if is_refused => format!("check the token in {variable}"),
                None if is_refused => format!("name the variable with its token in mcp.{name}.token_variable"),
                _ => format!("check mcp.{name}.url, and that the server is running"),
            };
            Err(ConnectError { what, fix })
        }
    }
}

async fn serve(
    transport: GuardedTransport<impl Transport<RoleClient> + 'static>,
) -> Result<RunningService<RoleClient, ListWatcher>, ClientInitializeError> {
    ListWatcher::default().serve(transport).await
}

fn initialize_error(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::JsonRpcError(error) => format!("refused: {}", log_line(&error.message)),
        ClientInitializeError::TransportError { error, .. } => cause(&*error.error),
        ClientInitializeError::ConnectionClosed(_) => super::guard::CLOSED.into(),
        // The other errors contain what the server sent.
        _ => "it does not speak MCP".into(),
    }
}

/// The innermost cause is the most informative.
pub fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut innermost = error;
    while let Some(source) = innermost.source() {
        innermost = source;
    }
    log_line(&innermost.to_string())
}

impl McpConnection {
    pub fn peer(&self) -> &Peer<RoleClient> {
        self.service.peer()
    }

    pub async fn list(&self) -> Result<ToolListing, String> {
        let mut too_long = self.too_long.clone();
        too_long.mark_unchanged();
        let has_tools = self.peer().peer_info().is_none_or(|info| info.capabilities.tools.is_some());
        if !has_tools {
            return Ok(ToolListing::default());
        }
        tokio::select! {
            listed = list_tools(self.peer()) => listed.map_err(|error| service_error(&error)),
            Ok(()) = too_long.changed() => Err(super::http::too_large()),
        }
    }

    /// Waits until the list of tools changes.
    pub async fn list_changed(&self) {
        self.service.service().changed.notified().await;
    }

    /// Waits until it has ended.
    pub async fn ended(&self) {
        self.end.wait().await;
    }

    /// Why it ended, as far as that is known.
    pub async fn why_ended(&mut self) -> String {
        match &mut self.process {
            Some(process) if self.end.reason() == super::guard::CLOSED => process.why_ended().await,
            _ => self.end.reason().into(),
        }
    }

    /// The same if only an error shows that it ended: the exit of a program says more.
    pub async fn why_ended_or(&mut self, error: String) -> String {
        match self.process.is_some() && tokio::time::timeout(CLOSING, self.ended()).await.is_ok() {
            true => self.why_ended().await,
            false => error,
        }
    }

    pub async fn stop(self) {
        let McpConnection { mut service, process, .. } = self;
        let _ = service.close_with_timeout(CLOSING).await;
        if let Some(process) = process {
            process.stop().await;
        }
    }
}

/// Why a request failed.
pub fn service_error(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => log_line(&error.message),
        ServiceError::TransportSend(error) => cause(&*error.error),
        ServiceError::TransportClosed => super::guard::CLOSED.into(),
        ServiceError::UnexpectedResponse => "unexpected answer".into(),
        other => log_line(&other.to_string()),
    }
}
