//! A project of the emulator for each folder of a test.

use std::cell::RefCell;
use std::path::Path;
use std::sync::Arc;

use aizuchi_core::types::stable_hash;
use aizuchi_test_servers::firestore::{FirestoreServer, shared};

use super::{FirestoreLocation, FirestoreMemory, MessageScope, Patience};
use crate::memory::StoredLayers;
use crate::ports::JournalId;

thread_local! {
    // The server runs as long as the thread of the test.
    static SERVER: RefCell<Option<Arc<FirestoreServer>>> = const { RefCell::new(None) };
}

/// The project of a folder.
fn project_of(folder: &Path) -> String {
    format!("test-{:016x}", stable_hash(1, &folder.to_string_lossy()))
}

pub fn location(server: &FirestoreServer, project: &str) -> FirestoreLocation {
    FirestoreLocation {
        project: project.to_owned(),
        database: "(default)".to_owned(),
        prefix: "aizuchi".to_owned(),
        emulator: Some(server.address()),
    }
}

/// Settings that name the project.
pub async fn assignments(folder: &Path) -> [String; 2] {
    let server = shared().await;
    let address = server.address();
    SERVER.set(Some(server));
    [format!("firestore.project={}", project_of(folder)), format!("firestore.emulator={address}")]
}

/// A memory with all layers in the project.
pub async fn memory(folder: &Path) -> FirestoreMemory {
    let server = shared().await;
    let location = location(&server, &project_of(folder));
    SERVER.set(Some(server));
    let scope = MessageScope::of(JournalId(project_of(folder)));
    FirestoreMemory::open(&location, StoredLayers::ALL, scope, Patience::COPY)
        .await
        .expect("the server of the tests answers")
}

/// Everything in the project, as text; empty if it was never used.
pub fn dump(folder: &Path) -> String {
    SERVER.with_borrow(|server| server.as_ref().map(|server| server.dump(&project_of(folder))).unwrap_or_default())
}
