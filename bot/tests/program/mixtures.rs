//! Layers of memory in another store than the rest: `doctor` and a start say the same, and each thing is where it was wanted.

use aizuchi_test_servers::postgres::{PostgresOptions, PostgresServer, StopMode};
use aizuchi_test_servers::visitor::Visitor;
use rusqlite::Connection;

use crate::program::{Home, eventually, new_home};

async fn server() -> PostgresServer {
    PostgresServer::start(PostgresOptions::default()).await
}

async fn start_and_end(home: &Home) {
    let mut program = home.start().await;
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
}

/// A start is refused, and `doctor` says why in the same words.
async fn refused_alike(home: &Home, words: &str) {
    let (code, run) = home.refused().await;
    assert!(code.is_some_and(|code| code != 0) && run.contains(words), "{run}");
    let doctor = home.command(&["doctor"]).await;
    let fails = doctor.lines().find(|line| line.starts_with("fail memory"));
    assert!(fails.is_some_and(|line| line.contains(words)), "{doctor}");
}

#[tokio::test]
async fn a_file_for_memory_beside_a_database_is_tried_out_by_doctor_and_by_a_start() {
    let (server, mut home) = (server().await, new_home(&["memory.facts_store=sqlite"]));
    home.set(format!("store.url={}", server.url(&server.empty_database().await)));
    start_and_end(&home).await;
    let told = home.command(&["doctor"]).await;
    assert!(told.contains("aizuchi.db was written to and read"), "{told}");
    let file = home.data().join("aizuchi.db");
    let set_version = |version: u32| {
        let store = Connection::open(&file).expect("the file is there");
        store.pragma_update(None, "user_version", version).expect("it can be changed");
        store.pragma_query_value(None, "user_version", |row| row.get::<_, u32>(0)).expect("it has a version")
    };
    assert_eq!(set_version(999), 999);
    refused_alike(&home, "the store has version 999").await;
    for leftover in ["aizuchi.db-wal", "aizuchi.db-shm"] {
        let _ = std::fs::remove_file(home.data().join(leftover));
    }
    std::fs::write(&file, "no database, but words that are long enough to be read as the header of one".repeat(99))
        .expect("it can be damaged");
    refused_alike(&home, "file is not a database").await;
}

#[tokio::test]
async fn a_layer_in_a_database_of_its_own_beside_a_file() {
    let (server, mut home) = (server().await, new_home(&["memory.profiles_store=postgres"]));
    let name = server.empty_database().await;
    let memory = server.url(&name).replace(":pass%2Fword", "");
    home.set(format!("store.memory_url={memory}"));
    refused_alike(&home, "`store.memory_url`: ").await;
    home.set_variable("AIZUCHI_STORE_PASSWORD", "pass/word");
    let mut program = home.start().await;
    let mut mia = Visitor::enter(program.address, "lobby", "mia").await;
    mia.say("1", "good morning").await;
    eventually("she is remembered there", async || {
        (server.psql(&name, "select count(*) from memory_person").await == "1").then_some(())
    })
    .await;
    assert_eq!(server.psql(&name, "select count(*) from journal").await, "0");
    let count = |table: &str| {
        let query = format!("SELECT count(*) FROM {table}");
        home.store().query_row(&query, [], |row| row.get::<_, u32>(0)).expect("the file has it")
    };
    assert!(count("journal") > 0 && count("memory_person") == 0, "the rest is in the file");
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
    let told = home.command(&["doctor"]).await;
    assert!(told.contains(&format!("/{name} was written to and read")) && !told.contains("word@"), "{told}");
    start_and_end(&home).await;
    server.stop(StopMode::Fast).await;
    refused_alike(&home, "`store.memory_url`: ").await;
}

#[tokio::test]
async fn a_database_for_memory_beside_a_database_is_refused() {
    let mut home = new_home(&["memory.facts_store=postgres"]);
    home.set("store.memory_url=postgres://mia:hunter2@localhost/one");
    home.set("store.url=postgres://mia@localhost/two");
    let (code, told) = home.refused().await;
    assert!(code == Some(2) && told.contains("`store.memory_url` is for memory beside a file"), "{told}");
    home.change("store.url", "");
    home.change("store.memory_url", "mysql://mia:hunter2@localhost/one");
    let (code, told) = home.refused().await;
    assert!(code == Some(2) && told.contains("`store.memory_url` must begin with postgres://"), "{told}");
    assert!(!told.contains("hunter2"), "{told}");
}
