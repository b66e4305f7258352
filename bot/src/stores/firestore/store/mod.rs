//! Memory as Firestore documents.

mod client;
mod commit;
mod connect;
mod copy;
mod document;
mod expected;
mod facts;
mod failure;
mod index;
mod memory;
mod patience;
mod query;
mod read;
mod scope;
mod session;
mod table;

#[cfg(test)]
mod tests;

pub use memory::FirestoreMemory;
pub use patience::Patience;
pub use scope::MessageScope;
