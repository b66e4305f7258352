//! The PostgreSQL adapter: everything in one database, written through one connection, read through many. All its SQL is here.

#[cfg(feature = "cluster")]
mod cluster;
#[cfg(feature = "cluster")]
mod cluster_locks;
#[cfg(feature = "cluster")]
mod cluster_move;
#[cfg(feature = "cluster")]
mod cluster_outbox;
#[cfg(feature = "cluster")]
mod cluster_presets;
#[cfg(feature = "cluster")]
mod cluster_session;
#[cfg(feature = "cluster")]
mod cluster_set_aside;
#[cfg(feature = "cluster")]
mod cluster_spending;
#[cfg(all(test, feature = "cluster"))]
mod cluster_tests;
mod connection;
mod copy;
mod database;
mod decisions;
mod error;
mod files;
#[cfg(test)]
mod forgotten_tests;
#[cfg(test)]
mod group_tests;
mod inbox;
mod journal;
mod journal_index;
mod keeper;
mod marks;
mod memory;
mod migrations;
mod of_cluster;
#[cfg(test)]
mod outage_tests;
mod posts;
mod recent;
mod record;
mod session;
#[cfg(feature = "cluster")]
mod shard_claims;
mod snapshots;
#[cfg(all(test, feature = "cluster"))]
mod start_tests;
mod target;
mod text;
mod web;
mod work;
mod writer;

#[cfg(feature = "cluster")]
pub use cluster_locks::LockHolder;
#[cfg(feature = "cluster")]
pub use cluster_session::{ClusterSession, ProcessNotice, RoomNotice, while_held};
pub use database::PostgresDatabase;
#[cfg(feature = "cluster")]
pub use shard_claims::PgShardClaims;
pub use target::{PASSWORD_VARIABLES, PgTarget};

#[cfg(test)]
use aizuchi_test_servers::postgres::PostgresVersion;

/// The database that a folder stands for, made the first time. The server lives as long as the thread of the test.
#[cfg(test)]
pub async fn scratch(folder: &std::path::Path, version: PostgresVersion) -> PostgresDatabase {
    let target = scratch_target(folder, version).await;
    PostgresDatabase::open(target, folder.join("postgres")).await.expect("the server of the tests answers")
}

/// The same where few vectors are enough for an index.
#[cfg(test)]
pub async fn scratch_indexing_from(folder: &std::path::Path, indexed_from: u32) -> PostgresDatabase {
    let target = scratch_target(folder, PostgresVersion::WithVector).await;
    let opened = PostgresDatabase::open_indexing_from(indexed_from, target, folder.join("postgres")).await;
    opened.expect("the server of the tests answers")
}

#[cfg(test)]
async fn scratch_target(folder: &std::path::Path, version: PostgresVersion) -> PgTarget {
    use std::cell::RefCell;
    use std::sync::Arc;

    use aizuchi_test_servers::postgres::{PostgresServer, shared};

    thread_local! {
        static SERVERS: RefCell<Vec<Arc<PostgresServer>>> = const { RefCell::new(Vec::new()) };
    }
    let note = folder.join("postgres.url");
    let url = match std::fs::read_to_string(&note) {
        Ok(url) => url,
        Err(_) => {
            let server = shared(version).await;
            let name = server.empty_database().await;
            if version == PostgresVersion::WithVector {
                server.psql(&name, "create extension vector").await;
            }
            let url = server.url(&name);
            SERVERS.with_borrow_mut(|servers| servers.push(server));
            std::fs::write(&note, &url).expect("the folder can be written to");
            url
        }
    };
    PgTarget::new(&url.into(), &|_| None).expect("the server of the tests has a sound address")
}
