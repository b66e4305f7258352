//! Memory is taken along to Firestore and back.

use aizuchi_core::memory::Marks;
use aizuchi_core::types::PersonId;
use aizuchi_test_servers::firestore::shared;

use super::*;
use crate::memory::SqliteMemory;
use crate::memory::tests::{draft, kept, note, public, reflected, remember_something, sourced};
use crate::ports::{CopyScope, CopyStore as _, JournalEntry, MemoryStore, StoreBackend as _};
use crate::stores::copy::{CopyError, CopySummary, copy};
use crate::stores::{Database, scratch};

async fn copy_memory(
    from: &dyn crate::ports::CopyStore,
    to: &dyn crate::ports::CopyStore,
) -> Result<CopySummary, CopyError> {
    copy(from, to, CopyScope::Memory, &mut |_| ()).await
}

/// Everything that is remembered, as text.
async fn told(memory: &dyn MemoryStore) -> String {
    let facts = memory.facts(Filter::default()).await.unwrap();
    let (people, ties) = (memory.people(None).await.unwrap(), memory.ties(None, None).await.unwrap());
    let marks = memory.channel(&public("web:lobby").room).await.unwrap();
    let out = memory.people(Some(&PersonId::new("web:zoe"))).await.unwrap();
    format!("{facts:#?} {people:#?} {ties:#?} {marks:#?} {:#?} {out:#?}", memory.channels().await.unwrap())
}

fn memory_of(database: &Database) -> SqliteMemory {
    SqliteMemory::new(database.clone(), StoredLayers::ALL)
}

#[tokio::test]
async fn memory_goes_to_firestore_and_back_and_nothing_else_does() {
    let server = shared().await;
    let firestore = open(&server, "copied").await;
    let (_first, here) = scratch("copied-from");
    remember_something(&memory_of(&here)).await;
    here.stores()
        .journal
        .append(0, &[JournalEntry::Input(aizuchi_core::Time(1), aizuchi_core::Input::Tick)])
        .await
        .unwrap();
    let there = copy_memory(&here, &firestore).await.unwrap();
    assert_eq!(there.found, 0);
    assert!(there.counts.iter().all(|(table, _)| table.starts_with("memory_")), "{there:?}");
    assert_eq!(told(&firestore).await, told(&memory_of(&here)).await);
    let again = copy_memory(&here, &firestore).await.unwrap();
    assert_eq!((again.rows, again.found + 1), (there.rows, there.rows), "opt-outs are sent again, nothing else");
    // Back into a store that has a journal: that stays, and so does who opted out there.
    let (_second, back) = scratch("copied-to");
    back.stores()
        .journal
        .append(0, &[JournalEntry::Input(aizuchi_core::Time(1), aizuchi_core::Input::Tick)])
        .await
        .unwrap();
    let policies = settings(&[]);
    let out = MemoryChange::OptedOut { person: PersonId::new("web:yan"), out: true };
    memory_of(&back).apply(vec![out], &policies).await.unwrap();
    let returned = copy_memory(&firestore, &back).await.unwrap();
    assert_eq!(returned.counts, there.counts);
    assert_eq!(told(&memory_of(&back)).await, told(&firestore).await);
    assert_eq!(back.stores().index.count().await.unwrap(), 1);
    let opted_out = memory_of(&back).people(Some(&PersonId::new("web:yan"))).await.unwrap();
    assert!(opted_out.iter().any(|person| person.opted_out));
    // New facts get new numbers.
    firestore.make([kept(draft(&public("web:lobby"), "something new"))]).await;
    assert_eq!(firestore.all_facts().await.len(), 3);
}

#[tokio::test]
async fn what_the_source_does_not_have_is_refused_until_it_is_emptied() {
    let server = shared().await;
    let firestore = open(&server, "refused").await;
    let (_folder, here) = scratch("refused");
    remember_something(&memory_of(&here)).await;
    firestore.make([kept(draft(&public("web:other"), "nobody else knows"))]).await;
    let out = MemoryChange::OptedOut { person: PersonId::new("web:yan"), out: true };
    firestore.make([out]).await;
    let refused = copy_memory(&here, &firestore).await.unwrap_err().to_string();
    assert!(refused.contains("has records in memory_fact that the source does not have"), "{refused}");
    firestore.clear(CopyScope::Memory).await.unwrap();
    copy_memory(&here, &firestore).await.unwrap();
    assert_eq!(told(&firestore).await, told(&memory_of(&here)).await);
    let opted_out = firestore.people(Some(&PersonId::new("web:yan"))).await.unwrap();
    assert!(opted_out.iter().any(|person| person.opted_out), "nobody who opted out is lost");
}

/// Where a collection is two tables, one of them may be empty.
#[tokio::test]
async fn facts_without_vectors_are_copied_back_once() {
    let server = shared().await;
    let firestore = open(&server, "without-vectors").await;
    firestore.make([kept(draft(&public("web:lobby"), "the tea is from Uji"))]).await;
    let (_folder, here) = scratch("without-vectors");
    let summary = copy_memory(&firestore, &here).await.unwrap();
    assert_eq!(summary.counts.iter().find(|(table, _)| *table == "memory_fact"), Some(&("memory_fact", 1)));
}

#[tokio::test]
async fn an_interrupted_copy_goes_on() {
    let emulator = FirestoreServer::start().await;
    let firestore = open(&emulator, "interrupted").await;
    let (_folder, here) = scratch("interrupted");
    let fact = |number: usize| kept(sourced(&public("web:lobby"), &format!("locker {number} is empty"), &[]));
    memory_of(&here).apply((0..520).map(fact).collect(), &settings(&[])).await.unwrap();
    // The first commit succeeds, the second does not.
    fail(&emulator, "Commit", Code::PermissionDenied, 1, CallFails::BeforeIt, 1);
    copy_memory(&here, &firestore).await.unwrap_err();
    let arrived = firestore.all_facts().await.len();
    assert!(arrived > 0 && arrived < 520, "{arrived}");
    let summary = copy_memory(&here, &firestore).await.unwrap();
    assert_eq!((summary.rows, summary.found), (520, arrived as u64));
}

#[tokio::test]
async fn marks_and_messages_stay_with_the_journal_they_belong_to() {
    let server = shared().await;
    let (_first, here) = scratch("marks-from");
    let (_second, other) = scratch("marks-to");
    let [own, theirs] = [here.journal_id().await.unwrap(), other.journal_id().await.unwrap()];
    assert!(own != theirs && own.0.len() == 32, "{own:?} {theirs:?}");
    remember_something(&memory_of(&here)).await;
    let fact = kept(sourced(&public("web:lobby"), "the tea is from Uji", &[("web:mia", "w3")]));
    memory_of(&here).apply(vec![fact], &settings(&[])).await.unwrap();
    let to = open_for(&server, "marks", &own.0).await;
    copy_memory(&here, &to).await.unwrap();
    let marks = async |memory: &dyn MemoryStore| memory.channel(&public("web:lobby").room).await.unwrap().1;
    assert_eq!((marks(&to).await, marks(&to).await.heard), (marks(&memory_of(&here)).await, 1));
    assert_eq!(told(&to).await, told(&memory_of(&here)).await);
    assert!(server.dump("marks").contains(&format!("w3@{}", own.0)));
    // In another store they would be positions and messages of its own.
    let from = open_for(&server, "marks", &theirs.0).await;
    copy_memory(&from, &other).await.unwrap();
    let arrived = memory_of(&other);
    assert_eq!((arrived.facts(Filter::default()).await.unwrap().len(), marks(&arrived).await), (3, Marks::default()));
    let gone = crate::memory::tests::gone("web:lobby", "w3");
    arrived.apply(vec![gone.clone()], &settings(&[])).await.unwrap();
    assert_eq!(arrived.facts(Filter::default()).await.unwrap().len(), 3);
    // Between two places of Firestore everything stays as it is.
    let open_all = async |project: &str| {
        let place = location(&server, project);
        FirestoreMemory::open(&place, StoredLayers::ALL, MessageScope::all(), Patience::COPY).await.unwrap()
    };
    copy_memory(&open_all("marks").await, &open_all("marks-elsewhere").await).await.unwrap();
    let elsewhere = open_for(&server, "marks-elsewhere", &own.0).await;
    assert_eq!(told(&elsewhere).await, told(&memory_of(&here)).await);
    elsewhere.make([gone]).await;
    assert_eq!(elsewhere.all_facts().await.len(), 2);
}

/// What notes about people rest on arrives with the people, not in an order of its own.
#[tokio::test]
async fn an_interrupted_copy_of_people_goes_on() {
    let emulator = FirestoreServer::start().await;
    let firestore = open(&emulator, "interrupted-people").await;
    let (_folder, here) = scratch("interrupted-people");
    let notes = (0..60).map(|number| {
        let (person, message) = (format!("web:{number:02}"), format!("m{:02}", number * 37 % 60));
        note(&person, "knows tea", &message)
    });
    let noted = reflected(&public("web:lobby"), 1, Vec::new(), notes.collect());
    memory_of(&here).apply(vec![noted], &settings(&[])).await.unwrap();
    // One commit for marks, one for the first people.
    fail(&emulator, "Commit", Code::PermissionDenied, 1, CallFails::BeforeIt, 2);
    copy_memory(&here, &firestore).await.unwrap_err();
    let arrived = firestore.people(None).await.unwrap().len();
    assert!((1..60).contains(&arrived), "{arrived} arrived");
    copy_memory(&here, &firestore).await.unwrap();
    assert_eq!(told(&firestore).await, told(&memory_of(&here)).await);
}

#[tokio::test]
async fn a_copy_of_everything_and_a_backup_have_the_same_journal() {
    let (folder, here) = scratch("same-journal");
    let (_other, there) = scratch("same-journal-copy");
    copy(&here, &there, CopyScope::Everything, &mut |_| ()).await.unwrap();
    assert_eq!(there.journal_id().await, here.journal_id().await);
    let file = folder.join("backup.db");
    here.back_up(file.to_str().unwrap()).await.unwrap();
    assert_eq!(Database::open(&file).unwrap().journal_id().await, here.journal_id().await);
}
