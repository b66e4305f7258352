//! What the rooms of a cluster leave in PostgreSQL. Many processes write at the same time; each commit is recorded once.

use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::policy::StoredPolicies;
use aizuchi_core::room::Cost;
use aizuchi_core::siblings::Siblings;
use aizuchi_core::types::{CallId, RoomId};
use aizuchi_core::{Input, Time};
use tokio_postgres::Row;

use super::cluster_session::RoomNotice;
use super::connection::PgConnection;
use super::error::{PgError, PgResult};
use super::journal::forget_where;
use super::migrations::MIGRATION_LOCK;
use super::record::{self, PgRecord};
use super::text::{from_stored, to_stored};
use super::web::store_talk;
use super::{PostgresDatabase, cluster_spending, decisions};
use crate::ports::{
    BoxFuture, ClusterStore, PoliciesId, RecordOutcome, RecordedBatch, RoomBatch, SetAside, TalkWrite, TotalLimit,
    Unsent,
};
use crate::stores::StoreError;

/// Rows read at once.
const PAGE: i64 = 512;

/// Makes the tables of a cluster where they are not there.
pub fn prepare(connection: &PgConnection) -> PgResult<()> {
    connection.batch(&format!("SELECT pg_advisory_lock({MIGRATION_LOCK})"))?;
    let made = connection.batch(include_str!("cluster.sql"));
    connection.batch(&format!("SELECT pg_advisory_unlock({MIGRATION_LOCK})"))?;
    made
}

impl ClusterStore for PostgresDatabase {
    fn record(&self, batch: Arc<RoomBatch>) -> BoxFuture<'_, Result<RecordOutcome, StoreError>> {
        let records: Vec<PgRecord> =
            batch.records.iter().map(|(at, input)| PgRecord::new(*at, input).of_room(&batch.room)).collect();
        Box::pin(self.write(move |connection| record(connection, &batch, &records)))
    }

    fn reserve(&self, call: CallId, cost: Cost, budget: TotalLimit) -> BoxFuture<'_, Result<bool, StoreError>> {
        let reserve = move |connection: &PgConnection| {
            let refused = cluster_spending::admit(connection, &call.room, &[(call.serial, cost)], budget)?;
            Ok(refused.is_empty())
        };
        Box::pin(self.write(reserve))
    }

    fn spent_by_day(&self) -> BoxFuture<'_, Result<Vec<(i64, Cost)>, StoreError>> {
        Box::pin(self.read(cluster_spending::by_day))
    }

    fn store_talk(&self, at: Time, write: TalkWrite) -> BoxFuture<'_, Result<Option<Unsent>, StoreError>> {
        let store = move |connection: &PgConnection| {
            let Some(input) = store_talk(connection, &write)? else { return Ok(None) };
            let insert = "INSERT INTO cluster_outbox (at, room, body) VALUES ($1, $2, $3) RETURNING id";
            let room = input.room().map(|room| to_stored(room.as_str()));
            let row = connection.one(insert, &[&(at.0 as i64), &room, &to_stored(&written(&input))])?;
            Ok(Some(Unsent { id: row.get(0), at, input }))
        };
        Box::pin(self.write(store))
    }

    fn sent(&self, ids: Vec<i64>) -> BoxFuture<'_, Result<(), StoreError>> {
        let delete = "DELETE FROM cluster_outbox WHERE id = ANY ($1)";
        Box::pin(self.write_behind(move |connection| connection.execute(delete, &[&ids]).map(drop)))
    }

    fn unsent(&self, older_than: Duration) -> BoxFuture<'_, Result<Vec<Unsent>, StoreError>> {
        let query = "SELECT id, at, body FROM cluster_outbox
            WHERE stored < now() - $1::float8 * interval '1 second' ORDER BY id LIMIT $2";
        let read = move |connection: &PgConnection| {
            let rows = connection.query(query, &[&older_than.as_secs_f64(), &PAGE])?;
            Ok(rows.iter().filter_map(unsent).collect())
        };
        Box::pin(self.read(read))
    }

    fn unsent_up_to(&self, room: RoomId, id: i64) -> BoxFuture<'_, Result<Vec<Unsent>, StoreError>> {
        let query = "SELECT id, at, body FROM cluster_outbox WHERE room = $1 AND id <= $2 ORDER BY id";
        let read = move |connection: &PgConnection| {
            let rows = connection.query(query, &[&to_stored(room.as_str()), &id])?;
            Ok(rows.iter().filter_map(unsent).collect())
        };
        Box::pin(self.read(read))
    }

    fn keep_policies(&self, id: PoliciesId, stated: StoredPolicies) -> BoxFuture<'_, Result<(), StoreError>> {
        let body = serde_json::to_string(&stated).expect("settings can be written");
        let insert = "INSERT INTO cluster_policies (id, body) VALUES ($1, $2) ON CONFLICT DO NOTHING";
        let keep = move |connection: &PgConnection| {
            connection.execute(insert, &[&id.0.cast_signed(), &to_stored(&body)]).map(drop)
        };
        Box::pin(self.write(keep))
    }

    fn hold_policies(&self, id: PoliciesId) -> BoxFuture<'_, Result<(), StoreError>> {
        let hold = move |connection: &PgConnection| {
            let upsert = "INSERT INTO cluster_settings (one, policies) VALUES (true, $1)
                ON CONFLICT (one) DO UPDATE SET policies = excluded.policies";
            connection.execute(upsert, &[&id.0.cast_signed()]).map(drop)
        };
        Box::pin(self.write(hold))
    }

    fn held_policies(&self) -> BoxFuture<'_, Result<Option<PoliciesId>, StoreError>> {
        let read = |connection: &PgConnection| {
            let found = connection.first("SELECT policies FROM cluster_settings", &[])?;
            Ok(found.map(|row| PoliciesId(row.get::<_, i64>(0).cast_unsigned())))
        };
        Box::pin(self.read(read))
    }

    fn policies(&self, id: PoliciesId) -> BoxFuture<'_, Result<Option<StoredPolicies>, StoreError>> {
        let read = move |connection: &PgConnection| {
            let query = "SELECT body FROM cluster_policies WHERE id = $1";
            let Some(row) = connection.first(query, &[&id.0.cast_signed()])? else { return Ok(None) };
            let stated = serde_json::from_str(&from_stored(row.get(0)));
            stated.map(Some).map_err(|error| PgError::Final(StoreError::Failed(error.to_string())))
        };
        Box::pin(self.read(read))
    }

    fn share_siblings(&self, seen: Siblings) -> BoxFuture<'_, Result<Siblings, StoreError>> {
        if seen.is_empty() {
            return Box::pin(self.read(siblings));
        }
        // No other process writes between reading and writing: transactions run one after the other.
        let share = move |connection: &PgConnection| {
            let mut all = siblings(connection)?;
            all.add(&seen);
            keep_siblings(connection, &all)?;
            Ok(all)
        };
        Box::pin(self.write(share))
    }

    fn offered_state(&self, room: RoomId) -> BoxFuture<'_, Result<Option<Vec<u8>>, StoreError>> {
        let read = move |connection: &PgConnection| {
            let query = "SELECT state FROM cluster_offered WHERE room = $1";
            Ok(connection.first(query, &[&to_stored(room.as_str())])?.map(|row| row.get(0)))
        };
        Box::pin(self.read(read))
    }

    fn rooms(&self) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>> {
        let read = |connection: &PgConnection| {
            let rows = connection.query("SELECT room FROM cluster_room ORDER BY shard", &[])?;
            Ok(rows.iter().map(|row| RoomId::new(from_stored(row.get(0)))).collect())
        };
        Box::pin(self.read(read))
    }

    fn forget_room(&self, room: RoomId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.write(move |connection| forget_where(connection, room.as_str(), "room = $1")))
    }

    fn set_aside(&self, at_most: u32) -> BoxFuture<'_, Result<Vec<SetAside>, StoreError>> {
        let query = "SELECT room, at, input, error FROM cluster_set_aside ORDER BY id DESC LIMIT $1";
        let read = move |connection: &PgConnection| {
            let text = |row: &Row, column: usize| from_stored(row.get(column));
            let found = |row: &Row| SetAside {
                room: RoomId::new(text(row, 0)),
                at: Time(row.get::<_, i64>(1).cast_unsigned()),
                input: text(row, 2),
                error: text(row, 3),
            };
            Ok(connection.query(query, &[&i64::from(at_most)])?.iter().map(found).collect())
        };
        Box::pin(self.read(read))
    }
}

/// Counts that cannot be read are begun anew.
pub(super) fn siblings(connection: &PgConnection) -> PgResult<Siblings> {
    let row = connection.first("SELECT body FROM cluster_siblings", &[])?;
    Ok(row.and_then(|row| serde_json::from_str(row.get(0)).ok()).unwrap_or_default())
}

pub(super) fn keep_siblings(connection: &PgConnection, all: &Siblings) -> PgResult<()> {
    let body = serde_json::to_string(all).expect("counts can be written");
    let upsert = "INSERT INTO cluster_siblings (one, body) VALUES (true, $1)
        ON CONFLICT (one) DO UPDATE SET body = excluded.body";
    connection.execute(upsert, &[&body]).map(drop)
}

fn written(input: &Input) -> String {
    serde_json::to_string(input).expect("an input can be written")
}

/// One that cannot be read is left there for a newer program.
fn unsent(row: &Row) -> Option<Unsent> {
    let input = serde_json::from_str(&from_stored(row.get(2))).ok()?;
    Some(Unsent { id: row.get(0), at: Time(row.get::<_, i64>(1).cast_unsigned()), input })
}

/// An attempt that comes again after a commit whose answer was lost finds it done.
fn record(connection: &PgConnection, batch: &RoomBatch, records: &[PgRecord]) -> PgResult<RecordOutcome> {
    let room = to_stored(batch.room.as_str());
    let insert = "INSERT INTO cluster_room (room, shard, records, seq)
        VALUES ($1, nextval('cluster_room_number')::integer, 0, 0) ON CONFLICT DO NOTHING";
    let find = "SELECT shard, records, seq, policies FROM cluster_room WHERE room = $1";
    let row = match connection.first(find, &[&room])? {
        Some(row) => row,
        None => {
            connection.execute(insert, &[&room])?;
            connection.one(find, &[&room])?
        }
    };
    let (known, decided_by) = (row.get::<_, i64>(1).cast_unsigned(), row.get::<_, Option<i64>>(3));
    let decided_by = decided_by.map(|id| PoliciesId(id.cast_unsigned()));
    if known > batch.after
        && let (Some(decided_by), Some(policies)) = (decided_by, batch.policies)
        && decided_by != policies
    {
        return Ok(RecordOutcome::DecidedBy(decided_by));
    }
    let (seq, is_current) = record_once(connection, batch, records, &row)?;
    let refused = match &batch.spending {
        // The room has gone on since: nobody acts on what this attempt is told.
        Some(_) if !is_current => Vec::new(),
        Some(spending) => {
            cluster_spending::book(connection, &batch.room, spending)?;
            cluster_spending::admit(connection, &batch.room, &spending.wanted, spending.budget)?
        }
        None => Vec::new(),
    };
    Ok(RecordOutcome::Recorded(RecordedBatch { seq, refused }))
}

/// Returns the number of the last record, and whether nothing was recorded after this batch. `row` is that of its room.
fn record_once(connection: &PgConnection, batch: &RoomBatch, records: &[PgRecord], row: &Row) -> PgResult<(u64, bool)> {
    let room = to_stored(batch.room.as_str());
    let (shard, known, seq): (i32, i64, i64) = (row.get(0), row.get(1), row.get(2));
    let reached = (batch.after + records.len() as u64).cast_signed();
    if known >= reached {
        return Ok((seq.cast_unsigned(), known == reached));
    }
    if known.cast_unsigned() != batch.after {
        let what = format!(
            "the database has {known} records of this room, Restate has {}: they do not belong together",
            batch.after
        );
        return Err(PgError::Final(StoreError::Failed(what)));
    }
    let lines: Vec<&PgRecord> = records.iter().collect();
    let seq = record::insert(connection, shard.cast_unsigned() as usize, &lines)?;
    decisions::keep(connection, &batch.decided)?;
    for SetAside { at, input, error, .. } in &batch.set_aside {
        let insert = "INSERT INTO cluster_set_aside (room, at, input, error) VALUES ($1, $2, $3, $4)";
        connection.execute(insert, &[&room, &(at.0 as i64), &to_stored(input), &to_stored(error)])?;
    }
    let note = "UPDATE cluster_room SET records = $2, seq = $3, policies = $4 WHERE room = $1";
    let policies = batch.policies.map(|policies| policies.0.cast_signed());
    connection.execute(note, &[&room, &reached, &seq, &policies])?;
    if batch.after == 0 {
        // Restate has what was offered of it.
        connection.execute("DELETE FROM cluster_offered WHERE room = $1", &[&room])?;
    }
    let decided = batch.decided.iter().map(|trace| trace.message.clone()).collect();
    if let Some(notice) = (RoomNotice { room: batch.room.clone(), decided }).written() {
        connection.execute("SELECT pg_notify($1, $2)", &[&RoomNotice::CHANNEL, &notice])?;
    }
    Ok((seq.cast_unsigned(), true))
}
