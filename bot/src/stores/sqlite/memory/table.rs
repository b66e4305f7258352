//! The tables of memory in SQLite.

use std::collections::BTreeSet;

use aizuchi_core::memory::words::search_words;
use aizuchi_core::memory::{ChannelMemory, Fact, FactId, Marks, Person, house};
use aizuchi_core::types::{MessageId, PersonId, RoomId, Visibility, stable_hash};
use rusqlite::{Connection, OptionalExtension as _, Params, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::memory::table::{MemoryTable, OptOutMark, StoreResult};
use crate::stores::StoreError;

pub struct SqliteMemoryTable<'a>(pub &'a Connection);

/// A number for the rooms of a house, or for one room.
pub fn place(name: &str) -> i64 {
    stable_hash(1, name).cast_signed()
}

/// The places under which a fact is found: its room, and its house if it was said in public.
fn places(fact: &Fact) -> Vec<i64> {
    let house = house(&fact.origin.room).filter(|_| fact.origin.visibility == Visibility::Public);
    let mut places = vec![place(&format!("room {}", fact.origin.room))];
    places.extend(house.map(|house| place(&format!("house {house}"))));
    places
}

pub fn place_word(place: i64) -> String {
    format!("p{:x}", place.cast_unsigned())
}

/// An expression that FTS5 reads as these very words.
pub fn matching(words: &[String], between: &str) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("\"{}\"", word.replace('"', "\"\""))).collect();
    format!("words : ({})", quoted.join(between))
}

pub fn read_all<T: DeserializeOwned>(connection: &Connection, query: &str, values: impl Params) -> StoreResult<Vec<T>> {
    let mut statement = connection.prepare_cached(query)?;
    let mut rows = statement.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let body = row.get_ref(0)?.as_str().map_err(rusqlite::Error::from)?;
        found.push(decode(body)?);
    }
    Ok(found)
}

fn decode<T: DeserializeOwned>(body: &str) -> StoreResult<T> {
    serde_json::from_str(body).map_err(|error| StoreError::Failed(format!("cannot read what is remembered: {error}")))
}

fn encode<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("what is remembered is plain data")
}

impl SqliteMemoryTable<'_> {
    fn run(&self, statement: &str, values: impl Params) -> StoreResult<()> {
        self.0.prepare_cached(statement)?.execute(values)?;
        Ok(())
    }

    fn one<T: DeserializeOwned>(&self, query: &str, values: impl Params) -> StoreResult<Option<T>> {
        Ok(read_all(self.0, query, values)?.pop())
    }
}

impl MemoryTable for SqliteMemoryTable<'_> {
    fn marks(&self, room: &RoomId) -> StoreResult<Marks> {
        let query = "SELECT summarized, reflected, heard FROM memory_marks WHERE room = ?1";
        let number =
            |row: &rusqlite::Row<'_>, at: usize| Ok::<_, rusqlite::Error>(row.get::<_, i64>(at)?.cast_unsigned());
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Marks { summarized: number(row, 0)?, reflected: number(row, 1)?, heard: number(row, 2)? })
        };
        let found = self.0.prepare_cached(query)?.query_row([room.as_str()], read).optional()?;
        Ok(found.unwrap_or_default())
    }

    fn put_marks(&mut self, room: &RoomId, marks: Marks) -> StoreResult<()> {
        let numbers = [marks.summarized, marks.reflected, marks.heard].map(u64::cast_signed);
        self.run(
            "INSERT OR REPLACE INTO memory_marks VALUES (?1, ?2, ?3, ?4)",
            params![room.as_str(), numbers[0], numbers[1], numbers[2]],
        )
    }

    fn channel(&self, room: &RoomId) -> StoreResult<Option<ChannelMemory>> {
        self.one("SELECT body FROM memory_channel WHERE room = ?1", [room.as_str()])
    }

    fn channels(&self) -> StoreResult<Vec<ChannelMemory>> {
        read_all(self.0, "SELECT body FROM memory_channel ORDER BY room", [])
    }

    fn put_channel(&mut self, channel: &ChannelMemory) -> StoreResult<()> {
        let values = params![channel.origin.room.as_str(), encode(channel)];
        self.run("INSERT OR REPLACE INTO memory_channel VALUES (?1, ?2)", values)
    }

    fn remove_channel(&mut self, room: &RoomId) -> StoreResult<()> {
        self.run("DELETE FROM memory_channel WHERE room = ?1", [room.as_str()])
    }

    fn person(&self, id: &PersonId) -> StoreResult<Option<Person>> {
        self.one("SELECT body FROM memory_person WHERE id = ?1", [id.as_str()])
    }

    fn people(&self) -> StoreResult<Vec<Person>> {
        read_all(self.0, "SELECT body FROM memory_person ORDER BY seen DESC, id", [])
    }

    fn people_resting_on(&self, room: &RoomId, message: &MessageId) -> StoreResult<Vec<Person>> {
        let query = "SELECT body FROM memory_person WHERE id IN
            (SELECT person FROM memory_person_message WHERE room = ?1 AND message = ?2)";
        read_all(self.0, query, [room.as_str(), message.as_str()])
    }

    fn put_person(&mut self, person: &Person) -> StoreResult<()> {
        let id = person.id.as_str();
        let values = params![id, person.last_seen.0.cast_signed(), encode(person)];
        self.run("INSERT OR REPLACE INTO memory_person VALUES (?1, ?2, ?3)", values)?;
        self.run("DELETE FROM memory_person_message WHERE person = ?1", [id])?;
        for remark in [&person.topics, &person.tags, &person.notes, &person.talks].into_iter().flatten() {
            for message in &remark.messages {
                self.run(
                    "INSERT OR IGNORE INTO memory_person_message VALUES (?1, ?2, ?3)",
                    [remark.origin.room.as_str(), message.as_str(), id],
                )?;
            }
        }
        Ok(())
    }

    fn remove_person(&mut self, id: &PersonId) -> StoreResult<()> {
        self.run("DELETE FROM memory_person WHERE id = ?1", [id.as_str()])?;
        self.run("DELETE FROM memory_person_message WHERE person = ?1", [id.as_str()])
    }

    fn new_fact(&mut self) -> StoreResult<FactId> {
        // The number is taken at once, and `put_fact` fills the row.
        self.run("INSERT INTO memory_fact (room, body) VALUES ('', '')", [])?;
        Ok(FactId(self.0.last_insert_rowid().cast_unsigned()))
    }

    fn fact(&self, id: FactId) -> StoreResult<Option<Fact>> {
        self.one("SELECT body FROM memory_fact WHERE id = ?1", [id.0.cast_signed()])
    }

    fn facts(&self) -> StoreResult<Vec<Fact>> {
        read_all(self.0, "SELECT body FROM memory_fact ORDER BY id", [])
    }

    fn facts_of_room(&self, room: &RoomId) -> StoreResult<Vec<Fact>> {
        read_all(self.0, "SELECT body FROM memory_fact WHERE room = ?1 ORDER BY id", [room.as_str()])
    }

    fn facts_of_person(&self, person: &PersonId) -> StoreResult<Vec<Fact>> {
        let query = "SELECT body FROM memory_fact WHERE id IN
            (SELECT fact FROM memory_fact_person WHERE person = ?1) ORDER BY id";
        read_all(self.0, query, [person.as_str()])
    }

    fn facts_resting_on(&self, room: &RoomId, message: &MessageId) -> StoreResult<Vec<Fact>> {
        let query = "SELECT body FROM memory_fact WHERE id IN
            (SELECT fact FROM memory_fact_message WHERE room = ?1 AND message = ?2) ORDER BY id";
        read_all(self.0, query, [room.as_str(), message.as_str()])
    }

    fn put_fact(&mut self, fact: &Fact) -> StoreResult<()> {
        let (id, room) = (fact.id.0.cast_signed(), fact.origin.room.as_str());
        let before = self.one::<Fact>("SELECT body FROM memory_fact WHERE id = ?1 AND body <> ''", [id])?;
        self.run("INSERT OR REPLACE INTO memory_fact VALUES (?1, ?2, ?3)", params![id, room, encode(fact)])?;
        let same = |before: &Fact| {
            (&before.content, &before.keywords, &before.people, &before.messages, &before.origin)
                == (&fact.content, &fact.keywords, &fact.people, &fact.messages, &fact.origin)
        };
        if before.as_ref().is_some_and(same) {
            return Ok(());
        }
        self.unlist(id)?;
        for person in &fact.people {
            self.run("INSERT OR IGNORE INTO memory_fact_person VALUES (?1, ?2)", params![person.as_str(), id])?;
        }
        for message in &fact.messages {
            let values = params![room, message.as_str(), id];
            self.run("INSERT OR IGNORE INTO memory_fact_message VALUES (?1, ?2, ?3)", values)?;
        }
        let places: Vec<String> = places(fact).into_iter().map(place_word).collect();
        let words = search_words(&format!("{} {}", fact.content, fact.keywords.join(" ")));
        let values = params![id, places.join(" "), words.join(" ")];
        self.run("INSERT INTO memory_words (rowid, place, words) VALUES (?1, ?2, ?3)", values)?;
        for word in words.iter().collect::<BTreeSet<_>>() {
            let more = "INSERT INTO memory_word VALUES (?1, 1) ON CONFLICT (word) DO UPDATE SET facts = facts + 1";
            self.run(more, [word])?;
        }
        match self.vector(id)? {
            Some((model, vector)) => self.put_vector(fact, &model, &vector),
            None => Ok(()),
        }
    }

    fn remove_fact(&mut self, id: FactId) -> StoreResult<()> {
        self.remove_vector(id)?;
        self.unlist(id.0.cast_signed())?;
        self.run("DELETE FROM memory_fact WHERE id = ?1", [id.0.cast_signed()])
    }

    fn put_vector(&mut self, fact: &Fact, model: &str, vector: &[f32]) -> StoreResult<()> {
        self.remove_vector(fact.id)?;
        let id = fact.id.0.cast_signed();
        let bytes: Vec<u8> = vector.iter().flat_map(|number| number.to_le_bytes()).collect();
        self.run("INSERT INTO memory_vector VALUES (?1, ?2, ?3)", params![id, model, bytes])?;
        for at in places(fact) {
            let values = params![at, id, place(model), signs(vector)];
            self.run("INSERT INTO memory_sign VALUES (?1, ?2, ?3, ?4)", values)?;
        }
        Ok(())
    }

    fn remove_vector(&mut self, id: FactId) -> StoreResult<()> {
        self.run("DELETE FROM memory_vector WHERE fact = ?1", [id.0.cast_signed()])?;
        self.run("DELETE FROM memory_sign WHERE fact = ?1", [id.0.cast_signed()])
    }

    fn is_out(&self, person: OptOutMark) -> StoreResult<bool> {
        Ok(self.0.prepare_cached("SELECT 1 FROM memory_out WHERE person = ?1")?.exists([person.0])?)
    }

    fn put_out(&mut self, person: OptOutMark, out: bool) -> StoreResult<()> {
        match out {
            true => self.run("INSERT OR IGNORE INTO memory_out VALUES (?1)", [person.0]),
            false => self.run("DELETE FROM memory_out WHERE person = ?1", [person.0]),
        }
    }
}

impl SqliteMemoryTable<'_> {
    fn unlist(&self, id: i64) -> StoreResult<()> {
        self.run("DELETE FROM memory_fact_person WHERE fact = ?1", [id])?;
        self.run("DELETE FROM memory_fact_message WHERE fact = ?1", [id])?;
        let mut listed = self.0.prepare_cached("SELECT words FROM memory_words WHERE rowid = ?1")?;
        let words: Option<String> = listed.query_row([id], |row| row.get(0)).optional()?;
        for word in words.iter().flat_map(|words| words.split(' ')).collect::<BTreeSet<_>>() {
            self.run("UPDATE memory_word SET facts = facts - 1 WHERE word = ?1", [word])?;
            self.run("DELETE FROM memory_word WHERE word = ?1 AND facts <= 0", [word])?;
        }
        self.run("DELETE FROM memory_words WHERE rowid = ?1", [id])
    }

    pub fn vector(&self, id: i64) -> StoreResult<Option<(String, Vec<f32>)>> {
        let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, numbers(row.get_ref(1)?.as_blob()?)));
        let query = "SELECT model, vector FROM memory_vector WHERE fact = ?1";
        Ok(self.0.prepare_cached(query)?.query_row([id], read).optional()?)
    }
}

fn numbers(bytes: &[u8]) -> Vec<f32> {
    bytes.as_chunks::<4>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
}

/// One bit for each number: whether it is above zero. Vectors that point the same way share most of them.
pub fn signs(vector: &[f32]) -> Vec<u8> {
    let byte = |eight: &[f32]| eight.iter().fold(0, |byte, number| byte << 1 | u8::from(*number > 0.0));
    vector.chunks(8).map(byte).collect()
}
