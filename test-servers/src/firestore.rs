//! A Firestore emulator on loopback. Its data is in memory, and gone when it ends.
//!
//! It knows Commit, BatchGetDocuments, RunQuery, RunAggregationQuery, Listen and transactions; not the calls for a single document,
//! BatchWrite or vector search. `firestore.cjs` adds what a store has to cope with: contention, limits, and calls that fail.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use tokio::time::Instant;

use crate::daemon::{Daemon, command_as, find_program};
use crate::folder::Scratch;
use crate::ports::free_address;
use crate::postgres::servers_folder;
use crate::program::PATIENCE;

const LOOKS_EVERY: Duration = Duration::from_millis(5);
/// How often another port is tried when somebody took the one that was free.
const PORTS_MAX: usize = 5;

/// Whether a call that fails was carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallFails {
    BeforeIt,
    AfterIt,
}

/// The one that tests of this process share while any of them holds it, each with a project of its own.
pub async fn shared() -> Arc<FirestoreServer> {
    static SHARED: tokio::sync::Mutex<Weak<FirestoreServer>> = tokio::sync::Mutex::const_new(Weak::new());
    let mut shared = SHARED.lock().await;
    if let Some(server) = shared.upgrade() {
        return server;
    }
    let server = Arc::new(FirestoreServer::start().await);
    *shared = Arc::downgrade(&server);
    server
}

pub struct FirestoreServer {
    address: SocketAddr,
    /// Where tests ask what is in it, and tell it to fail.
    control: AtomicU16,
    // Dropped before the folder in which it writes.
    running: Mutex<Option<Daemon>>,
    folder: Scratch,
}

impl FirestoreServer {
    /// Waits until it listens.
    pub async fn start() -> FirestoreServer {
        let folder = Scratch::new("firestore");
        let mut server = FirestoreServer::at(free_address(), folder);
        for _ in 0..PORTS_MAX {
            match server.try_start().await {
                Ok(()) => return server,
                Err(log) if log.contains("EADDRINUSE") => server.address = free_address(),
                Err(log) => panic!("the Firestore emulator did not start:\n{log}"),
            }
        }
        panic!("no port was free for the Firestore emulator");
    }

    fn at(address: SocketAddr, folder: Scratch) -> FirestoreServer {
        FirestoreServer { address, control: AtomicU16::default(), running: Mutex::default(), folder }
    }

    /// Such as `127.0.0.1:8080`, for `FIRESTORE_EMULATOR_HOST`.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// Id of its process, while it runs.
    pub fn id(&self) -> Option<u32> {
        self.running().as_ref().map(Daemon::id)
    }

    /// SIGKILL. Returns when it has ended.
    pub fn kill(&self) {
        if let Some(mut daemon) = self.running().take() {
            daemon.kill();
        }
    }

    /// On the same port after `kill`, and empty.
    pub async fn start_again(&self) {
        assert!(self.running().is_none(), "the Firestore emulator runs");
        self.try_start().await.unwrap_or_else(|log| panic!("the Firestore emulator did not start again:\n{log}"));
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

    /// All documents of a project as text.
    pub fn dump(&self, project: &str) -> String {
        self.ask(&format!("/dump/{project}"))
    }

    /// How many calls of this kind there were, such as `Commit`.
    pub fn calls(&self, call: &str) -> u64 {
        self.ask(&format!("/calls/{call}")).parse().expect("it answers with a number")
    }

    /// So many calls of this kind fail with this code of gRPC, after `skip` that do not. Only a `Commit` can fail after it.
    pub fn fail(&self, call: &str, code: i32, times: u32, when: CallFails, skip: u32) {
        let when = match when {
            CallFails::BeforeIt => "before",
            CallFails::AfterIt => "after",
        };
        self.ask(&format!("/fail/{call}/{code}/{times}/{when}/{skip}"));
    }

    /// One commit is held, after `skip` that are not, until `release_commits`. It has been called by then, and not made.
    pub fn hold_commit(&self, skip: u32) {
        self.ask(&format!("/hold/{skip}"));
    }

    /// Returns when the commits that were held have been made, or refused.
    pub fn release_commits(&self) {
        self.ask("/release");
    }

    fn ask(&self, path: &str) -> String {
        let control = SocketAddr::new(self.address.ip(), self.control.load(Ordering::Relaxed));
        let mut stream = TcpStream::connect(control).expect("the Firestore emulator can be asked");
        write!(stream, "GET {path} HTTP/1.0\r\n\r\n").expect("it reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("it speaks HTTP");
        assert!(head.contains(" 200 "), "{answer}");
        body.to_owned()
    }

    fn running(&self) -> MutexGuard<'_, Option<Daemon>> {
        self.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// What it printed, if it does not start.
    async fn try_start(&self) -> Result<(), String> {
        let programs = servers_folder().join("firestore");
        assert!(
            programs.join("node_modules").exists(),
            "the Firestore emulator is not in {}: `./dev servers` prepares it, and `./dev test` does so by itself",
            programs.display()
        );
        let node = find_program("node").expect("the Firestore emulator needs Node: sudo apt-get install nodejs npm");
        let mut command = command_as(None, &node, Some("KILL"));
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/firestore.cjs");
        command.arg(script).arg(programs).arg(self.address.port().to_string());
        let log = self.folder.join("log");
        let _ = std::fs::remove_file(&log);
        *self.running() = Some(Daemon::start(command, &log));
        let until = Instant::now() + PATIENCE;
        loop {
            let said = self.running().as_ref().map(Daemon::log).unwrap_or_default();
            let ready = format!("ready {} ", self.address.port());
            if let Some(control) = said.lines().find_map(|line| line.strip_prefix(&*ready)?.parse().ok()) {
                self.control.store(control, Ordering::Relaxed);
                return Ok(());
            }
            if self.running().as_mut().is_none_or(Daemon::has_ended) || Instant::now() > until {
                self.kill();
                return Err(std::fs::read_to_string(&log).unwrap_or(said));
            }
            tokio::time::sleep(LOOKS_EVERY).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpStream;

    use super::*;
    use crate::daemon::is_alive;

    /// The addresses on which this port is open, as the kernel lists them.
    fn listening(port: u16) -> Vec<String> {
        let listed = |file: &str| std::fs::read_to_string(file).unwrap_or_default();
        let all = listed("/proc/net/tcp") + &listed("/proc/net/tcp6");
        let columns = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let open = |columns: &Vec<String>| columns.get(3).is_some_and(|state| state == "0A");
        let addresses = all.lines().map(columns).filter(open).map(|columns| columns[1].clone());
        addresses.filter(|address| address.ends_with(&format!(":{port:04X}"))).collect()
    }

    /// A type of frames, with which both sides of HTTP/2 begin.
    const SETTINGS: u8 = 4;

    async fn first_frame(server: &FirestoreServer) -> u8 {
        let mut connection = TcpStream::connect(server.address()).await.expect("it accepts connections");
        let empty_settings = [0, 0, 0, SETTINGS, 0, 0, 0, 0, 0];
        connection.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.expect("it reads");
        connection.write_all(&empty_settings).await.expect("it reads");
        let mut head = [0; 9];
        connection.read_exact(&mut head).await.expect("it answers");
        head[3]
    }

    #[tokio::test]
    async fn it_listens_on_loopback_only_and_starts_again_on_the_same_port() {
        let server = FirestoreServer::start().await;
        let port = server.address.port();
        for _ in 0..2 {
            assert_eq!(listening(port), [format!("0100007F:{port:04X}")]);
            assert_eq!(first_frame(&server).await, SETTINGS, "it does not speak HTTP/2");
            let id = server.id().expect("it runs");
            server.kill();
            assert!(!is_alive(id) && TcpStream::connect(server.address()).await.is_err());
            server.start_again().await;
        }
        let id = server.id().expect("it runs");
        drop(server);
        assert!(!is_alive(id));
    }

    #[tokio::test]
    async fn a_port_that_is_taken_is_reported() {
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = FirestoreServer::at(taken.local_addr().unwrap(), Scratch::new("x"));
        let log = server.try_start().await.expect_err("somebody listens there");
        assert!(log.contains("EADDRINUSE"), "{log}");
    }
}
