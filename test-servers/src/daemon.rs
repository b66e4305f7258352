//! A server program that runs in the background and ends with the test, also when the test is killed.
//!
//! The kernel ends it (`setpriv --pdeathsig`) when the thread that started it ends. One thread of the process starts all of them and
//! never ends before the process does, so that a server may outlive the thread of the test that asked for it.

use std::fs::File;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{LazyLock, Mutex, mpsc};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, geteuid, kill_process};

use crate::network::Machine;
use crate::program::PATIENCE;

const LOOKS_EVERY: Duration = Duration::from_millis(5);
/// How long a server that is dropped may take to end by itself.
const LAST_WAIT: Duration = Duration::from_secs(8);

type StartRequest = (Command, mpsc::Sender<std::io::Result<Child>>);

static STARTER: LazyLock<Mutex<mpsc::Sender<StartRequest>>> = LazyLock::new(|| {
    let (requests, queue) = mpsc::channel::<StartRequest>();
    std::thread::spawn(move || {
        for (mut command, answer) in queue {
            let _ = answer.send(command.spawn());
        }
    });
    Mutex::new(requests)
});

/// The system user as whom a server runs that refuses to run as root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ServerUser {
    pub uid: u32,
    pub gid: u32,
}

impl ServerUser {
    /// `postgres` if this process is root, and none (the user of this process) otherwise.
    pub fn for_postgres() -> Option<ServerUser> {
        if !geteuid().is_root() {
            return None;
        }
        let users = std::fs::read_to_string("/etc/passwd").expect("there is a list of users");
        let fields = |line: &str| -> Option<ServerUser> {
            let mut fields = line.strip_prefix("postgres:")?.split(':').skip(1);
            Some(ServerUser { uid: fields.next()?.parse().ok()?, gid: fields.next()?.parse().ok()? })
        };
        let user = users.lines().find_map(fields);
        Some(user.expect("PostgreSQL does not run as root, and there is no user `postgres`: `./dev servers` adds it"))
    }

    /// Whether a user without rights may run this program, and so pass through all folders above it.
    pub fn may_run(program: &Path) -> bool {
        let whole = program.canonicalize().unwrap_or_else(|_| program.to_owned());
        whole.ancestors().all(|path| path.metadata().is_ok_and(|found| found.mode() & 0o001 != 0))
    }
}

/// A command that runs as this user, without anything of the environment of the test.
pub(crate) fn command_as(user: Option<ServerUser>, program: &Path, ends_with_test: Option<&str>) -> Command {
    command_on(&Machine::here(), user, program, ends_with_test)
}

/// The same on another machine.
pub(crate) fn command_on(
    machine: &Machine,
    user: Option<ServerUser>,
    program: &Path,
    ends_with_test: Option<&str>,
) -> Command {
    let mut words = machine.words();
    let mut privileges: Vec<PathBuf> = Vec::new();
    if let Some(ServerUser { uid, gid }) = user {
        privileges.extend([format!("--reuid={uid}").into(), format!("--regid={gid}").into(), "--clear-groups".into()]);
    }
    if let Some(signal) = ends_with_test {
        privileges.push(format!("--pdeathsig={signal}").into());
    }
    match (find_program("setpriv"), privileges.is_empty()) {
        (Some(setpriv), false) => {
            words.push(setpriv);
            words.append(&mut privileges);
            words.push("--".into());
        }
        (None, false) if user.is_some() => panic!("setpriv is missing: it is in Debian's package util-linux"),
        _ => (),
    }
    words.push(program.to_owned());
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command.env_clear().env("LANG", "C.UTF-8").stdin(Stdio::null());
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command
}

/// In `PATH`, and where Debian has programs for root.
pub(crate) fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/sbin".into()]);
    let is_program = |path: &PathBuf| path.metadata().is_ok_and(|file| file.is_file() && file.mode() & 0o111 != 0);
    folders.map(|folder| folder.join(name)).find(is_program)
}

/// Runs a command to its end: what it prints, or what it says about its failure.
pub(crate) fn run(mut command: Command) -> Result<String, String> {
    let done = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    let printed = String::from_utf8_lossy(&done.stdout).into_owned();
    let failed = || format!("{command:?}\n{printed}{}", String::from_utf8_lossy(&done.stderr));
    if done.status.success() { Ok(printed) } else { Err(failed()) }
}

/// A folder for this user alone.
pub(crate) fn private_folder(path: &Path, user: Option<ServerUser>) {
    std::fs::create_dir_all(path).expect("a folder for the server");
    set_mode(path, 0o700);
    give(path, user);
}

pub(crate) fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).expect("it is ours");
}

pub(crate) fn give(path: &Path, user: Option<ServerUser>) {
    if let Some(ServerUser { uid, gid }) = user {
        std::os::unix::fs::chown(path, Some(uid), Some(gid)).expect("root may give files away");
    }
}

/// Killed when it is dropped, and by the kernel when this process ends.
pub(crate) struct Daemon {
    child: Child,
    log: PathBuf,
}

impl Daemon {
    /// What it prints is added to the file `log`.
    pub fn start(mut command: Command, log: &Path) -> Daemon {
        let file = File::options().create(true).append(true).open(log).expect("a log can be written");
        command.stdout(file.try_clone().expect("a file has more than one handle")).stderr(file);
        let shown = format!("{command:?}");
        let (answer, started) = mpsc::channel();
        STARTER.lock().expect("nobody fails while holding it").send((command, answer)).expect("the thread lives");
        let child = started.recv().expect("the thread answers").unwrap_or_else(|error| panic!("{shown}: {error}"));
        Daemon { child, log: log.to_owned() }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("it is ours").is_some()
    }

    /// Nothing if it has ended: its id may be somebody else's by then.
    pub fn signal(&mut self, signal: Signal) {
        if !self.has_ended() {
            send(self.child.id(), signal);
        }
    }

    /// Stops it, so that it has no more children than these, and returns them.
    pub fn pause(&mut self) -> Vec<u32> {
        self.signal(Signal::STOP);
        let until = Instant::now() + PATIENCE;
        // The signal is on its way: it may be starting one more child.
        while !self.has_ended() && state_of(self.id()).is_some_and(|(state, _)| state != 'T') && Instant::now() < until
        {
            std::thread::yield_now();
        }
        let children = if self.has_ended() { Vec::new() } else { children_of(self.id()) };
        for child in &children {
            send(*child, Signal::STOP);
        }
        children
    }

    pub fn resume(&mut self) {
        let children = if self.has_ended() { Vec::new() } else { children_of(self.id()) };
        for child in children {
            send(child, Signal::CONT);
        }
        self.signal(Signal::CONT);
    }

    /// SIGKILL to it and its children, all of which have ended then.
    pub fn kill(&mut self) {
        // A child of a process that is stopped stays its child, also when it has ended, so that no id is another's by now.
        let children = self.pause();
        for child in &children {
            send(*child, Signal::KILL);
        }
        self.signal(Signal::KILL);
        let _ = self.child.wait();
        let until = Instant::now() + PATIENCE;
        while children.iter().any(|child| is_alive(*child)) && Instant::now() < until {
            std::thread::sleep(LOOKS_EVERY);
        }
    }

    /// Asks it to end, and kills it if it does not.
    pub fn end(&mut self, signal: Signal) {
        self.resume();
        self.signal(signal);
        let until = Instant::now() + LAST_WAIT;
        while !self.has_ended() && Instant::now() < until {
            std::thread::sleep(LOOKS_EVERY);
        }
        self.kill();
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.kill();
    }
}

fn send(id: u32, signal: Signal) {
    // It may have ended by itself.
    if let Some(id) = i32::try_from(id).ok().and_then(Pid::from_raw) {
        let _ = kill_process(id, signal);
    }
}

/// State and parent of a process, according to the kernel.
fn state_of(id: u32) -> Option<(char, u32)> {
    let text = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // Its name, in parentheses, may contain anything.
    let mut fields = text.rsplit_once(") ")?.1.split(' ');
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

/// One that has ended and that nobody has asked about is not alive.
pub(crate) fn is_alive(id: u32) -> bool {
    state_of(id).is_some_and(|(state, _)| !matches!(state, 'Z' | 'X'))
}

pub(crate) fn children_of(parent: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter(|id| state_of(*id).is_some_and(|(_, of)| of == parent)).collect()
}
