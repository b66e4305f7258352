//! PgBouncer in front of a PostgreSQL server: each transaction may run on another connection.

use std::path::Path;
use std::time::Duration;

use rustix::process::Signal;
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::daemon::{Daemon, command_as, find_program, give, set_mode};
use crate::folder::Scratch;
use crate::ports::free_address;
use crate::postgres::{PASSWORD, PostgresServer, USER};
use crate::program::PATIENCE;

const LOOKS_EVERY: Duration = Duration::from_millis(5);
/// How often another port is tried when somebody took the one that was free.
const PORTS_MAX: usize = 5;

/// Pools connections with `pool_mode = transaction`, for the user `aizuchi` only.
pub struct PgBouncer {
    port: u16,
    // Dropped before the folder in which it writes.
    daemon: Daemon,
    _folder: Scratch,
}

impl PgBouncer {
    /// Waits until it listens.
    pub async fn start(server: &PostgresServer) -> PgBouncer {
        for _ in 0..PORTS_MAX {
            match PgBouncer::try_start(server).await {
                Ok(started) => return started,
                Err(log) if log.contains("Address already in use") => {}
                Err(log) => panic!("PgBouncer did not start:\n{log}"),
            }
        }
        panic!("no port was free for PgBouncer");
    }

    pub fn url(&self, database: &str) -> String {
        PostgresServer::url_at(self.port, database)
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    pub fn id(&self) -> u32 {
        self.daemon.id()
    }

    pub fn log(&self) -> String {
        self.daemon.log()
    }

    async fn try_start(server: &PostgresServer) -> Result<PgBouncer, String> {
        let program = find_program("pgbouncer").expect("pgbouncer is missing: `./dev servers` installs it");
        let folder = Scratch::new("pgbouncer");
        set_mode(&folder, 0o755);
        let port = free_address().port();
        let users = folder.join("users.txt");
        let settings = folder.join("pgbouncer.ini");
        write(&users, &format!("\"{USER}\" \"{PASSWORD}\"\n"), server);
        let text = format!(
            "[databases]\n* = host=127.0.0.1 port={}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
             unix_socket_dir =\npool_mode = transaction\nauth_type = scram-sha-256\nauth_file = {}\n\
             server_tls_sslmode = prefer\n",
            server.port(),
            users.display()
        );
        write(&settings, &text, server);
        let mut command = command_as(server.user(), &program, Some("KILL"));
        command.arg(&settings).current_dir("/");
        let mut daemon = Daemon::start(command, &folder.join("log"));
        let until = Instant::now() + PATIENCE;
        while !(daemon.log().contains("process up") && TcpStream::connect(("127.0.0.1", port)).await.is_ok()) {
            if daemon.has_ended() || Instant::now() > until {
                return Err(daemon.log());
            }
            tokio::time::sleep(LOOKS_EVERY).await;
        }
        Ok(PgBouncer { port, daemon, _folder: folder })
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        self.daemon.end(Signal::TERM);
    }
}

/// For the user of the server alone: it has a password.
fn write(path: &Path, text: &str, server: &PostgresServer) {
    std::fs::write(path, text).expect("a file for PgBouncer");
    set_mode(path, 0o600);
    give(path, server.user());
}
