//! The rooms of a single process become those of a cluster, and back: the journal stays, and whoever goes on finds its own tables.

use std::sync::Arc;

use aizuchi_core::types::RoomId;

use super::PostgresDatabase;
use super::cluster::{keep_siblings, siblings};
use super::connection::PgConnection;
use super::error::PgResult;
use super::journal::change;
use super::record::last_seq;
use super::snapshots;
use super::text::{from_stored, to_stored};
use crate::ports::{BoxFuture, ClusterMoves, EngineState, OfferedRoom, RoomOffer, StateKind};
use crate::stores::StoreError;

impl ClusterMoves for PostgresDatabase {
    fn first_number(&self) -> BoxFuture<'_, Result<Option<usize>, StoreError>> {
        Box::pin(self.read(first_number))
    }

    fn offer_rooms(&self, offer: RoomOffer) -> BoxFuture<'_, Result<bool, StoreError>> {
        let offer = Arc::new(offer);
        Box::pin(self.write(move |connection| offer_rooms(connection, &offer)))
    }

    fn offered_rooms(&self) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>> {
        let read = |connection: &PgConnection| {
            let rows = connection.query("SELECT room FROM cluster_offered ORDER BY room", &[])?;
            Ok(rows.iter().map(|row| RoomId::new(from_stored(row.get(0)))).collect())
        };
        Box::pin(self.read(read))
    }

    fn record_counts(&self) -> BoxFuture<'_, Result<Vec<(RoomId, u64)>, StoreError>> {
        let read = |connection: &PgConnection| {
            let rows = connection.query("SELECT room, records FROM cluster_room ORDER BY room", &[])?;
            let count = |records: i64| records.cast_unsigned();
            Ok(rows.iter().map(|row| (RoomId::new(from_stored(row.get(0))), count(row.get(1)))).collect())
        };
        Box::pin(self.read(read))
    }

    fn end_cluster(&self, snapshots: Vec<EngineState>) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.write(move |connection| end_cluster(connection, &snapshots)))
    }
}

fn first_number(connection: &PgConnection) -> PgResult<Option<usize>> {
    if connection.first("SELECT 1 FROM cluster_room LIMIT 1", &[])?.is_some() {
        return Ok(None);
    }
    let row = connection.one("SELECT max(shard) FROM journal", &[])?;
    Ok(row.get::<_, Option<i32>>(0).map(|last| last.max(0).cast_unsigned() as usize + 1))
}

fn offer_rooms(connection: &PgConnection, offer: &RoomOffer) -> PgResult<bool> {
    // Another process may have done it meanwhile.
    if first_number(connection)?.is_none() {
        return Ok(true);
    }
    if !change(connection, &Default::default(), Some(&offer.base))? {
        return Ok(false);
    }
    let seq = last_seq(connection)?;
    for OfferedRoom { room, number, state } in &offer.rooms {
        let room = to_stored(room.as_str());
        let insert = "INSERT INTO cluster_room (room, shard, records, seq) VALUES ($1, $2, 0, $3)";
        connection.execute(insert, &[&room, &(*number as i32), &seq])?;
        let keep = "INSERT INTO cluster_offered (room, state) VALUES ($1, $2)
            ON CONFLICT (room) DO UPDATE SET state = excluded.state";
        connection.execute(keep, &[&room, state])?;
    }
    let next = offer.base.states.len().max(1) as i64;
    connection.one("SELECT setval('cluster_room_number', $1, false)", &[&next])?;
    let mut all = siblings(connection)?;
    all.add(&offer.siblings);
    keep_siblings(connection, &all)?;
    // They are older than the states of the rooms from now on, and nobody would forget anything in them.
    connection.execute("DELETE FROM snapshot", &[])?;
    Ok(true)
}

fn end_cluster(connection: &PgConnection, states: &[EngineState]) -> PgResult<()> {
    connection.execute("DELETE FROM snapshot", &[])?;
    states.iter().try_for_each(|state| snapshots::insert(connection, StateKind::Snapshot, state))?;
    connection.batch(
        "DELETE FROM cluster_room; DELETE FROM cluster_offered; DELETE FROM cluster_spent; DELETE FROM cluster_spent_total;
        DELETE FROM cluster_in_flight; DELETE FROM cluster_siblings; DELETE FROM cluster_settings",
    )
}
