//! A clock that is wrong and is set while the program runs or is down: nobody is ignored because of it, and it is reported.
#![cfg(target_os = "linux")]

use std::path::{Path, PathBuf};
use std::process::Command;

use aizuchi_test_servers::visitor::Visitor;

use crate::program::{Home, Program, eventually, new_home};

/// Debian's `faketime`: gives a program another time, without touching the clock of the machine.
fn faketime() -> PathBuf {
    let folders = std::fs::read_dir("/usr/lib").expect("there is a folder of libraries");
    let mut libraries =
        folders.map(|folder| folder.expect("it can be listed").path().join("faketime/libfaketimeMT.so.1"));
    libraries.find(|library| library.exists()).expect("the package `faketime` is installed; ./dev test does that")
}

/// The clock of a program, and of it alone.
pub struct FakeClock(PathBuf);

impl FakeClock {
    pub fn of(home: &mut Home) -> FakeClock {
        let file = home.folder().join("clock");
        home.set_variable("LD_PRELOAD", &faketime().to_string_lossy());
        home.set_variable("FAKETIME_TIMESTAMP_FILE", &file.to_string_lossy());
        home.set_variable("FAKETIME_NO_CACHE", "1");
        home.set_variable("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        let clock = FakeClock(file);
        clock.is_ahead_by(0);
        clock
    }

    pub fn is_ahead_by(&self, seconds: i64) {
        // At once: a file that is half written shows some other time.
        let new = self.0.with_extension("new");
        std::fs::write(&new, format!("{seconds:+}")).expect("it can be written");
        std::fs::rename(new, &self.0).expect("it can be put there");
    }
}

/// Somebody calls, and is answered.
async fn calls(program: &Program, key: &str) {
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    let id = mia.say(key, "@aizuchi are you there?").await;
    let trace = loop {
        let trace = mia.next("decided").await["trace"].clone();
        if trace["id"] == id {
            break trace;
        }
    };
    assert_eq!(trace["outcome"], "replies", "{key}: {trace}\n{}", program.said());
}

async fn tells(program: &Program, words: &str) {
    eventually(words, async || program.said().contains(words).then_some(())).await;
}

fn doctor(data: &Path) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_aizuchi"));
    command.args(["doctor", "--offline", "--set", &format!("store.folder={}", data.display())]).env_clear();
    let output = command.output().expect("it can be started");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test]
async fn an_hour_ahead_and_back_and_nobody_is_ignored() {
    let mut home = new_home(&["gates.user_addressed_per_hour=0"]);
    let clock = FakeClock::of(&mut home);
    let mut program = home.start().await;
    calls(&program, "right").await;
    clock.is_ahead_by(3600);
    calls(&program, "an hour ahead").await;
    clock.is_ahead_by(0);
    calls(&program, "right again").await;
    clock.is_ahead_by(-60);
    calls(&program, "a minute back").await;
    tells(&program, "the clock was set forward by 1 h").await;
    tells(&program, "the clock was set back by 1 h").await;
    tells(&program, "the clock was set back by 1 min").await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    let status = mia.order("/status").await;
    assert!(status.contains("clock: was set back by 1 min"), "{status}");
    clock.is_ahead_by(3600);
    calls(&program, "ahead before the end").await;
    program.kill();
    clock.is_ahead_by(0);
    let told = doctor(&home.data());
    assert!(told.contains("ahead of the clock of this machine"), "{told}");
    let program = home.start().await;
    calls(&program, "after a kill").await;
    assert!(program.said().contains("the clock was set back by"), "{}", program.said());
    let told = doctor(&home.data());
    assert!(told.contains("the clock was set back by") && !told.contains("ahead of the clock"), "{told}");
}
