//! The rooms of a single process become those of a cluster, and back: the journal stays, and each side
//! finds its own tables.

use std::sync::Arc;

use aizuchi_core::types::RoomId;

use super::PostgresDatabase;
use super::cluster::{keep_siblings, siblings};
use super::connection::PgConnection;
use super::error::PgResult;
use super::journal::change;
use super::of_cluster::is_of_cluster;
use super::record::last_seq;
use super::snapshots;
use super::text::{from_stored, to_stored};
use crate::ports::{BoxFuture, ClusterMoves, EngineState, OfferedRoom, RoomOffer, RoomsOwner, StateKind};
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

    fn rooms_owner(&self) -> BoxFuture<'_, Result<RoomsOwner, StoreError>> {
        Box::pin(self.read(|connection| connection.snapshot(|| rooms_owner(connection))))
    }

    fn heard_rooms(&self, at_most: u32) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>> {
        let read = move |connection: &PgConnection| {
            let query = "SELECT room FROM cluster_room WHERE records > 0 LIMIT $1";
            let rows = connection.query(query, &[&i64::from(at_most)])?;
            Ok(rows.iter().map(|row| RoomId::new(from_stored(row.get(0)))).collect())
        };
        Box::pin(self.read(read))
    }

    fn record_counts(&self) -> BoxFuture<'_, Result<Vec<(RoomId, u64)>, StoreError>> {
        Box::pin(self.read(record_counts))
    }

    fn end_cluster(
        &self,
        snapshots: Vec<EngineState>,
        records: Vec<(RoomId, u64)>,
    ) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(self.write(move |connection| end_cluster(connection, &snapshots, &records)))
    }
}

/// Each thing that a cluster records gets the number after the last one, and its room knows it.
fn rooms_owner(connection: &PgConnection) -> PgResult<RoomsOwner> {
    if is_of_cluster(connection)? {
        let query = "SELECT coalesce((SELECT max(seq) FROM journal) > (SELECT max(seq) FROM cluster_room), false)";
        let goes_on = connection.one(query, &[])?.get::<_, bool>(0);
        return Ok(if goes_on { RoomsOwner::Disputed } else { RoomsOwner::Cluster });
    }
    let Some(left) = connection.first("SELECT seq FROM cluster_left", &[])? else { return Ok(RoomsOwner::Single) };
    Ok(if last_seq(connection)? > left.get(0) { RoomsOwner::SingleSinceLeft } else { RoomsOwner::JustLeft })
}

fn record_counts(connection: &PgConnection) -> PgResult<Vec<(RoomId, u64)>> {
    let rows = connection.query("SELECT room, records FROM cluster_room ORDER BY room", &[])?;
    let count = |records: i64| records.cast_unsigned();
    Ok(rows.iter().map(|row| (RoomId::new(from_stored(row.get(0))), count(row.get(1)))).collect())
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

fn end_cluster(connection: &PgConnection, states: &[EngineState], records: &[(RoomId, u64)]) -> PgResult<bool> {
    // No room records anything between this and the commit: transactions run one after the other.
    let waiting = "SELECT EXISTS (SELECT FROM cluster_outbox) OR EXISTS (SELECT FROM cluster_offered)";
    if rooms_owner(connection)? != RoomsOwner::Cluster {
        return Ok(false);
    }
    if record_counts(connection)? != records || connection.one(waiting, &[])?.get::<_, bool>(0) {
        return Ok(false);
    }
    connection.execute("DELETE FROM snapshot", &[])?;
    states.iter().try_for_each(|state| snapshots::insert(connection, StateKind::Snapshot, state))?;
    connection.batch(
        "DELETE FROM cluster_room; DELETE FROM cluster_offered; DELETE FROM cluster_spent; DELETE FROM cluster_spent_total;
        DELETE FROM cluster_in_flight; DELETE FROM cluster_siblings; DELETE FROM cluster_settings; DELETE FROM cluster_preset",
    )?;
    let note =
        "INSERT INTO cluster_left (one, seq) VALUES (true, $1) ON CONFLICT (one) DO UPDATE SET seq = excluded.seq";
    connection.execute(note, &[&last_seq(connection)?])?;
    Ok(true)
}
