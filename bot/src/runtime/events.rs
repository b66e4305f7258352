//! What others may watch: decisions as they fall, and rooms as they change.

use std::sync::Arc;

use aizuchi_core::Trace;
use aizuchi_core::types::RoomId;
use aizuchi_core::view::RoomView;

#[derive(Clone, Debug)]
pub enum EngineEvent {
    /// A decision is final.
    Decided(Arc<Trace>),
    /// Something in a room is different now.
    Changed(RoomId, Arc<RoomView>),
}

/// Notes a room that may be different now, once.
pub fn touch(touched: &mut Vec<RoomId>, room: Option<&RoomId>) {
    if let Some(room) = room.filter(|room| !touched.contains(room)) {
        touched.push(room.clone());
    }
}
