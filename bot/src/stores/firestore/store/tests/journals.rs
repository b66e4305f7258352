//! Several stores of everything else over one memory: a bot on a new machine, and two bots with one prefix.

use std::sync::Arc;

use aizuchi_core::types::{MessageId, RoomId};
use aizuchi_test_servers::firestore::shared;
use aizuchi_test_servers::folder::Scratch;

use super::*;
use crate::config;
use crate::memory::tests::{heard, note, public, reflected, sourced};
use crate::memory::{self, MemoryContext, MemoryUser};
use crate::ports::MemoryStore;
use crate::stores::scratch;

/// Everything in Firestore, as a bot with a folder of its own has it.
pub async fn bot(server: &FirestoreServer, project: &str) -> (Scratch, Arc<dyn MemoryStore>) {
    let (folder, database) = scratch(project);
    let mut layers = config::new_layers();
    for layer in ["channel_context", "profiles", "facts"] {
        layers.add_assignment(&format!("memory.{layer}_store=firestore"));
    }
    layers.add_assignment(&format!("firestore.project={project}"));
    layers.add_assignment(&format!("firestore.emulator={}", server.address()));
    let policies = config::resolve(&layers).unwrap();
    let context = MemoryContext { backend: &database, layers: &layers, user: MemoryUser::CommandLine };
    (folder, memory::open(&policies.general().settings.memory, context).await.unwrap())
}

pub async fn make(memory: &dyn MemoryStore, changes: Vec<MemoryChange>) {
    memory.apply(changes, &settings(&[])).await.unwrap();
}

fn gone(room: &str, message: &str) -> MemoryChange {
    MemoryChange::MessageGone { room: RoomId::new(room), message: MessageId::new(message) }
}

async fn contents(memory: &dyn MemoryStore) -> Vec<String> {
    let facts = memory.facts(Filter::default()).await.unwrap();
    let mut contents: Vec<String> = facts.into_iter().map(|fact| fact.content.to_string()).collect();
    contents.sort();
    contents
}

/// Numbers of records are given again after the loss of the last ones.
#[tokio::test]
async fn a_journal_that_lost_records_is_read_on_from_its_end() {
    let server = shared().await;
    let lobby = public("web:lobby");
    let (_folder, memory) = bot(&server, "lost-records").await;
    let (_other, other) = bot(&server, "lost-records").await;
    for memory in [&memory, &other] {
        make(&**memory, vec![heard(&lobby, 100, "web:ann", "Ann", "x")]).await;
    }
    assert_eq!(memory.set_back_marks(100).await, Ok(0));
    assert_eq!(memory.set_back_marks(10).await, Ok(1));
    for memory in [&memory, &other] {
        make(&**memory, vec![heard(&lobby, 11, "web:ann", "Ann", "x")]).await;
    }
    assert_eq!(memory.people(None).await.unwrap()[0].messages, 3, "the other journal has lost nothing");
}

#[tokio::test]
async fn a_bot_on_a_new_machine_learns_from_its_first_message() {
    let server = shared().await;
    let lobby = public("web:lobby");
    let (_old, before) = bot(&server, "new-machine").await;
    let tea = sourced(&lobby, "Ann drinks tea", &[("web:ann", "w3")]);
    make(&*before, vec![heard(&lobby, 25, "web:ann", "Ann", "x"), reflected(&lobby, 25, vec![tea], vec![])]).await;
    let (_new, memory) = bot(&server, "new-machine").await;
    assert_eq!(contents(&*memory).await, ["Ann drinks tea"]);
    let (_, marks) = memory.channel(&lobby.room).await.unwrap();
    assert_eq!((marks.heard, marks.reflected), (0, 0), "of its own journal it has read nothing");
    let coffee = sourced(&lobby, "Carla drinks coffee", &[("web:carla", "w1")]);
    make(&*memory, vec![heard(&lobby, 1, "web:carla", "Carla", "x"), reflected(&lobby, 2, vec![coffee], vec![])]).await;
    assert_eq!(contents(&*memory).await, ["Ann drinks tea", "Carla drinks coffee"]);
    assert_eq!(memory.people(None).await.unwrap().len(), 2);
    let (_, marks) = before.channel(&lobby.room).await.unwrap();
    assert_eq!((marks.heard, marks.reflected), (25, 25), "the old one goes on where it was");
}

#[tokio::test]
async fn a_message_of_the_web_room_is_one_of_its_own_store() {
    let server = shared().await;
    let lobby = public("web:lobby");
    let (_one, anna) = bot(&server, "same-ids").await;
    let (_other, berta) = bot(&server, "same-ids").await;
    let tea = sourced(&lobby, "Anna drinks tea", &[("web:anna", "w3")]);
    let notes = vec![note("web:anna", "drinker", "w3")];
    make(&*anna, vec![heard(&lobby, 3, "web:anna", "Anna", "x"), reflected(&lobby, 3, vec![tea], notes)]).await;
    let fact = anna.facts(Filter::default()).await.unwrap().remove(0);
    assert_eq!(fact.messages, [MessageId::new("w3")], "the store that wrote it knows it by its own id");
    // A change of somebody else does not make it theirs.
    make(&*berta, vec![MemoryChange::Pinned { fact: fact.id, pinned: true }]).await;
    make(&*berta, vec![gone("web:lobby", "w3")]).await;
    assert_eq!(contents(&*berta).await, ["Anna drinks tea"], "that was another message");
    let known = |people: Vec<aizuchi_core::memory::Person>| people.iter().any(|person| !person.notes.is_empty());
    assert!(known(anna.people(None).await.unwrap()));
    make(&*anna, vec![gone("web:lobby", "w3")]).await;
    assert!(contents(&*anna).await.is_empty());
    assert!(!known(anna.people(None).await.unwrap()));
}

/// Two bots hear the same message of Discord, and either may hear that it was deleted.
#[tokio::test]
async fn a_message_of_discord_is_the_same_for_every_store() {
    let server = shared().await;
    let channel = public("discord:1/2");
    let (_one, anna) = bot(&server, "global-ids").await;
    let (_other, berta) = bot(&server, "global-ids").await;
    let tea = sourced(&channel, "Anna drinks tea", &[("discord:9", "1234567890")]);
    make(&*anna, vec![reflected(&channel, 3, vec![tea], vec![])]).await;
    make(&*berta, vec![gone("discord:1/2", "1234567890")]).await;
    assert!(contents(&*anna).await.is_empty());
}

#[tokio::test]
async fn two_bots_with_one_prefix_both_remember() {
    const EACH: u64 = 10;
    let server = shared().await;
    let lobby = public("web:lobby");
    let (_one, anna) = bot(&server, "two-bots").await;
    let (_other, berta) = bot(&server, "two-bots").await;
    for seq in 1..=EACH {
        make(&*anna, vec![heard(&lobby, seq, "web:anna", "Anna", "x")]).await;
        make(&*berta, vec![heard(&lobby, seq, "web:berta", "Berta", "x")]).await;
    }
    let mut counted: Vec<u64> = anna.people(None).await.unwrap().iter().map(|person| person.messages).collect();
    counted.sort_unstable();
    assert_eq!(counted, [EACH, EACH]);
}
