//! Who holds what only one process of a cluster may have.

use super::PostgresDatabase;
use super::cluster_session::lock_number;
use super::connection::PgConnection;
use crate::stores::StoreError;

/// What only one process may have, and who has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LockHolder {
    /// None of those that were asked for, if there is none.
    pub name: Option<String>,
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

impl PostgresDatabase {
    /// `names` are those of locks that may be held.
    pub async fn lock_holders(&self, names: &[&str]) -> Result<Vec<LockHolder>, StoreError> {
        let known: Vec<(i64, String)> =
            names.iter().map(|name| (lock_number(&format!("aizuchi {name}")), (*name).to_owned())).collect();
        let read = move |connection: &PgConnection| {
            let rows = connection.query(HOLDERS, &[&format!("{}%", super::cluster_session::SESSION_NAME)])?;
            let holder = |row: &tokio_postgres::Row| {
                let number: i64 = row.get(0);
                LockHolder {
                    name: known.iter().find(|(known, _)| *known == number).map(|(_, name)| name.clone()),
                    process: row.get(1),
                    address: row.get(2),
                    seconds: row.get(3),
                }
            };
            Ok(rows.iter().map(holder).collect())
        };
        self.read(read).await
    }
}
