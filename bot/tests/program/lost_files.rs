//! Files that are gone, empty or too short: it notices, says what to do, and acknowledges nothing that would be lost.

use std::path::Path;

use aizuchi_test_servers::visitor::Visitor;
use serde_json::json;

use crate::program::{Home, Program, eventually, new_home};

/// Talks a little and is killed, so that the newest records are in the log beside the database.
async fn lived() -> Home {
    let home = new_home(&[]);
    let mut program = home.start().await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    for number in 0..5 {
        mia.say(&number.to_string(), "good morning").await;
    }
    program.kill();
    home
}

async fn refused(home: &Home, words: &[&str]) {
    let (code, said) = home.refused().await;
    assert_eq!(code, Some(1), "{said}");
    for words in words {
        assert!(said.contains(words), "{words:?} is missing:\n{said}");
    }
    assert!(!said.contains("is in the room") && !said.contains("panicked"), "{said}");
}

fn database(home: &Home) -> std::path::PathBuf {
    home.data().join("aizuchi.db")
}

fn remove_logs(home: &Home) {
    for end in ["aizuchi.db-wal", "aizuchi.db-shm"] {
        std::fs::remove_file(home.data().join(end)).unwrap();
    }
}

#[tokio::test]
async fn an_emptied_or_missing_database_is_not_taken_for_a_new_one() {
    let home = lived().await;
    remove_logs(&home);
    std::fs::write(database(&home), "").unwrap();
    refused(&home, &["aizuchi.db is empty", "aizuchi backup", "--accept-loss"]).await;
    std::fs::remove_file(database(&home)).unwrap();
    refused(&home, &["aizuchi.db is missing", "aizuchi backup", "--accept-loss"]).await;
    accepted(&home).await;
}

#[tokio::test]
async fn a_lost_end_of_the_journal_is_noticed() {
    let home = lived().await;
    remove_logs(&home);
    refused(&home, &["are missing", "aizuchi.db-wal", "--accept-loss"]).await;
    let doctor = home.command(&["doctor"]).await;
    assert!(doctor.contains("are missing"), "{doctor}");
    accepted(&home).await;
}

/// With `--accept-loss` it begins with what there is; later starts do not need the option.
async fn accepted(home: &Home) {
    let mut program = home.start_with(&["--accept-loss"]).await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    mia.say("again", "good evening").await;
    program.kill();
    home.start().await;
}

/// Says something until it is refused; returns the refusal.
async fn until_refused(mia: &mut Visitor) -> String {
    let mut number = 100;
    eventually("it is refused", async || {
        number += 1;
        mia.send(json!({"do": "say", "key": number.to_string(), "text": "good morning"})).await;
        loop {
            let frame = mia.any().await.expect("the page stays");
            match frame["tell"].as_str() {
                Some("refused") => return Some(frame["why"].as_str().unwrap().to_owned()),
                Some("taken") => return None,
                _ => (),
            }
        }
    })
    .await
}

async fn notices(program: &mut Program, mia: &mut Visitor, words: &str) {
    mia.send(json!({"do": "say", "key": "lost", "text": "is anybody there?"})).await;
    loop {
        let frame = mia.any().await.expect("the page stays");
        match frame["tell"].as_str() {
            Some("taken") => panic!("nothing is kept, and yet it is taken"),
            Some("refused") => break,
            _ => (),
        }
    }
    let ready = program.get("/ready").await;
    assert!(ready.starts_with("HTTP/1.1 503"), "{ready}");
    eventually("the log says why", async || program.said().contains(words).then_some(())).await;
    assert!(program.has_ended().is_none(), "{}", program.said());
}

#[tokio::test]
async fn a_folder_deleted_under_it_is_noticed_and_nothing_is_acknowledged() {
    let home = new_home(&[]);
    let mut program = home.start().await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    mia.say("1", "good morning").await;
    std::fs::remove_dir_all(home.data()).unwrap();
    notices(&mut program, &mut mia, "was deleted or replaced").await;
    assert_eq!(until_refused(&mut mia).await, "The message could not be stored; try again. The server's log says why.");
}

#[tokio::test]
async fn a_database_moved_away_under_it_may_come_back() {
    let home = new_home(&[]);
    let mut program = home.start().await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    mia.say("1", "good morning").await;
    let (here, there) = (database(&home), home.folder().join("elsewhere.db"));
    std::fs::rename(&here, &there).unwrap();
    notices(&mut program, &mut mia, "was deleted or replaced").await;
    std::fs::copy(&there, &here).unwrap();
    assert!(program.get("/ready").await.starts_with("HTTP/1.1 503"), "a copy is not the file it writes to");
    std::fs::rename(&there, &here).unwrap();
    eventually("it is ready again", async || program.get("/ready").await.starts_with("HTTP/1.1 200").then_some(()))
        .await;
    mia.say("again", "@aizuchi are you still there?").await;
    eventually("it answers", async || (mia.next("said").await["message"]["voice"] == "Me").then_some(())).await;
}

#[tokio::test]
async fn a_log_deleted_or_a_database_emptied_under_it_is_noticed() {
    for spoil in
        [(|home: &Home| std::fs::remove_file(home.data().join("aizuchi.db-wal")).unwrap()) as fn(&Home), |home| {
            std::fs::OpenOptions::new().write(true).open(database(home)).unwrap().set_len(0).unwrap()
        }]
    {
        let home = new_home(&[]);
        let mut program = home.start().await;
        let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
        mia.say("1", "good morning").await;
        spoil(&home);
        notices(&mut program, &mut mia, "was deleted or replaced").await;
    }
}

/// Brings everything from the log into the database itself.
fn settle(home: &Home) {
    let store = rusqlite::Connection::open(database(home)).unwrap();
    store.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
}

#[tokio::test]
async fn a_checkpoint_by_another_program_is_no_loss() {
    let home = new_home(&[]);
    let program = home.start().await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    let other = rusqlite::Connection::open(database(&home)).unwrap();
    for (number, kind) in ["PASSIVE", "FULL", "RESTART", "TRUNCATE"].repeat(10).into_iter().enumerate() {
        mia.say(&number.to_string(), &"good morning ".repeat(number + 1)).await;
        // It may find the log in use: then it does less.
        let _ = other.query_row(&format!("PRAGMA wal_checkpoint({kind})"), [], |_| Ok(()));
    }
    assert!(program.get("/ready").await.starts_with("HTTP/1.1 200"), "{}", program.said());
    mia.say("last", "@aizuchi are you still there?").await;
}

#[tokio::test]
async fn a_database_that_is_only_touched_goes_on() {
    let home = new_home(&[]);
    let program = home.start().await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    for number in 0..50 {
        mia.say(&number.to_string(), &"good morning ".repeat(500)).await;
        let file = std::fs::OpenOptions::new().write(true).open(database(&home)).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(number)).unwrap();
    }
    assert!(program.get("/ready").await.starts_with("HTTP/1.1 200"), "{}", program.said());
    mia.say("last", "@aizuchi are you still there?").await;
}

#[tokio::test]
async fn a_second_program_is_refused_though_somebody_deleted_the_lock() {
    let home = new_home(&[]);
    let _first = home.start().await;
    std::fs::remove_file(home.data().join("lock")).unwrap();
    let mut other = new_home(&[]);
    other.set(format!("store.folder={}", home.data().display()));
    refused(&other, &["another aizuchi is using"]).await;
}

#[tokio::test]
async fn a_damaged_database_is_refused_with_advice_that_works() {
    let home = lived().await;
    // So that there is something to damage.
    settle(&home);
    let mut bytes = std::fs::read(database(&home)).unwrap();
    bytes.iter_mut().skip(4096).for_each(|byte| *byte = byte.wrapping_mul(31).wrapping_add(7));
    std::fs::write(database(&home), bytes).unwrap();
    refused(&home, &["aizuchi backup", "move aizuchi.db", "--accept-loss"]).await;
    for file in std::fs::read_dir(home.data()).unwrap() {
        let path = file.unwrap().path();
        if path.file_name().unwrap().to_str().unwrap().starts_with("aizuchi.db") {
            std::fs::remove_file(path).unwrap();
        }
    }
    accepted(&home).await;
}

/// On a disk of its own, where this machine lets us have one.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_start_on_a_full_disk_waits_for_room() {
    use std::process::Command;
    let allowed = Command::new("unshare").args(["--map-root-user", "--mount", "true"]).output();
    if !allowed.is_ok_and(|tried| tried.status.success()) {
        return println!("not tried: only somebody who may mount has a disk to fill");
    }
    let mut home = new_home(&[]);
    std::fs::create_dir(home.data()).unwrap();
    let (mount, data) = ("mount -t tmpfs -o size=2m tmpfs", home.data());
    let fill = format!("head -c 4m /dev/zero > {}/ballast 2>/dev/null; true", data.display());
    home.before = Some(format!(
        "exec unshare --map-root-user --mount sh -c '{mount} {} && {{ {fill}; }} && exec \"$0\" \"$@\"' \"$0\" \"$@\"",
        data.display()
    ));
    let mut program = home.spawn();
    eventually("it says what it waits for", async || program.said().contains("the disk is full").then_some(())).await;
    assert!(program.has_ended().is_none(), "{}", program.said());
    let ballast = format!("/proc/{}/root{}/ballast", program.id(), data.display());
    std::fs::remove_file(Path::new(&ballast)).unwrap();
    eventually("it starts", async || program.said().contains("is in the room").then_some(())).await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    mia.say("1", "@aizuchi are you there?").await;
    eventually("it answers", async || (mia.next("said").await["message"]["voice"] == "Me").then_some(())).await;
}
