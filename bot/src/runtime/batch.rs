//! Inputs that an engine handles together and the journal records together.

use aizuchi_core::Input;
use aizuchi_core::types::{RoomId, Time};
use aizuchi_core::view::RoomView;
use tokio::sync::oneshot;

use super::{ForgetJob, HandedOn};
use crate::ports::{JournalEntry, TalkWrite};
use crate::stores::StoreError;

/// The maximum number of inputs recorded together.
pub const BATCH_MAX: usize = 256;

#[derive(Default)]
pub struct Batch {
    pub entries: Vec<JournalEntry>,
    /// Notified when the batch is durable.
    pub told: Vec<HandedOn>,
    /// Notified when what was paid for is durable.
    pub paid: Vec<oneshot::Sender<()>>,
    /// The same for each [`JournalEntry::Talk`], in their order.
    stored: Vec<oneshot::Sender<Result<(), StoreError>>>,
    pub forgets: Vec<ForgetJob>,
    pub closes: Vec<(RoomId, oneshot::Sender<Result<(), StoreError>>)>,
    pub looks: Vec<(RoomId, oneshot::Sender<Option<RoomView>>)>,
}

impl Batch {
    pub fn push_stored(&mut self, at: Time, write: TalkWrite, done: oneshot::Sender<Result<(), StoreError>>) {
        self.entries.push(JournalEntry::Talk(at, write));
        self.stored.push(done);
    }

    /// The store refuses: callers that store data of their own get an error instead of waiting.
    pub fn refuse_stored(&mut self, error: &StoreError) {
        self.entries.retain(|entry| matches!(entry, JournalEntry::Input(..)));
        for done in self.stored.drain(..) {
            let _ = done.send(Err(error.clone()));
        }
    }

    /// Everything is durable; `stored` has the result of each [`JournalEntry::Talk`]. Notifies everybody who waits, and
    /// returns the inputs to handle.
    pub fn into_inputs(self, stored: Vec<Result<Option<Input>, StoreError>>) -> Vec<(Time, Input)> {
        let mut stored = self.stored.into_iter().zip(stored);
        let mut inputs = Vec::with_capacity(self.entries.len());
        for entry in self.entries {
            match entry {
                JournalEntry::Input(at, input) => inputs.push((at, input)),
                JournalEntry::Talk(at, _) => {
                    let (done, came_of_it) = stored.next().expect("there is one for each");
                    let told = came_of_it.map(|heard| inputs.extend(heard.into_iter().map(|input| (at, input))));
                    let _ = done.send(told);
                }
            }
        }
        for durable in self.told {
            let _ = durable.send(());
        }
        for durable in self.paid {
            let _ = durable.send(());
        }
        inputs
    }
}
