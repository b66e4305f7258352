//! Processes that run as long as this one.

use std::fs::File;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process};

use super::programs::{SystemUser, in_path};
use crate::cli::harmless;

/// How long one may take to end by itself.
const ENDS_WITHIN: Duration = Duration::from_secs(15);
const LOOKS_EVERY: Duration = Duration::from_millis(20);
/// Lines of a log that are shown.
const LINES: usize = 12;

/// The signal that ends a process in an orderly way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndBy {
    Terminate,
    /// PostgreSQL does not wait for its clients then.
    Interrupt,
}

impl EndBy {
    fn signal(self) -> Signal {
        match self {
            EndBy::Terminate => Signal::TERM,
            EndBy::Interrupt => Signal::INT,
        }
    }

    fn name(self) -> &'static str {
        match self {
            EndBy::Terminate => "TERM",
            EndBy::Interrupt => "INT",
        }
    }
}

pub struct ChildSpec {
    pub name: String,
    pub program: PathBuf,
    pub arguments: Vec<String>,
    pub variables: Vec<(String, String)>,
    /// Has it end.
    pub end_by: EndBy,
    /// As whom it runs, if not as this one.
    pub user: Option<SystemUser>,
    pub log: PathBuf,
    /// Where it runs, if not here.
    pub folder: Option<PathBuf>,
}

/// Ended when it is dropped.
pub struct Child {
    spec: ChildSpec,
    process: std::process::Child,
    ended_at: Option<Instant>,
}

impl Child {
    pub fn start(spec: ChildSpec) -> anyhow::Result<Child> {
        let process = spawn(&spec)?;
        Ok(Child { spec, process, ended_at: None })
    }

    pub fn name(&self) -> &str {
        &self.spec.name
    }

    pub fn id(&self) -> u32 {
        self.process.id()
    }

    pub fn log(&self) -> &Path {
        &self.spec.log
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> anyhow::Result<Option<String>> {
        let status = self.process.try_wait().context("cannot ask about a process")?;
        Ok(status.map(|status| format!("{} has ended ({})", self.spec.name, format_status(status))))
    }

    /// What happened, if something did: it ended, or it was started again so much later.
    pub fn start_again(&mut self, after: Duration) -> anyhow::Result<Option<String>> {
        let Some(how) = self.ended()? else { return Ok(None) };
        match self.ended_at {
            None => {
                self.ended_at = Some(Instant::now());
                let lines = self.last_lines();
                Ok(Some(format!("{how}; it is started again in {} s. {}", after.as_secs(), lines.trim_end())))
            }
            Some(at) if at.elapsed() < after => Ok(None),
            Some(_) => {
                self.ended_at = None;
                self.process = spawn(&self.spec)?;
                Ok(Some(format!("{} runs again as process {}", self.spec.name, self.id())))
            }
        }
    }

    /// What it logged last.
    pub fn last_lines(&self) -> String {
        let text = String::from_utf8_lossy(&std::fs::read(&self.spec.log).unwrap_or_default()).into_owned();
        let lines: Vec<&str> = text.lines().collect();
        let shown = lines.iter().skip(lines.len().saturating_sub(LINES)).map(|line| format!("  {}\n", harmless(line)));
        format!("{} says:\n{}", self.spec.name, shown.collect::<String>())
    }

    /// Asks it to end, and kills it if it does not.
    pub async fn end(&mut self) {
        self.signal(self.spec.end_by.signal());
        let until = Instant::now() + ENDS_WITHIN;
        while matches!(self.process.try_wait(), Ok(None)) && Instant::now() < until {
            tokio::time::sleep(LOOKS_EVERY).await;
        }
    }

    /// Nothing if it has ended: its id may be somebody else's by then.
    fn signal(&mut self, signal: Signal) {
        if matches!(self.process.try_wait(), Ok(None))
            && let Some(id) = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw)
        {
            let _ = kill_process(id, signal);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn spawn(spec: &ChildSpec) -> anyhow::Result<std::process::Child> {
    let what = || format!("cannot start {}", spec.program.display());
    let log = File::options().create(true).append(true).open(&spec.log);
    let log = log.with_context(|| format!("cannot write {}", spec.log.display()))?;
    // The kernel ends it when this process is killed.
    let mut command = match in_path("setpriv") {
        Some(setpriv) => {
            let mut command = Command::new(setpriv);
            command.args(["--pdeathsig", spec.end_by.name(), "--"]).arg(&spec.program);
            command
        }
        None => Command::new(&spec.program),
    };
    command.args(&spec.arguments).envs(spec.variables.iter().cloned()).stdin(Stdio::null());
    command.stdout(log.try_clone().with_context(what)?).stderr(log);
    // Ctrl-C is for this process, which ends the others in order.
    command.process_group(0);
    if let Some(SystemUser { uid, gid }) = spec.user {
        command.uid(uid).gid(gid);
    }
    if let Some(folder) = &spec.folder {
        command.current_dir(folder);
    }
    command.spawn().with_context(what)
}

fn format_status(status: ExitStatus) -> String {
    match (status.signal(), status.code()) {
        (Some(signal), _) => format!("signal {signal}"),
        (None, code) => format!("exit code {}", code.unwrap_or_default()),
    }
}
