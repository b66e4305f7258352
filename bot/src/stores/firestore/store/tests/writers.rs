//! Several processes write at once.

use std::collections::BTreeSet;

use aizuchi_test_servers::firestore::shared;

use aizuchi_core::memory::FactId;
use aizuchi_core::types::Visibility;

use super::*;
use crate::memory::tests::{draft, heard, kept, private, public, reflected};

#[tokio::test]
async fn of_two_writers_at_once_nothing_is_lost() {
    const EACH: u64 = 12;
    let emulator = FirestoreServer::start().await;
    let (one, other) = (open(&emulator, "writers").await, open(&emulator, "writers").await);
    let write = async |memory: &FirestoreMemory, room: &str| {
        let room = public(room);
        for number in 1..=EACH {
            let fact = draft(&room, &format!("number {number} of {}", room.room));
            memory.make([heard(&room, number, "ann", "Ann", "x"), kept(fact)]).await;
        }
    };
    tokio::join!(write(&one, "web:one"), write(&other, "web:other"));
    let people = one.people(None).await.unwrap();
    assert_eq!((people.len(), people[0].messages), (1, 2 * EACH), "each message is counted once");
    let facts = one.all_facts().await;
    let numbers: BTreeSet<u64> = facts.iter().map(|fact| fact.id.0).collect();
    assert_eq!((facts.len() as u64, numbers.len() as u64), (2 * EACH, 2 * EACH), "no number was given twice");
    assert!(emulator.calls("Commit") > 2 * EACH, "they did not get in each other's way, and nothing was tried");
}

/// A change that is too large for one commit does not bring back what is deleted between two of them.
#[tokio::test]
async fn what_another_writer_forgets_between_two_commits_stays_forgotten() {
    let emulator = FirestoreServer::start().await;
    let (one, other) = (open(&emulator, "between").await, open(&emulator, "between").await);
    let lobby = public("web:lobby");
    let facts = (1..=60).map(|number| draft(&lobby, &format!("locker {number} is empty"))).collect();
    one.make([reflected(&lobby, 1, facts, Vec::new())]).await;
    let commits = emulator.calls("Commit");
    emulator.hold_commit(1);
    let hides = async { one.make([MemoryChange::Narrowed { origin: private("web:lobby") }]).await };
    let forgets = async {
        while emulator.calls("Commit") < commits + 2 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        other.make([MemoryChange::Forgotten { fact: FactId(1) }]).await;
        emulator.release_commits();
    };
    tokio::join!(hides, forgets);
    let facts = one.all_facts().await;
    assert!(facts.len() == 59 && facts.iter().all(|fact| fact.id != FactId(1)), "{}", facts.len());
    assert!(facts.iter().all(|fact| fact.origin.visibility == Visibility::Private), "and the change is made whole");
}

#[tokio::test]
async fn ids_of_any_kind_are_kept_apart() {
    let server = shared().await;
    let memory = open(&server, "hostile-ids").await;
    let long = "x".repeat(3_000);
    let ids = ["web:.", "web:..", "web:a/b", "web:__all__", "web:名前 ", "web:a\nb\0", "web:%2F", &long, "web:'\"`"];
    for (at, id) in ids.iter().enumerate() {
        let room = public(id);
        let person = format!("{id}/person");
        let fact = crate::memory::tests::sourced(&room, &format!("the secret is number{at}"), &[(&person, id)]);
        memory.make([heard(&room, 1, &person, "Ann", "x"), kept(fact)]).await;
    }
    assert_eq!(memory.people(None).await.unwrap().len(), ids.len());
    for (at, id) in ids.iter().enumerate() {
        let person = aizuchi_core::types::PersonId::new(format!("{id}/person"));
        let about = memory.about(&person).await.unwrap();
        assert_eq!(about.facts.len(), 1, "{id:?}");
        assert_eq!(&*about.facts[0].content, format!("the secret is number{at}"));
        memory.make([crate::memory::tests::gone(id, id)]).await;
        assert!(memory.about(&person).await.unwrap().facts.is_empty(), "{id:?}");
    }
}
