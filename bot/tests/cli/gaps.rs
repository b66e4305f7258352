//! `aizuchi replay --journal` where somebody was forgotten or has opted out: what the others said is decided as it was.

use std::sync::Arc;

use aizuchi::keeper::Keeper;
use aizuchi::memory::{SqliteMemory, StoredLayers};
use aizuchi::ports::Memory as _;
use aizuchi::stores::{DataFolder as Data, Database};
use aizuchi_core::Policies;
use aizuchi_core::memory::MemoryChange;
use aizuchi_core::types::PersonId;

use super::program::Folder;
use super::store::live;
use super::unheard::NoModel;

const TALK: &str = r#"
{"ts": "2026-04-07T12:00:00Z", "channel": "garden", "id": "1", "author": "mia", "text": "aizuchi, tune the glockenspiel please"}
{"ts": "2026-04-07T12:20:00Z", "channel": "garden", "id": "2", "author": "jonas", "text": "aizuchi, how do I prune a rose?"}
{"ts": "2026-04-07T12:40:00Z", "channel": "garden", "id": "3", "author": "mia", "text": "aizuchi, and a xylophone?"}
{"ts": "2026-04-07T13:00:00Z", "channel": "garden", "id": "4", "author": "jonas", "text": "aizuchi, what is compost?"}
{"ts": "2026-04-07T13:10:00Z", "channel": "attic", "id": "5", "author": "jonas", "text": "aizuchi, how old is this chair?"}
{"ts": "2026-04-07T13:20:00Z", "channel": "attic", "id": "6", "author": "jonas", "text": "aizuchi, and this table?"}
"#;
const SCRIPT: &str = r#"
{"question": "write", "match": "glockenspiel", "answer": "Turn it."}
{"question": "write", "answer": "That depends."}
"#;

fn lived() -> Folder {
    let folder = Folder::new();
    live(TALK.trim(), SCRIPT.trim()).keep_in(&folder);
    folder
}

fn in_store<T>(folder: &Folder, work: impl AsyncFnOnce(Database, SqliteMemory, Policies) -> T) -> T {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let database = Database::open(&Data::database_in(&folder.path("aizuchi-data"))).unwrap();
        let memory = SqliteMemory::new(database.clone(), StoredLayers::ALL);
        work(database, memory, Policies::preset("aizuchi").unwrap()).await
    })
}

/// People of a log have their names as ids.
fn mia() -> PersonId {
    PersonId::new("mia")
}

#[test]
fn everybody_who_did_not_opt_out_is_decided_about_as_before() {
    let folder = lived();
    in_store(&folder, async |_, memory, policies| {
        memory.apply(vec![MemoryChange::OptedOut { person: mia(), out: true }], &policies).await.unwrap();
    });
    let line = folder.run("replay --journal --json").succeeded().last_line();
    assert_eq!((&line["opted_out"], &line["pending"]), (&2.into(), &0.into()), "{line}");
    assert_eq!(line["check"]["different"], serde_json::json!([]), "{line}");
    let same = line["check"]["same"].as_u64().unwrap();
    assert!(same >= 2 && same + line["incomplete"].as_u64().unwrap() == 4, "{line}");
    let replies = line["replies_per_1000"].as_f64();
    assert_eq!(replies, Some(1000.0), "the recorded answers are given to whom they were given then: {line}");
}

#[test]
fn everybody_who_is_not_forgotten_is_decided_about_as_before() {
    let folder = lived();
    in_store(&folder, async |database, memory, policies| {
        let keeper = Keeper::new(Arc::new(memory), Arc::new(NoModel), database, policies);
        keeper.catch_up().await.unwrap();
        keeper.forget_at_rest(mia(), &[], &[]).await.unwrap();
    });
    let run = folder.run("replay --journal").succeeded();
    assert!(run.out.contains("all the same") && run.out.contains("missing in their rooms"), "{}", run.out);
    let line = folder.run("replay --journal --json").succeeded().last_line();
    assert_eq!(line["check"]["different"], serde_json::json!([]), "{line}");
    assert!(line["check"]["same"].as_u64().unwrap() >= 2, "another room has everything: {line}");
}
