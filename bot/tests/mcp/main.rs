//! MCP servers: real ones, and one that does what none should.
#![cfg(feature = "mcp")]

mod house;

mod counting;
mod http;
mod life;
mod odd;
mod real;
