//! Takes a person out of the web rooms: their messages, their reactions, their name, and what it answered to them by name.

use std::collections::BTreeSet;

use aizuchi_core::Input;
use rusqlite::{Transaction, params};

use super::talk::{Kept, kept, person_id, update};

/// Names of fewer characters are parts of too many words to be looked for.
const NAME_CHARS_MIN: usize = 3;

/// `person` is the id that pages see.
pub fn forget(transaction: &Transaction<'_>, person: &str) -> rusqlite::Result<()> {
    let messages = all_with(transaction, person)?;
    let mut names: BTreeSet<String> =
        messages.iter().map(Kept::author).filter(|by| by.id == person).map(|by| by.name.clone()).collect();
    let mut known = transaction.prepare_cached(
        "SELECT name FROM web_person WHERE id = ?1 UNION SELECT name FROM web_member WHERE person = ?1",
    )?;
    for name in known.query_map([person], |row| row.get::<_, String>(0))? {
        names.insert(name?);
    }
    names.retain(|name| name.chars().count() >= NAME_CHARS_MIN);
    let names_them = |text: &str| names.iter().any(|name| text.contains(name.as_str()));
    for mut message in all(transaction)? {
        if message.forget(person, &names_them) {
            update(transaction, message)?;
        }
    }
    forget_unheard(transaction, person)?;
    transaction.execute("DELETE FROM web_member WHERE person = ?1", [person])?;
    transaction.execute("UPDATE web_room SET opened_by = NULL WHERE opened_by = ?1", [person])?;
    transaction.execute("DELETE FROM web_person WHERE id = ?1", [person])?;
    Ok(())
}

fn all(transaction: &Transaction<'_>) -> rusqlite::Result<Vec<Kept>> {
    let query = "SELECT id, room, seq, first_seq, body FROM web_message ORDER BY seq";
    transaction.prepare_cached(query)?.query_map([], kept)?.collect()
}

fn all_with(transaction: &Transaction<'_>, person: &str) -> rusqlite::Result<Vec<Kept>> {
    let query = "SELECT id, room, seq, first_seq, body FROM web_message WHERE instr(body, ?1) > 0 ORDER BY seq";
    transaction.prepare_cached(query)?.query_map([person], kept)?.collect()
}

/// What the engine has yet to hear of them, it does not hear.
fn forget_unheard(transaction: &Transaction<'_>, person: &str) -> rusqlite::Result<()> {
    let id = person_id(person);
    let mut statement = transaction.prepare_cached("SELECT seq, body FROM web_unheard")?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
    for row in rows.collect::<rusqlite::Result<Vec<_>>>()? {
        let (seq, body) = row;
        let theirs = match serde_json::from_str::<Input>(&body) {
            Ok(Input::Said(message)) => message.author.id == id,
            Ok(Input::Reacted(reaction)) => reaction.by == id,
            Ok(_) | Err(_) => false,
        };
        if theirs {
            transaction.execute("DELETE FROM web_unheard WHERE seq = ?1", params![seq])?;
        }
    }
    Ok(())
}
