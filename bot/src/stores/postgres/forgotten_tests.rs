//! What is left of forgotten words on the server's disk.

use std::path::Path;
use std::sync::Arc;

use aizuchi_core::memory::MemoryChange;
use aizuchi_core::types::{Author, Message, MessageId, PersonId, Place, RoomId, Visibility, Voice};
use aizuchi_core::{Input, Time};
use aizuchi_test_servers::folder::Scratch;
use aizuchi_test_servers::postgres::{PostgresOptions, PostgresServer};

use super::{PgTarget, PostgresDatabase};
use crate::memory::StoredLayers;
use crate::memory::tests::{kept, public, settings, sourced};
use crate::ports::{InboxEntry, JournalEntry, Rewrite, StoreBackend as _};

const SECRET: &str = "qzxylophonezq";

/// The first file below a folder that has the word, apart from those in these.
fn file_with(folder: &Path, word: &str, apart_from: &[&str]) -> Option<std::path::PathBuf> {
    for entry in std::fs::read_dir(folder).ok()?.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            if apart_from.iter().all(|apart| name != *apart)
                && let Some(found) = file_with(&path, word, apart_from)
            {
                return Some(found);
            }
        } else if std::fs::read(&path).is_ok_and(|bytes| bytes.windows(word.len()).any(|part| part == word.as_bytes()))
        {
            return Some(path);
        }
    }
    None
}

async fn say_everywhere(database: &PostgresDatabase) {
    let message = |id: &str| Message {
        id: MessageId::new(id),
        place: Place::room("web:lobby"),
        at: Time(5),
        author: Author { id: PersonId::new("web:zoe"), name: SECRET.into(), voice: Voice::Person },
        text: format!("I own a {SECRET}").into(),
        reply: None,
        mentions: Vec::new(),
        mentions_me: false,
        visibility: Visibility::Public,
        backfilled: false,
        heard: None,
    };
    let stores = database.stores();
    // The server samples what is there more than once.
    let said = ["m1", "m2"].map(|id| JournalEntry::Input(Time(5), Input::Said(message(id))));
    stores.journal.append(0, &said).await.unwrap();
    let fact = sourced(&public("web:lobby"), &format!("Zoe owns a {SECRET}"), &[("web:zoe", "m1")]);
    database.memory(StoredLayers::ALL).apply(vec![kept(fact)], &settings(&[])).await.unwrap();
    let entry = InboxEntry { key: "k".into(), body: Some(SECRET.into()), ..InboxEntry::default() };
    database.platform_stores().inbox.keep("slack", vec![entry], Time(5)).await.unwrap();
}

/// The tables and indexes have nothing left; the server's write-ahead log has, as the book says.
#[tokio::test]
async fn what_is_forgotten_leaves_the_tables_of_the_server() {
    let server = PostgresServer::start(PostgresOptions::default()).await;
    let (folder, name) = (Scratch::new("forgotten"), server.empty_database().await);
    let target = PgTarget::new(&server.url(&name).into(), &|_| None).unwrap();
    let database = PostgresDatabase::open(target, folder.join("postgres")).await.unwrap();
    say_everywhere(&database).await;
    server.psql(&name, "analyze").await;
    server.psql(&name, "checkpoint").await;
    let base = server.data_folder().join("base");
    assert!(file_with(&base, SECRET, &[]).is_some(), "the search would find it");

    let stores = database.stores();
    let rewrite = Rewrite { records: vec![(1, Input::Forgotten), (2, Input::Forgotten)], ..Rewrite::default() };
    stores.journal.rewrite(Arc::new(rewrite), None).await.unwrap();
    let gone = MemoryChange::MessageGone { room: RoomId::new("web:lobby"), message: MessageId::new("m1") };
    database.memory(StoredLayers::ALL).apply(vec![gone], &settings(&[])).await.unwrap();
    let inbox = database.platform_stores().inbox;
    let pending = inbox.pending("slack", 0, 9).await.unwrap();
    inbox.handled("slack", pending[0].seq).await.unwrap();
    stores.files.remove_copies().await.unwrap();
    // Nobody with a name is left, so that there is nothing to sample instead.
    server.psql(&name, "analyze").await;
    server.psql(&name, "checkpoint").await;
    assert_eq!(file_with(&server.data_folder(), SECRET, &["pg_wal"]), None);
    assert!(file_with(&server.data_folder().join("pg_wal"), SECRET, &[]).is_some(), "the log keeps it for a while");
}

/// How many columns and indexes the server has sampled this of.
async fn sampled(server: &PostgresServer, database: &str, word: &str) -> String {
    let samples = "concat(most_common_vals::text, histogram_bounds::text)";
    server.psql(database, &format!("select count(*) from pg_stats where {samples} like '%{word}%'")).await
}

#[tokio::test]
async fn what_the_server_has_sampled_for_an_older_version_is_removed() {
    let server = PostgresServer::start(PostgresOptions::default()).await;
    let (folder, name) = (Scratch::new("sampled"), server.empty_database().await);
    let target = PgTarget::new(&server.url(&name).into(), &|_| None).unwrap();
    let database = PostgresDatabase::open(target.clone(), folder.join("postgres")).await.unwrap();
    say_everywhere(&database).await;
    drop(database);
    // As it was in version 3.
    server
        .psql(
            &name,
            "update store_version set version = 3; alter index journal_person alter column 2 set statistics -1;
            alter table web_room alter column name set statistics -1, alter column opened_by set statistics -1;
            insert into web_room values ('qzxylophonezq1', 1, 'qzxylophonezq'), ('qzxylophonezq2', 1, 'qzxylophonezq')",
        )
        .await;
    server.psql(&name, "analyze").await;
    assert_eq!(sampled(&server, &name, SECRET).await, "3", "the search would find it");
    let opened = aizuchi_test_servers::program::eventually("the program before has ended", async || {
        PostgresDatabase::open(target.clone(), folder.join("postgres")).await.ok()
    });
    let _database = opened.await;
    assert_eq!(sampled(&server, &name, SECRET).await, "0");
    server.psql(&name, "analyze").await;
    assert_eq!(sampled(&server, &name, SECRET).await, "0");
}

#[cfg(feature = "cluster")]
#[tokio::test]
async fn the_server_samples_nothing_of_what_rooms_of_a_cluster_are_to_hear() {
    let server = PostgresServer::start(PostgresOptions::default()).await;
    let (folder, name) = (Scratch::new("sampled-cluster"), server.empty_database().await);
    let target = PgTarget::new(&server.url(&name).into(), &|_| None).unwrap();
    let open = async || PostgresDatabase::open_among_others(target.clone(), folder.join("postgres")).await.unwrap();
    let first = open().await;
    let fill = "insert into cluster_outbox (at, body) values (1, 'qzxylophonezq'), (1, 'qzxylophonezq');
        insert into cluster_set_aside (room, at, input, error)
        values ('a', 1, 'qzxylophonezq', 'qzxylophonezq'), ('a', 1, 'qzxylophonezq', 'qzxylophonezq')";
    server.psql(&name, fill).await;
    server.psql(&name, "analyze").await;
    assert_eq!(sampled(&server, &name, SECRET).await, "0");
    // As earlier versions left it.
    let before = "alter table cluster_outbox alter column body set statistics -1;
        alter table cluster_set_aside alter column input set statistics -1, alter column error set statistics -1";
    server.psql(&name, before).await;
    server.psql(&name, "analyze").await;
    assert_eq!(sampled(&server, &name, SECRET).await, "3", "the search would find it");
    let second = open().await;
    assert_eq!(sampled(&server, &name, SECRET).await, "0");
    server.psql(&name, "analyze").await;
    assert_eq!(sampled(&server, &name, SECRET).await, "0");
    drop((first, second));
}
