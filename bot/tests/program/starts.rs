//! What keeps it from starting, and the words that say what to do about it.

use std::net::TcpListener;

use rusqlite::Connection;

use crate::program::{Home, new_home};

/// It ends with this code, and says all of this.
async fn refused(home: &Home, code: i32, told: &[&str]) {
    let (found, said) = home.refused().await;
    assert_eq!(found, Some(code), "{said}");
    for words in told {
        assert!(said.contains(words), "{words:?} is not told:\n{said}");
    }
    assert!(!said.contains("is in the room") && !said.contains("panicked"), "{said}");
}

#[tokio::test]
async fn a_folder_that_cannot_be_written() {
    let mut home = new_home(&[]);
    std::fs::write(home.folder().join("file"), "").unwrap();
    let below = home.folder().join("file/data");
    home.set(format!("store.folder={}", below.display()));
    refused(&home, 1, &["cannot create the data folder", below.to_str().unwrap(), "store.folder"]).await;
    // Nobody may create files there, not even root.
    if cfg!(target_os = "linux") {
        home.set("store.folder=/proc/self");
        refused(&home, 1, &["cannot write into the data folder /proc/self", "store.folder"]).await;
    }
}

#[tokio::test]
async fn a_folder_that_another_one_has() {
    let home = new_home(&[]);
    let first = home.start().await;
    let mut other = new_home(&[]);
    other.set(format!("store.folder={}", home.data().display()));
    let folder = home.data().display().to_string();
    refused(&other, 1, &["another aizuchi is using", &folder, "--set store.folder="]).await;
    assert!(first.get("/ready").await.starts_with("HTTP/1.1 200"), "the first one goes on");
}

#[tokio::test]
async fn a_port_that_another_one_has() {
    let home = new_home(&[]);
    let _other = TcpListener::bind(home.address).unwrap();
    refused(&home, 1, &["cannot listen on", &home.address.to_string(), "--set web.address="]).await;
}

#[tokio::test]
async fn an_address_that_others_can_reach() {
    let mut home = new_home(&[]);
    home.set("web.address=0.0.0.0:0");
    refused(&home, 2, &["--set web.address=0.0.0.0:0: ", "an address that only this machine can reach", "web.token"])
        .await;
}

/// Going back to an earlier aizuchi: it says which one is needed, and what it does not understand stays as it is.
#[tokio::test]
async fn a_token_is_told_to_nobody_who_reads_the_log() {
    let home = new_home(&["web.token=very-secret-word"]);
    let mut program = home.start().await;
    program.terminate();
    program.ended().await;
    let said = program.said();
    assert!(!said.contains("very-secret-word"), "{said}");
    assert!(said.contains("aizuchi web-link"), "{said}");
}

#[tokio::test]
async fn a_store_of_a_newer_version() {
    let home = new_home(&[]);
    home.start().await.kill();
    let store = Connection::open(home.data().join("aizuchi.db")).unwrap();
    store.pragma_update(None, "wal_autocheckpoint", 0).unwrap();
    store.pragma_update(None, "user_version", 99).unwrap();
    // As it is while the other one runs, or was killed: part of it is still in the log.
    let newer = new_home(&[]);
    std::fs::create_dir(newer.data()).unwrap();
    let files = ["aizuchi.db", "aizuchi.db-wal"];
    for file in files {
        std::fs::copy(home.data().join(file), newer.data().join(file)).unwrap();
    }
    let read = || files.map(|file| std::fs::read(newer.data().join(file)).unwrap());
    let before = read();
    assert!(!before[1].is_empty(), "the log holds something");
    refused(&newer, 1, &["the store has version 99", "supports up to", "newer aizuchi", "nothing was changed"]).await;
    assert!(read() == before, "it was left as it is");
}

#[tokio::test]
async fn a_setting_that_does_not_exist() {
    let home = new_home(&["web.adress=1"]);
    refused(&home, 2, &["web.adress"]).await;
}
