//! The MCP servers: each is started or reached once, and asked for its tools.

use std::sync::Arc;

use super::{DoctorContext, LiveChecks};
use crate::check::Check;
use crate::cli::run::variable;
use crate::tools::mcp::{ConnectError, McpSettings, ServerEnvironment, try_server};

const PART: &str = "mcp";

pub fn check(context: &DoctorContext<'_>) -> Vec<Check> {
    // Invalid settings are reported by the settings check.
    let Ok(servers) = context.layers.family::<McpSettings>() else { return Vec::new() };
    let (enabled, disabled): (Vec<_>, Vec<_>) = servers.iter().partition(|(_, settings)| settings.enabled);
    let mut checks = match context.calls {
        LiveChecks::None => enabled.iter().map(|(name, _)| Check::ok(PART, format!("{name}: not started"))).collect(),
        LiveChecks::Real if enabled.is_empty() => Vec::new(),
        LiveChecks::Real => try_all(&enabled),
    };
    checks.extend(disabled.iter().map(|(name, _)| Check::ok(PART, format!("{name}: disabled"))));
    checks
}

/// All servers are tried concurrently; each has its own timeout.
fn try_all(servers: &[(&String, &McpSettings)]) -> Vec<Check> {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            return vec![Check::fail(PART, format!("cannot start the async runtime: {error}"), "free some memory")];
        }
    };
    let environment: ServerEnvironment = Arc::new(variable);
    let tried = servers
        .iter()
        .map(|(name, settings)| async { (name.as_str(), try_server(name, settings, &environment).await) });
    let tried = runtime.block_on(futures_util::future::join_all(tried));
    tried.into_iter().map(|(name, found)| to_check(name, found)).collect()
}

fn to_check(name: &str, found: Result<Vec<String>, ConnectError>) -> Check {
    match found {
        Ok(tools) if tools.is_empty() => {
            Check::warn(PART, format!("{name}: started, no tools"), format!("set mcp.{name}.enabled = false"))
        }
        Ok(tools) => {
            let plural = if tools.len() == 1 { "tool" } else { "tools" };
            Check::ok(PART, format!("{name}: started, {} {plural}: {}", tools.len(), tools.join(", ")))
        }
        Err(ConnectError { what, fix }) => Check::fail(PART, format!("{name}: {what}"), fix),
    }
}
