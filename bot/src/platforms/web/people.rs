//! Who is who in the web rooms. A tab comes back with its secret; everybody else only ever sees the public id.

use std::collections::HashSet;

use aizuchi_core::types::{Span, Time};
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

/// Members of a room who can be mentioned though they are not there: the names that are looked for in a text.
const MEMBERS_MAX: u32 = 500;
/// How exactly it is known when somebody last spoke.
const SPOKE_WITHIN: Span = Span::seconds(60);

/// The public id of whoever has this secret.
pub fn find(connection: &Connection, secret: &str) -> rusqlite::Result<Option<String>> {
    let query = "SELECT id FROM web_person WHERE secret = ?1";
    connection.prepare_cached(query)?.query_row([secret], |row| row.get(0)).optional()
}

/// The person of this secret, by today's name; somebody new if it is not known.
pub fn enter(
    transaction: &Transaction<'_>,
    room: &str,
    secret: Option<&str>,
    name: &str,
    at: Time,
) -> rusqlite::Result<(Person, bool)> {
    let known = match secret {
        Some(secret) => find(transaction, secret)?,
        None => None,
    };
    let (secret, id, is_new) = match (known, secret) {
        (Some(id), Some(secret)) => (secret.to_owned(), id, false),
        (Some(_) | None, _) => (ids::secret(), ids::public(), true),
    };
    let upsert = "INSERT INTO web_person (secret, id, name, seen) VALUES (?1, ?2, ?3, ?4) \
                  ON CONFLICT (secret) DO UPDATE SET name = ?3, seen = ?4";
    transaction.prepare_cached(upsert)?.execute(params![secret, id, name, at.0 as i64])?;
    let renamed = "UPDATE web_member SET name = ?3 WHERE room = ?1 AND person = ?2 AND name != ?3";
    transaction.prepare_cached(renamed)?.execute([room, &id, name])?;
    Ok((Person { secret, speaker: Speaker { id, name: name.to_owned() } }, is_new))
}

/// Lets go of people until there are no more than this: of those who never spoke first, and of nobody who is here.
pub fn make_way(transaction: &Transaction<'_>, people_max: u32, here: &HashSet<String>) -> rusqlite::Result<()> {
    let count: i64 = transaction.query_row("SELECT count(*) FROM web_person", [], |row| row.get(0))?;
    let excess = count - i64::from(people_max);
    if excess <= 0 {
        return Ok(());
    }
    // Some more than needed, so that not everybody who comes next has to look again.
    let wanted = excess + i64::from(people_max / 20);
    let by_use = "SELECT id FROM web_person ORDER BY spoke > 0, seen";
    let ids: Vec<String> =
        transaction.prepare_cached(by_use)?.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    for id in ids.iter().filter(|id| !here.contains(*id)).take(wanted as usize) {
        transaction.prepare_cached("DELETE FROM web_person WHERE id = ?1")?.execute([id])?;
        transaction.prepare_cached("DELETE FROM web_member WHERE person = ?1")?.execute([id])?;
    }
    Ok(())
}

/// From now on they can be mentioned there, also when they are gone. Nobody is a member of a room who only looked in.
pub fn spoke(transaction: &Transaction<'_>, room: &str, speaker: &Speaker, at: Time) -> rusqlite::Result<()> {
    let lately = "SELECT 1 FROM web_member WHERE room = ?1 AND person = ?2 AND name = ?3 AND spoke > ?4";
    let since = (at - SPOKE_WITHIN).0 as i64;
    if transaction.prepare_cached(lately)?.exists(params![room, speaker.id, speaker.name, since])? {
        return Ok(());
    }
    let known = "UPDATE web_person SET spoke = ?2 WHERE id = ?1";
    if transaction.prepare_cached(known)?.execute(params![speaker.id, at.0 as i64])? == 0 {
        return Ok(());
    }
    let upsert = "INSERT INTO web_member (room, person, name, spoke) VALUES (?1, ?2, ?3, ?4) \
                  ON CONFLICT (room, person) DO UPDATE SET name = ?3, spoke = ?4";
    transaction.prepare_cached(upsert)?.execute(params![room, speaker.id, speaker.name, at.0 as i64]).map(drop)
}

/// Who spoke in a room, the latest first.
pub fn members(connection: &Connection, room: &str) -> rusqlite::Result<Vec<Speaker>> {
    let query = "SELECT person, name FROM web_member WHERE room = ?1 AND spoke > 0 ORDER BY spoke DESC LIMIT ?2";
    let speaker = |row: &rusqlite::Row<'_>| Ok(Speaker { id: row.get(0)?, name: row.get(1)? });
    connection.prepare_cached(query)?.query_map(params![room, MEMBERS_MAX], speaker)?.collect()
}
