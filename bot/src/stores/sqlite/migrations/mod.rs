//! The tables, and how an older file becomes a newer one. A step is never changed once it was released: a new one follows.

use rusqlite::Connection;

/// Each step brings a file from the version of its place to the next.
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
];

pub const VERSION: u32 = STEPS.len() as u32;

/// Brings the file up to date. `Err` with the file's version if it is newer than this program.
pub fn migrate(connection: &mut Connection) -> rusqlite::Result<Result<(), u32>> {
    let found = version(connection)?;
    if found > VERSION {
        return Ok(Err(found));
    }
    for (place, step) in STEPS.iter().enumerate().skip(found as usize) {
        let transaction = connection.transaction()?;
        transaction.execute_batch(step)?;
        transaction.pragma_update(None, "user_version", place as u32 + 1)?;
        transaction.commit()?;
    }
    Ok(Ok(()))
}

pub fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_spoke_in_the_web_room_before_can_still_be_mentioned() {
        let mut connection = Connection::open_in_memory().unwrap();
        let step = STEPS.iter().position(|step| step.contains("ALTER TABLE web_person")).unwrap();
        for earlier in &STEPS[..step] {
            connection.execute_batch(earlier).unwrap();
        }
        connection.pragma_update(None, "user_version", step as u32).unwrap();
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
}
