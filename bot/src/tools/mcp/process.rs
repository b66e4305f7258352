//! A server that runs as a local program: its environment, its standard error, and its end.

use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;

use super::clean::log_line;
use super::connection::ServerEnvironment;

/// The variables that every program gets. All others have to be named, because keys and tokens are among them.
const PASSED_ON: [&str; 4] = ["PATH", "HOME", "LANG", "TZ"];
/// How long a server may take to exit once its standard input is closed, and again after a signal.
const ENDING: Duration = Duration::from_secs(1);
/// Longer lines of standard error are truncated.
const LINE_BYTES_MAX: usize = 4096;

pub struct ServerProcess {
    child: Child,
    stderr: JoinHandle<()>,
    last_line: Arc<Mutex<String>>,
}

impl ServerProcess {
    pub fn start(
        name: &str,
        command: &[String],
        variables: &[String],
        environment: &ServerEnvironment,
    ) -> std::io::Result<(ServerProcess, ChildStdout, ChildStdin)> {
        let Some((program, arguments)) = command.split_first() else {
            return Err(std::io::ErrorKind::InvalidInput.into());
        };
        let passed_on = PASSED_ON.into_iter().chain(variables.iter().map(String::as_str));
        let mut starting = Command::new(program);
        starting
            .args(arguments)
            .env_clear()
            .envs(passed_on.filter_map(|name| Some((name.to_owned(), environment(name)?))))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        // A Ctrl-C on the terminal is for us alone, and processes that the server starts end with it.
        #[cfg(unix)]
        starting.process_group(0);
        let mut child = starting.spawn()?;
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = (stdin, stdout, child.stderr.take()) else {
            return Err(std::io::Error::other("its pipes are missing"));
        };
        let last_line = Arc::default();
        let stderr = tokio::spawn(log_lines(name.to_owned(), stderr, Arc::clone(&last_line)));
        Ok((ServerProcess { child, stderr, last_line }, stdout, stdin))
    }

    /// Why it could not start: its exit status, if it has ended, and the last line it wrote.
    pub async fn why_not_started(&mut self) -> String {
        let ended = self.why_ended().await;
        if ended != super::guard::CLOSED {
            let _ = tokio::time::timeout(ENDING, &mut self.stderr).await;
        }
        let line = self.last_line.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if line.is_empty() { ended } else { format!("{ended}: {line}") }
    }

    /// Its exit status, if it has ended. Once it is used, what it writes may be what people said.
    pub async fn why_ended(&mut self) -> String {
        match tokio::time::timeout(ENDING, self.child.wait()).await {
            Ok(Ok(status)) => format!("exited with {}", format_status(status)),
            Ok(Err(_)) | Err(_) => super::guard::CLOSED.to_owned(),
        }
    }

    /// Its standard input is closed already: it exits by itself, or is terminated.
    pub async fn stop(mut self) {
        if tokio::time::timeout(ENDING, self.child.wait()).await.is_ok() {
            return;
        }
        self.signal(Ending::Ask);
        if tokio::time::timeout(ENDING, self.child.wait()).await.is_err() {
            self.signal(Ending::Kill);
            let _ = self.child.wait().await;
        }
    }

    #[cfg(unix)]
    fn signal(&mut self, ending: Ending) {
        use rustix::process::{Pid, Signal, kill_process_group};
        let signal = match ending {
            Ending::Ask => Signal::TERM,
            Ending::Kill => Signal::KILL,
        };
        // There is no id once it has been waited for.
        let group = self.child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        if let Some(group) = group {
            let _ = kill_process_group(group, signal);
        }
    }

    #[cfg(not(unix))]
    fn signal(&mut self, _: Ending) {
        let _ = self.child.start_kill();
    }
}

enum Ending {
    Ask,
    Kill,
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.signal(Ending::Kill);
        self.stderr.abort();
    }
}

fn format_status(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("status {code}"),
        None => status.to_string(),
    }
}

/// Reads all of standard error, so that the program never blocks on it.
async fn log_lines(name: String, mut stderr: ChildStderr, last_line: Arc<Mutex<String>>) {
    let (mut line, mut chunk) = (Vec::new(), [0; 4096]);
    let tell = |line: &mut Vec<u8>| {
        let told = log_line(&String::from_utf8_lossy(line));
        line.clear();
        if !told.is_empty() {
            // Many write down what they are called with, which is what people said.
            tracing::trace!(server = name, line = told, "MCP server wrote");
            *last_line.lock().unwrap_or_else(PoisonError::into_inner) = told;
        }
    };
    while let Ok(count) = stderr.read(&mut chunk).await {
        if count == 0 {
            break;
        }
        for byte in &chunk[..count] {
            match byte {
                b'\n' => tell(&mut line),
                _ if line.len() < LINE_BYTES_MAX => line.push(*byte),
                _ => (),
            }
        }
    }
    tell(&mut line);
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::captured_log::CapturedLog;

    /// What is logged of a server that writes something and exits, and both reasons that are given for it.
    async fn ends(level: tracing::Level) -> (String, String, String) {
        let log = CapturedLog::default();
        let subscriber = tracing_subscriber::fmt().with_max_level(level).with_writer(log.clone()).finish();
        let _logged = tracing::subscriber::set_default(subscriber);
        let command = ["sh", "-c", "echo about the quokka >&2; exit 3"].map(str::to_owned);
        let environment: ServerEnvironment = Arc::new(|name| std::env::var(name).ok());
        let (mut process, _stdout, _stdin) = ServerProcess::start("odd", &command, &[], &environment).unwrap();
        let why = (process.why_not_started().await, process.why_ended().await);
        (log.text(), why.0, why.1)
    }

    #[tokio::test]
    async fn what_it_writes_may_be_what_people_said() {
        let (log, why_not_started, why_ended) = ends(tracing::Level::DEBUG).await;
        assert!(!log.contains("quokka"), "{log}");
        assert_eq!(why_not_started, "exited with status 3: about the quokka");
        assert_eq!(why_ended, "exited with status 3");
        assert!(ends(tracing::Level::TRACE).await.0.contains("quokka"));
    }
}
