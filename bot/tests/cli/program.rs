//! The program in a folder of its own, without anything of the environment it is tested in.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::program::NO_LOCAL_SERVER;
use serde_json::Value;

/// The folder it runs in; gone when the test is over.
pub struct Folder(Scratch);

impl Folder {
    pub fn new() -> Folder {
        Folder(Scratch::new("cli"))
    }

    /// With this log in it.
    pub fn with(name: &str, text: impl AsRef<[u8]>) -> Folder {
        let folder = Folder::new();
        folder.write(name, text);
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it is in the folder")).expect("folders can be made");
        fs::write(path, text).expect("files can be written");
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    pub fn command<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_aizuchi"));
        command.args(arguments).current_dir(&self.0).env_clear().stdin(Stdio::null());
        command.env(NO_LOCAL_SERVER.0, NO_LOCAL_SERVER.1);
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        command
    }

    /// Runs it with the words of this line as its arguments.
    pub fn run(&self, line: &str) -> Run {
        self.run_in(&[], line)
    }

    pub fn run_in(&self, environment: &[(&str, &str)], line: &str) -> Run {
        let mut command = self.command(line.split_whitespace());
        Run::of(command.envs(environment.iter().copied()).output().expect("it can be started"))
    }

    pub fn run_reading(&self, input: &[u8], line: &str) -> Run {
        let mut command = self.command(line.split_whitespace());
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().expect("it can be started");
        child.stdin.take().expect("it was asked for").write_all(input).expect("it reads its input");
        Run::of(child.wait_with_output().expect("it ends"))
    }

    /// What it decides about `talk.jsonl`, with these options.
    pub fn decide(&self, options: &str) -> Vec<Value> {
        self.decide_in(&[], options)
    }

    pub fn decide_in(&self, environment: &[(&str, &str)], options: &str) -> Vec<Value> {
        let line = format!("replay talk.jsonl --json --decisions decisions.jsonl {options}");
        self.run_in(environment, &line).succeeded();
        self.decisions("decisions.jsonl")
    }

    pub fn decisions(&self, name: &str) -> Vec<Value> {
        let parse = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        self.read(name).lines().map(parse).collect()
    }
}

/// How it went.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

impl Run {
    pub fn of(output: Output) -> Run {
        let text = |bytes| String::from_utf8(bytes).expect("it writes UTF-8");
        Run { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }

    /// Done, and nothing to complain about.
    #[track_caller]
    pub fn succeeded(self) -> Run {
        assert_eq!((self.code, self.err.as_str()), (Some(0), ""), "{self:?}");
        self
    }

    /// Refused with this code: a sentence on standard error that holds all this, and nothing on standard output.
    #[track_caller]
    pub fn refused(self, code: i32, told: &[&str]) -> Run {
        assert_eq!((self.code, self.out.as_str()), (Some(code), ""), "{self:?}");
        for words in told {
            assert!(self.err.contains(words), "{words:?} is not told: {self:?}");
        }
        self
    }

    pub fn last_line(&self) -> Value {
        let line = self.out.lines().last().unwrap_or_default();
        serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"))
    }
}
