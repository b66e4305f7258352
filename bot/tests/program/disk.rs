//! A disk that is full: people who speak are notified, and everything goes on when there is space again.
#![cfg(target_os = "linux")]

use std::path::PathBuf;
use std::process::Command;

use aizuchi_test_servers::visitor::Visitor;
use serde_json::json;

use crate::program::{Program, eventually, new_home};

/// Files may not grow any more, or may again. Works for everybody, wherever the folder is.
pub fn limit_files(program: &Program, most: &str) {
    let limit = [format!("--pid={}", program.id()), format!("--fsize={most}:unlimited")];
    assert!(Command::new("prlimit").args(limit).status().expect("util-linux is there").success());
}

#[tokio::test]
async fn no_room_in_files() {
    let home = new_home(&[]);
    let mut program = home.start().await;
    let log = home.data().join("aizuchi.db-wal");
    let fill = |program: &Program| limit_files(program, &std::fs::metadata(&log).unwrap().len().to_string());
    refuses_and_goes_on(&mut program, fill, |program| limit_files(program, "unlimited")).await;
}

#[tokio::test]
async fn no_room_for_its_log() {
    let mut home = new_home(&["log.level=debug"]);
    home.before = Some("exec 2>/dev/full".into());
    let mut program = home.start().await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    for number in 0..20 {
        mia.say(&number.to_string(), "good morning").await;
    }
    assert!(program.get("/live").await.starts_with("HTTP/1.1 200"));
    assert!(program.has_ended().is_none(), "{}", program.said());
}

/// On a disk of its own, where this machine lets us have one.
#[tokio::test]
async fn no_room_on_the_disk() {
    let allowed = Command::new("unshare").args(["--map-root-user", "--mount", "true"]).output();
    if !allowed.is_ok_and(|tried| tried.status.success()) {
        return println!("not tried: only somebody who may mount has a disk to fill");
    }
    let mut home = new_home(&[]);
    std::fs::create_dir(home.data()).unwrap();
    let (mount, data) = ("mount -t tmpfs -o size=2m tmpfs", home.data());
    home.before = Some(format!(
        "exec unshare --map-root-user --mount sh -c '{mount} {} && exec \"$0\" \"$@\"' \"$0\" \"$@\"",
        data.display()
    ));
    let mut program = home.start().await;
    let ballast = PathBuf::from(format!("/proc/{}/root{}/ballast", program.id(), data.display()));
    let fill = |_: &Program| {
        let _ = std::fs::write(&ballast, vec![7; 2 << 20]);
    };
    refuses_and_goes_on(&mut program, fill, |_| std::fs::remove_file(&ballast).unwrap()).await;
    assert!(program.said().contains("the disk is full"), "{}", program.said());
}

/// Where it cannot write its log, it takes part as before.
async fn goes_on_without_a_log(outputs: &str) {
    let mut home = new_home(&["log.level=debug"]);
    home.before = Some(outputs.into());
    let mut program = home.spawn();
    eventually("web room listening", async || {
        assert!(program.has_ended().is_none(), "{outputs}: it ended with {:?}", program.has_ended());
        tokio::net::TcpStream::connect(program.address).await.ok()
    })
    .await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    for key in ["1", "2", "3"] {
        mia.say(key, "good morning").await;
    }
    mia.say("4", "@aizuchi are you there?").await;
    eventually("it answers", async || (mia.next("said").await["message"]["voice"] == "Me").then_some(())).await;
    assert!(program.get("/live").await.starts_with("HTTP/1.1 200"), "{outputs}");
    program.terminate();
    assert_eq!(program.ended().await.code(), Some(0), "{outputs}");
}

#[tokio::test]
async fn nothing_can_be_printed_at_all() {
    goes_on_without_a_log("exec >/dev/full 2>&1").await;
}

#[tokio::test]
async fn nobody_reads_the_log_any_more() {
    goes_on_without_a_log("mkfifo log; (: <log) & exec 2>log; wait").await;
}

#[tokio::test]
async fn nobody_reads_anything_any_more() {
    goes_on_without_a_log("mkfifo log; (: <log) & exec >log 2>&1; wait").await;
}

async fn refuses_and_goes_on(program: &mut Program, fill: impl Fn(&Program), free: impl Fn(&Program)) {
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    mia.say("1", "good morning").await;
    fill(program);
    // What is there already may still be used up.
    let mut number = 1;
    let why = eventually("it has no room", async || {
        number += 1;
        mia.send(json!({"do": "say", "key": number.to_string(), "text": "x".repeat(7000)})).await;
        loop {
            let frame = mia.any().await.expect("the page stays");
            match frame["tell"].as_str() {
                Some("refused") => return Some(frame["why"].as_str().unwrap().to_owned()),
                Some("taken") => return None,
                _ => (),
            }
        }
    })
    .await;
    assert_eq!(why, "The message could not be stored; try again. The server's log says why.");
    let ready = program.get("/ready").await;
    assert!(ready.starts_with("HTTP/1.1 503") && ready.contains("not ready: the store cannot be written"), "{ready}");
    assert!(program.get("/live").await.starts_with("HTTP/1.1 200"));
    assert!(program.has_ended().is_none(), "it lives: {}", program.said());
    free(program);
    eventually("it is ready again", async || program.get("/ready").await.starts_with("HTTP/1.1 200").then_some(()))
        .await;
    mia.say("again", "@aizuchi are you still there?").await;
    let answered = async || (mia.next("said").await["message"]["voice"] == "Me").then_some(());
    eventually("it answers", answered).await;
}
