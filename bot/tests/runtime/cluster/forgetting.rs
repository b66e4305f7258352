//! A person who is forgotten is also removed from the states that the journal of a cluster begins with.

use std::sync::Arc;

use aizuchi::cluster::Stamped;
use aizuchi::journal::Journal;
use aizuchi::ports::{SnapshotStore as _, StateKind, StoreBackend as _};
use aizuchi::runtime::Clock;
use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::types::{PersonId, RoomId, Span};

use super::one_node::OneNode;
use crate::made_up::{START, policies, said};
use crate::money::Counting;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_states_that_the_journal_begins_with_forget_too() {
    let (settings, room) = (["preset=aizuchi"], RoomId::new("log:room"));
    let node = OneNode::start(policies(&settings), Counting::taking(0), Clock::standing_at(START)).await;
    let texts = ["my cat is called Schnurri", "lovely day", "see you"];
    let told = texts.iter().zip(0..).map(|(text, number)| {
        let at = START + Span::seconds(number);
        Stamped::new(at, said(&format!("m{number}"), at, "mia", text))
    });
    node.restate.call(&room, "talk", &told.collect::<Vec<_>>()).await.unwrap();
    let journal = Journal::new(node.database.stores());
    assert!(journal.prune(START + Span::minutes(60), &policies(&settings)).await.unwrap() > 0);
    let knows = async || {
        let states = node.database.states(StateKind::Base).await.unwrap().states;
        states.iter().any(|state| String::from_utf8_lossy(&state.body).contains("Schnurri"))
    };
    assert!(knows().await, "it begins with what was said before");
    let request = ForgetRequest { ids: vec![PersonId::new("mia")], rooms: vec![room], ..ForgetRequest::default() };
    let found = journal.footprints(0, 1, Arc::new(request)).await.unwrap();
    journal.forget_records(found, &policies(&settings)).await.unwrap();
    assert!(!knows().await);
}
