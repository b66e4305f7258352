//! The complete state of the engine, for storing and restoring it.

use serde::{Deserialize, Serialize};

use super::Engine;
use crate::policy::Policies;
use crate::room::Room;
use crate::types::RoomId;

/// The complete state of the engine, for storing and restoring it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Snapshot {
    version: u32,
    rooms: Vec<Room>,
}

const SNAPSHOT_VERSION: u32 = 1;

impl Snapshot {
    /// Merges the rooms of several snapshots.
    pub fn joined(snapshots: impl IntoIterator<Item = Snapshot>) -> Snapshot {
        let mut all = Snapshot { version: SNAPSHOT_VERSION, rooms: Vec::new() };
        for snapshot in snapshots {
            all.version = all.version.max(snapshot.version);
            all.rooms.extend(snapshot.rooms);
        }
        all
    }

    /// One for each of `count` engines, by the engine a room belongs to.
    pub fn split(self, count: usize, engine_of: impl Fn(&RoomId) -> usize) -> Vec<Snapshot> {
        let mut parts = vec![Snapshot { version: self.version, rooms: Vec::new() }; count];
        for room in self.rooms {
            parts[engine_of(&room.id)].rooms.push(room);
        }
        parts
    }
}

impl Engine {
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { version: SNAPSHOT_VERSION, rooms: self.rooms.clone() }
    }

    pub fn into_snapshot(self) -> Snapshot {
        Snapshot { version: SNAPSHOT_VERSION, rooms: self.rooms }
    }

    /// Continues from a snapshot as if the engine had never stopped; `Err` if the snapshot is of a newer version.
    pub fn restore(policies: Policies, snapshot: Snapshot) -> Result<Engine, String> {
        if snapshot.version > SNAPSHOT_VERSION {
            return Err(format!(
                "the snapshot is of version {}, this program reads up to {SNAPSHOT_VERSION}",
                snapshot.version
            ));
        }
        let mut engine = Engine::new(policies);
        engine.rooms = snapshot.rooms;
        for index in 0..engine.rooms.len() {
            engine.index.insert(engine.rooms[index].id.clone(), index as u32);
        }
        engine.arm_all();
        Ok(engine)
    }
}
