//! Distributes what happens in a room to the pages that are in it.
//!
//! A change is stored first. Then [`Hub::publish_changes`], the only sender of changes, reads them from the store in the order of their
//! numbers and broadcasts them: no change overtakes another, and a page that counts notices a gap. Each room has a bounded
//! broadcast channel; a page that is too far behind is disconnected, comes back with the last number it knows and asks for the
//! rest. The current view of the room is a `watch` channel, where only the latest value counts. A frame is serialised once for
//! all pages. After many changes at once the hub waits a moment for the pages to read.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::ws::Utf8Bytes;
use tokio::sync::{Notify, broadcast, watch};
use tokio_util::sync::CancellationToken;
use tracing::error;

use super::wire::FromServer;
use crate::ports::WebTalk;
use crate::stores::StoreError;

/// A page that is this many frames behind is disconnected; it reconnects and requests what it missed.
const BEHIND_MAX: usize = 256;
const CHANGES_MAX: usize = BEHIND_MAX / 2;
/// How long pages may take to read what they were sent before the next changes follow.
const READS_WITHIN: Duration = Duration::from_secs(1);
const LOOKS_EVERY: Duration = Duration::from_millis(5);
/// The pause after the store failed.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// A frame for everybody in a room, serialised once.
#[derive(Clone, Debug)]
pub struct RoomFrame {
    /// The number of the change it contains; 0 if it contains none.
    pub seq: u64,
    /// The page it came from, which need not get it; 0 if it came from none.
    pub from: u64,
    pub text: Utf8Bytes,
}

#[derive(Debug)]
struct LiveRoom {
    live: broadcast::Sender<RoomFrame>,
    /// Only the latest value counts, so nobody can fall behind.
    view: watch::Sender<Utf8Bytes>,
}

/// A subscription to a room.
#[derive(Debug)]
pub struct RoomSubscription {
    live: broadcast::Receiver<RoomFrame>,
    view: watch::Receiver<Utf8Bytes>,
    _room: Arc<LiveRoom>,
}

/// It was so slow that it missed a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lagged;

impl RoomSubscription {
    pub async fn next(&mut self) -> Result<RoomFrame, Lagged> {
        tokio::select! {
            frame = self.live.recv() => frame.map_err(|_| Lagged),
            // The room exists as long as the subscription.
            _ = self.view.changed() => Ok(RoomFrame { seq: 0, from: 0, text: self.view.borrow_and_update().clone() }),
        }
    }
}

#[derive(Debug, Default)]
pub struct Hub {
    rooms: Mutex<HashMap<String, Arc<LiveRoom>>>,
    wake: Notify,
}

impl Hub {
    pub fn subscribe(&self, room: &str) -> RoomSubscription {
        let mut rooms = self.rooms();
        rooms.retain(|_, room| room.live.receiver_count() > 0);
        let room = rooms.entry(room.to_owned()).or_insert_with(|| {
            let (live, view) = (broadcast::Sender::new(BEHIND_MAX), watch::Sender::new(Utf8Bytes::default()));
            Arc::new(LiveRoom { live, view })
        });
        RoomSubscription { live: room.live.subscribe(), view: room.view.subscribe(), _room: room.clone() }
    }

    /// How many pages are in the room.
    pub fn listeners(&self, room: &str) -> usize {
        self.room(room).map_or(0, |room| room.live.receiver_count())
    }

    /// Sends to everybody in a room.
    pub fn broadcast(&self, room: &str, seq: u64, from: u64, tell: impl FnOnce() -> FromServer) {
        if let Some(room) = self.room(room) {
            // An error only means that nobody is there any more.
            let _ = room.live.send(RoomFrame { seq, from, text: to_json(&tell()) });
        }
    }

    pub fn show(&self, room: &str, view: impl FnOnce() -> FromServer) {
        if let Some(room) = self.room(room) {
            room.view.send_replace(to_json(&view()));
        }
    }

    /// Sends to everybody in every room.
    pub fn broadcast_all(&self, tell: &FromServer) {
        let text = to_json(tell);
        for room in self.rooms().values() {
            let _ = room.live.send(RoomFrame { seq: 0, from: 0, text: text.clone() });
        }
    }

    /// Notifies the hub that something was stored.
    pub fn wake(&self) {
        self.wake.notify_one();
    }

    /// Broadcasts what is stored to the pages, in the order of the changes, until shutdown. It reads the store instead of
    /// being handed the changes: so no change overtakes another, and a page that counts misses nothing.
    pub async fn publish_changes(&self, talk: &dyn WebTalk, mut since: u64, stop: &CancellationToken) {
        loop {
            if let Err(failed) = self.carry_all(talk, &mut since).await {
                error!(%failed, "cannot read the web room's messages");
                tokio::time::sleep(AGAIN_AFTER).await;
                self.wake();
            }
            tokio::select! {
                () = self.wake.notified() => (),
                () = stop.cancelled() => return,
            }
        }
    }

    async fn carry_all(&self, talk: &dyn WebTalk, since: &mut u64) -> Result<(), StoreError> {
        loop {
            let last = *since;
            let found = talk.changes(None, last, CHANGES_MAX).await?;
            for kept in &found {
                self.broadcast(&kept.room, kept.seq, 0, || kept.to_frame(last));
            }
            *since = found.last().map_or(last, |kept| kept.seq);
            if found.len() < CHANGES_MAX {
                return Ok(());
            }
            self.let_pages_read().await;
        }
    }

    /// So that a thousand changes at once disconnect nobody.
    async fn let_pages_read(&self) {
        let until = tokio::time::Instant::now() + READS_WITHIN;
        let is_full = || self.rooms().values().any(|room| room.live.len() > BEHIND_MAX / 4);
        while is_full() && tokio::time::Instant::now() < until {
            tokio::time::sleep(LOOKS_EVERY).await;
        }
    }

    fn room(&self, room: &str) -> Option<Arc<LiveRoom>> {
        self.rooms().get(room).cloned()
    }

    fn rooms(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<LiveRoom>>> {
        self.rooms.lock().expect("rooms are never held over a panic")
    }
}

pub fn to_json(tell: &FromServer) -> Utf8Bytes {
    serde_json::to_string(tell).expect("a frame is plain data").into()
}
