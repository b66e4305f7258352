//! The program with its web room, in a folder of its own and without anything of the environment it is tested in.

use std::io::{BufRead as _, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;

use crate::folder::Scratch;
use crate::network::Machine;
use crate::ports::free_address;

/// Longer than anything takes on a busy machine: only what fails waits for it.
pub const PATIENCE: Duration = Duration::from_secs(120);
/// A model server that happens to run on this machine changes no test.
pub const NO_LOCAL_SERVER: (&str, &str) = ("AIZUCHI__MODELS__LOCAL_SERVER", "false");
const LOOKS_EVERY: Duration = Duration::from_millis(5);

/// Looks again and again until there is something to see.
pub async fn eventually<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let until = Instant::now() + PATIENCE;
    loop {
        if let Some(seen) = look().await {
            return seen;
        }
        assert!(Instant::now() < until, "in vain: {what}");
        tokio::time::sleep(LOOKS_EVERY).await;
    }
}

/// Where the program lives: what it finds again when it is started once more.
pub struct Home {
    program: PathBuf,
    folder: Scratch,
    machine: Arc<Machine>,
    pub address: SocketAddr,
    settings: Vec<String>,
    variables: Vec<(String, String)>,
    /// Words of a shell, run in its place before it takes over.
    pub before: Option<String>,
}

impl Home {
    /// For the program at this path.
    pub fn new(program: impl Into<PathBuf>, settings: &[&str]) -> Home {
        let folder = Scratch::new("program");
        let settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let (machine, address) = (Machine::here(), free_address());
        Home { program: program.into(), folder, machine, address, settings, variables: Vec::new(), before: None }
    }

    /// It runs on another machine.
    pub fn move_to(&mut self, machine: Arc<Machine>) {
        self.address.set_ip(machine.ip());
        self.machine = machine;
    }

    pub fn set(&mut self, setting: impl Into<String>) {
        self.settings.push(setting.into());
    }

    /// Sets what may have been set before.
    pub fn change(&mut self, key: &str, value: impl std::fmt::Display) {
        self.settings.retain(|setting| setting.split_once('=').is_none_or(|(set, _)| set != key));
        self.set(format!("{key}={value}"));
    }

    /// Where it serves Restate, as a worker.
    pub fn worker_url(&self) -> String {
        let listen = self.settings.iter().rev().find_map(|setting| setting.strip_prefix("cluster.listen="));
        format!("http://{}", listen.expect("it has an address for Restate"))
    }

    pub fn set_variable(&mut self, name: &str, value: &str) {
        self.variables.push((name.into(), value.into()));
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    /// The store, to look and not to touch.
    pub fn store(&self) -> Connection {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let store = Connection::open_with_flags(self.data().join("aizuchi.db"), flags).expect("there is a store");
        store.busy_timeout(PATIENCE).expect("it can be asked to wait");
        store
    }

    /// What another command of the program prints.
    pub fn ask(&self, words: &[&str]) -> String {
        let mut command = Command::new(&self.program);
        command.args(words).current_dir(&self.folder).env_clear().env(NO_LOCAL_SERVER.0, NO_LOCAL_SERVER.1);
        let asked = command.output().expect("it can be started");
        let told = String::from_utf8_lossy(&asked.stdout).into_owned();
        assert!(asked.status.success(), "{words:?}: {told}{}", String::from_utf8_lossy(&asked.stderr));
        told
    }

    /// Starts it and does not wait for anything.
    pub fn spawn(&self) -> Program {
        self.spawn_with(&["run", "--no-browser"])
    }

    /// Runs another command of it to its end: what it says.
    pub async fn command(&self, arguments: &[&str]) -> String {
        let mut program = self.spawn_with(arguments);
        program.ended().await;
        program.said()
    }

    /// The same for a command that takes no settings.
    pub async fn plain_command(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.folder).env_clear().env(NO_LOCAL_SERVER.0, NO_LOCAL_SERVER.1);
        let output = command.output().expect("it can be started");
        [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned()).concat()
    }

    fn spawn_with(&self, arguments: &[&str]) -> Program {
        let mut arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let own = [format!("web.address={}", self.address), format!("store.folder={}", self.data().display())];
        for setting in own.iter().chain(&self.settings) {
            arguments.extend(["--set".to_owned(), setting.clone()]);
        }
        let mut words = self.machine.words();
        if let Some(before) = &self.before {
            words.extend(["sh".into(), "-c".into(), format!("{before}; exec \"$0\" \"$@\"").into()]);
        }
        words.push(self.program.clone());
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).args(arguments).current_dir(&self.folder).env_clear().stdin(Stdio::null());
        command.env(NO_LOCAL_SERVER.0, NO_LOCAL_SERVER.1);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be started");
        let said = Arc::default();
        collect(child.stdout.take().expect("it was asked for"), &said);
        collect(child.stderr.take().expect("it was asked for"), &said);
        Program { child, said, address: self.address }
    }

    /// Starts it and waits until its room is open.
    pub async fn start(&self) -> Program {
        self.start_telling(&format!("is in the room: http://{}", self.address)).await
    }

    /// The same with arguments of its own.
    pub async fn start_with(&self, arguments: &[&str]) -> Program {
        let program = self.spawn_with(&[&["run", "--no-browser"], arguments].concat());
        until_it_says(program, &format!("is in the room: http://{}", self.address)).await
    }

    /// Starts it and waits until it says this.
    pub async fn start_telling(&self, words: &str) -> Program {
        until_it_says(self.spawn(), words).await
    }

    /// Starts another command of it and waits until it says this.
    pub async fn start_as(&self, arguments: &[&str], words: &str) -> Program {
        until_it_says(self.spawn_with(arguments), words).await
    }

    /// The same without waiting.
    pub fn spawn_as(&self, arguments: &[&str]) -> Program {
        self.spawn_with(arguments)
    }

    /// Starts what must not start: its exit code and what it says.
    pub async fn refused(&self) -> (Option<i32>, String) {
        let mut program = self.spawn();
        let status = program.ended().await;
        (status.code(), program.said())
    }
}

async fn until_it_says(mut program: Program, words: &str) -> Program {
    eventually(&format!("it says {words:?}"), async || {
        assert!(program.has_ended().is_none(), "it did not start:\n{}", program.said());
        program.said().contains(words).then_some(())
    })
    .await;
    program
}

fn collect(output: impl Read + Send + 'static, said: &Arc<Mutex<String>>) {
    let said = said.clone();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let mut said = said.lock().expect("nobody fails while holding it");
            said.push_str(&line);
            said.push('\n');
        }
    });
}

/// Killed when it is dropped.
pub struct Program {
    child: Child,
    said: Arc<Mutex<String>>,
    pub address: SocketAddr,
}

/// Sends a running process a signal: `STOP`, `CONT`, `TERM` …
pub fn signal(id: u32, name: &str) {
    let sent = Command::new("sh").args(["-c", &format!("kill -{name} {id}")]).status();
    assert!(sent.expect("there is a shell").success(), "it runs");
}

impl Program {
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has printed so far.
    pub fn said(&self) -> String {
        self.said.lock().expect("nobody fails while holding it").clone()
    }

    /// SIGKILL.
    pub fn kill(&mut self) {
        self.child.kill().expect("it is ours");
        self.child.wait().expect("it ends");
    }

    /// SIGTERM, as supervisors send.
    pub fn terminate(&self) {
        self.signal("TERM");
    }

    /// SIGSTOP: connections stay open, and nothing answers.
    pub fn pause(&self) {
        self.signal("STOP");
    }

    pub fn resume(&self) {
        self.signal("CONT");
    }

    /// SIGHUP: it reads its settings again.
    pub fn hang_up(&self) {
        self.signal("HUP");
    }

    fn signal(&self, name: &str) {
        signal(self.id(), name);
    }

    pub fn has_ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("it is ours")
    }

    pub async fn ended(&mut self) -> ExitStatus {
        let status = eventually("it ends", async || self.has_ended()).await;
        // What it said last may still be on its way.
        eventually("its output ends", async || (Arc::strong_count(&self.said) == 1).then_some(())).await;
        status
    }

    /// A plain request: the whole answer as text.
    pub async fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.address).await.expect("it listens");
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("it reads");
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).await.expect("it answers");
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
