//! What an engine takes in at once: it is written down together.

use aizuchi_core::types::RoomId;
use aizuchi_core::view::RoomView;
use aizuchi_core::{Input, Time};
use tokio::sync::oneshot;

use super::Forgetting;

/// Inputs written down together at most.
pub const BATCH_MAX: usize = 256;

#[derive(Default)]
pub struct Batch {
    pub inputs: Vec<(Time, Input)>,
    /// Who wants to know when it is durable.
    pub told: Vec<oneshot::Sender<()>>,
    pub forgets: Vec<Forgetting>,
    pub looks: Vec<(RoomId, oneshot::Sender<Option<RoomView>>)>,
}
