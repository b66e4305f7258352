//! The tables of memory in PostgreSQL.

use aizuchi_core::memory::{ChannelMemory, Fact, FactId, Marks, Person, Tie};
use aizuchi_core::types::{MessageId, PersonId, RoomId};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::super::connection::{PgConnection, Value};
use super::super::text::{from_stored, to_stored};
use crate::memory::table::{MemoryTable, OptOutMark, StoreResult};
use crate::stores::StoreError;

pub struct PgMemoryTable<'a>(pub &'a PgConnection);

pub fn read_all<T: DeserializeOwned>(
    connection: &PgConnection,
    query: &str,
    values: &[Value<'_>],
) -> StoreResult<Vec<T>> {
    connection.query(query, values)?.iter().map(|row| decode(row.get(0))).collect()
}

pub fn decode<T: DeserializeOwned>(body: &str) -> StoreResult<T> {
    serde_json::from_str(body).map_err(|error| StoreError::Failed(format!("cannot read what is remembered: {error}")))
}

pub fn encode<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).expect("what is remembered is plain data")
}

impl PgMemoryTable<'_> {
    pub(super) fn run(&self, statement: &str, values: &[Value<'_>]) -> StoreResult<()> {
        self.0.execute(statement, values)?;
        Ok(())
    }

    pub(super) fn all<T: DeserializeOwned>(&self, query: &str, values: &[Value<'_>]) -> StoreResult<Vec<T>> {
        read_all(self.0, query, values)
    }

    pub(super) fn one<T: DeserializeOwned>(&self, query: &str, values: &[Value<'_>]) -> StoreResult<Option<T>> {
        Ok(self.all(query, values)?.pop())
    }

    fn rooms(&self, query: &str) -> StoreResult<Vec<RoomId>> {
        Ok(self.0.query(query, &[])?.iter().map(|row| RoomId::new(from_stored(row.get(0)))).collect())
    }
}

impl MemoryTable for PgMemoryTable<'_> {
    fn marks(&self, room: &RoomId) -> StoreResult<Marks> {
        let query = "SELECT summarized, reflected, heard FROM memory_marks WHERE room = $1";
        let found = self.0.first(query, &[&to_stored(room.as_str())])?;
        let number = |row: &tokio_postgres::Row, at: usize| row.get::<_, i64>(at).cast_unsigned();
        Ok(found.map_or_else(Marks::default, |row| Marks {
            summarized: number(&row, 0),
            reflected: number(&row, 1),
            heard: number(&row, 2),
        }))
    }

    fn put_marks(&mut self, room: &RoomId, marks: Marks) -> StoreResult<()> {
        let [summarized, reflected, heard] = [marks.summarized, marks.reflected, marks.heard].map(u64::cast_signed);
        self.run(
            "INSERT INTO memory_marks VALUES ($1, $2, $3, $4) ON CONFLICT (room) DO UPDATE
            SET summarized = excluded.summarized, reflected = excluded.reflected, heard = excluded.heard",
            &[&to_stored(room.as_str()), &summarized, &reflected, &heard],
        )
    }

    fn channel(&self, room: &RoomId) -> StoreResult<Option<ChannelMemory>> {
        self.one("SELECT body FROM memory_channel WHERE room = $1", &[&to_stored(room.as_str())])
    }

    fn channels(&self) -> StoreResult<Vec<ChannelMemory>> {
        self.all("SELECT body FROM memory_channel ORDER BY room", &[])
    }

    fn put_channel(&mut self, channel: &ChannelMemory) -> StoreResult<()> {
        self.run(
            "INSERT INTO memory_channel VALUES ($1, $2) ON CONFLICT (room) DO UPDATE SET body = excluded.body",
            &[&to_stored(channel.origin.room.as_str()), &encode(channel)],
        )
    }

    fn remove_channel(&mut self, room: &RoomId) -> StoreResult<()> {
        self.run("DELETE FROM memory_channel WHERE room = $1", &[&to_stored(room.as_str())])
    }

    fn person(&self, id: &PersonId) -> StoreResult<Option<Person>> {
        self.one("SELECT body FROM memory_person WHERE id = $1", &[&to_stored(id.as_str())])
    }

    fn people(&self) -> StoreResult<Vec<Person>> {
        self.all("SELECT body FROM memory_person ORDER BY seen DESC, id", &[])
    }

    fn people_resting_on(&self, room: &RoomId, message: &MessageId) -> StoreResult<Vec<Person>> {
        let query = "SELECT body FROM memory_person WHERE id IN
            (SELECT person FROM memory_person_message WHERE room = $1 AND message = $2) ORDER BY id";
        self.all(query, &[&to_stored(room.as_str()), &to_stored(message.as_str())])
    }

    fn put_person(&mut self, person: &Person) -> StoreResult<()> {
        let id = to_stored(person.id.as_str());
        let (mut rooms, mut messages) = (Vec::new(), Vec::new());
        for remark in [&person.topics, &person.tags, &person.notes, &person.talks].into_iter().flatten() {
            for message in remark.messages.iter().chain(remark.echoes.iter().map(|echoed| &echoed.message)) {
                rooms.push(to_stored(remark.origin.room.as_str()));
                messages.push(to_stored(message.as_str()));
            }
        }
        let write = "INSERT INTO memory_person VALUES ($1, $2, $3)
            ON CONFLICT (id) DO UPDATE SET seen = excluded.seen, body = excluded.body";
        let link = "INSERT INTO memory_person_message SELECT room, message, $1
            FROM unnest($2::text[], $3::text[]) AS r (room, message) ON CONFLICT DO NOTHING";
        self.0.pipeline(&[
            (write, &[&id, &person.last_seen.0.cast_signed(), &encode(person)]),
            ("DELETE FROM memory_person_message WHERE person = $1", &[&id]),
            (link, &[&id, &rooms, &messages]),
        ])?;
        Ok(())
    }

    fn remove_person(&mut self, id: &PersonId) -> StoreResult<()> {
        let id = to_stored(id.as_str());
        self.run("DELETE FROM memory_person WHERE id = $1", &[&id])?;
        self.run("DELETE FROM memory_person_message WHERE person = $1", &[&id])
    }

    fn tie(&self, room: &RoomId, from: &PersonId, to: &PersonId) -> StoreResult<Option<Tie>> {
        let query = "SELECT body FROM memory_tie WHERE room = $1 AND answering = $2 AND answered = $3";
        self.one(query, &[&to_stored(room.as_str()), &to_stored(from.as_str()), &to_stored(to.as_str())])
    }

    fn ties(&self, room: Option<&RoomId>, person: Option<&PersonId>) -> StoreResult<Vec<Tie>> {
        let ordered = "ORDER BY room, answering, answered";
        let query = |condition: &str| format!("SELECT body FROM memory_tie {condition} {ordered}");
        let mut ties: Vec<Tie> = match (room, person) {
            (Some(room), _) => self.all(&query("WHERE room = $1"), &[&to_stored(room.as_str())])?,
            (None, Some(person)) => {
                self.all(&query("WHERE answering = $1 OR answered = $1"), &[&to_stored(person.as_str())])?
            }
            (None, None) => self.all(&query(""), &[])?,
        };
        ties.retain(|tie| person.is_none_or(|person| tie.is_of(person)));
        Ok(ties)
    }

    fn ties_resting_on(&self, room: &RoomId, message: &MessageId) -> StoreResult<Vec<Tie>> {
        let query = "SELECT body FROM memory_tie WHERE room = $1 AND strpos(body, $2) > 0";
        self.all(query, &[&to_stored(room.as_str()), &encode(message)])
    }

    fn rooms_with_ties(&self) -> StoreResult<Vec<RoomId>> {
        self.rooms("SELECT DISTINCT room FROM memory_tie ORDER BY room")
    }

    fn put_tie(&mut self, tie: &Tie) -> StoreResult<()> {
        let (room, from) = (to_stored(tie.origin.room.as_str()), to_stored(tie.from.as_str()));
        self.run(
            "INSERT INTO memory_tie VALUES ($1, $2, $3, $4)
            ON CONFLICT (room, answering, answered) DO UPDATE SET body = excluded.body",
            &[&room, &from, &to_stored(tie.to.as_str()), &encode(tie)],
        )
    }

    fn remove_tie(&mut self, tie: &Tie) -> StoreResult<()> {
        let (room, from) = (to_stored(tie.origin.room.as_str()), to_stored(tie.from.as_str()));
        let delete = "DELETE FROM memory_tie WHERE room = $1 AND answering = $2 AND answered = $3";
        self.run(delete, &[&room, &from, &to_stored(tie.to.as_str())])
    }

    fn new_fact(&mut self) -> StoreResult<FactId> {
        let number: i64 = self.0.one("SELECT nextval('memory_fact_number')", &[])?.get(0);
        Ok(FactId(number.cast_unsigned()))
    }

    fn fact(&self, id: FactId) -> StoreResult<Option<Fact>> {
        self.one("SELECT body FROM memory_fact WHERE id = $1", &[&id.0.cast_signed()])
    }

    fn facts(&self) -> StoreResult<Vec<Fact>> {
        self.all("SELECT body FROM memory_fact ORDER BY id", &[])
    }

    fn facts_of_room(&self, room: &RoomId) -> StoreResult<Vec<Fact>> {
        self.all("SELECT body FROM memory_fact WHERE room = $1 ORDER BY id", &[&to_stored(room.as_str())])
    }

    fn facts_of_person(&self, person: &PersonId) -> StoreResult<Vec<Fact>> {
        let query = "SELECT body FROM memory_fact WHERE id IN
            (SELECT fact FROM memory_fact_person WHERE person = $1) ORDER BY id";
        self.all(query, &[&to_stored(person.as_str())])
    }

    fn facts_resting_on(&self, room: &RoomId, message: &MessageId) -> StoreResult<Vec<Fact>> {
        let query = "SELECT body FROM memory_fact WHERE id IN
            (SELECT fact FROM memory_fact_message WHERE room = $1 AND message = $2) ORDER BY id";
        self.all(query, &[&to_stored(room.as_str()), &to_stored(message.as_str())])
    }

    fn facts_alike(&self, room: &RoomId, content: &str) -> StoreResult<Vec<Fact>> {
        self.alike(room, content)
    }

    fn rooms_with_facts(&self) -> StoreResult<Vec<RoomId>> {
        self.rooms("SELECT DISTINCT room FROM memory_fact ORDER BY room")
    }

    fn count_facts(&self, room: &RoomId) -> StoreResult<u32> {
        let query = "SELECT count(*) FROM memory_fact WHERE room = $1";
        let count: i64 = self.0.one(query, &[&to_stored(room.as_str())])?.get(0);
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// Every version of the schema was complete.
    fn upgrade(&mut self) -> StoreResult<()> {
        Ok(())
    }

    fn put_fact(&mut self, fact: &Fact) -> StoreResult<()> {
        self.store_fact(fact)
    }

    fn remove_fact(&mut self, id: FactId) -> StoreResult<()> {
        self.delete_fact(id)
    }

    fn put_vector(&mut self, fact: &Fact, model: &str, vector: &[f32]) -> StoreResult<()> {
        self.store_vector(fact, model, vector)
    }

    fn remove_vector(&mut self, id: FactId) -> StoreResult<()> {
        self.run("DELETE FROM memory_vector WHERE fact = $1", &[&id.0.cast_signed()])
    }

    fn is_out(&self, person: OptOutMark) -> StoreResult<bool> {
        Ok(self.0.first("SELECT 1 FROM memory_out WHERE person = $1", &[&person.0])?.is_some())
    }

    fn put_out(&mut self, person: OptOutMark, out: bool) -> StoreResult<()> {
        match out {
            true => self.run("INSERT INTO memory_out VALUES ($1) ON CONFLICT DO NOTHING", &[&person.0]),
            false => self.run("DELETE FROM memory_out WHERE person = $1", &[&person.0]),
        }
    }
}
