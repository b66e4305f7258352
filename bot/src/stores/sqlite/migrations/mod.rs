//! The tables, and the migration of older files. A released step is never changed: a new one follows.

use rusqlite::Connection;

/// Each step migrates a file from the version that is its index to the next.
const STEPS: &[&str] = &[
    include_str!("0001.sql"),
    include_str!("0002.sql"),
    include_str!("0003.sql"),
    include_str!("0004.sql"),
    include_str!("0005.sql"),
    include_str!("0006.sql"),
    include_str!("0007.sql"),
    include_str!("0008.sql"),
    include_str!("0009.sql"),
    include_str!("0010.sql"),
    include_str!("0011.sql"),
    include_str!("0012.sql"),
    include_str!("0013.sql"),
    include_str!("0014.sql"),
    include_str!("0015.sql"),
    include_str!("0016.sql"),
    include_str!("0017.sql"),
    include_str!("0018.sql"),
];

pub const VERSION: u32 = STEPS.len() as u32;

/// Migrates the file to the current version. `Err` with the file's version if it is newer than this program.
pub fn migrate(connection: &mut Connection) -> rusqlite::Result<Result<(), u32>> {
    let found = version(connection)?;
    if found > VERSION {
        return Ok(Err(found));
    }
    for (index, step) in STEPS.iter().enumerate().skip(found as usize) {
        let transaction = connection.transaction()?;
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "user_version", index as u32 + 1)?;
        transaction.commit()?;
    }
    Ok(Ok(()))
}

pub fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// A file as the step before the one with this text left it.
#[cfg(test)]
pub fn before(step: &str, connection: &mut Connection) {
    let step = STEPS.iter().position(|text| text.contains(step)).unwrap();
    for earlier in &STEPS[..step] {
        connection.execute_batch(earlier).unwrap();
    }
    connection.pragma_update(None, "user_version", step as u32).unwrap();
}

#[cfg(test)]
mod tests {
    use aizuchi_core::types::Time;

    use super::*;
    use crate::ports::{InboxEntry, PostKey, PostProgress};
    use crate::stores::Database;

    /// What was under way when the last version stopped goes on: nothing that arrived is lost, nothing is posted twice.
    #[tokio::test]
    async fn what_arrived_and_what_was_posted_is_carried_over() {
        let folder = aizuchi_test_servers::folder::Scratch::new("carried-over");
        let path = folder.join("aizuchi.db");
        let mut connection = Connection::open(&path).unwrap();
        before("CREATE TABLE inbox", &mut connection);
        let left = r#"
            INSERT INTO slack_event (seq, key, at, thread, body) VALUES
                (3, 'C1/1.5', 10, '1.0', NULL), (4, 'C1/2.0', 11, NULL, '{"event":1}'), (7, 'C1/3.0', 12, '1.0', '{"event":2}'),
                (8, 'envelope', 13, NULL, NULL);
            INSERT INTO web_unheard VALUES (5, '{"left":1}'), (6, '{"left":2}');
            INSERT INTO slack_post VALUES ('k#1/0', 20, NULL), ('k#2/0', 21, '4.0');
            INSERT INTO discord_post VALUES ('k#1/0', 'n1', 5, 22, NULL), ('k#2/0', 'n2', 5, 23, 1234567890123456789);
            INSERT INTO slack_channel VALUES ('C1', '3.0');
            INSERT INTO discord_channel VALUES (5, 77, 1234567890123456789), (6, 0, 99), (8, 0, 100);
            INSERT INTO discord_guild VALUES (77, 1234567890123456790);
        "#;
        connection.execute_batch(left).unwrap();
        drop(connection);
        let stores = Database::open(&path).unwrap().platform_stores();

        let pending = async |platform| {
            let found = stores.inbox.pending(platform, 0, 9).await.unwrap();
            found.into_iter().map(|pending| pending.body).collect::<Vec<_>>()
        };
        assert_eq!(pending("slack").await, [r#"{"event":1}"#, r#"{"event":2}"#]);
        assert_eq!(pending("web").await, [r#"{"left":1}"#, r#"{"left":2}"#]);
        let again = ["C1/1.5", "C1/3.0", "envelope", "C1/4.0"];
        let again = again.map(|key| InboxEntry { key: key.into(), ..InboxEntry::default() }).to_vec();
        assert_eq!(stores.inbox.keep("slack", again, Time(30)).await, Ok(1), "what came before is known");
        assert_eq!(stores.threads.thread_of("slack", "C1/1.5").await, Ok(Some("1.0".into())));

        let begin = async |platform, key| stores.posts.begin(PostKey { platform, key }, Time(30)).await.unwrap();
        assert_eq!(begin("slack", "k#1/0").await, PostProgress::Begun(Time(20)));
        assert_eq!(begin("slack", "k#2/0").await, PostProgress::Posted("4.0".into()));
        assert_eq!(begin("discord", "n1").await, PostProgress::Begun(Time(22)));
        assert_eq!(begin("discord", "n2").await, PostProgress::Posted("1234567890123456789".into()));

        let marks = async |platform, server| {
            let found = stores.marks.of_server(platform, server, 9).await.unwrap();
            found.into_iter().map(|mark| (mark.channel, mark.heard)).collect::<Vec<_>>()
        };
        let mark = |channel: &str, heard: &str| (channel.to_owned(), heard.to_owned());
        assert_eq!(marks("slack", "").await, [mark("C1", "3.0")]);
        assert_eq!(marks("discord", "").await, [mark("8", "00000000000000000100"), mark("6", "00000000000000000099")]);
        assert_eq!(marks("discord", "77").await, [mark("5", "01234567890123456789")]);
        assert_eq!(marks("discord", "guilds").await, [mark("guild/77", "01234567890123456790")]);
        let old = "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name GLOB '*_unheard' OR name GLOB 'slack_*' \
                   OR name GLOB 'discord_*'";
        let old = Connection::open(&path).unwrap().query_row(old, [], |row| row.get::<_, i64>(0));
        assert_eq!(old, Ok(0), "the old tables are gone");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn words_of_an_earlier_version_are_found_where_their_facts_may_be_read() {
        let mut connection = Connection::open_in_memory().unwrap();
        before("CREATE VIRTUAL TABLE memory_scoped", &mut connection);
        let facts = "INSERT INTO memory_index (rowid, place, day, words, beside) VALUES
            (1, 'pa1a1a1a1 pb2b2b2b2', 'd5', 'green tea', 'cup'), (2, 'pc3c3c3c3', '', 'tea', '')";
        connection.execute_batch(facts).unwrap();
        migrate(&mut connection).unwrap().unwrap();
        let found = |asked: &str| -> Vec<i64> {
            let mut read = connection.prepare("SELECT rowid FROM memory_index WHERE memory_index MATCH ?1").unwrap();
            read.query_map([asked], |row| row.get(0)).unwrap().map(|row| row.unwrap()).collect()
        };
        assert_eq!(found("words : \"tea~2b2b2\""), [1], "in its house");
        assert_eq!(found("words : \"green~2b2b2\" AND beside : \"cup~2b2b2\" AND day : d5 AND place : pa1a1a1a1"), [1]);
        assert_eq!(found("words : \"tea~3c3c3\""), [2], "what was not said in public: in its room");
        assert!(found("words : \"tea\"").is_empty());
        assert_eq!(found("words : \"tea~\" *"), [1, 2], "wherever it was said");
        let content =
            connection.query_row("SELECT words || beside FROM memory_index WHERE rowid = 2", [], |row| row.get(0));
        assert_eq!(content, Ok("tea~3c3c3".to_owned()));
    }

    #[test]
    fn anyone_who_spoke_in_the_web_room_before_can_still_be_mentioned() {
        let mut connection = Connection::open_in_memory().unwrap();
        before("ALTER TABLE web_person", &mut connection);
        let before = r#"
            INSERT INTO web_person VALUES ('s1', 'zelda', 'Zelda', 1), ('s2', 'passer', 'Passer', 2);
            INSERT INTO web_member VALUES ('lobby', 'zelda', 'Zelda'), ('lobby', 'passer', 'Passer');
            INSERT INTO web_message VALUES ('w1', 'lobby', 1, 1, 'k1', '{"at":5,"by":{"id":"zelda","name":"Zelda"}}');
            INSERT INTO web_message VALUES ('w2', 'lobby', 2, 2, 'k2', '{"at":7,"by":{"id":"zelda","name":"Zelda"}}');
        "#;
        connection.execute_batch(before).unwrap();
        migrate(&mut connection).unwrap().unwrap();
        let spoke = |query: &str| connection.query_row(query, [], |row| row.get::<_, i64>(0)).unwrap();
        assert_eq!(spoke("SELECT spoke FROM web_person WHERE id = 'zelda'"), 7);
        assert_eq!(spoke("SELECT spoke FROM web_person WHERE id = 'passer'"), 0);
        assert_eq!(spoke("SELECT sum(spoke) FROM web_member"), 7);
    }

    #[tokio::test]
    async fn the_journal_of_an_earlier_version_gets_a_name_of_its_own() {
        use crate::ports::StoreBackend as _;
        let folder = aizuchi_test_servers::folder::Scratch::new("named-journal");
        let mut names = Vec::new();
        for file in ["one.db", "other.db"] {
            let path = folder.join(file);
            before("CREATE TABLE journal_id", &mut Connection::open(&path).unwrap());
            names.push(Database::open(&path).unwrap().journal_id().await.unwrap());
            assert_eq!(Database::open(&path).unwrap().journal_id().await.as_ref(), Ok(&names[names.len() - 1]));
        }
        assert!(names[0] != names[1] && names[0].0.len() == 32, "{names:?}");
    }
}
