//! What waits at a gateway for each room: a line, of which one part is on its way at a time, and as much at once as waits.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use aizuchi_core::Time;
use aizuchi_core::types::RoomId;
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::gateway::Gateway;
use super::state::Stamped;
use crate::runtime::{HandedOn, StoreRequest};

/// Told together at most.
const TOGETHER_MAX: usize = 256;

/// Something for one room.
pub enum WaitingTalk {
    Told(Stamped, HandedOn),
    Store(Time, StoreRequest),
    /// Of a gateway that ended.
    Left(Stamped),
    /// Notified when everything before it is with the room.
    Passed(oneshot::Sender<()>),
}

pub struct RoomLines {
    gateway: Arc<Gateway>,
    stop: CancellationToken,
    waiting: HashMap<RoomId, VecDeque<WaitingTalk>>,
    telling: JoinSet<RoomId>,
}

impl RoomLines {
    pub fn new(gateway: Arc<Gateway>, stop: CancellationToken) -> RoomLines {
        RoomLines { gateway, stop, waiting: HashMap::new(), telling: JoinSet::new() }
    }

    /// Told at once where nothing of this room is on its way.
    pub fn add(&mut self, room: RoomId, talk: WaitingTalk) {
        match self.waiting.get_mut(&room) {
            Some(line) => line.push_back(talk),
            None => {
                self.waiting.insert(room.clone(), VecDeque::new());
                self.tell(room, vec![talk]);
            }
        }
    }

    /// Whether something of this room is on its way.
    pub fn has(&self, room: &RoomId) -> bool {
        self.waiting.contains_key(room)
    }

    /// Notified when everything that is in the line of this room now is with it.
    pub fn passed(&mut self, room: RoomId) -> oneshot::Receiver<()> {
        let (done, passed) = oneshot::channel();
        self.add(room, WaitingTalk::Passed(done));
        passed
    }

    /// The same for every line that there is.
    pub fn all_passed(&mut self) -> Vec<oneshot::Receiver<()>> {
        let rooms: Vec<RoomId> = self.waiting.keys().cloned().collect();
        rooms.into_iter().map(|room| self.passed(room)).collect()
    }

    /// Waits until something is with its room, and has the line go on. Never returns while nothing is on its way.
    pub async fn go_on(&mut self) {
        let Some(told) = self.telling.join_next().await else { return std::future::pending().await };
        let room = told.expect("telling does not panic");
        match self.waiting.get_mut(&room) {
            Some(line) if !line.is_empty() => {
                let some = line.drain(..line.len().min(TOGETHER_MAX)).collect();
                self.tell(room, some);
            }
            Some(_) | None => drop(self.waiting.remove(&room)),
        }
    }

    /// Waits for what is on its way.
    pub async fn end(mut self) {
        while self.telling.join_next().await.is_some() {}
    }

    fn tell(&mut self, room: RoomId, talk: Vec<WaitingTalk>) {
        self.telling.spawn(self.gateway.clone().tell(room, talk, self.stop.clone()));
    }
}
