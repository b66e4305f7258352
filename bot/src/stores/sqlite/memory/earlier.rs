//! A store as an earlier version left it, for tests.

use std::path::Path;

use aizuchi_core::types::stable_hash;
use rusqlite::Connection;

use crate::stores::sqlite::migrations::before;

/// A store as the version before facts had a context left it.
pub fn leave_facts_of_an_earlier_version(path: &Path) {
    let mut connection = Connection::open(path).unwrap();
    before("memory_fact_context", &mut connection);
    let body = r#"{"id":1,"room":"web:lobby","visibility":"public","content":"Ann likes green tea","keywords":["tea"],"people":["web:ann"],"messages":["m1"],"confidence":0.8,"shareable":true,"at":1700000000000,"used_at":null,"uses":0,"pinned":false,"told_in":[]}"#;
    let place = |name: &str| format!("p{:x}", stable_hash(1, name));
    connection.execute("INSERT INTO memory_fact VALUES (1, 'web:lobby', ?1)", [body]).unwrap();
    connection.execute("INSERT INTO memory_fact_person VALUES ('web:ann', 1)", []).unwrap();
    connection.execute("INSERT INTO memory_fact_message VALUES ('web:lobby', 'm1', 1)", []).unwrap();
    let places = format!("{} {}", place("room web:lobby"), place("house web"));
    connection
        .execute("INSERT INTO memory_words (rowid, place, words) VALUES (1, ?1, 'ann like green tea tea')", [places])
        .unwrap();
    for word in ["ann", "like", "green", "tea"] {
        connection.execute("INSERT INTO memory_word VALUES (?1, 1)", [word]).unwrap();
    }
    let vector: Vec<u8> = [1.0_f32, -1.0].iter().flat_map(|number| number.to_le_bytes()).collect();
    connection.execute("INSERT INTO memory_vector VALUES (1, 'm', ?1)", [vector]).unwrap();
}
