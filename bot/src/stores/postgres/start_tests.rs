//! Several processes that start at once on a database that is empty, or of an earlier version.

use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::postgres::{PostgresOptions, PostgresServer, PostgresVersion};
use futures_util::future::join_all;

use super::migrations::VERSION;
use super::{PgTarget, PostgresDatabase};
use crate::stores::StoreError;

const PROCESSES: usize = 8;

/// What a process of a cluster does; one that runs alone is the only one.
async fn start(url: &str, folder: &Scratch) -> Result<PostgresDatabase, StoreError> {
    let target = PgTarget::new(&url.into(), &|_| None).expect("a sound address");
    PostgresDatabase::open_among_others(target, folder.join("postgres")).await
}

#[tokio::test]
async fn processes_that_start_at_once_make_the_tables_once() {
    let options = PostgresOptions { version: PostgresVersion::WithVector, ..PostgresOptions::default() };
    let (server, folder) = (PostgresServer::start(options).await, Scratch::new("starts"));
    let first = format!("{}; insert into store_version values (1)", include_str!("migrations/0001.sql"));
    for earlier in [None, None, None, Some(&first)] {
        let name = server.empty_database().await;
        let url = server.url(&name);
        // All of them find that its column is missing.
        server.psql(&name, "create extension vector").await;
        if let Some(earlier) = earlier {
            server.psql_at(&url, &[], earlier).await.expect("a database of an earlier version");
        }
        let started = join_all((0..PROCESSES).map(|_| start(&url, &folder))).await;
        for opened in &started {
            assert!(opened.is_ok(), "{:?}", opened.as_ref().err());
        }
        let found = server.psql(&name, "select version from store_version; select count(*) from store_writer").await;
        assert_eq!(found, format!("{VERSION}\n1"));
        let ids = server.psql(&name, "select count(*) from journal_id").await;
        assert_eq!(ids, "1", "it is one store");
    }
}
