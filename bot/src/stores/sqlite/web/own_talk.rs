//! Searches the talk of the web rooms for a person.

use rusqlite::Connection;

use super::{Database, rows};
use crate::ports::{BoxFuture, OwnTalk, PersonName, StoredUtterance, TalkOf};
use crate::stores::StoreError;
use crate::stores::web_talk::{local_name, person_id, to_utterances};

impl OwnTalk for Database {
    fn utterances<'a>(&'a self, by: TalkOf<'a>) -> BoxFuture<'a, Result<Vec<StoredUtterance>, StoreError>> {
        let by = match by {
            TalkOf::People(people) => {
                let names = people.iter().filter_map(|person| local_name(person.as_str()));
                TalkFilter::People(names.map(Into::into).collect())
            }
            TalkOf::Bot => TalkFilter::Bot,
            TalkOf::Room(room) => TalkFilter::Room(local_name(room.as_str()).map(Into::into)),
        };
        Box::pin(self.read(move |connection| find_utterances(connection, &by)))
    }

    fn names(&self) -> BoxFuture<'_, Result<Vec<PersonName>, StoreError>> {
        Box::pin(self.read(names))
    }
}

/// A part of the talk, by the names used in the tables.
enum TalkFilter {
    People(Vec<String>),
    Bot,
    Room(Option<String>),
}

fn find_utterances(connection: &Connection, part: &TalkFilter) -> rusqlite::Result<Vec<StoredUtterance>> {
    let messages = match part {
        TalkFilter::People(people) => {
            let mut theirs = Vec::new();
            for person in people {
                theirs.extend(rows::messages(connection, "WHERE json_extract(body, '$.by.id') = ?1", [person])?);
            }
            theirs
        }
        TalkFilter::Bot => rows::messages(connection, "WHERE json_extract(body, '$.voice') = 'Me'", [])?,
        TalkFilter::Room(room) => rows::messages(connection, "WHERE room = ?1", [room])?,
    };
    Ok(to_utterances(messages))
}

fn names(connection: &Connection) -> rusqlite::Result<Vec<PersonName>> {
    let query = "SELECT id, name FROM web_person UNION SELECT person, name FROM web_member UNION
        SELECT json_extract(body, '$.by.id'), json_extract(body, '$.by.name') FROM web_message
        WHERE json_extract(body, '$.voice') <> 'Me' AND json_extract(body, '$.by.id') <> ''";
    let mut statement = connection.prepare_cached(query)?;
    let row = |row: &rusqlite::Row<'_>| Ok((person_id(&row.get::<_, String>(0)?), row.get::<_, String>(1)?.into()));
    statement.query_map([], row)?.collect()
}
