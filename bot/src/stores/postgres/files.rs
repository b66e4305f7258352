//! The ports that this adapter implements, and what it leaves on the server's disk.
//!
//! PostgreSQL keeps the old version of a changed row in the pages of its table until VACUUM, and its bytes until the space
//! is reused. VACUUM FULL rewrites tables: all of them when a person is forgotten, and small ones also when messages were
//! deleted. What is in the server's write-ahead log and in backups is up to the server; the book says for how long.

use std::path::Path;
use std::sync::Arc;

use super::PostgresDatabase;
use super::connection::PgConnection;
use super::error::{PgError, PgResult};
use super::memory::{self, Until};
use super::migrations;
use super::of_cluster;
use super::session;
use crate::memory::StoredLayers;
use crate::ports::{
    BoxFuture, COPYING_TABLE, CopyScope, CopyStore, FileCleanup, JournalId, MemoryStore, PlatformStores, StoreBackend,
    StoreCondition, StoreFiles, StoreKind, Stores,
};
use crate::stores::{Database, StoreError, copy};

/// Tables up to this size are rewritten whenever something was deleted; everybody waits meanwhile.
const SMALL_BYTES: i64 = 256 * 1024 * 1024;

impl StoreBackend for PostgresDatabase {
    fn kind(&self) -> StoreKind {
        StoreKind::Postgres
    }

    fn display_name(&self) -> String {
        PostgresDatabase::display_name(self).to_owned()
    }

    fn stores(&self) -> Stores {
        Stores::of(Arc::new(self.clone()))
    }

    fn platform_stores(&self) -> PlatformStores {
        PlatformStores::of(Arc::new(self.clone()))
    }

    fn memory(&self, kept: StoredLayers) -> Arc<dyn MemoryStore> {
        Arc::new(memory::PostgresMemory::new(self.clone(), kept))
    }

    fn condition(&self) -> BoxFuture<'_, Result<StoreCondition, StoreError>> {
        Box::pin(self.read(|connection| {
            let version = migrations::version(connection)?;
            Ok(StoreCondition {
                has_records: version > 0,
                has_memory: version >= migrations::SAME_TABLES_FROM,
                is_partial_copy: connection.simple(&format!("SELECT to_regclass('{COPYING_TABLE}')"))?.is_some(),
                is_of_cluster: of_cluster::is_of_cluster(connection)?,
                is_running: Some(session::is_running(connection)?),
            })
        }))
    }

    fn identity(&self) -> BoxFuture<'_, Result<String, StoreError>> {
        let query = "SELECT 'database ' || extract(epoch FROM pg_postmaster_start_time())::text || ' ' || oid::text
            FROM pg_database WHERE datname = current_database()";
        Box::pin(self.read(move |connection| Ok(connection.one(query, &[])?.get(0))))
    }

    fn journal_id(&self) -> BoxFuture<'_, Result<JournalId, StoreError>> {
        Box::pin(self.read(|connection| Ok(JournalId(connection.one("SELECT id FROM journal_id", &[])?.get(0)))))
    }

    fn try_out(&self) -> BoxFuture<'_, Result<Vec<(String, String)>, StoreError>> {
        let server = self.server();
        Box::pin(self.read(move |connection| {
            let other = PgConnection::connect(&server, "aizuchi doctor")?;
            session::check_pooler(&other, connection)?;
            session::check_owner(connection, &server)?;
            connection.batch("BEGIN")?;
            let tried = try_to_write(connection);
            connection.batch("ROLLBACK")?;
            tried?;
            Ok(memory::advice(connection)?.into_iter().collect())
        }))
    }

    fn back_up<'a>(&'a self, file: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            let copy = Database::open(Path::new(file))?;
            copy::copy(&*self.copying(), &copy, CopyScope::Everything, &mut |_| ()).await.map_err(StoreError::from)?;
            // Then everything is in the one file.
            copy.settle().await.map(drop)
        })
    }

    fn copying(&self) -> Arc<dyn CopyStore> {
        Arc::new(self.clone())
    }

    fn complaints(&self) -> BoxFuture<'_, Result<Vec<String>, StoreError>> {
        // The server verifies its pages itself if `data_checksums` is on.
        Box::pin(std::future::ready(Ok(Vec::new())))
    }
}

impl StoreFiles for PostgresDatabase {
    fn path(&self) -> &Path {
        self.notes()
    }

    fn check(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(PostgresDatabase::check(self))
    }

    fn settle(&self) -> BoxFuture<'_, Result<FileCleanup, StoreError>> {
        Box::pin(async move {
            self.write_tables_anew(SMALL_BYTES).await?;
            Ok(FileCleanup::Done)
        })
    }

    fn remove_copies(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.write_tables_anew(i64::MAX))
    }
}

impl PostgresDatabase {
    /// Rewrites tables up to this size; larger ones only free their space for reuse.
    async fn write_tables_anew(&self, up_to: i64) -> Result<(), StoreError> {
        let write = move |connection: &PgConnection| {
            memory::take_tables(connection, Until::Given)?;
            let done = write_anew(connection, up_to);
            memory::give_tables_back(connection)?;
            done
        };
        let done = self.alone(write).await;
        self.index_again();
        done
    }
}

fn try_to_write(connection: &PgConnection) -> PgResult<()> {
    match migrations::version(connection)? {
        0 => connection.batch(
            "CREATE TABLE store_trial (words TEXT); INSERT INTO store_trial VALUES ('相槌'); SELECT * FROM store_trial",
        ),
        _ => connection.batch(
            "INSERT INTO journal (seq, shard, at, body, sum) VALUES (-1, 0, 0, '相槌', 0); SELECT body FROM journal WHERE seq = -1",
        ),
    }
}

fn write_anew(connection: &PgConnection, up_to: i64) -> PgResult<()> {
    let tables = connection.query(TABLES, &[])?;
    for row in tables {
        let (table, bytes): (String, i64) = (row.get(0), row.get(1));
        let how = if bytes <= up_to { "VACUUM (FULL, ANALYZE)" } else { "VACUUM (ANALYZE)" };
        if bytes <= up_to && table == "memory_vector" {
            memory::drop_indexes(connection)?;
        }
        connection.batch(&format!("{how} {table}"))?;
    }
    // Only some roles may do this; otherwise the server does it later.
    match connection.batch("CHECKPOINT") {
        Err(PgError::Final(_)) | Ok(()) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Our tables, with their sizes.
const TABLES: &str = "SELECT c.oid::regclass::text, pg_total_relation_size(c.oid) FROM pg_class AS c
    WHERE c.relkind = 'r' AND c.relowner = (SELECT oid FROM pg_roles WHERE rolname = current_user)
    AND c.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = to_regclass('journal')) ORDER BY 1";
