//! One room as few bytes: for a shell that keeps each room by itself and loads it for every input.
//!
//! The same room always gives the same bytes: everything in it has an order, and nothing of the machine goes in. The first byte is
//! the version; the rest is MessagePack with names of fields, deflated, so that a field that is new has its default.

use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::decompress_to_vec_with_limit;
use serde::Serialize as _;

use super::Engine;
use crate::policy::Policies;
use crate::room::Room;
use crate::types::RoomId;

const PACK_VERSION: u8 = 1;
/// Deeper searching makes it hardly smaller.
const DEFLATE_LEVEL: u8 = 3;
/// A room is bounded; what says that it is larger is not a room.
const UNPACKED_MAX: usize = 64 << 20;

impl Engine {
    /// A room, to be gone on from by [`Engine::unpack_room`]; `None` if nothing was ever heard there.
    pub fn pack_room(&mut self, room: &RoomId) -> Option<Vec<u8>> {
        let room = &mut self.rooms[*self.index.get(room)? as usize];
        // How much is left over of what was dropped depends on how much memory there was.
        room.places_mut().for_each(|place| place.buffer.tighten());
        let mut plain = Vec::new();
        room.serialize(&mut rmp_serde::Serializer::new(&mut plain).with_struct_map()).expect("a room can be written");
        let mut packed = vec![PACK_VERSION];
        packed.extend(compress_to_vec(&plain, DEFLATE_LEVEL));
        Some(packed)
    }

    /// An engine of this one room, which goes on as if it had never stopped. `Err` says why it cannot.
    pub fn unpack_room(policies: Policies, packed: &[u8]) -> Result<Engine, String> {
        let (version, deflated) = packed.split_first().ok_or("the state of the room is empty")?;
        if *version != PACK_VERSION {
            return Err(format!("the state of the room is of version {version}, this program reads {PACK_VERSION}"));
        }
        let plain = decompress_to_vec_with_limit(deflated, UNPACKED_MAX)
            .map_err(|error| format!("the state of the room is damaged: {error}"))?;
        let room: Room =
            rmp_serde::from_slice(&plain).map_err(|error| format!("the state of the room cannot be read: {error}"))?;
        let mut engine = Engine::new(policies);
        engine.index.insert(room.id.clone(), 0);
        engine.rooms.push(room);
        engine.arm_all();
        Ok(engine)
    }
}
