//! What pages see of the engine while it works.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use aizuchi_core::view::RoomView;
use tokio::sync::broadcast;
use tokio::time::Instant;
use tracing::warn;

use super::server::WebContext;
use super::talk;
use super::wire::FromServer;
use crate::replay::decision_for_page;
use crate::runtime::EngineEvent;

/// Nobody can read faster, and in a busy room every message changes something.
const SHOWN_EVERY: Duration = Duration::from_millis(100);

/// Shows the pages decisions and what is pending. A busy room is shown at intervals.
pub async fn show_events(context: Arc<WebContext>, mut events: broadcast::Receiver<EngineEvent>) {
    let hub = &context.web.hub;
    let mut changed: HashMap<String, Arc<RoomView>> = HashMap::new();
    let mut show_at = Instant::now();
    loop {
        let event = tokio::select! {
            event = events.recv() => event,
            () = tokio::time::sleep_until(show_at), if !changed.is_empty() => {
                show_at = Instant::now() + SHOWN_EVERY;
                let now = context.web.clock.now().0;
                for (room, view) in changed.drain() {
                    let view = serde_json::to_value(&*view).expect("a view is plain data");
                    hub.show(&room, || FromServer::View { view, now });
                }
                continue;
            }
            () = context.stop.cancelled() => return,
        };
        match event {
            Ok(EngineEvent::Decided(trace)) => {
                let Some(room) = talk::room_name(&trace.place.room) else { continue };
                hub.broadcast(room, 0, 0, || FromServer::Decided { trace: decision_for_page(&trace) });
            }
            Ok(EngineEvent::Changed(room, view)) => {
                let Some(room) = talk::room_name(&room) else { continue };
                changed.insert(room.to_owned(), view);
            }
            // Too much at once; `why` still explains these decisions.
            Err(broadcast::error::RecvError::Lagged(missed)) => {
                warn!(missed, "the web room fell behind and skipped decisions")
            }
            Err(broadcast::error::RecvError::Closed) => return,
        }
    }
}
