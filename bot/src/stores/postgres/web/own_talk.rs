//! Searches the talk of the web rooms for a person.

use super::super::PostgresDatabase;
use super::super::connection::PgConnection;
use super::super::text::{from_stored, to_stored};
use super::rows;
use crate::ports::{BoxFuture, OwnTalk, PersonName, StoredUtterance, TalkOf};
use crate::stores::StoreError;
use crate::stores::web_talk::{local_name, person_id, to_utterances};

impl OwnTalk for PostgresDatabase {
    fn utterances<'a>(&'a self, by: TalkOf<'a>) -> BoxFuture<'a, Result<Vec<StoredUtterance>, StoreError>> {
        let stored = |name: &str| to_stored(name).into_owned();
        let (condition, values): (&str, Vec<String>) = match by {
            TalkOf::People(people) => {
                let names = people.iter().filter_map(|person| local_name(person.as_str()));
                ("WHERE author = ANY ($1)", names.map(stored).collect())
            }
            TalkOf::Bot => ("WHERE own AND cardinality($1::text[]) = 0", Vec::new()),
            TalkOf::Room(room) => {
                ("WHERE room = ANY ($1)", local_name(room.as_str()).map(stored).into_iter().collect())
            }
        };
        let read = move |connection: &PgConnection| {
            Ok(to_utterances(rows::messages(connection, &format!("{condition} ORDER BY id"), &[&values])?))
        };
        Box::pin(self.read(read))
    }

    fn names(&self) -> BoxFuture<'_, Result<Vec<PersonName>, StoreError>> {
        let query = "SELECT id, name FROM web_person UNION SELECT person, name FROM web_member";
        let read = move |connection: &PgConnection| {
            let mut names: Vec<PersonName> = connection
                .query(query, &[])?
                .iter()
                .map(|row| (person_id(&from_stored(row.get(0))), from_stored(row.get(1)).into()))
                .collect();
            for message in rows::messages(connection, "WHERE NOT own AND author <> ''", &[])? {
                names.push((person_id(&message.body.by.id), message.body.by.name.into()));
            }
            names.sort();
            names.dedup();
            Ok(names)
        };
        Box::pin(self.read(read))
    }
}
