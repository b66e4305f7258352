//! What is searched by meaning is found whenever pgvector came, through the index of a server or without, and behind every wall.

use aizuchi_core::memory::{Filter, MemoryChange, Origin};
use aizuchi_core::types::{Visibility, stable_hash};
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::postgres::{PostgresOptions, PostgresServer, PostgresVersion};
use aizuchi_test_servers::program::eventually;

use super::vector_index::existing;
use super::vectors::nearest;
use crate::memory::StoredLayers;
use crate::memory::search::readable_places;
use crate::memory::tests::{draft, settings};
use crate::ports::StoreBackend as _;
use crate::stores::postgres::{PgTarget, PostgresDatabase};

const INDEXED_FROM: u32 = 40;
const DIMENSIONS: u64 = 8;

impl PostgresDatabase {
    /// Returns when there are so many indexes of vectors that can be used.
    pub async fn until_indexed(&self, count: usize) {
        eventually("vectors are indexed", async || (self.usable_vector_indexes().await == count).then_some(())).await;
    }

    async fn usable_vector_indexes(&self) -> usize {
        let there = self.read(existing).await.expect("the server answers");
        there.values().filter(|usable| **usable).count()
    }
}

struct VectorStage {
    server: PostgresServer,
    name: String,
    folder: Scratch,
}

impl VectorStage {
    async fn new() -> VectorStage {
        let options = PostgresOptions { version: PostgresVersion::WithVector, ..PostgresOptions::default() };
        let server = PostgresServer::start(options).await;
        let name = server.empty_database().await;
        VectorStage { server, name, folder: Scratch::new("vectors") }
    }

    async fn open(&self) -> PostgresDatabase {
        let target = PgTarget::new(&self.server.url(&self.name).into(), &|_| None).expect("a sound address");
        let opened = PostgresDatabase::open_indexing_from(INDEXED_FROM, target, self.folder.join("postgres")).await;
        opened.expect("the server of the tests answers")
    }

    async fn psql(&self, statement: &str) -> String {
        self.server.psql(&self.name, statement).await
    }
}

fn vector(seed: u64) -> Vec<f32> {
    (0..DIMENSIONS).map(|number| (stable_hash(seed, &number.to_string()) % 2000) as f32 / 1000.0 - 1.0).collect()
}

/// A room on a large server, and one on a server where hardly anybody is.
fn large() -> Origin {
    Origin::new("discord:1/hall", Visibility::Public)
}

fn small() -> Origin {
    Origin::new("discord:2/den", Visibility::Public)
}

/// So many facts of a room, each with a vector.
async fn remember(database: &PostgresDatabase, origin: &Origin, numbers: std::ops::Range<u64>) {
    let (memory, policies) = (database.memory(StoredLayers::ALL), settings(&[]));
    let drafts = numbers.map(|number| MemoryChange::Kept(Box::new(draft(origin, &format!("fact number {number}")))));
    memory.apply(drafts.collect(), &policies).await.unwrap();
    let filter = Filter { without_vector: Some("m".into()), ..Filter::default() };
    let facts = memory.facts(filter).await.unwrap();
    let embedded = facts.into_iter().map(|fact| MemoryChange::Embedded {
        vector: vector(fact.id.0),
        fact: fact.id,
        content: fact.content,
        model: "m".into(),
    });
    memory.apply(embedded.collect(), &policies).await.unwrap();
}

/// How many facts a reader finds by meaning, and how often an index was searched for it.
async fn search(database: &PostgresDatabase, reader: &Origin, count: usize) -> (usize, i64) {
    let places = readable_places(reader, true);
    let search = database.read(move |connection| {
        connection.snapshot(|| {
            let found = nearest(connection, &places, "m", &vector(1_000_000), count)?;
            let scans = "SELECT coalesce(sum(pg_stat_get_xact_numscans(c.oid)), 0)::bigint FROM pg_class AS c
                JOIN pg_am AS a ON a.oid = c.relam WHERE a.amname = 'hnsw'";
            Ok((found.len(), connection.one(scans, &[])?.get(0)))
        })
    });
    search.await.unwrap()
}

#[tokio::test]
async fn vectors_from_before_the_extension_are_found_and_indexed_at_its_first_start() {
    let stage = VectorStage::new().await;
    let database = stage.open().await;
    remember(&database, &large(), 0..100).await;
    assert_eq!(search(&database, &large(), 80).await, (80, 0), "compared in the program");
    drop(database);
    stage.psql("create extension vector").await;
    let database = stage.open().await;
    // Its room has as many as its server.
    database.until_indexed(2).await;
    assert_eq!(stage.psql("select count(*) from memory_vector where embedding is null").await, "0");
    let (found, scans) = search(&database, &large(), 80).await;
    assert!(found == 80 && scans > 0, "{found} found, {scans} searches of an index");
    // Also those that are written from now on.
    remember(&database, &large(), 100..110).await;
    assert_eq!(search(&database, &large(), 110).await.0, 110);
}

/// An earlier version filled the column at a start, and looked for gaps no more once it was there.
#[tokio::test]
async fn what_an_interrupted_start_left_out_is_filled_in() {
    let stage = VectorStage::new().await;
    stage.psql("create extension vector").await;
    let database = stage.open().await;
    remember(&database, &small(), 0..30).await;
    drop(database);
    stage.psql("alter table memory_vector alter column embedding set storage external").await;
    stage.psql("update memory_vector set embedding = null where fact > 10").await;
    let database = stage.open().await;
    assert_eq!(search(&database, &small(), 80).await.0, 30, "found also while they are filled in");
    eventually("the gaps are filled", async || {
        (stage.psql("select count(*) from memory_vector where embedding is null").await == "0").then_some(())
    })
    .await;
    assert_eq!(search(&database, &small(), 80).await.0, 30);
}

/// For a reader who may know little of much, not everything is searched first, and nobody finds what is behind a wall.
#[tokio::test]
async fn a_reader_who_may_know_little_is_served_without_the_index_of_others() {
    let stage = VectorStage::new().await;
    stage.psql("create extension vector").await;
    let database = stage.open().await;
    remember(&database, &large(), 0..600).await;
    remember(&database, &small(), 0..5).await;
    let private = Origin::new("discord:1/cellar", Visibility::Private);
    remember(&database, &private, 0..3).await;
    database.index_again();
    database.until_indexed(2).await;
    assert_eq!(search(&database, &small(), 80).await, (5, 0));
    let direct = Origin::new("discord:direct/7", Visibility::Direct);
    assert_eq!(search(&database, &direct, 80).await, (0, 0));
    let (found, scans) = search(&database, &private, 80).await;
    assert!(found == 80 && scans == 1, "its server through the index, its room without: {found}, {scans}");
    // Everybody in the hall may know all of its 600, and not the 3 of the cellar.
    assert_eq!(search(&database, &large(), 700).await.0, 600);
}

/// Tables are written anew although vectors are being indexed, which goes on afterwards.
#[tokio::test]
async fn forgetting_does_not_wait_for_an_index() {
    let stage = VectorStage::new().await;
    stage.psql("create extension vector").await;
    let database = stage.open().await;
    remember(&database, &large(), 0..100).await;
    database.index_again();
    database.until_indexed(2).await;
    let long =
        "set application_name = 'aizuchi indexer'; set role aizuchi; select pg_advisory_lock(7019276138831178036);
        lock table memory_vector in share update exclusive mode; select pg_sleep(3600)";
    let url = stage.server.url(&stage.name);
    let indexing = stage.server.psql_at(&url, &[], long);
    let forgetting = async {
        eventually("something is being indexed", async || {
            let asked = "select count(*) from pg_stat_activity where query like '%pg_sleep(3600)%' and state = 'active'
                and pid <> pg_backend_pid()";
            (stage.psql(asked).await == "1").then_some(())
        })
        .await;
        database.stores().files.remove_copies().await.unwrap();
    };
    let (interrupted, ()) = tokio::join!(indexing, forgetting);
    assert!(interrupted.is_err_and(|told| told.contains("canceling statement due to user request")));
    database.until_indexed(2).await;
    assert_eq!(search(&database, &large(), 80).await.0, 80);
}
