//! The stores of the contract: how a new one is made, and opened again.

#[cfg(feature = "cluster")]
use std::sync::Arc;

use aizuchi::ports::PlatformStores;
#[cfg(feature = "cluster")]
use aizuchi::ports::StoreBackend;
use aizuchi::stores::Database;
#[cfg(feature = "cluster")]
use aizuchi::stores::postgres::{PgTarget, PostgresDatabase};
use aizuchi_test_servers::folder::Scratch;
#[cfg(feature = "cluster")]
use aizuchi_test_servers::postgres::{PostgresServer, PostgresVersion};

pub trait StoreStage {
    /// A new and empty one.
    async fn new() -> Self;

    /// Opens it. Opened again, it shows what was durable by then.
    async fn open(&self) -> PlatformStores;
}

pub struct Sqlite(Scratch);

impl StoreStage for Sqlite {
    async fn new() -> Sqlite {
        Sqlite(Scratch::new("store-contract"))
    }

    async fn open(&self) -> PlatformStores {
        Database::open(&self.0.0.join("aizuchi.db")).unwrap().platform_stores()
    }
}

/// Opened again, it is another process of a cluster, with sessions of its own.
#[cfg(feature = "cluster")]
pub struct PostgresStage {
    url: String,
    folder: Scratch,
    _server: Arc<PostgresServer>,
}

#[cfg(feature = "cluster")]
impl StoreStage for PostgresStage {
    async fn new() -> PostgresStage {
        let server = aizuchi_test_servers::postgres::shared(PostgresVersion::Debian).await;
        let url = server.url(&server.empty_database().await);
        PostgresStage { url, folder: Scratch::new("store-contract"), _server: server }
    }

    async fn open(&self) -> PlatformStores {
        let target = PgTarget::new(&self.url.clone().into(), &|_| None).expect("a sound address");
        let opened = PostgresDatabase::open_among_others(target, self.folder.join("postgres")).await;
        StoreBackend::platform_stores(&opened.expect("the server of the tests answers"))
    }
}
