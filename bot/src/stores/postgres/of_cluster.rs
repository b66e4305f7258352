//! Whether a database has the rooms of a cluster. A build without clusters knows that too.

use super::connection::PgConnection;
use super::error::PgResult;

/// What a cluster knows of its rooms.
const TABLES: [&str; 11] = [
    "cluster_room",
    "cluster_outbox",
    "cluster_offered",
    "cluster_preset",
    "cluster_set_aside",
    "cluster_settings",
    "cluster_spent",
    "cluster_spent_total",
    "cluster_in_flight",
    "cluster_siblings",
    "cluster_left",
];

/// From the first thing that its rooms heard until it was left, also while none of its processes runs.
pub fn is_of_cluster(connection: &PgConnection) -> PgResult<bool> {
    if connection.simple("SELECT to_regclass('cluster_room')")?.is_none() {
        return Ok(false);
    }
    let any = "SELECT EXISTS (SELECT FROM cluster_room) OR EXISTS (SELECT FROM cluster_outbox)";
    Ok(connection.simple(any)?.as_deref() == Some("t"))
}

/// Those of its tables that there are.
pub fn tables(connection: &PgConnection) -> PgResult<Vec<String>> {
    let names = TABLES.map(|name| format!("('{name}')")).join(", ");
    let query = format!("SELECT name FROM (VALUES {names}) AS known (name) WHERE to_regclass(name) IS NOT NULL");
    Ok(connection.query(&query, &[])?.iter().map(|row| row.get(0)).collect())
}
