//! A web of a few names on loopback: what may be read of it and what may not be connected to.

mod hostile;
mod reading;
pub mod server;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use aizuchi_core::Time;
use aizuchi_core::tools::ToolOutput;
use aizuchi_core::types::{MessageId, PersonId, Place};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use serde_json::{Map, Value, json};

use super::{AddressRule, Fetch, FetchSettings, Network};
use crate::config;
use crate::ports::{Tool, ToolRequest};

/// Calls a tool as somebody in the lobby.
pub async fn call(tool: &dyn Tool, arguments: Value) -> Result<ToolOutput, String> {
    let policies = config::resolve(&config::new_layers()).unwrap();
    let arguments: Map<String, Value> = serde_json::from_value(arguments).unwrap();
    let request = ToolRequest {
        arguments: &arguments,
        place: &Place::room("web:lobby"),
        asker: &PersonId::new("web:alice"),
        answering: &MessageId::new("1"),
        now: Time(0),
        seq: 0,
        policy: policies.general(),
    };
    tool.run(request).await
}

async fn read(fetch: &Fetch, url: &str) -> Result<String, String> {
    call(fetch, json!({ "url": url })).await.map(|output| {
        assert!(output.from_outside);
        output.text.into()
    })
}

/// Names and their addresses. A port counts where the URL has none.
struct FakeResolver(Vec<(&'static str, Vec<SocketAddr>)>);

impl Resolve for FakeResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let name = name.as_str().trim_end_matches('.').to_owned();
        let found = self.0.iter().find(|(known, _)| *known == name).map(|(_, addresses)| addresses.clone());
        Box::pin(async move {
            let addresses = found.ok_or_else(|| format!("no such name: {name}"))?;
            Ok(Box::new(addresses.into_iter()) as Addrs)
        })
    }
}

fn fetch(names: Vec<(&'static str, Vec<SocketAddr>)>, rule: AddressRule, settings: FetchSettings) -> Fetch {
    Fetch::on(Network { dns: Arc::new(FakeResolver(names)), rule }, settings).expect("there are hosts")
}

fn settings(hosts: &[&str]) -> FetchSettings {
    let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
    FetchSettings { hosts, allow_http: true, ..FetchSettings::default() }
}

/// One address of loopback plays the public internet.
fn one_is_public(address: IpAddr) -> bool {
    address == IpAddr::from([127, 0, 0, 1]) || super::address::is_public(address)
}
