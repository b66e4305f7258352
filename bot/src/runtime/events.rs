//! Events that other parts can subscribe to: decisions when they are final, and changes of rooms.

use std::sync::Arc;

use aizuchi_core::Trace;
use aizuchi_core::types::RoomId;
use aizuchi_core::view::RoomView;

#[derive(Clone, Debug)]
pub enum EngineEvent {
    /// A decision is final.
    Decided(Arc<Trace>),
    /// The view of a room has changed.
    Changed(RoomId, Arc<RoomView>),
}

/// Adds a room that may have changed, without duplicates.
pub fn touch(touched: &mut Vec<RoomId>, room: Option<&RoomId>) {
    if let Some(room) = room.filter(|room| !touched.contains(room)) {
        touched.push(room.clone());
    }
}
