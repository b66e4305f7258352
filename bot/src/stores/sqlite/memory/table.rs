//! The tables of memory in SQLite.

use aizuchi_core::memory::{ChannelMemory, Fact, FactId, Marks, Person, Tie};
use aizuchi_core::types::{MessageId, PersonId, RoomId};
use rusqlite::{Connection, OptionalExtension as _, Params, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::facts::SCOPE;
use crate::memory::table::{MemoryTable, OptOutMark, StoreResult};
use crate::stores::StoreError;

pub struct SqliteMemoryTable<'a>(pub &'a Connection);

/// An FTS5 expression that matches all of these exact words, in any place.
pub fn matching(words: &[String]) -> String {
    let anywhere: Vec<String> = words.iter().map(|word| format!("{} *", quoted(word, &SCOPE.to_string()))).collect();
    format!("words : ({})", anywhere.join(" AND "))
}

/// A word of the index, quoted for FTS5.
pub fn quoted(word: &str, scope: &str) -> String {
    format!("\"{}{scope}\"", word.replace('"', "\"\""))
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

pub fn decode<T: DeserializeOwned>(body: &str) -> StoreResult<T> {
    serde_json::from_str(body).map_err(|error| StoreError::Failed(format!("cannot read what is remembered: {error}")))
}

pub fn encode<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("what is remembered is plain data")
}

impl SqliteMemoryTable<'_> {
    pub(super) fn run(&self, statement: &str, values: impl Params) -> StoreResult<()> {
        self.0.prepare_cached(statement)?.execute(values)?;
        Ok(())
    }

    pub(super) fn one<T: DeserializeOwned>(&self, query: &str, values: impl Params) -> StoreResult<Option<T>> {
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
            for message in remark.messages.iter().chain(remark.echoes.iter().map(|echoed| &echoed.message)) {
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

    fn tie(&self, room: &RoomId, from: &PersonId, to: &PersonId) -> StoreResult<Option<Tie>> {
        let query = "SELECT body FROM memory_tie WHERE room = ?1 AND answering = ?2 AND answered = ?3";
        self.one(query, [room.as_str(), from.as_str(), to.as_str()])
    }

    fn ties(&self, room: Option<&RoomId>, person: Option<&PersonId>) -> StoreResult<Vec<Tie>> {
        let mut ties: Vec<Tie> = match (room, person) {
            (Some(room), _) => read_all(self.0, "SELECT body FROM memory_tie WHERE room = ?1", [room.as_str()])?,
            (None, Some(person)) => {
                let query = "SELECT body FROM memory_tie WHERE answering = ?1 OR answered = ?1";
                read_all(self.0, query, [person.as_str()])?
            }
            (None, None) => read_all(self.0, "SELECT body FROM memory_tie", [])?,
        };
        ties.retain(|tie| person.is_none_or(|person| tie.is_of(person)));
        Ok(ties)
    }

    fn ties_resting_on(&self, room: &RoomId, message: &MessageId) -> StoreResult<Vec<Tie>> {
        let query = "SELECT body FROM memory_tie WHERE room = ?1 AND instr(body, ?2) > 0";
        read_all(self.0, query, [room.as_str(), &encode(message)])
    }

    fn rooms_with_ties(&self) -> StoreResult<Vec<RoomId>> {
        let mut statement = self.0.prepare_cached("SELECT DISTINCT room FROM memory_tie ORDER BY room")?;
        let rows = statement.query_map([], |row| Ok(RoomId::new(row.get::<_, String>(0)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn put_tie(&mut self, tie: &Tie) -> StoreResult<()> {
        let values = params![tie.origin.room.as_str(), tie.from.as_str(), tie.to.as_str(), encode(tie)];
        self.run("INSERT OR REPLACE INTO memory_tie VALUES (?1, ?2, ?3, ?4)", values)
    }

    fn remove_tie(&mut self, tie: &Tie) -> StoreResult<()> {
        let delete = "DELETE FROM memory_tie WHERE room = ?1 AND answering = ?2 AND answered = ?3";
        self.run(delete, [tie.origin.room.as_str(), tie.from.as_str(), tie.to.as_str()])
    }

    fn new_fact(&mut self) -> StoreResult<FactId> {
        // The number is taken directly, without a row that `put_fact` would have to write again.
        let next = "UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'memory_fact' RETURNING seq";
        let taken: Option<i64> = self.0.prepare_cached(next)?.query_row([], |row| row.get(0)).optional()?;
        if taken.is_none() {
            self.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('memory_fact', 1)", [])?;
        }
        Ok(FactId(taken.unwrap_or(1).cast_unsigned()))
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
            (SELECT fact FROM memory_fact_message WHERE room = ?1 AND message = ?2
            UNION SELECT fact FROM memory_fact_context WHERE room = ?1 AND message = ?2) ORDER BY id";
        read_all(self.0, query, [room.as_str(), message.as_str()])
    }

    fn facts_alike(&self, room: &RoomId, content: &str) -> StoreResult<Vec<Fact>> {
        self.alike(room, content)
    }

    fn rooms_with_facts(&self) -> StoreResult<Vec<RoomId>> {
        let mut statement = self.0.prepare_cached("SELECT DISTINCT room FROM memory_fact ORDER BY room")?;
        let rows = statement.query_map([], |row| Ok(RoomId::new(row.get::<_, String>(0)?)))?;
        Ok(rows.collect::<rusqlite::Result<_>>()?)
    }

    fn count_facts(&self, room: &RoomId) -> StoreResult<u32> {
        let mut count = self.0.prepare_cached("SELECT count(*) FROM memory_fact WHERE room = ?1")?;
        Ok(count.query_row([room.as_str()], |row| row.get(0))?)
    }

    fn upgrade(&mut self) -> StoreResult<()> {
        self.upgrade_facts(None)
    }

    fn put_fact(&mut self, fact: &Fact) -> StoreResult<()> {
        self.store_fact(fact)
    }

    fn remove_fact(&mut self, id: FactId) -> StoreResult<()> {
        if let Some(fact) = self.fact(id)? {
            self.remove_vector_of(&fact)?;
            self.unlist(&fact)?;
        }
        self.run("DELETE FROM memory_fact WHERE id = ?1", [id.0.cast_signed()])
    }

    fn put_vector(&mut self, fact: &Fact, model: &str, vector: &[f32]) -> StoreResult<()> {
        self.remove_vector(fact.id)?;
        self.store_vector(fact, model, vector)
    }

    fn remove_vector(&mut self, id: FactId) -> StoreResult<()> {
        self.fact(id)?.map_or(Ok(()), |fact| self.remove_vector_of(&fact))
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
