//! Restate servers on loopback, one node or three, each in a folder and on ports of its own. They tell nobody that they run.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::daemon::{Daemon, command_on};
use crate::folder::Scratch;
use crate::network::Machine;
use crate::ports::free_address;
use crate::postgres::servers_folder;
use crate::program::PATIENCE;

const LOOKS_EVERY: Duration = Duration::from_millis(20);
/// How long one request may take.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);

/// One node.
pub struct RestateServer {
    machine: Arc<Machine>,
    ingress: SocketAddr,
    admin: SocketAddr,
    node: SocketAddr,
    // Dropped before the folder in which it writes.
    running: Mutex<Option<Daemon>>,
    folder: Scratch,
}

impl RestateServer {
    /// Alone. Waits until it takes requests.
    pub async fn start() -> RestateServer {
        let server = RestateServer::on(Machine::here());
        server.configure(1, &[server.node], "default-num-partitions = 4");
        server.start_again().await;
        server
    }

    fn on(machine: Arc<Machine>) -> RestateServer {
        let address = || SocketAddr::new(machine.ip(), free_address().port());
        let (ingress, admin, node) = (address(), address(), address());
        RestateServer { machine, ingress, admin, node, running: Mutex::default(), folder: Scratch::new("restate") }
    }

    /// Where requests to services go, such as `http://127.0.0.1:8080`.
    pub fn ingress(&self) -> String {
        format!("http://{}", self.ingress)
    }

    /// Where workers are registered.
    pub fn admin(&self) -> String {
        format!("http://{}", self.admin)
    }

    /// The node itself, where it shows its metrics.
    pub fn node(&self) -> String {
        format!("http://{}", self.node)
    }

    /// Id of its process, while it runs.
    pub fn id(&self) -> Option<u32> {
        self.running().as_ref().map(Daemon::id)
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    /// SIGKILL. Returns when it has ended.
    pub fn kill(&self) {
        if let Some(mut daemon) = self.running().take() {
            daemon.kill();
        }
    }

    /// SIGSTOP: connections stay open, and nothing answers.
    pub fn pause(&self) {
        if let Some(daemon) = self.running().as_mut() {
            daemon.pause();
        }
    }

    pub fn resume(&self) {
        if let Some(daemon) = self.running().as_mut() {
            daemon.resume();
        }
    }

    /// On the same ports and with what it knew before. Waits until it takes requests.
    pub async fn start_again(&self) {
        self.spawn();
        self.until_healthy().await;
    }

    /// The same without waiting.
    pub fn spawn(&self) {
        assert!(self.running().is_none(), "the Restate server runs");
        let mut command = command_on(&self.machine, None, &installed_program(), Some("KILL"));
        command.env("DO_NOT_TRACK", "1").current_dir(&*self.folder);
        command.arg("--no-logo").arg("--config-file").arg(self.folder.join("restate.toml"));
        *self.running() = Some(Daemon::start(command, &self.folder.join("log")));
    }

    pub async fn until_healthy(&self) {
        let until = Instant::now() + PATIENCE;
        while !(is_healthy(self.admin, "/health") && is_healthy(self.ingress, "/restate/health")) {
            let ended = self.running().as_mut().is_none_or(Daemon::has_ended);
            assert!(!ended && Instant::now() < until, "the Restate server did not start:\n{}", self.log());
            tokio::time::sleep(LOOKS_EVERY).await;
        }
    }

    fn running(&self) -> MutexGuard<'_, Option<Daemon>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the configuration of the node of this number; `nodes` are the addresses of all.
    fn configure(&self, number: usize, nodes: &[SocketAddr], size: &str) {
        let nodes: Vec<String> = nodes.iter().map(|node| format!("http://{node}")).collect();
        let written = format!(
            r#"roles = ["worker", "admin", "metadata-server", "log-server", "http-ingress"]
base-dir = "{}"
cluster-name = "tests"
node-name = "n{number}"
listen-mode = "tcp"
bind-ip = "{}"
bind-port = {}
advertised-address = "http://{}"
auto-provision = {}
{size}
rocksdb-total-memory-size = "256 MiB"
disable-telemetry = true

[metadata-client]
addresses = {nodes:?}

# A service that does not say how often to try is given up soon, so that tests notice it.
[default-retry-policy]
max-attempts = 3

[admin]
bind-port = {}

[ingress]
bind-port = {}
"#,
            self.folder.join("data").display(),
            self.machine.ip(),
            self.node.port(),
            self.node,
            number == 1,
            self.admin.port(),
            self.ingress.port()
        );
        std::fs::write(self.folder.join("restate.toml"), written).expect("its folder can be written");
    }
}

/// Three nodes, each of which has two thirds of everything: any one may be lost.
pub struct RestateCluster {
    pub nodes: Vec<RestateServer>,
}

impl RestateCluster {
    /// On these machines. Waits until all of them take requests.
    pub async fn start(machines: [Arc<Machine>; 3]) -> RestateCluster {
        let nodes: Vec<RestateServer> = machines.map(RestateServer::on).into();
        let addresses: Vec<SocketAddr> = nodes.iter().map(|node| node.node).collect();
        for (number, node) in nodes.iter().enumerate() {
            node.configure(number + 1, &addresses, "default-num-partitions = 8\ndefault-replication = 2");
            node.spawn();
        }
        for node in &nodes {
            node.until_healthy().await;
        }
        RestateCluster { nodes }
    }

    /// Of all nodes, with commas between them.
    pub fn ingress(&self) -> String {
        self.nodes.iter().map(RestateServer::ingress).collect::<Vec<_>>().join(",")
    }

    pub fn admin(&self) -> String {
        self.nodes.iter().map(RestateServer::admin).collect::<Vec<_>>().join(",")
    }
}

/// Restate's server, as `./dev servers` has prepared it.
pub fn installed_program() -> PathBuf {
    let machine = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    let package = format!("restate/node_modules/@restatedev/restate-server-linux-{machine}/bin/restate-server");
    let program = servers_folder().join(package);
    assert!(
        program.exists(),
        "the Restate server is not at {}: `./dev servers` prepares it, and `./dev test` does so by itself",
        program.display()
    );
    program
}

fn is_healthy(address: SocketAddr, path: &str) -> bool {
    let ask = || {
        let mut stream = TcpStream::connect_timeout(&address, ANSWERS_WITHIN)?;
        stream.set_read_timeout(Some(ANSWERS_WITHIN))?;
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n")?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok::<_, std::io::Error>(answer)
    };
    ask().is_ok_and(|answer| answer.starts_with("HTTP/1.1 200"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::is_alive;

    #[tokio::test]
    async fn it_starts_again_on_the_same_ports_and_ends_with_its_owner() {
        let server = RestateServer::start().await;
        let first = server.id().expect("it runs");
        server.kill();
        assert!(!is_alive(first) && !is_healthy(server.admin, "/health"));
        server.start_again().await;
        let second = server.id().expect("it runs");
        assert!(is_healthy(server.admin, "/health") && is_healthy(server.ingress, "/restate/health"));
        drop(server);
        assert!(!is_alive(second));
    }

    #[tokio::test]
    async fn three_nodes_go_on_without_the_first() {
        let cluster = RestateCluster::start([Machine::here(), Machine::here(), Machine::here()]).await;
        cluster.nodes[0].kill();
        for node in &cluster.nodes[1..] {
            assert!(is_healthy(node.admin, "/health") && is_healthy(node.ingress, "/restate/health"));
        }
        cluster.nodes[0].start_again().await;
    }
}
