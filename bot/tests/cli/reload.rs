//! A running program reads its settings again on SIGHUP.
#![cfg(unix)]

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;

use serde_json::Value;

use super::program::Folder;

struct Running {
    child: Child,
    logs: mpsc::Receiver<String>,
}

impl Running {
    fn start(folder: &Folder) -> Running {
        let line = "run --no-browser --set web.address=127.0.0.1:0 --set log.format=json";
        let mut command = folder.command(line.split_whitespace());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it can be started");
        let greeting = lines(child.stdout.take().expect("it was asked for"));
        let logs = lines(child.stderr.take().expect("it was asked for"));
        let running = Running { child, logs };
        greeting.iter().find(|line| line.contains("Ctrl-C")).expect("it greets");
        running
    }

    fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([name, &self.child.id().to_string()]).status();
        assert!(sent.expect("there is a kill").success());
    }

    /// The log of what follows from SIGHUP, from its first line about settings.
    fn reload(&self) -> Value {
        self.signal("-HUP");
        self.next_about("settings")
    }

    fn next_about(&self, word: &str) -> Value {
        let parse =
            |line: String| serde_json::from_str::<Value>(&line).unwrap_or_else(|error| panic!("{line}: {error}"));
        let told = |line: &Value| line["message"].as_str().is_some_and(|told| told.contains(word));
        self.logs.iter().map(parse).find(told).expect("it goes on")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines(from: impl Read + Send + 'static) -> mpsc::Receiver<String> {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || BufReader::new(from).lines().map_while(Result::ok).try_for_each(|line| tell.send(line)));
    told
}

#[test]
fn settings_are_read_again_and_a_mistake_changes_nothing() {
    let folder = Folder::with("aizuchi.toml", "[bot]\nname = \"kai\"\n");
    let mut running = Running::start(&folder);
    assert_eq!(running.reload()["message"], "settings reloaded; nothing changed");

    folder.write("aizuchi.toml", "[bot]\nnmae = \"rin\"\n");
    let mistake = running.reload();
    assert_eq!(mistake["message"], "invalid settings; keeping the old ones");
    assert!(mistake["error"].as_str().unwrap().contains("aizuchi.toml:2"), "{mistake}");
    folder.write("aizuchi.toml", "[models]\nmain = \"openai/gpt-5\"\n");
    assert!(running.reload()["error"].as_str().unwrap().contains("OPENAI_API_KEY"), "a model that cannot be asked");

    folder.write("aizuchi.toml", "[bot]\nname = \"rin\"\n[store]\nkeep_days = 7\n");
    assert_eq!(running.reload()["message"], "settings reloaded");
    let late = running.next_about("next start");
    assert_eq!(late["settings"], "store");

    let model = |date| {
        use aizuchi_core::learnt::{OwnModels, write};
        use aizuchi_core::likelihood::steps::STEPS;
        write(&OwnModels { date, source: "a test", usual: Some(&[31.2; STEPS]), ..OwnModels::default() })
    };
    folder.write("room.txt", model("2024-05-06"));
    folder.write("aizuchi.toml", "[bot]\nname = \"rin\"\n[store]\nkeep_days = 7\n[score]\nmodel_file = \"room.txt\"\n");
    assert_eq!(running.reload()["message"], "settings reloaded");
    folder.write("room.txt", model("2024-05-07"));
    assert_eq!(running.reload()["message"], "settings reloaded", "the same file with another model");
    assert_eq!(running.reload()["message"], "settings reloaded; nothing changed");
    folder.write("room.txt", "gone");
    assert!(running.reload()["error"].as_str().unwrap().contains("room.txt:1: the first line must be"));
    let kept = std::fs::read_dir(folder.path("aizuchi-data/models")).expect("copies are kept").count();
    assert_eq!(kept, 2);

    folder
        .write("aizuchi.toml", "[bot]\nname = \"rin\"\n[store]\nkeep_days = 7\n[web]\ntoken = \"0123456789abcdef\"\n");
    let told = running.reload();
    assert_eq!(
        (&told["message"], &told["platforms"]),
        (&"settings reloaded: another token".into(), &"the web room".into())
    );

    running.signal("-TERM");
    assert!(running.child.wait().expect("it ends").success());
}
