//! Who holds what only one process of a cluster may have.

use tokio_postgres::Row;

use super::PostgresDatabase;
use super::cluster_session::{SESSION_NAME, lock_number};
use super::connection::PgConnection;
use super::shard_claims::{PRESENCE, SHARDS_NAME, shards_class};
use crate::stores::StoreError;

/// What only one process may have, and who has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockHolder {
    /// None of those that were asked for, if there is none.
    pub name: Option<String>,
    /// Which connections, where processes share them.
    pub shards: Vec<u32>,
    /// What the process calls itself: machine and process id.
    pub process: String,
    pub address: String,
    /// Since when it is connected.
    pub seconds: i64,
}

const HOLDERS: &str = "SELECT (classid::bigint << 32) | objid::bigint, coalesce(application_name, ''),
        coalesce(host(client_addr), 'this machine'), extract(epoch FROM now() - backend_start)::bigint
    FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND application_name LIKE $1
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    ORDER BY backend_start";

const SHARD_HOLDERS: &str = "SELECT array_agg(objid::bigint ORDER BY objid), coalesce(application_name, ''),
        coalesce(host(client_addr), 'this machine'), extract(epoch FROM now() - backend_start)::bigint
    FROM pg_locks JOIN pg_stat_activity USING (pid)
    WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND application_name LIKE $1
        AND classid = $2 AND objid <> $3
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    GROUP BY pid, application_name, client_addr, backend_start ORDER BY backend_start";

impl PostgresDatabase {
    /// `names` are those of locks that may be held, or of platforms whose connections are shared.
    pub async fn lock_holders(&self, names: &[&str]) -> Result<Vec<LockHolder>, StoreError> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let read = move |connection: &PgConnection| {
            let name_of =
                |number: i64| names.iter().find(|name| lock_number(&format!("aizuchi {name}")) == number).cloned();
            let rows = connection.query(HOLDERS, &[&format!("{SESSION_NAME}%")])?;
            let mut holders: Vec<LockHolder> =
                rows.iter().map(|row| holder(row, name_of(row.get(0)), Vec::new())).collect();
            for name in &names {
                let (sessions, class) = (format!("{SHARDS_NAME}%"), shards_class(name) as u32);
                for row in connection.query(SHARD_HOLDERS, &[&sessions, &class, &PRESENCE])? {
                    let shards: Vec<i64> = row.get(0);
                    holders.push(holder(&row, Some(name.clone()), shards.iter().map(|shard| *shard as u32).collect()));
                }
            }
            Ok(holders)
        };
        self.read(read).await
    }
}

fn holder(row: &Row, name: Option<String>, shards: Vec<u32>) -> LockHolder {
    LockHolder { name, shards, process: row.get(1), address: row.get(2), seconds: row.get(3) }
}
