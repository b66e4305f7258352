//! A Restate server on loopback, one node, in a folder and on ports of its own. It tells nobody that it runs.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::daemon::{Daemon, command_as};
use crate::folder::Scratch;
use crate::postgres::servers_folder;
use crate::program::{PATIENCE, free_address};

const LOOKS_EVERY: Duration = Duration::from_millis(20);
/// How long one request may take.
const ANSWERS_WITHIN: Duration = Duration::from_secs(10);

pub struct RestateServer {
    ingress: SocketAddr,
    admin: SocketAddr,
    node: SocketAddr,
    // Dropped before the folder in which it writes.
    running: Mutex<Option<Daemon>>,
    folder: Scratch,
}

impl RestateServer {
    /// Waits until it takes requests.
    pub async fn start() -> RestateServer {
        let server = RestateServer {
            ingress: free_address(),
            admin: free_address(),
            node: free_address(),
            running: Mutex::default(),
            folder: Scratch::new("restate"),
        };
        std::fs::write(server.folder.join("restate.toml"), server.configuration()).expect("its folder can be written");
        server.start_again().await;
        server
    }

    /// Where requests to services go, such as `http://127.0.0.1:8080`.
    pub fn ingress(&self) -> String {
        format!("http://{}", self.ingress)
    }

    /// Where workers are registered.
    pub fn admin(&self) -> String {
        format!("http://{}", self.admin)
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
        assert!(self.running().is_none(), "the Restate server runs");
        let program = installed_program();
        let mut command = command_as(None, &program, Some("KILL"));
        command.env("DO_NOT_TRACK", "1").current_dir(&*self.folder);
        command.arg("--no-logo").arg("--config-file").arg(self.folder.join("restate.toml"));
        *self.running() = Some(Daemon::start(command, &self.folder.join("log")));
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

    fn configuration(&self) -> String {
        format!(
            r#"roles = ["worker", "admin", "metadata-server", "log-server", "http-ingress"]
base-dir = "{}"
cluster-name = "tests"
node-name = "n1"
listen-mode = "tcp"
bind-ip = "127.0.0.1"
bind-port = {}
auto-provision = true
default-num-partitions = 4
rocksdb-total-memory-size = "256 MiB"
disable-telemetry = true

[admin]
bind-port = {}

[ingress]
bind-port = {}
"#,
            self.folder.join("data").display(),
            self.node.port(),
            self.admin.port(),
            self.ingress.port()
        )
    }
}

fn installed_program() -> PathBuf {
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
        let mut stream = TcpStream::connect(address)?;
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
}
