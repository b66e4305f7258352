//! All servers of the settings: a task for each keeps it running, and its tools are available while it runs.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use aizuchi_core::tools::ToolOutput;
use rmcp::RoleClient;
use rmcp::model::{CallToolRequestParams, CallToolResponse, ClientRequest, PingRequest};
use rmcp::service::{Peer, ServiceError};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::connection::{McpConnection, ServerEnvironment, connect, service_error};
use super::http::too_large;
use super::listing::ToolListing;
use super::names::ToolNames;
use super::output::to_text;
use super::settings::McpSettings;
use crate::ports::{BoxFuture, Tool, ToolRequest, ToolSource, ToolSpec};

/// Before a server is restarted: the first pause, and the longest.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(60);
/// After running for this long, the next failure counts as the first.
const STEADY: Duration = Duration::from_secs(60);
/// Between two lists of a server that keeps changing them: the first pause, which doubles each time, and the longest.
const LISTS_MIN: Duration = Duration::from_millis(500);
const LISTS_MAX: Duration = Duration::from_secs(60);
/// How long a server that failed a call may take to answer a ping.
const PING: Duration = Duration::from_secs(5);

/// The MCP servers of the settings.
pub struct McpServers {
    servers: Vec<Arc<McpServer>>,
    tasks: Mutex<Vec<JoinHandle<()>>>,
    stop: CancellationToken,
    changes: watch::Receiver<u64>,
}

impl McpServers {
    /// Starts the enabled ones in the background.
    pub fn start(settings: BTreeMap<String, McpSettings>, environment: &ServerEnvironment) -> Arc<McpServers> {
        let (names, stop) = (Arc::new(ToolNames::default()), CancellationToken::new());
        let (changed, changes) = watch::channel(0);
        let enabled = settings.into_iter().filter(|(_, settings)| settings.enabled);
        let new = |(name, settings)| {
            let (names, changed) = (names.clone(), changed.clone());
            Arc::new(McpServer { name, settings, names, changed, state: Mutex::default(), suspect: Notify::new() })
        };
        let servers: Vec<Arc<McpServer>> = enabled.map(new).collect();
        let tasks =
            servers.iter().map(|server| tokio::spawn(server.clone().keep_running(environment.clone(), stop.clone())));
        let tasks = Mutex::new(tasks.collect());
        Arc::new(McpServers { servers, tasks, stop, changes })
    }

    /// Counts every change: starts, ends, and lists of tools.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.clone()
    }

    /// Servers that cannot be used at the moment, and why.
    pub fn failures(&self) -> Vec<(String, String)> {
        let failure = |server: &Arc<McpServer>| {
            let state = server.lock();
            let is_down = state.attempts > 0 && state.link.is_none();
            is_down.then(|| (server.name.clone(), state.why_down.clone()))
        };
        self.servers.iter().filter_map(failure).collect()
    }
}

impl Drop for McpServers {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl ToolSource for McpServers {
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let tools = |server: &Arc<McpServer>| server.lock().tools.clone();
        self.servers.iter().flat_map(tools).map(|tool| tool as Arc<dyn Tool>).collect()
    }

    fn problems(&self) -> Vec<String> {
        let problem = |(name, why)| format!("the MCP server {name} cannot be used: {why}");
        self.failures().into_iter().map(problem).collect()
    }

    fn settled(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let mut changes = self.changes.clone();
            let is_settled = || self.servers.iter().all(|server| server.lock().attempts > 0);
            while !is_settled() {
                if changes.changed().await.is_err() {
                    return;
                }
            }
        })
    }

    fn stop(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            self.stop.cancel();
            let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
            for task in tasks {
                let _ = task.await;
            }
        })
    }
}

struct McpServer {
    name: String,
    settings: McpSettings,
    names: Arc<ToolNames>,
    changed: watch::Sender<u64>,
    state: Mutex<ServerState>,
    /// A call failed in a way that makes it doubtful whether the server still runs.
    suspect: Notify,
}

#[derive(Default)]
struct ServerState {
    /// `None` while it is not running.
    link: Option<ServerLink>,
    tools: Vec<Arc<McpTool>>,
    why_down: String,
    attempts: u64,
}

/// What a call needs.
#[derive(Clone)]
struct ServerLink {
    peer: Peer<RoleClient>,
    too_long: watch::Receiver<u32>,
}

impl McpServer {
    fn lock(&self) -> MutexGuard<'_, ServerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn keep_running(self: Arc<Self>, environment: ServerEnvironment, stop: CancellationToken) {
        self.restart_until(&environment, &stop).await;
        self.set_down("stopped", StaleTools::Dropped);
    }

    async fn restart_until(self: &Arc<Self>, environment: &ServerEnvironment, stop: &CancellationToken) {
        let mut pause = PAUSE_MIN;
        loop {
            let connecting = connect(&self.name, &self.settings, environment);
            let connected = tokio::select! {
                connected = connecting => connected,
                () = stop.cancelled() => return,
            };
            let why = match connected {
                Ok((mut connection, listing)) => {
                    let since = Instant::now();
                    self.set_up(&connection, listing);
                    let why = tokio::select! {
                        why = self.watch_connection(&mut connection) => Some(why),
                        () = stop.cancelled() => None,
                    };
                    self.set_down(why.as_deref().unwrap_or("stopping"), StaleTools::Kept);
                    connection.stop().await;
                    let Some(why) = why else { return };
                    if since.elapsed() >= STEADY {
                        pause = PAUSE_MIN;
                    }
                    why
                }
                Err(error) => {
                    self.set_down(&error.what, StaleTools::Dropped);
                    error.what
                }
            };
            tracing::warn!("MCP server {}: {why}, retrying in {} s", self.name, pause.as_secs());
            tokio::select! {
                () = tokio::time::sleep(pause) => (),
                () = stop.cancelled() => return,
            }
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Runs until the server is no longer usable. Returns why.
    async fn watch_connection(self: &Arc<Self>, connection: &mut McpConnection) -> String {
        let (mut is_stale, mut next_list, mut gap) = (false, Instant::now(), LISTS_MIN);
        loop {
            tokio::select! {
                // A call that failed because of the end must not hide why it ended.
                biased;
                () = connection.ended() => return connection.why_ended().await,
                () = connection.list_changed(), if !is_stale => is_stale = true,
                () = tokio::time::sleep_until(next_list), if is_stale => {
                    is_stale = false;
                    gap = if next_list.elapsed() >= LISTS_MAX { LISTS_MIN } else { (gap * 2).min(LISTS_MAX) };
                    self.list_again(connection).await;
                    next_list = Instant::now() + gap;
                }
                () = self.suspect.notified() => {
                    let request = ClientRequest::PingRequest(PingRequest::default());
                    let pinging = connection.peer().send_request(request);
                    match tokio::time::timeout(PING, pinging).await {
                        Ok(Ok(_) | Err(ServiceError::McpError(_))) => (),
                        Ok(Err(error)) => return connection.why_ended_or(service_error(&error)).await,
                        Err(_) => return "does not respond".into(),
                    }
                }
            }
        }
    }

    async fn list_again(self: &Arc<Self>, connection: &McpConnection) {
        match tokio::time::timeout(self.settings.timeout, connection.list()).await {
            Ok(Ok(listing)) => {
                let count = self.set_tools(listing);
                tracing::info!("MCP server {}: changed its tools, {count} now", self.name);
            }
            Ok(Err(what)) => tracing::warn!("MCP server {}: cannot list its tools: {what}", self.name),
            Err(_) => tracing::warn!("MCP server {}: no list of tools in time", self.name),
        }
    }

    fn set_up(self: &Arc<Self>, connection: &McpConnection, listing: ToolListing) {
        let link = ServerLink { peer: connection.peer().clone(), too_long: connection.too_long.clone() };
        let count = self.set_tools(listing);
        self.change(|state| {
            state.link = Some(link);
            state.attempts += 1;
        });
        tracing::info!("MCP server {}: started, {count} tools", self.name);
    }

    fn set_down(&self, why: &str, stale: StaleTools) {
        self.change(|state| {
            state.link = None;
            state.why_down = why.to_owned();
            state.attempts += 1;
            if stale == StaleTools::Dropped {
                state.tools.clear();
            }
        });
    }

    fn set_tools(self: &Arc<Self>, listing: ToolListing) -> usize {
        for left_out in &listing.left_out {
            tracing::warn!("MCP server {}: left out {left_out}", self.name);
        }
        let names = self.names.assign(&self.name, listing.tools.iter().map(|tool| tool.name.as_str()));
        let tool = |(name, listed): (String, super::listing::ListedTool)| {
            let spec = ToolSpec { name, description: listed.description, schema: listed.schema, access: listed.access };
            Arc::new(McpTool { spec, called: listed.name, server: self.clone() })
        };
        let tools: Vec<Arc<McpTool>> = names.into_iter().zip(listing.tools).map(tool).collect();
        let count = tools.len();
        self.change(|state| state.tools = tools);
        count
    }

    fn change(&self, change: impl FnOnce(&mut ServerState)) {
        change(&mut self.lock());
        self.changed.send_modify(|count| *count += 1);
    }
}

/// Whether tools are still offered while their server is restarted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StaleTools {
    Kept,
    Dropped,
}

/// One tool of a server.
struct McpTool {
    spec: ToolSpec,
    /// Its name on the server.
    called: String,
    server: Arc<McpServer>,
}

impl Tool for McpTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, request: ToolRequest<'a>) -> BoxFuture<'a, Result<ToolOutput, String>> {
        Box::pin(async move {
            let params = CallToolRequestParams::new(self.called.clone()).with_arguments(request.arguments.clone());
            let text = self.call(params).await?;
            Ok(ToolOutput::from_outside(text))
        })
    }
}

impl McpTool {
    async fn call(&self, params: CallToolRequestParams) -> Result<String, String> {
        let name = &self.server.name;
        let link = {
            let state = self.server.lock();
            state.link.clone().ok_or_else(|| format!("the MCP server {name} is not running: {}", state.why_down))?
        };
        let (limit, mut too_long) = (self.server.settings.timeout, link.too_long);
        too_long.mark_unchanged();
        let calling = tokio::time::timeout(limit, link.peer.call_tool_once(params));
        let called = tokio::select! {
            called = calling => called,
            Ok(()) = too_long.changed() => return Err(too_large()),
        };
        match called {
            Ok(Ok(CallToolResponse::Complete(result))) => to_text(&result),
            Ok(Ok(_)) => Err(format!("the MCP server {name} asks for more, which it cannot be given here")),
            Ok(Err(error @ (ServiceError::TransportClosed | ServiceError::TransportSend(_)))) => {
                self.server.suspect.notify_one();
                let what = service_error(&error);
                Err(format!(
                    "the MCP server {name} failed during the call, which may or may not have taken effect: {what}"
                ))
            }
            Ok(Err(error)) => Err(service_error(&error)),
            Err(_) => Err(format!("the MCP server {name} gave no result within {} s", limit.as_secs())),
        }
    }
}
