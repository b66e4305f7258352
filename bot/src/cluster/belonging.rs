//! Whether Restate and the database are those of one cluster. With a Restate that is empty, or that of another cluster, rooms would begin
//! anew: mutes and waits were forgotten, and what is said could not be recorded. So no process starts with one.
//!
//! Each single room is compared whenever something is recorded of it; this is about all of them, and looks at a few.

use std::time::Duration;

use aizuchi_core::types::RoomId;
use anyhow::bail;
use tokio::time::Instant;

use super::ingress::{RestateClient, RestateError};
use crate::ports::ClusterMoves;
use crate::stores::StoreError;

/// Rooms that Restate is asked about until it knows one: a single one may have been removed by somebody.
const ASKED_MAX: u32 = 5;
/// A server that has just started knows its rooms only when it has read its log.
const READS_LOG_WITHIN: Duration = Duration::from_secs(20);
const LOOKS_EVERY: Duration = Duration::from_millis(500);
/// The same where it could not be asked.
const ASKS_AGAIN: Duration = Duration::from_secs(5);
/// A start does not wait longer for a server that does not answer.
const ANSWERS_WITHIN: Duration = Duration::from_secs(5);

/// What Restate has of the rooms of the database.
enum Found {
    /// One of them, or there is none.
    Them,
    /// None of them, such as this one.
    Nothing(RoomId),
}

/// `Err` if Restate has none of the rooms. A server that does not answer is asked later, by [`until_refused`].
pub async fn refuse_strangers(moves: &dyn ClusterMoves, restate: &RestateClient) -> anyhow::Result<()> {
    let until = Instant::now() + READS_LOG_WITHIN;
    let mut is_told = false;
    loop {
        let room = match tokio::time::timeout(ANSWERS_WITHIN, look(moves, restate)).await {
            Ok(Ok(Found::Nothing(room))) => room,
            Ok(Ok(Found::Them)) => return Ok(()),
            Ok(Err(Unanswered::Store(error))) => return Err(error.into()),
            Ok(Err(Unanswered::Restate(_))) | Err(_) => {
                tracing::warn!("cannot tell yet whether Restate has the rooms of the database (setting cluster.admin)");
                return Ok(());
            }
        };
        if Instant::now() > until {
            return refuse(&room);
        }
        if !std::mem::replace(&mut is_told, true) {
            tracing::warn!(%room, "Restate does not have the rooms of the database; it may still be reading its log");
        }
        tokio::time::sleep(LOOKS_EVERY).await;
    }
}

/// Ends only if Restate has none of the rooms: asked until it answers, for a process that began without knowing.
pub async fn until_refused(moves: &dyn ClusterMoves, restate: &RestateClient) -> anyhow::Error {
    let mut lacking_since = None;
    loop {
        match look(moves, restate).await {
            Ok(Found::Them) => std::future::pending().await,
            Ok(Found::Nothing(room)) => {
                let since = *lacking_since.get_or_insert_with(Instant::now);
                if since.elapsed() > READS_LOG_WITHIN
                    && let Err(refused) = refuse(&room)
                {
                    return refused;
                }
                tokio::time::sleep(LOOKS_EVERY).await;
            }
            Err(_) => {
                lacking_since = None;
                tokio::time::sleep(ASKS_AGAIN).await;
            }
        }
    }
}

fn refuse(room: &RoomId) -> anyhow::Result<()> {
    bail!(
        "Restate (cluster.ingress, cluster.admin) has none of the rooms that the database (store.url) has, such as {room}: it is empty, or \
         that of another cluster. No room was changed. Start Restate with the data that it had with this database; if that is lost, see \
         \"When Restate is lost\" in the page More than one machine of the book"
    )
}

#[derive(Debug, thiserror::Error)]
enum Unanswered {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Restate(#[from] RestateError),
}

async fn look(moves: &dyn ClusterMoves, restate: &RestateClient) -> Result<Found, Unanswered> {
    let mut lacking = None;
    for room in moves.heard_rooms(ASKED_MAX).await? {
        if restate.has_room(&room).await? {
            return Ok(Found::Them);
        }
        lacking.get_or_insert(room);
    }
    Ok(lacking.map_or(Found::Them, Found::Nothing))
}
