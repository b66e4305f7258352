//! What a process of a cluster does beside its work: pages see what others did, memory keeps up, and what is stuck is told of.

use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::types::{MessageId, RoomId};
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use crate::cluster::RestateClient;
use crate::journal::Traces;
use crate::keeper::Keeper;
use crate::platforms::web::Web;
use crate::runtime::{EngineEvent, EngineHandle};
use crate::stores::postgres::RoomNotice;

/// How often memory takes in who answered whom.
const TAKES_EVERY: Duration = Duration::from_secs(2);

/// Who answered whom is known to the worker that decided it.
pub async fn take_noted(keeper: Arc<Keeper>, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(TAKES_EVERY) => (),
        }
        if let Err(error) = keeper.take_noted().await {
            tracing::warn!(%error, "memory update failed; retrying");
        }
    }
}

/// How often it is checked whether a room cannot go on.
const STUCK_EVERY: Duration = Duration::from_secs(5);

/// Rooms and calls that keep failing raise an alert: in the log, in the metrics, and in `alert`, which `/ready` shows.
pub async fn watch_stuck(restate: RestateClient, alert: watch::Sender<String>, until: CancellationToken) {
    let mut before = 0;
    loop {
        match restate.stuck().await {
            Ok(failing) => {
                let stuck = failing.iter().filter(|invocation| invocation.needs_help()).count();
                metrics::gauge!("aizuchi_cluster_stuck").set(stuck as f64);
                if stuck > before {
                    tracing::error!(stuck, "rooms keep failing: see `aizuchi cluster rooms --stuck`");
                }
                alert.send_replace(stuck_alert(stuck));
                before = stuck;
            }
            Err(error) => {
                tracing::debug!(%error, "cannot look for rooms that are stuck");
                alert.send_replace("Restate does not answer (setting cluster.admin)".into());
            }
        }
        tokio::select! {
            () = until.cancelled() => return,
            () = tokio::time::sleep(STUCK_EVERY) => (),
        }
    }
}

fn stuck_alert(stuck: usize) -> String {
    match stuck {
        0 => String::new(),
        1 => "1 room or call keeps failing: see `aizuchi cluster rooms --stuck`".into(),
        _ => format!("{stuck} rooms or calls keep failing: see `aizuchi cluster rooms --stuck`"),
    }
}

/// Ends with the session.
pub async fn show_notices(
    mut notices: broadcast::Receiver<RoomNotice>,
    web: &Web,
    events: &broadcast::Sender<EngineEvent>,
    traces: &Traces,
    engine: &EngineHandle,
) {
    loop {
        let notice = match notices.recv().await {
            Ok(notice) => notice,
            Err(broadcast::error::RecvError::Lagged(_)) => {
                web.wake();
                continue;
            }
            Err(broadcast::error::RecvError::Closed) => return,
        };
        web.wake();
        if !notice.room.as_str().starts_with("web:") {
            continue;
        }
        show_room(notice.room, notice.decided, events, traces, engine).await;
    }
}

async fn show_room(
    room: RoomId,
    decided: Vec<MessageId>,
    events: &broadcast::Sender<EngineEvent>,
    traces: &Traces,
    engine: &EngineHandle,
) {
    match traces.of(&room, decided).await {
        Ok(found) => {
            for trace in found {
                let _ = events.send(EngineEvent::Decided(Arc::new(trace)));
            }
        }
        Err(error) => tracing::debug!(%error, "cannot read decisions for the pages"),
    }
    if let Ok(Some(view)) = engine.view(&room).await {
        let _ = events.send(EngineEvent::Changed(room, Arc::new(view)));
    }
}
