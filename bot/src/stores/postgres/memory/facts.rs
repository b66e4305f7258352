//! Facts in PostgreSQL: each with its index words, its places and its time.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use aizuchi_core::memory::rank::{day_of, index_words, terms};
use aizuchi_core::memory::{Fact, FactId, sketch};
use aizuchi_core::types::RoomId;

use super::super::connection::OwnedValue;
use super::super::text::to_stored;
use super::table::{PgMemoryTable, decode, encode};
use crate::memory::search::{day_word, month_word, places_of, room_place};
use crate::memory::table::{SHARING_MAX, StoreResult, count_shared, most_alike};

/// The index token of a word of the fact itself.
pub fn own_token(word: &str) -> String {
    format!("w{}", to_stored(word))
}

/// The index token of a word around it.
pub fn beside_token(word: &str) -> String {
    format!("b{}", to_stored(word))
}

fn owned(text: &str) -> String {
    to_stored(text).into_owned()
}

impl PgMemoryTable<'_> {
    pub(super) fn store_fact(&self, fact: &Fact) -> StoreResult<()> {
        let id = fact.id.0.cast_signed();
        let before = self.0.first("SELECT body, terms FROM memory_fact WHERE id = $1", &[&id])?;
        let read = |row: tokio_postgres::Row| StoreResult::Ok((decode::<Fact>(row.get(0))?, row.get::<_, String>(1)));
        let before = before.map(read).transpose()?;
        if before.as_ref().is_some_and(|(before, _)| before.is_indexed_like(fact)) {
            return self.run("UPDATE memory_fact SET body = $2 WHERE id = $1", &[&id, &encode(fact)]);
        }
        if let Some((_, terms)) = &before {
            self.unlist(id, terms)?;
        }
        self.index_fact(fact)
    }

    /// Stores a fact and its index entries.
    fn index_fact(&self, fact: &Fact) -> StoreResult<()> {
        let (id, room, places) = (fact.id.0.cast_signed(), owned(fact.origin.room.as_str()), places_of(&fact.origin));
        let (terms, day) = (terms(fact), day_of(fact.said_at()));
        let (words, beside) = index_words(&terms);
        let mut tokens: Vec<String> = words.iter().map(|word| own_token(word)).collect();
        tokens.extend(beside.iter().map(|word| beside_token(word)));
        tokens.extend([day_word(day), month_word(day)]);
        let people: Vec<String> = fact.people.iter().map(|person| owned(person.as_str())).collect();
        let messages = fact.messages.iter().chain(fact.context.iter().map(|turn| &turn.message));
        let messages: Vec<String> = messages.map(|message| owned(message.as_str())).collect();
        let sketch: Vec<i64> = sketch(&fact.content).into_iter().map(u64::cast_signed).collect();
        let words: Vec<String> = words.into_iter().map(owned).collect();
        let write = "INSERT INTO memory_fact VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO UPDATE SET
            room = excluded.room, body = excluded.body, terms = excluded.terms, tokens = excluded.tokens,
            places = excluded.places";
        let by_person = "INSERT INTO memory_fact_person SELECT person, $2 FROM unnest($1::text[]) AS p (person) ON CONFLICT DO NOTHING";
        let by_message = "INSERT INTO memory_fact_message SELECT $1, message, $3 FROM unnest($2::text[]) AS m (message)
            ON CONFLICT DO NOTHING";
        let by_sketch = "INSERT INTO memory_sketch SELECT $1, word, $3 FROM unnest($2::bigint[]) AS s (word) ON CONFLICT DO NOTHING";
        let count = "INSERT INTO memory_word SELECT word, 1 FROM unnest($1::text[]) AS w (word)
            ON CONFLICT (word) DO UPDATE SET facts = memory_word.facts + 1";
        let statements: [(&str, Vec<OwnedValue>); 6] = [
            (
                write,
                vec![
                    Box::new(id),
                    Box::new(room.clone()),
                    Box::new(encode(fact)),
                    Box::new(owned(&terms)),
                    Box::new(tokens),
                    Box::new(places.clone()),
                ],
            ),
            (by_person, vec![Box::new(people), Box::new(id)]),
            (by_message, vec![Box::new(room), Box::new(messages), Box::new(id)]),
            (by_sketch, vec![Box::new(room_place(fact.origin.room.as_str())), Box::new(sketch), Box::new(id)]),
            (count, vec![Box::new(words)]),
            ("UPDATE memory_vector SET places = $2 WHERE fact = $1", vec![Box::new(id), Box::new(places)]),
        ];
        for (statement, values) in statements {
            self.0.execute_later(statement, values)?;
        }
        Ok(())
    }

    /// Removes the index entries of a fact, but not its row and its vector. `terms` are the stored ones.
    fn unlist(&self, id: i64, terms: &str) -> StoreResult<()> {
        let (words, _) = index_words(terms);
        let count = "UPDATE memory_word SET facts = facts - 1 WHERE word = ANY ($1)";
        self.0.pipeline(&[
            ("DELETE FROM memory_fact_person WHERE fact = $1", &[&id]),
            ("DELETE FROM memory_fact_message WHERE fact = $1", &[&id]),
            ("DELETE FROM memory_sketch WHERE fact = $1", &[&id]),
            (count, &[&words]),
            ("DELETE FROM memory_word WHERE word = ANY ($1) AND facts <= 0", &[&words]),
        ])?;
        Ok(())
    }

    pub(super) fn delete_fact(&self, id: FactId) -> StoreResult<()> {
        let id = id.0.cast_signed();
        let Some(row) = self.0.first("SELECT terms FROM memory_fact WHERE id = $1", &[&id])? else { return Ok(()) };
        self.unlist(id, row.get(0))?;
        self.0.pipeline(&[
            ("DELETE FROM memory_vector WHERE fact = $1", &[&id]),
            ("DELETE FROM memory_fact WHERE id = $1", &[&id]),
        ])?;
        Ok(())
    }

    /// Facts of a room that share most of their rare words with a text, ordered by number.
    pub(super) fn alike(&self, room: &RoomId, content: &str) -> StoreResult<Vec<Fact>> {
        let asked: Vec<i64> = sketch(content).into_iter().map(u64::cast_signed).collect();
        let room = room_place(room.as_str());
        let query = "SELECT asked.position, found.fact FROM unnest($2::bigint[]) WITH ORDINALITY AS asked (word, position)
            CROSS JOIN LATERAL (
                SELECT fact FROM memory_sketch AS s WHERE s.room = $1 AND s.word = asked.word ORDER BY fact DESC LIMIT $3
            ) AS found";
        let mut newest: Vec<Vec<i64>> = vec![Vec::new(); asked.len()];
        for row in self.0.query(query, &[&room, &asked, &(SHARING_MAX as i64)])? {
            newest[row.get::<_, i64>(0) as usize - 1].push(row.get(1));
        }
        // Asked once, and only where a word has more facts than these.
        let pairs: OnceCell<BTreeSet<(i64, i64)>> = OnceCell::new();
        let read_pairs = || -> StoreResult<BTreeSet<(i64, i64)>> {
            let found: Vec<i64> = newest.iter().flatten().copied().collect();
            let query = "SELECT word, fact FROM memory_sketch WHERE room = $1 AND word = ANY ($2) AND fact = ANY ($3)";
            let rows = self.0.query(query, &[&room, &asked, &found])?;
            Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
        };
        let shared = count_shared(&newest, |position, fact| {
            let pairs = match pairs.get() {
                Some(pairs) => pairs,
                None => {
                    let read = read_pairs()?;
                    pairs.get_or_init(|| read)
                }
            };
            Ok(pairs.contains(&(asked[position], fact)))
        })?;
        let ids = most_alike(shared, asked.len());
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        self.all("SELECT body FROM memory_fact WHERE id = ANY ($1) ORDER BY id", &[&ids])
    }
}
