//! Tools of other programs: MCP servers, started or reached over HTTP. Whatever they send is limited, and none of it is
//! trusted.
#![allow(clippy::wildcard_enum_match_arm, reason = "the enums are those of the library, which says that they grow")]

mod clean;
mod connection;
mod guard;
mod http;
mod listing;
mod names;
mod output;
mod process;
mod servers;
mod settings;

pub use connection::{ConnectError, ServerEnvironment, try_server};
pub use servers::McpServers;
pub use settings::{McpAddress, McpSettings};
