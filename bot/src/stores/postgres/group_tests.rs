//! Writes of one group: each succeeds or fails alone, also where the group was tried in a hurry first.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::postgres::{PostgresOptions, PostgresServer};

use super::connection::PgConnection;
use super::error::PgResult;
use super::{PgTarget, PostgresDatabase};
use crate::stores::StoreError;

async fn opened(server: &PostgresServer, folder: &Scratch) -> (PostgresDatabase, String) {
    let name = server.empty_database().await;
    let target = PgTarget::new(&server.url(&name).into(), &|_| None).expect("a sound address");
    let database = PostgresDatabase::open(target, folder.join("postgres")).await.expect("a database");
    let create = "CREATE TABLE noted (number BIGINT PRIMARY KEY)";
    database.write(|connection| connection.batch(create)).await.expect("it may create tables");
    (database, name)
}

/// Twice the same number is refused when the statement is sent, which is after the write that asked for it.
fn note(connection: &PgConnection, number: i64) -> PgResult<()> {
    connection.execute_later("INSERT INTO noted VALUES ($1)", vec![Box::new(number)])
}

#[tokio::test]
async fn a_refused_write_fails_alone_whenever_its_statements_are_sent() {
    let (server, folder) = (PostgresServer::start(PostgresOptions::default()).await, Scratch::new("group"));
    let (database, name) = opened(&server, &folder).await;
    database.write(|connection| note(connection, 3)).await.expect("it is new");
    let writes = (1..=5).map(|number| {
        let database = database.clone();
        async move { database.write(move |connection| note(connection, number)).await }
    });
    let done: Vec<Result<(), StoreError>> = futures_util::future::join_all(writes).await;
    let refused: Vec<bool> = done.iter().map(Result::is_err).collect();
    assert_eq!(refused, [false, false, true, false, false], "{done:?}");
    let told = done[2].as_ref().unwrap_err().to_string();
    assert!(
        told.contains("noted_pkey") && !told.contains("(3)"),
        "{told}: what was to be written is nobody's business"
    );
    let noted = server.psql(&name, "select string_agg(number::text, ' ' order by number) from noted").await;
    assert_eq!(noted.trim(), "1 2 3 4 5");
}

#[tokio::test]
async fn what_fails_within_a_write_and_is_taken_in_stride_keeps_the_rest_of_it() {
    let (server, folder) = (PostgresServer::start(PostgresOptions::default()).await, Scratch::new("group"));
    let (database, name) = opened(&server, &folder).await;
    database.write(|connection| note(connection, 1)).await.expect("it is new");
    let attempts = Arc::new(AtomicU32::new(0));
    let counted = attempts.clone();
    let kept = database
        .write(move |connection| {
            counted.fetch_add(1, Ordering::Relaxed);
            let part = |number: i64| connection.savepoint("part", || note(connection, number)).is_ok();
            Ok([part(1), part(2)])
        })
        .await;
    assert_eq!(kept, Ok([false, true]), "after {attempts:?} attempts");
    let noted = server.psql(&name, "select string_agg(number::text, ' ' order by number) from noted").await;
    assert_eq!(noted.trim(), "1 2");
}

/// A group without a refusal takes one round trip for each answer that is waited for.
#[tokio::test]
async fn what_nobody_waits_for_is_written_in_its_order() {
    let (server, folder) = (PostgresServer::start(PostgresOptions::default()).await, Scratch::new("group"));
    let (database, name) = opened(&server, &folder).await;
    let counted = database
        .write(|connection| {
            for number in 0..200 {
                note(connection, number)?;
                connection.execute_later("DELETE FROM noted WHERE number = $1::bigint - 1", vec![Box::new(number)])?;
            }
            Ok(connection.one("SELECT count(*) FROM noted", &[])?.get::<_, i64>(0))
        })
        .await;
    assert_eq!(counted, Ok(1));
    assert_eq!(server.psql(&name, "select number from noted").await.trim(), "199");
}

/// Passes everything on between programs and a server, and counts how often a program spoke again after the server had: round trips.
async fn counting_proxy(port: u16) -> (u16, Arc<AtomicU32>) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};

    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port is free");
    let (own, trips) = (listener.local_addr().expect("it listens").port(), Arc::new(AtomicU32::new(0)));
    let counted = trips.clone();
    tokio::spawn(async move {
        while let Ok((mut program, _)) = listener.accept().await {
            let (trips, mut server_spoke) = (counted.clone(), true);
            tokio::spawn(async move {
                let mut server = TcpStream::connect(("127.0.0.1", port)).await.expect("the server is there");
                let (mut asked, mut answered) = (vec![0; 1 << 16], vec![0; 1 << 16]);
                loop {
                    tokio::select! {
                        Ok(count @ 1..) = program.read(&mut asked) => {
                            trips.fetch_add(u32::from(std::mem::take(&mut server_spoke)), Ordering::Relaxed);
                            server.write_all(&asked[..count]).await.expect("the server takes it");
                        }
                        Ok(count @ 1..) = server.read(&mut answered) => {
                            server_spoke = true;
                            program.write_all(&answered[..count]).await.expect("the program takes it");
                        }
                        else => return,
                    }
                }
            });
        }
    });
    (own, trips)
}

#[tokio::test]
async fn a_group_of_records_is_one_round_trip() {
    use aizuchi_core::{Input, Time};

    use crate::ports::{JournalEntry, JournalStore};

    const APPENDS: u32 = 100;
    let (server, folder) = (PostgresServer::start(PostgresOptions::default()).await, Scratch::new("group"));
    let name = server.empty_database().await;
    let (port, trips) = counting_proxy(server.port()).await;
    let url = server.url(&name).replace(&format!(":{}/", server.port()), &format!(":{port}/"));
    let target = PgTarget::new(&url.into(), &|_| None).expect("a sound address");
    let database = PostgresDatabase::open(target, folder.join("postgres")).await.expect("a database");
    let entry = |number: u32| [JournalEntry::Input(Time(number.into()), Input::Tick)];
    // What is done once is done: statements are prepared.
    JournalStore::append(&database, 0, &entry(0)).await.expect("it is recorded");
    let before = trips.load(Ordering::Relaxed);
    let appends = (1..=APPENDS).map(|number| {
        let database = database.clone();
        async move { JournalStore::append(&database, 0, &entry(number)).await.map(|appended| appended.seq) }
    });
    let seqs = futures_util::future::join_all(appends).await;
    let expected: Vec<Result<u64, StoreError>> = (1..=APPENDS).map(|number| Ok(u64::from(number) + 1)).collect();
    assert_eq!(seqs, expected);
    let others = server.psql(&name, "select count(*) from journal where at <> seq - 1").await;
    assert_eq!(others, "0", "each knows its own number");
    let groups = trips.load(Ordering::Relaxed) - before;
    println!("{groups} round trips for {APPENDS} appends");
    assert!(groups <= APPENDS / 10, "{groups} round trips for {APPENDS} appends that waited together");
}
