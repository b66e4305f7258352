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
