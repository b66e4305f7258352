//! Servers as the settings name them, and calls of their tools.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use aizuchi::config;
use aizuchi::ports::{Tool, ToolRequest, ToolSource as _};
use aizuchi::tools::mcp::{McpServers, McpSettings, ServerEnvironment};
use aizuchi_core::Policies;
use aizuchi_core::tools::ToolAccess;
use aizuchi_core::types::{MessageId, PersonId, Place, Time};
use aizuchi_test_servers::folder::Scratch;
use serde_json::Value;

/// Longer than anything takes, where two cores do everything at once.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub fn script(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp").join(name).to_string_lossy().into_owned()
}

/// A program below `target/servers`.
pub fn prepared(path: &str) -> String {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/servers");
    let folder = std::env::var_os("AIZUCHI_MCP_SERVERS").map_or_else(usual, PathBuf::from);
    let program = folder.join(path);
    assert!(
        program.exists(),
        "{} is not there: `./dev servers` prepares it, and `./dev test` does so by itself",
        program.display()
    );
    program.to_string_lossy().into_owned()
}

/// For the servers of the tests themselves.
pub fn python() -> String {
    prepared("mcp/bin/python")
}

/// The script of one of the servers that run in Node.
pub fn node_server(name: &str) -> String {
    prepared(&format!("mcp-node/node_modules/@modelcontextprotocol/server-{name}/dist/index.js"))
}

pub struct McpFixture {
    pub servers: Arc<McpServers>,
    policies: Policies,
    pub folder: Scratch,
}

impl McpFixture {
    /// The servers of these settings, started; `NOTES` in their environment is a file of the folder.
    pub async fn open(settings: &str) -> McpFixture {
        McpFixture::open_in(Scratch::new("mcp"), settings, &[]).await
    }

    pub async fn open_in(folder: Scratch, settings: &str, variables: &[(&str, &str)]) -> McpFixture {
        let mut layers = config::new_layers();
        layers.add_file("aizuchi.toml", settings);
        config::resolve(&layers).unwrap_or_else(|error| panic!("{error}"));
        let settings = layers.family::<McpSettings>().expect("they resolve");
        let notes = folder.join("notes").to_string_lossy().into_owned();
        let variables: Vec<(String, String)> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let environment: ServerEnvironment = Arc::new(move |name| match name {
            "NOTES" => Some(notes.clone()),
            _ => match variables.iter().find(|(known, _)| known == name) {
                Some((_, value)) => Some(value.clone()),
                None => std::env::var(name).ok(),
            },
        });
        let servers = McpServers::start(settings, &environment);
        let house = McpFixture { servers, policies: Policies::preset("aizuchi").expect("it is there"), folder };
        within(house.servers.settled()).await;
        house
    }

    pub fn names(&self) -> Vec<String> {
        self.servers.tools().iter().map(|tool| tool.spec().name.clone()).collect()
    }

    pub fn tool(&self, name: &str) -> Arc<dyn Tool> {
        let found = self.servers.tools().into_iter().find(|tool| tool.spec().name == name);
        found.unwrap_or_else(|| panic!("there is no {name}: {:?} {:?}", self.names(), self.servers.failures()))
    }

    pub fn access(&self, name: &str) -> ToolAccess {
        self.tool(name).spec().access
    }

    pub async fn call(&self, name: &str, arguments: Value) -> Result<String, String> {
        within(self.call_of(self.tool(name), arguments)).await
    }

    pub async fn call_of(&self, tool: Arc<dyn Tool>, arguments: Value) -> Result<String, String> {
        let arguments = arguments.as_object().expect("arguments are an object").clone();
        let request = ToolRequest {
            arguments: &arguments,
            place: &Place::room("web:lobby"),
            asker: &PersonId::new("web:mia"),
            answering: &MessageId::new("1"),
            now: Time(0),
            seq: 0,
            policy: self.policies.general(),
        };
        let output = tool.run(request).await?;
        assert!(output.from_outside, "whatever a server says comes from outside");
        Ok(output.text.into())
    }

    /// Waits for a change of the servers after which this holds.
    pub async fn until(&self, holds: impl Fn(&McpFixture) -> bool) {
        let mut changes = self.servers.changes();
        let waiting = async {
            while !holds(self) {
                changes.changed().await.expect("the servers are there");
            }
        };
        within(waiting).await;
    }

    /// What a server has written down.
    pub fn notes(&self) -> Vec<String> {
        let text = std::fs::read_to_string(self.folder.join("notes")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// Waits for a server to write this down.
    pub async fn until_noted(&self, note: &str) {
        within(poll(|| self.notes().iter().any(|line| line == note))).await;
    }

    pub fn pids(&self) -> Vec<u32> {
        self.notes().iter().filter_map(|line| line.strip_prefix("pid ")?.parse().ok()).collect()
    }

    pub async fn close(self) -> Scratch {
        within(self.servers.stop()).await;
        self.folder
    }
}

pub async fn within<T>(waiting: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, waiting).await.expect("it happens in time")
}

/// Looks again and again at what nobody tells.
pub async fn poll(holds: impl Fn() -> bool) {
    while !holds() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Whether there is such a process; one that waits to be reaped by somebody else is none.
pub fn is_running(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}
