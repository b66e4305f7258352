//! Who is who in the web rooms. A tab comes back with its secret; everybody else only ever sees the public id.

use aizuchi_core::types::Time;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

use super::ids;
use super::talk::Speaker;

/// Somebody at a page.
#[derive(Clone, PartialEq, Eq)]
pub struct Person {
    /// Whoever knows it speaks as this person.
    pub secret: String,
    pub speaker: Speaker,
}

/// Members of a room who can be mentioned: the names that are looked for in a text.
const MEMBERS_MAX: u32 = 500;

/// The person of this secret, by today's name; somebody new if it is not known.
pub fn enter(
    transaction: &Transaction<'_>,
    room: &str,
    secret: Option<&str>,
    name: &str,
    at: Time,
) -> rusqlite::Result<Person> {
    let known = "SELECT id FROM web_person WHERE secret = ?1";
    let known: Option<String> = match secret {
        Some(secret) => transaction.prepare_cached(known)?.query_row([secret], |row| row.get(0)).optional()?,
        None => None,
    };
    let (secret, id) = match (known, secret) {
        (Some(id), Some(secret)) => (secret.to_owned(), id),
        (Some(_) | None, _) => (ids::secret(), ids::public()),
    };
    let upsert = "INSERT INTO web_person (secret, id, name, seen) VALUES (?1, ?2, ?3, ?4) \
                  ON CONFLICT (secret) DO UPDATE SET name = ?3, seen = ?4";
    transaction.prepare_cached(upsert)?.execute(params![secret, id, name, at.0 as i64])?;
    let speaker = Speaker { id, name: name.to_owned() };
    join(transaction, room, &speaker)?;
    Ok(Person { secret, speaker })
}

/// From now on they can be mentioned there.
pub fn join(transaction: &Transaction<'_>, room: &str, speaker: &Speaker) -> rusqlite::Result<()> {
    let upsert = "INSERT INTO web_member (room, person, name) VALUES (?1, ?2, ?3) \
                  ON CONFLICT (room, person) DO UPDATE SET name = ?3";
    transaction.prepare_cached(upsert)?.execute(params![room, speaker.id, speaker.name]).map(|_| ())
}

pub fn members(connection: &Connection, room: &str) -> rusqlite::Result<Vec<Speaker>> {
    let query = "SELECT person, name FROM web_member WHERE room = ?1 LIMIT ?2";
    let speaker = |row: &rusqlite::Row<'_>| Ok(Speaker { id: row.get(0)?, name: row.get(1)? });
    connection.prepare_cached(query)?.query_map(params![room, MEMBERS_MAX], speaker)?.collect()
}
