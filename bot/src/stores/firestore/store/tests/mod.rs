//! What only this store can get wrong: other writers, a server that fails, limits, costs.

mod copied;
mod costs;
mod failing;
mod forgotten;
mod journals;
mod limits;
mod recall;
mod writers;

use aizuchi_core::memory::{Fact, Filter, MemoryChange};
use aizuchi_test_servers::firestore::{CallFails, FirestoreServer};
use tonic::Code;

use super::{FirestoreMemory, MessageScope, Patience};
use crate::memory::StoredLayers;
use crate::memory::tests::settings;
use crate::ports::{JournalId, Memory as _};
use crate::stores::firestore::test_project::location;

async fn open(server: &FirestoreServer, project: &str) -> FirestoreMemory {
    open_for(server, project, "a0").await
}

/// On behalf of a journal.
async fn open_for(server: &FirestoreServer, project: &str, journal: &str) -> FirestoreMemory {
    let scope = MessageScope::of(JournalId(journal.into()));
    FirestoreMemory::open(&location(server, project), StoredLayers::ALL, scope, Patience::COPY).await.unwrap()
}

impl FirestoreMemory {
    async fn make(&self, changes: impl IntoIterator<Item = MemoryChange>) {
        self.apply(changes.into_iter().collect(), &settings(&[])).await.unwrap();
    }

    async fn all_facts(&self) -> Vec<Fact> {
        self.facts(Filter::default()).await.unwrap()
    }
}

fn fail(server: &FirestoreServer, call: &str, code: Code, times: u32, when: CallFails, skip: u32) {
    server.fail(call, code as i32, times, when, skip);
}
