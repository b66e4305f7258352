//! PostgreSQL on loopback, in a folder of its own, stopped when it is dropped.
//!
//! A data folder made once (`template.rs`) is copied for each server. TCP connections need the password, the Unix socket needs none:
//! `psql` goes through it as superuser.

mod certificates;
mod installation;
mod standby;
mod template;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use rustix::process::Signal;
use tokio::time::Instant;

use crate::daemon::{Daemon, ServerUser, command_as, find_program, give, private_folder, run, set_mode};
use crate::folder::Scratch;
use crate::network::Machine;
use crate::ports::free_address;
use crate::program::PATIENCE;
use certificates::Certificates;
use installation::Installation;

pub(crate) use installation::servers_folder;

/// Owns the databases of `create_database`, and has no other rights.
pub const USER: &str = "aizuchi";
/// Contains a character that must be escaped in a URL, so that readers have to decode it.
pub const PASSWORD: &str = "pass/word";
const PASSWORD_IN_URL: &str = "pass%2Fword";
const SUPERUSER: &str = "postgres";

const LOOKS_EVERY: Duration = Duration::from_millis(5);
/// How often another port is tried when somebody took the one that was free.
const PORTS_MAX: usize = 5;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PostgresVersion {
    /// The newest in `/usr/lib/postgresql`.
    #[default]
    Debian,
    /// PostgreSQL 16 with pgvector, built without TLS. Only a superuser may `create extension vector` (see `psql`).
    WithVector,
}

#[derive(Clone, Default)]
pub struct PostgresOptions {
    pub version: PostgresVersion,
    /// On disk, with `fsync` and `full_page_writes`. Without, rows survive every stop and kill, but not a failure of the machine.
    pub durable: bool,
    /// Connections without TLS are refused then, except through the Unix socket.
    pub tls: bool,
    /// Settings of the server, such as `max_connections=20`.
    pub extra: Vec<String>,
    /// Where it runs, if not here.
    pub machine: Option<Arc<Machine>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopMode {
    /// Connections are ended and everything is written.
    Fast,
    /// As after a crash: the next start recovers.
    Immediate,
}

pub struct PostgresServer {
    options: PostgresOptions,
    installation: Installation,
    certificates: Option<Certificates>,
    port: u16,
    // Dropped before the folder in which it writes.
    running: Mutex<Option<Daemon>>,
    folder: Scratch,
}

impl PostgresServer {
    /// Waits until it accepts connections.
    pub async fn start(options: PostgresOptions) -> PostgresServer {
        PostgresServer::start_with(options, template::copy_to).await
    }

    /// `fill` makes its data folder.
    async fn start_with(options: PostgresOptions, fill: impl FnOnce(&Installation, &Path)) -> PostgresServer {
        let installation = Installation::find(options.version);
        let folder = if options.durable { Scratch::new("postgres") } else { Scratch::in_memory("postgres") };
        set_mode(&folder, 0o755);
        private_folder(&folder.join("socket"), installation.user);
        fill(&installation, &folder.join("data"));
        assert!(
            !options.tls || options.version == PostgresVersion::Debian,
            "PostgreSQL with pgvector is built without TLS: use PostgresVersion::Debian"
        );
        let certificates = options.tls.then(|| Certificates::make(&folder.join("tls"), installation.user));
        let port = free_address().port();
        let mut server =
            PostgresServer { options, installation, certificates, port, running: Mutex::default(), folder };
        server.write_access_rules();
        for _ in 0..PORTS_MAX {
            match server.try_start().await {
                Ok(()) => return server,
                Err(log) if log.contains("could not bind") => server.port = free_address().port(),
                Err(log) => panic!("PostgreSQL did not start:\n{log}"),
            }
        }
        panic!("no port was free for PostgreSQL");
    }

    /// As the user `aizuchi`, with its password.
    pub fn url(&self, database: &str) -> String {
        let url = PostgresServer::url_at(self.port, database);
        match &self.options.machine {
            // Elsewhere, a connection is encrypted unless the URL says otherwise.
            Some(machine) if machine.has_link() => {
                format!("{}?sslmode=disable", url.replace("127.0.0.1", &machine.ip().to_string()))
            }
            Some(_) | None => url,
        }
    }

    fn machine(&self) -> Arc<Machine> {
        self.options.machine.clone().unwrap_or_else(Machine::here)
    }

    /// The same on the port of a proxy in front of it.
    pub(crate) fn url_at(port: u16, database: &str) -> String {
        format!("postgres://{USER}:{PASSWORD_IN_URL}@127.0.0.1:{port}/{database}")
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder of its Unix socket, through which every role connects without a password.
    pub fn socket_folder(&self) -> PathBuf {
        self.folder.join("socket")
    }

    /// Its raw files.
    pub fn data_folder(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// The certificate of the authority that vouches for the server, with `tls`.
    pub fn authority_file(&self) -> Option<&Path> {
        self.certificates.as_ref().map(|certificates| certificates.authority.as_path())
    }

    pub(crate) fn user(&self) -> Option<ServerUser> {
        self.installation.user
    }

    /// What it has logged so far.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(self.log_file()).unwrap_or_default()).into_owned()
    }

    fn log_file(&self) -> PathBuf {
        self.folder.join("log")
    }

    /// Id of the main process, while it runs.
    pub fn id(&self) -> Option<u32> {
        self.running().as_ref().map(Daemon::id)
    }

    /// One that belongs to `aizuchi`, in UTF-8 or in another encoding, such as `LATIN1` or `SQL_ASCII`.
    pub async fn create_database(&self, name: &str, encoding: Option<&str>) {
        let mut sql = format!("create database \"{name}\" owner {USER}");
        if let Some(encoding) = encoding {
            sql.push_str(&format!(" template template0 encoding '{encoding}' lc_collate 'C' lc_ctype 'C'"));
        }
        self.psql("postgres", &sql).await;
    }

    /// The name of a new, empty database that belongs to `aizuchi`.
    pub async fn empty_database(&self) -> String {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("empty_{}", COUNT.fetch_add(1, Ordering::Relaxed));
        self.create_database(&name, None).await;
        name
    }

    /// What a statement prints for the superuser: a line per row, columns separated by `|`. Fails with what psql says.
    pub async fn psql(&self, database: &str, sql: &str) -> String {
        self.try_psql(database, sql).await.unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same where the statement may fail.
    pub async fn try_psql(&self, database: &str, sql: &str) -> Result<String, String> {
        let target =
            format!("host={} port={} user={SUPERUSER} dbname={database}", self.socket_folder().display(), self.port);
        self.psql_at(&target, &[], sql).await
    }

    /// The same for any connection string or URL, and with variables of the environment, such as `PGSSLMODE`.
    pub async fn psql_at(&self, target: &str, variables: &[(&str, &str)], sql: &str) -> Result<String, String> {
        // As the user of the server, who alone may enter the folder of the socket.
        let mut command = command_as(self.installation.user, &self.installation.program("psql"), None);
        command.args(["--no-psqlrc", "--no-align", "--tuples-only", "--quiet", "--no-password"]);
        command.args(["--set=ON_ERROR_STOP=1", "--command", sql, target]).current_dir("/");
        command.env("PGCLIENTENCODING", "UTF8").envs(variables.iter().copied());
        let printed = tokio::task::spawn_blocking(move || run(command)).await.expect("it does not fail itself")?;
        Ok(printed.trim_end().to_owned())
    }

    /// Returns when it has ended.
    pub async fn stop(&self, mode: StopMode) {
        let signal = match mode {
            StopMode::Fast => Signal::INT,
            StopMode::Immediate => Signal::QUIT,
        };
        if let Some(daemon) = self.running().as_mut() {
            daemon.resume();
            daemon.signal(signal);
        }
        let until = Instant::now() + PATIENCE;
        while self.running().as_mut().is_some_and(|daemon| !daemon.has_ended()) {
            assert!(Instant::now() < until, "PostgreSQL does not stop:\n{}", self.log());
            tokio::time::sleep(LOOKS_EVERY).await;
        }
        *self.running() = None;
    }

    /// SIGKILL to all its processes. Returns when they have ended.
    pub fn kill_9(&self) {
        if let Some(mut daemon) = self.running().take() {
            daemon.kill();
        }
    }

    /// On the same port, after `stop` or `kill_9`.
    pub async fn start_again(&self) {
        assert!(self.running().is_none(), "PostgreSQL runs");
        self.try_start().await.unwrap_or_else(|log| panic!("PostgreSQL did not start again:\n{log}"));
    }

    /// SIGSTOP to all its processes: connections stay open, and nothing answers.
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

    fn running(&self) -> MutexGuard<'_, Option<Daemon>> {
        self.running.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn write_access_rules(&self) {
        let host = if self.options.tls { "hostssl" } else { "host" };
        let rules =
            format!("local all all trust\nlocal replication all trust\n{host} all all 127.0.0.0/8 scram-sha-256\n");
        let file = self.data_folder().join("pg_hba.conf");
        std::fs::write(&file, rules).expect("the data folder can be written");
        give(&file, self.installation.user);
    }

    fn settings(&self) -> Vec<String> {
        let switch = |on: bool| if on { "on" } else { "off" };
        let durable = switch(self.options.durable);
        let mut settings = vec![
            format!("listen_addresses={}", self.machine().ip()),
            format!("port={}", self.port),
            format!("unix_socket_directories={}", self.socket_folder().display()),
            format!("fsync={durable}"),
            format!("full_page_writes={durable}"),
            "shared_buffers=8MB".to_owned(),
            // In a file of the data folder: nothing stays in /dev/shm after a kill.
            "dynamic_shared_memory_type=mmap".to_owned(),
            "timezone=UTC".to_owned(),
            "log_timezone=UTC".to_owned(),
        ];
        if let Some(Certificates { certificate, key, .. }) = &self.certificates {
            settings.push("ssl=on".to_owned());
            settings.push(format!("ssl_cert_file={}", certificate.display()));
            settings.push(format!("ssl_key_file={}", key.display()));
        }
        settings.extend(self.options.extra.iter().cloned());
        settings
    }

    /// What it logged since, if it does not start.
    async fn try_start(&self) -> Result<(), String> {
        self.clear_remains();
        let before = self.log().len();
        let mut command = self.installation.server_command_on(&self.machine(), "postgres", Some("QUIT"));
        command.arg("-D").arg(self.data_folder());
        for setting in self.settings() {
            command.args(["-c", &setting]);
        }
        let daemon = Daemon::start(command, &self.log_file());
        let id = daemon.id();
        *self.running() = Some(daemon);
        let until = Instant::now() + PATIENCE;
        while !self.accepts_connections(id) {
            let ended = self.running().as_mut().is_none_or(Daemon::has_ended);
            if ended || Instant::now() > until {
                self.kill_9();
                let log = self.log();
                return Err(log.get(before..).unwrap_or(&log).to_owned());
            }
            tokio::time::sleep(LOOKS_EVERY).await;
        }
        Ok(())
    }

    /// What it writes about itself into its lock file: its process id first, its state in the eighth line.
    fn accepts_connections(&self, id: u32) -> bool {
        let text = std::fs::read_to_string(self.lock_file()).unwrap_or_default();
        let mut lines = text.lines();
        let accepts = |state: &str| matches!(state.trim(), "ready" | "standby");
        lines.next() == Some(id.to_string().as_str()) && lines.nth(6).is_some_and(accepts)
    }

    fn lock_file(&self) -> PathBuf {
        self.data_folder().join("postmaster.pid")
    }

    /// What a server that was killed could not remove. The process id in a lock file may be that of another server by now, for which
    /// PostgreSQL would refuse to start; and shared memory stays until somebody removes it.
    fn clear_remains(&self) {
        let Ok(lock) = std::fs::read_to_string(self.lock_file()) else { return };
        let memory = lock.lines().nth(6).and_then(|line| line.split_whitespace().nth(1));
        if let (Some(memory), Some(ipcrm)) = (memory, find_program("ipcrm")) {
            let mut command: Command = command_as(self.installation.user, &ipcrm, None);
            command.args(["-m", memory]);
            // It may be gone already.
            let _ = run(command);
        }
        let _ = std::fs::remove_file(self.lock_file());
        let _ = std::fs::remove_file(self.socket_folder().join(format!(".s.PGSQL.{}.lock", self.port)));
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if let Some(daemon) = self.running().as_mut() {
            daemon.end(Signal::QUIT);
        }
        self.clear_remains();
    }
}

/// One server for all tests of this process that run at the same time: each takes an `empty_database` of it.
pub async fn shared(version: PostgresVersion) -> Arc<PostgresServer> {
    static SERVERS: [tokio::sync::Mutex<Weak<PostgresServer>>; 2] =
        [tokio::sync::Mutex::const_new(Weak::new()), tokio::sync::Mutex::const_new(Weak::new())];
    // One test waits for the start that another has begun.
    let mut server = SERVERS[version as usize].lock().await;
    if let Some(running) = server.upgrade() {
        return running;
    }
    let started = Arc::new(PostgresServer::start(PostgresOptions { version, ..Default::default() }).await);
    *server = Arc::downgrade(&started);
    started
}
