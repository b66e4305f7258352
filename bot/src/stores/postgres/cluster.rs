//! What the rooms of a cluster leave in PostgreSQL. Many processes write at the same time; each commit is recorded once.

use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::policy::StoredPolicies;
use aizuchi_core::room::Cost;
use aizuchi_core::siblings::Siblings;
use aizuchi_core::types::{CallId, RoomId};
use aizuchi_core::{Input, Time};
use tokio_postgres::Row;
use xxhash_rust::xxh3::Xxh3;

use super::cluster_session::RoomNotice;
use super::connection::PgConnection;
use super::error::{PgError, PgResult};
use super::journal::forget_where;
use super::migrations::MIGRATION_LOCK;
use super::record::{self, PgRecord};
use super::text::{from_stored, to_stored};
use super::web::store_talk;
use super::{PostgresDatabase, cluster_outbox, cluster_set_aside, cluster_spending, decisions};
use crate::ports::{
    BoxFuture, ClusterStore, GatewayNumber, PoliciesId, RecordOutcome, RecordedBatch, RoomBatch, SetAside, TalkWrite,
    TotalLimit, UnreadableUnsent, Unsent, UnsentRows,
};
use crate::stores::StoreError;

/// Makes the tables of a cluster where they are not there.
pub fn prepare(connection: &PgConnection) -> PgResult<()> {
    connection.batch(&format!("SELECT pg_advisory_lock({MIGRATION_LOCK})"))?;
    let made = connection.batch(include_str!("cluster.sql"));
    connection.batch(&format!("SELECT pg_advisory_unlock({MIGRATION_LOCK})"))?;
    made
}

impl PostgresDatabase {
    /// Whether a process of a cluster was ever started on it.
    pub async fn knows_clusters(&self) -> Result<bool, StoreError> {
        let find = "SELECT to_regclass('cluster_room') IS NOT NULL AND to_regclass('cluster_set_aside') IS NOT NULL";
        self.read(move |connection| Ok(connection.one(find, &[])?.get(0))).await
    }
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

    fn store_talk(
        &self,
        by: GatewayNumber,
        at: Time,
        write: TalkWrite,
    ) -> BoxFuture<'_, Result<Option<Unsent>, StoreError>> {
        let store = move |connection: &PgConnection| {
            let Some(input) = store_talk(connection, &write)? else { return Ok(None) };
            cluster_outbox::add(connection, by, at, input).map(Some)
        };
        Box::pin(self.write(store))
    }

    fn sent(&self, ids: Vec<i64>) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.write_behind(move |connection| cluster_outbox::delete(connection, &ids)))
    }

    fn newest_left(&self, older_than: Duration) -> BoxFuture<'_, Result<UnsentRows, StoreError>> {
        Box::pin(self.read(move |connection| cluster_outbox::newest_left(connection, older_than)))
    }

    fn unsent_up_to(&self, room: RoomId, id: i64) -> BoxFuture<'_, Result<UnsentRows, StoreError>> {
        Box::pin(self.read(move |connection| cluster_outbox::up_to(connection, &room, id)))
    }

    fn last_unsent(&self) -> BoxFuture<'_, Result<Option<i64>, StoreError>> {
        let last = |connection: &PgConnection| Ok(connection.one("SELECT max(id) FROM cluster_outbox", &[])?.get(0));
        Box::pin(self.read(last))
    }

    fn count_unsent(&self, up_to: i64) -> BoxFuture<'_, Result<u64, StoreError>> {
        let count = move |connection: &PgConnection| {
            let row = connection.one("SELECT count(*) FROM cluster_outbox WHERE id <= $1", &[&up_to])?;
            Ok(row.get::<_, i64>(0).cast_unsigned())
        };
        Box::pin(self.read(count))
    }

    fn set_aside_unsent(&self, unreadable: Vec<UnreadableUnsent>) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.write(move |connection| cluster_set_aside::take_unsent(connection, &unreadable)))
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
        let forget = move |connection: &PgConnection| {
            forget_where(connection, room.as_str(), "room = $1")?;
            for table in ["cluster_set_aside", "cluster_offered", "cluster_outbox"] {
                let delete = format!("DELETE FROM {table} WHERE room = $1");
                connection.execute(&delete, &[&to_stored(room.as_str())])?;
            }
            Ok(())
        };
        Box::pin(self.write(forget))
    }

    fn set_aside(&self, at_most: u32) -> BoxFuture<'_, Result<Vec<SetAside>, StoreError>> {
        Box::pin(self.read(move |connection| cluster_set_aside::latest(connection, at_most)))
    }

    fn count_set_aside(&self, within: Duration) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(self.read(move |connection| cluster_set_aside::count_within(connection, within)))
    }

    fn forget_set_aside(&self, request: Arc<ForgetRequest>) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.write(move |connection| cluster_set_aside::forget(connection, &request)))
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

/// An attempt that comes again after a commit whose answer was lost finds it done.
fn record(connection: &PgConnection, batch: &RoomBatch, records: &[PgRecord]) -> PgResult<RecordOutcome> {
    let room = to_stored(batch.room.as_str());
    let insert = "INSERT INTO cluster_room (room, shard, records, seq)
        VALUES ($1, nextval('cluster_room_number')::integer, 0, 0) ON CONFLICT DO NOTHING";
    let find = "SELECT shard, records, seq, policies, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, attempt
        FROM cluster_room WHERE room = $1";
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
    let seq = record_once(connection, batch, records, &row)?;
    let refused = match &batch.spending {
        Some(spending) => {
            cluster_spending::book(connection, &batch.room, spending)?;
            cluster_spending::admit(connection, &batch.room, &spending.wanted, spending.budget)?
        }
        None => Vec::new(),
    };
    let now = Time(row.get::<_, i64>(4).cast_unsigned());
    Ok(RecordOutcome::Recorded(RecordedBatch { seq, now, refused }))
}

/// Returns the number of the last record. `row` is that of its room.
fn record_once(connection: &PgConnection, batch: &RoomBatch, records: &[PgRecord], row: &Row) -> PgResult<u64> {
    let room = to_stored(batch.room.as_str());
    let (shard, known, seq): (i32, i64, i64) = (row.get(0), row.get(1), row.get(2));
    let (reached, attempt) = ((batch.after + records.len() as u64).cast_signed(), attempt_of(batch, records));
    let is_again = match row.get::<_, Option<i64>>(5) {
        Some(last) => last == attempt,
        // Recorded by an earlier version, which did not note it. Who knows nothing of the room is no attempt of before.
        None => batch.after > 0 && known.cast_unsigned() > batch.after,
    };
    if is_again && known == reached {
        return Ok(seq.cast_unsigned());
    }
    if known.cast_unsigned() != batch.after {
        let what = format!(
            "the database has {known} records of this room, Restate has {}: they do not belong together. It goes on once Restate and \
             the database (store.url) are those of one cluster again, both as they were at the same time",
            batch.after
        );
        return Err(PgError::Final(StoreError::Failed(what)));
    }
    if records.is_empty() && batch.set_aside.is_empty() && batch.decided.is_empty() {
        return Ok(seq.cast_unsigned());
    }
    let lines: Vec<&PgRecord> = records.iter().collect();
    let seq = match &lines[..] {
        [] => seq,
        lines => record::insert(connection, shard.cast_unsigned() as usize, lines)?,
    };
    cluster_set_aside::add(connection, &batch.set_aside)?;
    // Decisions by the clock of before are ordered before those made from now on.
    for (at, _) in batch.records.iter().filter(|(_, input)| matches!(input, Input::ClockSet(by) if by.0 < 0)) {
        let order = "UPDATE trace SET at = $2 WHERE room = $1 AND at > $2";
        connection.execute(order, &[&room, &(at.0 as i64)])?;
    }
    decisions::keep(connection, &batch.decided)?;
    let note = "UPDATE cluster_room SET records = $2, seq = $3, policies = $4, attempt = $5 WHERE room = $1";
    let policies = batch.policies.map(|policies| policies.0.cast_signed());
    connection.execute(note, &[&room, &reached, &seq, &policies, &attempt])?;
    if batch.after == 0 {
        // Restate has what was offered of it.
        connection.execute("DELETE FROM cluster_offered WHERE room = $1", &[&room])?;
    }
    let decided = batch.decided.iter().map(|trace| trace.message.clone()).collect();
    if let Some(notice) = (RoomNotice { room: batch.room.clone(), decided }).written() {
        connection.execute("SELECT pg_notify($1, $2)", &[&RoomNotice::CHANNEL, &notice])?;
    }
    Ok(seq.cast_unsigned())
}

/// The same for every attempt of an invocation, and for nothing else that this room has heard or another cluster has.
fn attempt_of(batch: &RoomBatch, records: &[PgRecord]) -> i64 {
    let mut hash = Xxh3::new();
    hash.update(&batch.after.to_le_bytes());
    let mut add = |at: Time, text: &str| {
        hash.update(&at.0.to_le_bytes());
        hash.update(&text.len().to_le_bytes());
        hash.update(text.as_bytes());
    };
    for ((at, input), record) in batch.records.iter().zip(records) {
        // By which settings it was decided is noted beside it, and another process may write them otherwise.
        add(*at, if matches!(input, Input::PolicyChanged(_)) { "settings" } else { record.body() });
    }
    batch.set_aside.iter().for_each(|aside| add(aside.at, &aside.input));
    hash.digest().cast_signed()
}
