//! The talk of a room as the journal has it: what was said, with its edits, without what was deleted.

use aizuchi_core::types::{MessageId, PersonId, RoomId, Time, Visibility, Voice};
use aizuchi_core::{Input, Message};
use rusqlite::{Connection, params};

/// A message and the record it came with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    pub seq: u64,
    pub id: MessageId,
    pub at: Time,
    pub person: PersonId,
    pub name: Box<str>,
    pub voice: Voice,
    pub text: Box<str>,
    pub mentions_me: bool,
    pub visibility: Visibility,
    /// Whether it was said in a thread, which may have fewer members than its room.
    pub in_thread: bool,
}

impl Said {
    fn new(seq: i64, message: Message) -> Said {
        let Message { id, at, author, text, mentions_me, visibility, place, .. } = message;
        let (person, name, voice) = (author.id, author.name, author.voice);
        let in_thread = place.thread.is_some();
        Said { seq: seq as u64, id, at, person, name, voice, text, mentions_me, visibility, in_thread }
    }

    /// Whether not everybody in the room could read it: nobody there is reminded of it later.
    pub fn is_aside(&self) -> bool {
        self.in_thread && self.visibility != Visibility::Public
    }
}

/// What was said in a room after the record `after` and up to `up_to`, as it stands now. `latest` of it at most.
pub fn said(
    connection: &Connection,
    room: &RoomId,
    after: u64,
    up_to: u64,
    latest: usize,
) -> rusqlite::Result<Vec<Said>> {
    let query = "SELECT seq, body FROM journal WHERE room = ?1 AND seq > ?2 ORDER BY seq";
    let mut statement = connection.prepare_cached(query)?;
    let rows = statement
        .query_map(params![room.as_str(), after as i64], |row| Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?)))?;
    let mut talk: Vec<Said> = Vec::new();
    for row in rows {
        let (seq, body) = row?;
        // A damaged record is told of at the start; here it is just not there.
        let Ok(input) = serde_json::from_str::<Input>(&body) else { continue };
        match input {
            Input::Said(message) if seq as u64 <= up_to => {
                let empty = message.text.trim().is_empty();
                let repeated = talk.iter().any(|said| said.id == message.id);
                if !empty && !repeated && message.author.voice != Voice::Me {
                    talk.push(Said::new(seq, message));
                }
            }
            Input::Changed(change) => match change.text {
                Some(text) => {
                    talk.iter_mut().filter(|said| said.id == change.id).for_each(|said| said.text = text.clone())
                }
                None => talk.retain(|said| said.id != change.id),
            },
            Input::Told(_, aizuchi_core::input::Command::Reset) => talk.clear(),
            _ => (),
        }
    }
    talk.drain(..talk.len().saturating_sub(latest));
    Ok(talk)
}
