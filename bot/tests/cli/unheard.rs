//! What was said and not counted yet, where somebody is forgotten or has opted out, with the program itself.

use std::path::Path;
use std::sync::Arc;

use aizuchi::keeper::Keeper;
use aizuchi::memory::{SqliteMemory, StoredLayers};
use aizuchi::ports::{BoxFuture, JournalEntry, JournalStore, Memory as _, ModelClient};
use aizuchi::stores::{DataFolder as Data, Database};
use aizuchi_core::effect::{Ask, Brief, Failure};
use aizuchi_core::input::Answer;
use aizuchi_core::memory::MemoryChange;
use aizuchi_core::types::{Author, MessageId, PersonId, Place, Visibility, Voice};
use aizuchi_core::{Input, Message, Policies};

use super::memory::{now, sample};

/// Something that was said and that memory has not counted yet.
fn say_unheard(folder: &Path, id: &str, by: (&str, &str), text: &str) {
    let message = Message {
        id: MessageId::new(id),
        place: Place::room("web:lobby"),
        at: now(),
        author: Author { id: PersonId::new(by.0), name: by.1.into(), voice: Voice::Person },
        text: text.into(),
        reply: None,
        mentions: Vec::new(),
        mentions_me: false,
        visibility: Visibility::Public,
        backfilled: false,
        heard: None,
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let database = Database::open(&Data::database_in(folder)).unwrap();
        let entries = [JournalEntry::Input(message.at, Input::Said(message))];
        JournalStore::append(&database, 0, &entries).await.unwrap();
    });
}

pub struct NoModel;

impl ModelClient for NoModel {
    fn judge(self: Arc<Self>, _: Box<Ask>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        unreachable!("nothing is judged")
    }

    fn write(self: Arc<Self>, _: Box<Brief>, _: Arc<Policies>) -> BoxFuture<'static, Result<Answer, Failure>> {
        unreachable!("nothing is written")
    }
}

#[test]
fn who_was_forgotten_does_not_come_back_with_what_was_not_counted_yet() {
    let folder = sample();
    let data = folder.path("aizuchi-data");
    for number in 10..20 {
        say_unheard(&data, &format!("m{number}"), ("web:1", "Ann"), "the xylophone is mine");
    }
    folder.run("memory forget --person Ann").succeeded();
    // As the next start does.
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let people = runtime.block_on(async {
        let database = Database::open(&Data::database_in(&data)).unwrap();
        let memory = Arc::new(SqliteMemory::new(database.clone(), StoredLayers::ALL));
        let policies = Policies::preset("aizuchi").unwrap();
        Keeper::new(memory.clone(), Arc::new(NoModel), database, policies).catch_up().await.unwrap();
        memory.people(None).await.unwrap()
    });
    let names: Vec<&str> = people.iter().map(|person| person.name()).collect();
    assert_eq!(names, ["Bob"], "a message that was not counted yet brings her back");
}

#[test]
fn words_of_people_who_opted_out_are_neither_exported_nor_replayed() {
    let folder = sample();
    let data = folder.path("aizuchi-data");
    say_unheard(&data, "m10", ("web:1", "Ann"), "the xylophone is mine");
    say_unheard(&data, "m11", ("web:2", "Bob"), "the marimba is mine");
    assert!(folder.run("export").succeeded().out.contains("xylophone"));
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let database = Database::open(&Data::database_in(&data)).unwrap();
        let out = MemoryChange::OptedOut { person: PersonId::new("web:1"), out: true };
        let memory = SqliteMemory::new(database, StoredLayers::ALL);
        memory.apply(vec![out], &Policies::preset("aizuchi").unwrap()).await.unwrap();
    });
    let exported = folder.run("export").succeeded().out;
    assert!(exported.contains("marimba") && !exported.contains("xylophone"), "{exported}");
    let replayed = folder.run("replay --journal --json").succeeded().out;
    assert!(replayed.contains("\"opted_out\":1"), "{replayed}");
    let told = folder.run("replay --journal").succeeded().out;
    assert!(told.contains("1 messages of people who opted out were skipped"), "{told}");
}
