//! The program with its web room on a free port, in a folder of its own, without any key.

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::ports::free_address;
use aizuchi_test_servers::program::{NO_LOCAL_SERVER, signal};

/// How long it may take to open.
const OPENS_WITHIN: Duration = Duration::from_secs(90);

pub struct Room {
    program: Option<Child>,
    /// As host and port.
    address: String,
    log: Arc<Mutex<String>>,
    folder: Scratch,
    /// Beside the usual ones.
    settings: Vec<String>,
}

impl Room {
    pub fn open() -> Room {
        Room::open_with(&[])
    }

    pub fn open_with(settings: &[&str]) -> Room {
        let mut room = Room {
            program: None,
            address: free_address().to_string(),
            log: Arc::default(),
            folder: Scratch::new("room"),
            settings: settings.iter().map(|setting| (*setting).to_owned()).collect(),
        };
        room.start();
        room
    }

    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Whether one of its files holds this.
    pub fn keeps(&self, text: &str) -> bool {
        let files = std::fs::read_dir(self.folder.join("data")).expect("it keeps its data there");
        let holds = |bytes: Vec<u8>| bytes.windows(text.len()).any(|part| part == text.as_bytes());
        files.filter_map(|file| std::fs::read(file.ok()?.path()).ok()).any(holds)
    }

    /// What the program has printed so far.
    pub fn log(&self) -> String {
        self.log.lock().expect("nobody fails while holding it").clone()
    }

    /// Kills it at once, as a crash would.
    pub fn stop(&mut self) {
        if let Some(mut program) = self.program.take() {
            program.kill().expect("it runs");
            program.wait().expect("it ends");
        }
    }

    /// Takes connections and answers none of them.
    pub fn hang(&self) {
        signal(self.id(), "STOP");
    }

    pub fn go_on(&self) {
        signal(self.id(), "CONT");
    }

    fn id(&self) -> u32 {
        self.program.as_ref().expect("it runs").id()
    }

    /// On the same port every time.
    pub fn start(&mut self) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_aizuchi"));
        command.args(["run", "--set", "web.open_browser=false"]);
        command.args(["--set", &format!("web.address={}", self.address)]);
        command.args(["--set", &format!("store.folder={}", self.folder.join("data").display())]);
        for setting in &self.settings {
            command.args(["--set", setting]);
        }
        command.current_dir(&self.folder).env_clear().stdin(Stdio::null());
        command.env(NO_LOCAL_SERVER.0, NO_LOCAL_SERVER.1);
        if let Some(path) = std::env::var_os("PATH") {
            command.env("PATH", path);
        }
        let mut program = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be started");
        let (found, address) = mpsc::channel();
        self.listen(program.stdout.take().expect("it was asked for"), found.clone());
        self.listen(program.stderr.take().expect("it was asked for"), found);
        self.program = Some(program);
        self.address = address
            .recv_timeout(OPENS_WITHIN)
            .unwrap_or_else(|_| panic!("it does not say where its room is:\n{}", self.log()));
    }

    /// Keeps what it prints and looks for its address in it.
    fn listen(&self, output: impl Read + Send + 'static, found: mpsc::Sender<String>) {
        let log = self.log.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if let Some((_, rest)) = line.split_once("is in the room: http://127.0.0.1:") {
                    let port: String = rest.chars().take_while(char::is_ascii_digit).collect();
                    let _ = found.send(format!("127.0.0.1:{port}"));
                }
                let mut log = log.lock().expect("nobody fails while holding it");
                log.push_str(&line);
                log.push('\n');
            }
        });
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.stop();
    }
}
