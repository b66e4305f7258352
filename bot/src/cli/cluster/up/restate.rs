//! Nodes of Restate for a local cluster.

use std::path::Path;

use anyhow::Context as _;

use super::children::{ChildSpec, EndBy};
use super::layout::Layout;

/// Writes the configuration of a node.
pub fn prepare(layout: &Layout, number: usize) -> anyhow::Result<()> {
    let folder = layout.node_folder(number);
    let what = || format!("cannot write into {}", folder.display());
    std::fs::create_dir_all(&folder).with_context(what)?;
    std::fs::write(folder.join("restate.toml"), configuration(layout, number)).with_context(what)
}

pub fn spec(program: &Path, layout: &Layout, number: usize) -> ChildSpec {
    let (folder, name) = (layout.node_folder(number), format!("restate-{}", number + 1));
    ChildSpec {
        log: layout.log_of(&name),
        name,
        program: program.to_owned(),
        arguments: ["--no-logo", "--config-file", "restate.toml"].map(str::to_owned).into(),
        variables: vec![("DO_NOT_TRACK".into(), "1".into())],
        end_by: EndBy::Terminate,
        user: None,
        folder: Some(folder),
    }
}

fn configuration(layout: &Layout, number: usize) -> String {
    let (node, folder) = (&layout.nodes[number], layout.node_folder(number));
    let others: Vec<String> = layout.nodes.iter().map(|node| format!("http://127.0.0.1:{}", node.node)).collect();
    // With three nodes and two copies of everything, any one may be lost.
    let copies = if layout.nodes.len() >= 3 { 2 } else { 1 };
    format!(
        r#"roles = ["worker", "admin", "metadata-server", "log-server", "http-ingress"]
base-dir = {:?}
cluster-name = "aizuchi"
node-name = "restate-{}"
listen-mode = "tcp"
bind-ip = "127.0.0.1"
bind-port = {}
advertised-address = "http://127.0.0.1:{}"
# The first node makes the cluster.
auto-provision = {}
default-num-partitions = 8
default-replication = {copies}
rocksdb-total-memory-size = "256 MiB"
disable-telemetry = true

[metadata-client]
addresses = {others:?}

[admin]
bind-port = {}

[ingress]
bind-port = {}
"#,
        folder.join("data").display().to_string(),
        number + 1,
        node.node,
        node.node,
        number == 0,
        node.admin,
        node.ingress,
    )
}
