//! Keeps long memory: reads the journal for what was said, has it summed up and thought over, and finds it again.
//!
//! The journal is where everything comes from; how far it was read is written down together with what came of it, so that
//! no message counts twice and none is passed over, whenever the program stops.

mod digest;
mod forget;
mod lines;
mod recollect;
mod watch;

use std::sync::Arc;

use aizuchi_core::Policies;
use tokio::sync::Mutex;

pub use digest::Digest;
pub use forget::NotForgotten;

use crate::ports::{Memory, Mind};
use crate::stores::Database;

pub struct Keeper {
    memory: Arc<dyn Memory>,
    mind: Arc<dyn Mind>,
    database: Database,
    /// The last record of the journal whose people were counted; one at a time.
    counted: Mutex<Option<i64>>,
}

impl Keeper {
    pub fn new(memory: Arc<dyn Memory>, mind: Arc<dyn Mind>, database: Database) -> Keeper {
        Keeper { memory, mind, database, counted: Mutex::default() }
    }

    pub fn memory(&self) -> &dyn Memory {
        &*self.memory
    }

    /// Whether anything is remembered for long anywhere.
    pub fn is_wanted(policies: &Policies) -> bool {
        let remembers = |memory: &aizuchi_core::settings::MemorySettings| {
            memory.enabled && (memory.channel_context || memory.profiles || memory.reflection)
        };
        policies.all().any(|policy| remembers(&policy.settings.memory))
    }
}
