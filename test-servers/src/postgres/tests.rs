//! The servers start, keep what was committed, and leave nothing behind.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use super::*;
use crate::daemon::{children_of, is_alive};
use crate::pgbouncer::PgBouncer;
use crate::program::eventually;

async fn start(version: PostgresVersion) -> PostgresServer {
    PostgresServer::start(PostgresOptions { version, ..Default::default() }).await
}

/// The main process and its children.
fn processes(server: &PostgresServer) -> Vec<u32> {
    let id = server.id().expect("it runs");
    let mut all = children_of(id);
    all.push(id);
    all
}

#[tokio::test]
async fn both_versions_answer_and_only_one_has_vectors() {
    for version in [PostgresVersion::Debian, PostgresVersion::WithVector] {
        let server = start(version).await;
        let database = server.empty_database().await;
        let by_password = server.psql_at(&server.url(&database), &[], "select current_user, 1").await;
        assert_eq!(by_password.expect("the password is right"), "aizuchi|1");
        let wrong = server.url(&database).replace(PASSWORD_IN_URL, "guessed");
        let refused = server.psql_at(&wrong, &[], "select 1").await.expect_err("TCP needs the password");
        assert!(refused.contains("password authentication failed"), "{refused}");
        let vectors = server.try_psql(&database, "create extension vector").await;
        assert_eq!(vectors.is_ok(), version == PostgresVersion::WithVector, "{vectors:?}");
        if vectors.is_ok() {
            assert_eq!(server.psql(&database, "select '[3,4]'::vector <-> '[0,0]'").await, "5");
        }
    }
}

#[tokio::test]
async fn what_was_committed_survives_stops_and_kills() {
    let server = start(PostgresVersion::Debian).await;
    let database = server.empty_database().await;
    let url = server.url(&database);
    server.psql_at(&url, &[], "create table rows (number int)").await.expect("the database is its own");
    // `STORE_STOPS=50` for more.
    let rounds = std::env::var("STORE_STOPS").ok().and_then(|rounds| rounds.parse().ok()).unwrap_or(4);
    for round in 0..rounds {
        let before = processes(&server);
        let insert = format!("insert into rows values ({round})");
        server.psql_at(&url, &[], &insert).await.expect("it runs");
        match round % 4 {
            3 => server.kill_9(),
            2 => server.stop(StopMode::Fast).await,
            _ => server.stop(StopMode::Immediate).await,
        }
        assert!(!before.iter().any(|id| is_alive(*id)), "a process is left");
        assert!(server.psql_at(&url, &[], "select 1").await.is_err());
        server.start_again().await;
        assert_eq!(server.url(&database), url);
        assert_eq!(server.psql(&database, "select count(*) from rows").await, (round + 1).to_string());
    }
}

#[tokio::test]
async fn a_lock_file_with_the_id_of_another_server_is_in_nobodys_way() {
    let (server, other) = (start(PostgresVersion::Debian).await, start(PostgresVersion::Debian).await);
    server.kill_9();
    let lock = std::fs::read_to_string(server.lock_file()).expect("a kill leaves it");
    let rest = lock.split_once('\n').expect("it has lines").1;
    std::fs::write(server.lock_file(), format!("{}\n{rest}", other.id().expect("it runs"))).unwrap();
    server.start_again().await;
    assert_eq!(server.psql("postgres", "select 1").await, "1");
}

#[tokio::test]
async fn databases_have_the_encoding_that_was_asked_for() {
    let server = shared(PostgresVersion::Debian).await;
    for encoding in ["LATIN1", "SQL_ASCII", "UTF8"] {
        let name = format!("in-{encoding}");
        server.create_database(&name, Some(encoding)).await;
        assert_eq!(server.psql(&name, "show server_encoding").await, encoding);
    }
    let refused = server.try_psql("in-LATIN1", "select 'あ'").await;
    assert!(refused.is_err_and(|error| error.contains("has no equivalent in encoding")));
}

#[tokio::test]
async fn one_shared_server_has_databases_for_all() {
    let (first, second) = tokio::join!(shared(PostgresVersion::Debian), shared(PostgresVersion::Debian));
    assert!(Arc::ptr_eq(&first, &second));
    assert_ne!(first.empty_database().await, second.empty_database().await);
}

#[tokio::test]
async fn with_tls_the_certificate_is_right_and_plain_connections_are_refused() {
    let server = PostgresServer::start(PostgresOptions { tls: true, durable: true, ..Default::default() }).await;
    let authority = server.authority_file().expect("there is one").to_string_lossy().into_owned();
    let url = server.url("postgres");
    let verified = [("PGSSLMODE", "verify-full"), ("PGSSLROOTCERT", authority.as_str())];
    let sql = "select ssl from pg_stat_ssl where pid = pg_backend_pid()";
    for url in [url.clone(), url.replace("127.0.0.1", "localhost")] {
        assert_eq!(server.psql_at(&url, &verified, sql).await.expect("the certificate is right"), "t");
    }
    assert!(server.psql_at(&url, &[("PGSSLMODE", "disable")], sql).await.is_err());
    let other = PostgresServer::start(PostgresOptions { tls: true, ..Default::default() }).await;
    assert!(other.psql_at(&other.url("postgres"), &verified, sql).await.is_err(), "another authority");
    assert_eq!(server.psql("postgres", "show fsync").await, "on");
    assert_eq!(other.psql("postgres", "show fsync").await, "off");
}

#[tokio::test]
async fn while_it_is_paused_nothing_answers() {
    let server = start(PostgresVersion::Debian).await;
    server.pause();
    let asked = server.psql("postgres", "select 1");
    tokio::pin!(asked);
    assert!(tokio::time::timeout(Duration::from_millis(300), &mut asked).await.is_err());
    server.resume();
    assert_eq!(asked.await, "1");
    server.pause();
    server.stop(StopMode::Immediate).await;
    server.start_again().await;
    server.pause();
}

#[tokio::test]
async fn a_server_that_cannot_start_says_why() {
    let started = tokio::spawn(PostgresServer::start(PostgresOptions {
        extra: vec!["no_such_setting=1".into()],
        ..Default::default()
    }));
    let failed = started.await.err().expect("it cannot start").into_panic();
    let message = failed.downcast_ref::<String>().expect("a sentence");
    assert!(message.contains("unrecognized configuration parameter \"no_such_setting\""), "{message}");
}

#[tokio::test]
async fn rows_go_through_pgbouncer_and_transactions_share_a_connection() {
    let server = start(PostgresVersion::Debian).await;
    let database = server.empty_database().await;
    let pool = PgBouncer::start(&server).await;
    assert_ne!(pool.port(), server.port());
    let url = pool.url(&database);
    server.psql_at(&url, &[], "create table rows (word text)").await.expect("a statement goes through");
    server.psql_at(&url, &[], "insert into rows values ('あ')").await.expect("a row goes through");
    assert_eq!(server.psql(&database, "select word from rows").await, "あ");
    let mut connections = Vec::new();
    for _ in 0..2 {
        connections.push(server.psql_at(&url, &[], "select pg_backend_pid()").await.expect("it answers"));
    }
    assert_eq!(connections[0], connections[1], "clients share the connection of the pool");
    let id = pool.id();
    drop(pool);
    assert!(!is_alive(id));
}

#[tokio::test]
async fn nothing_is_left_after_a_test_that_fails() {
    let server = start(PostgresVersion::Debian).await;
    let (all, folder) = (processes(&server), server.data_folder());
    assert!(all.len() > 3 && all.iter().all(|id| is_alive(*id)));
    let failed = std::thread::spawn(move || {
        let _server = server;
        panic!("as a test does");
    });
    assert!(failed.join().is_err());
    assert!(!all.iter().any(|id| is_alive(*id)) && !folder.exists());
}

const TO_BE_KILLED: &str = "postgres::tests::serves_until_it_is_killed";

#[tokio::test]
async fn no_process_is_left_after_a_test_that_is_killed() {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--ignored", "--exact", "--nocapture", TO_BE_KILLED]).env("TO_BE_KILLED", "1");
    let mut test = command.stdout(Stdio::piped()).spawn().expect("it runs");
    let lines = BufReader::new(test.stdout.take().expect("it was asked for")).lines().map_while(Result::ok);
    let mut words = lines.filter_map(|line| line.split_once("serves from ").map(|(_, rest)| rest.to_owned()));
    let line = words.next().expect("it says where it is");
    let (folder, ids) = line.split_once(": ").expect("a folder and ids");
    let ids: Vec<u32> = ids.split(' ').map(|id| id.parse().expect("an id")).collect();
    test.kill().expect("it is ours");
    test.wait().expect("it ends");
    eventually("its servers end", async || (!ids.iter().any(|id| is_alive(*id))).then_some(())).await;
    std::fs::remove_dir_all(folder).expect("its folder is there");
}

#[tokio::test]
#[ignore = "started and killed by another test"]
async fn serves_until_it_is_killed() {
    if std::env::var_os("TO_BE_KILLED").is_none() {
        return;
    }
    // The thread that asked for it ends, the server stays.
    let runtime = tokio::runtime::Handle::current();
    let started = std::thread::spawn(move || runtime.block_on(start(PostgresVersion::Debian)));
    let server = tokio::task::spawn_blocking(|| started.join().expect("it starts")).await.expect("it starts");
    assert_eq!(server.psql("postgres", "select 1").await, "1");
    let ids: Vec<String> = processes(&server).iter().map(u32::to_string).collect();
    println!("serves from {}: {}", server.folder.display(), ids.join(" "));
    std::future::pending::<()>().await;
}
