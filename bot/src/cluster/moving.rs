//! A cluster goes on with the rooms of a single process, and a single process with those of a cluster.
//!
//! **Into the cluster.** The first process that starts on a database which only a single process has used recovers its engines, and leaves
//! the packed state of each room in a table. A room that Restate does not know looks there. Nobody is heard before that is done.
//!
//! **Back.** When nothing is pending, the states that Restate has become the snapshots of a single process.

use std::collections::HashMap;
use std::time::Duration;

use aizuchi_core::engine::Snapshot;
use aizuchi_core::siblings::Siblings;
use aizuchi_core::types::RoomId;
use aizuchi_core::{Engine, Policies, Time};
use anyhow::{Context as _, ensure};
use tokio_util::sync::CancellationToken;

use super::ingress::{RestateClient, RestateError};
use super::state::RoomState;
use crate::journal::{Engines, Journal, ShardState};
use crate::ports::{ClusterMoves, ClusterStore, NewBase, OfferedRoom, RoomOffer, StateKind, Stores};
use crate::runtime::{Clock, recover_engines, shard_of};

/// How long to wait before rooms that were not taken over are tried again.
const TRIES_EVERY: Duration = Duration::from_secs(2);
/// What Restate is doing; timers wait.
const BUSY: &str = "SELECT count(*) AS number FROM sys_invocation WHERE status NOT IN ('completed', 'scheduled')";
const KNOWN: &str = "SELECT count(DISTINCT service_key) AS number FROM state WHERE service_name = 'Room'";

/// Offers the rooms of a single process to the cluster, if one has used this database and no cluster has yet.
pub async fn offer_rooms(
    stores: &Stores,
    moves: &dyn ClusterMoves,
    restate: &RestateClient,
    policies: &Policies,
) -> anyhow::Result<()> {
    let journal = Journal::new(stores.clone());
    while let Some(first) = moves.first_number().await? {
        check_empty(restate).await?;
        let instead_of = stores.snapshots.states(StateKind::Base).await?.mark;
        let mut found = recover_engines(stores, &journal, policies, 1).await?;
        let mut engine = found.engines.pop().context("one engine was asked for")?;
        let mut siblings = Siblings::default();
        siblings.take_over(&engine);
        let mut ids: Vec<RoomId> = engine.room_ids().cloned().collect();
        ids.sort_unstable();
        let offered = |(index, room): (usize, &RoomId)| {
            let packed = engine.pack_room(room).unwrap_or_default();
            let state = RoomState { last: found.last_at, packed, ..RoomState::default() };
            OfferedRoom { room: room.clone(), number: first + index, state: state.encode() }
        };
        let rooms: Vec<OfferedRoom> = ids.iter().enumerate().map(offered).collect();
        let numbers: HashMap<RoomId, usize> = rooms.iter().map(|room| (room.room.clone(), room.number)).collect();
        let (count, seq) = (first + rooms.len(), found.last_seq as i64);
        let states = Engines::of_rooms(engine, |room| numbers[room], count, seq).encode().await;
        let (number, base) = (rooms.len(), NewBase { instead_of, states });
        if moves.offer_rooms(RoomOffer { rooms, base, siblings }).await? {
            tracing::info!(rooms = number, "the cluster continues with the rooms of a single process");
            return Ok(());
        }
    }
    Ok(())
}

/// Rooms that Restate knows already are those of a cluster that was left, or of another bot.
async fn check_empty(restate: &RestateClient) -> anyhow::Result<()> {
    let unanswered = "cannot ask Restate whether it is empty (setting cluster.admin), as it must be to take the rooms of a single process";
    let known = number_of(restate, KNOWN).await.context(unanswered)?;
    ensure!(
        known == 0,
        "the rooms of store.url are those of a single process, and Restate has the states of {known} rooms already: give the cluster an \
         empty Restate, or have `aizuchi run` go on with the rooms"
    );
    Ok(())
}

/// Has Restate take every room that is offered, so that what was pending there goes on. Ends when all are taken.
pub async fn take_over_rooms(moves: &dyn ClusterMoves, restate: &RestateClient, clock: Clock, stop: CancellationToken) {
    loop {
        match moves.offered_rooms().await {
            Ok(rooms) if rooms.is_empty() => return,
            Ok(rooms) => {
                for room in rooms {
                    if let Err(error) = restate.take_over(&room, clock.now().0).await {
                        tracing::warn!(%room, %error, "cannot take over a room; retrying");
                        break;
                    }
                }
            }
            Err(error) => tracing::debug!(%error, "cannot look for rooms to take over; retrying"),
        }
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(TRIES_EVERY) => (),
        }
    }
}

/// Makes the rooms of a cluster those of a single process. Returns how many there are.
pub async fn hand_back<S: ClusterStore + ClusterMoves>(
    restate: &RestateClient,
    store: &S,
    policies: &Policies,
) -> anyhow::Result<usize> {
    check_idle(restate).await?;
    let unsent = store.count_unsent(i64::MAX).await?;
    ensure!(unsent == 0, "{unsent} things that were said have not reached their rooms yet: try again");
    ensure!(
        store.offered_rooms().await?.is_empty(),
        "not every room has been taken over by the cluster yet: try again"
    );
    let records = store.record_counts().await?;
    let (mut rooms, mut last) = (Vec::new(), Time(0));
    for (room, records) in &records {
        let state = restate.look(room).await?;
        ensure!(state.records == *records, "{room} is behind its records: let a worker run, and try again");
        ensure!(state.calls.is_empty() && state.posts.is_empty(), "{room} waits for an answer: try again");
        last = last.max(state.last);
        if !state.packed.is_empty() {
            let engine = Engine::unpack_room(policies.clone(), &state.packed).map_err(anyhow::Error::msg)?;
            rooms.push(engine.into_snapshot());
        }
    }
    let (number, shards) = (rooms.len(), policies.general().settings.runtime.shards as usize);
    let mut snapshots = Vec::new();
    for (shard, snapshot) in
        Snapshot::joined(rooms).split(shards, |room| shard_of(room, shards)).into_iter().enumerate()
    {
        let state = ShardState { shard, shards, seq: None, at: last, policies: policies.stated(), snapshot };
        snapshots.push(state.encode().await);
    }
    // A timer may have rung since.
    check_idle(restate).await?;
    ensure!(store.end_cluster(snapshots, records).await?, "something happened meanwhile: try again");
    Ok(number)
}

async fn check_idle(restate: &RestateClient) -> anyhow::Result<()> {
    let busy = number_of(restate, BUSY).await?;
    ensure!(busy == 0, "{busy} invocations are not over: stop the gateways, let a worker run, and try again");
    Ok(())
}

async fn number_of(restate: &RestateClient, query: &str) -> Result<u64, RestateError> {
    let rows = restate.query(query).await?;
    Ok(rows.first().and_then(|row| row["number"].as_u64()).unwrap_or_default())
}
