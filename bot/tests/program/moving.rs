//! `aizuchi store copy` killed while it copies: nothing starts on a part, and the same command completes it.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use aizuchi_test_servers::postgres::{PostgresOptions, PostgresServer};
use rusqlite::{Connection, OpenFlags};

use crate::program::{Home, eventually, new_home};

const RECORDS: u32 = 100_000;

fn copying(from: &str, to: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_aizuchi"));
    command.args(["store", "copy", "--from", from, "--to", to]).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().expect("it can be started")
}

/// Killed when this many records have arrived.
async fn kill_at(mut copying: Child, records: u32, counted: impl AsyncFn() -> u32) {
    eventually("a part has arrived", async || (counted().await >= records).then_some(())).await;
    assert!(copying.try_wait().expect("it is ours").is_none(), "it was too late to be killed");
    copying.kill().expect("it is ours");
    copying.wait().expect("it ends");
}

fn records_of(file: &Path) -> u32 {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let count = |store: Connection| store.query_row("SELECT count(*) FROM journal", [], |row| row.get(0));
    // It may not be there yet.
    Connection::open_with_flags(file, flags).and_then(count).unwrap_or(0)
}

async fn start_and_end(home: &Home) {
    let mut program = home.start().await;
    program.terminate();
    assert!(program.ended().await.success(), "{}", program.said());
}

#[tokio::test]
async fn a_copy_that_is_killed_is_completed_by_the_same_command() {
    let server = PostgresServer::start(PostgresOptions::default()).await;
    let (home, mut elsewhere) = (new_home(&[]), new_home(&[]));
    start_and_end(&home).await;
    let store = Connection::open(home.data().join("aizuchi.db")).expect("the store is there");
    let fill = "WITH RECURSIVE number (n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM number WHERE n < ?1 + 999)
        INSERT INTO journal (seq, shard, at, body, sum) SELECT n, 0, n, '\"Tick\"', 0 FROM number";
    store.execute(fill, [RECORDS]).expect("it can be filled");
    drop(store);
    let name = server.empty_database().await;
    let (file, url) = (home.data().display().to_string(), server.url(&name));
    let in_database = async || {
        let counted = server.try_psql(&name, "select count(*) from journal").await;
        counted.ok().and_then(|count| count.parse().ok()).unwrap_or(0)
    };
    for part in [RECORDS / 10, RECORDS / 2] {
        kill_at(copying(&file, &url), part, &in_database).await;
    }
    elsewhere.set(format!("store.url={url}"));
    let (code, told) = elsewhere.refused().await;
    assert!(code == Some(1) && told.contains("a copy into this store was interrupted"), "{told}");
    let told = home.ask(&["store", "copy", "--from", &file, "--to", &url]);
    assert!(told.contains("were there already") && told.contains("counted and compared"), "{told}");
    let back = home.folder().join("back");
    let (in_file, back) = (back.join("aizuchi.db"), back.display().to_string());
    kill_at(copying(&url, &back), RECORDS / 3, async || records_of(&in_file)).await;
    let mut on_part = new_home(&[]);
    on_part.change("store.folder", &back);
    let (code, told) = on_part.refused().await;
    assert!(code == Some(1) && told.contains("a copy into this store was interrupted"), "{told}");
    let told = home.ask(&["store", "copy", "--from", &url, "--to", &back]);
    assert!(told.contains("were there already") && told.contains("counted and compared"), "{told}");
    assert_eq!(records_of(&in_file), records_of(&home.data().join("aizuchi.db")));
}
