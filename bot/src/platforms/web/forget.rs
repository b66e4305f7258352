//! Takes a person out of the web rooms: their messages, their reactions, their name, and what the bot said because of them.

use std::collections::BTreeSet;

use aizuchi_core::Input;
use aizuchi_core::memory::{ForgetRequest, Recognizer};
use aizuchi_core::types::{MessageId, RoomId, Voice};
use rusqlite::{Connection, OptionalExtension as _, Transaction};

use super::platform::PLATFORM;
use super::talk::{Kept, Saying, Speaker, kept, person_name, room_id, update};
use crate::journal::scrubbed;
use crate::ports::{Inbox, Pending};
use crate::stores::StoreError;

pub fn forget(transaction: &Transaction<'_>, request: &ForgetRequest) -> rusqlite::Result<()> {
    let (theirs, ids) = (request.recognizer(), ids(request));
    let messages = messages_of(transaction, request)?;
    let answers = answers_to(transaction, &messages, &theirs)?;
    for mut message in all(transaction)? {
        let own = message.body.by.id.clone();
        let said_by_them = ids.contains(&own.as_str());
        if said_by_them {
            // A key begins with the id of the person who said it.
            transaction.prepare_cached("UPDATE web_message SET key = NULL WHERE id = ?1")?.execute([&message.id])?;
        }
        let goes = said_by_them || answers.contains(&message.id);
        if message.forget(&ids, goes) {
            update(transaction, message)?;
        }
    }
    for id in ids {
        transaction.execute("DELETE FROM web_member WHERE person = ?1", [id])?;
        transaction.execute("UPDATE web_room SET opened_by = NULL WHERE opened_by = ?1", [id])?;
        transaction.execute("DELETE FROM web_person WHERE id = ?1", [id])?;
    }
    Ok(())
}

/// As pages see them.
fn ids(request: &ForgetRequest) -> Vec<&str> {
    request.ids.iter().filter_map(person_name).collect()
}

impl Kept {
    /// Takes a person out of a message, or everything if all of it goes. Whether anything changed.
    fn forget(&mut self, ids: &[&str], goes: bool) -> bool {
        let body = &mut self.body;
        let is_them = |speaker: &Speaker| ids.contains(&speaker.id.as_str());
        if goes {
            if is_them(&body.by) {
                body.by = Speaker { id: String::new(), name: String::new() };
            }
            (body.deleted, body.edited) = (true, false);
            body.text.clear();
            body.reactions.clear();
            return true;
        }
        let count =
            |reactions: &[(String, Vec<Speaker>)]| reactions.iter().map(|(_, givers)| givers.len()).sum::<usize>();
        let before = count(&body.reactions);
        body.reactions.iter_mut().for_each(|(_, givers)| givers.retain(|giver| !is_them(giver)));
        body.reactions.retain(|(_, givers)| !givers.is_empty());
        count(&body.reactions) < before
    }
}

fn all(connection: &Connection) -> rusqlite::Result<Vec<Kept>> {
    let query = "SELECT id, room, seq, first_seq, body FROM web_message ORDER BY seq";
    connection.prepare_cached(query)?.query_map([], kept)?.collect()
}

pub fn messages_of(
    connection: &Connection,
    request: &ForgetRequest,
) -> rusqlite::Result<BTreeSet<(RoomId, MessageId)>> {
    let mut messages = BTreeSet::new();
    let query = "SELECT room, id FROM web_message WHERE json_extract(body, '$.by.id') = ?1";
    for id in ids(request) {
        let mut statement = connection.prepare_cached(query)?;
        let rows = statement.query_map([id], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?)))?;
        for row in rows {
            let (room, id) = row?;
            messages.insert((room_id(&room), MessageId::new(id)));
        }
    }
    Ok(messages)
}

/// The ids of the bot's posts that answer them, speak of them or repeat them; every part of such an answer.
fn answers_to(
    connection: &Connection,
    messages: &BTreeSet<(RoomId, MessageId)>,
    theirs: &Recognizer<'_>,
) -> rusqlite::Result<BTreeSet<String>> {
    let query = "SELECT id, room, seq, first_seq, body, key FROM web_message
        WHERE json_extract(body, '$.voice') = 'Me' AND NOT json_extract(body, '$.deleted')";
    let mut statement = connection.prepare_cached(query)?;
    let rows = statement.query_map([], |row| Ok((kept(row)?, row.get::<_, Option<String>>(5)?)))?;
    let own: Vec<(Kept, Option<String>)> = rows.collect::<rusqlite::Result<_>>()?;
    let goes = |post: &Kept| {
        let room = room_id(&post.room);
        let answered = post.body.reply_to.as_ref().map(|to| (room.clone(), MessageId::new(to)));
        answered.is_some_and(|answered| messages.contains(&answered))
            || theirs.takes_own_post(&room, &post.id, &post.body.text)
    };
    let gone: BTreeSet<&str> =
        own.iter().filter(|(post, _)| goes(post)).filter_map(|(_, key)| call_of(key.as_deref()?)).collect();
    let is_part = |key: &Option<String>| key.as_deref().and_then(call_of).is_some_and(|call| gone.contains(call));
    Ok(own.iter().filter(|(post, key)| is_part(key) || goes(post)).map(|(post, _)| post.id.clone()).collect())
}

/// A post's key is that of its answer and the number of the part.
fn call_of(key: &str) -> Option<&str> {
    key.rsplit_once('/').map(|(call, _)| call)
}

/// Whether an answer comes too late: who asked was forgotten meanwhile, or its first part was.
pub fn is_forgotten(connection: &Connection, saying: &Saying, replied: Option<&Kept>) -> rusqlite::Result<bool> {
    if saying.voice != Voice::Me {
        return Ok(false);
    }
    let asker_is = replied.is_some_and(|replied| replied.body.deleted && replied.body.by.id.is_empty());
    let first_part = call_of(&saying.key).map(|call| format!("{call}/0"));
    let query = "SELECT json_extract(body, '$.deleted') FROM web_message WHERE key = ?1";
    let first_is: Option<bool> =
        connection.prepare_cached(query)?.query_row([first_part], |row| row.get(0)).optional()?;
    Ok(asker_is || first_is.unwrap_or(false))
}

/// What the engine has yet to hear of them, it does not hear.
pub async fn forget_pending(
    inbox: &dyn Inbox,
    theirs: &Recognizer<'_>,
    messages: &BTreeSet<(RoomId, MessageId)>,
) -> Result<(), StoreError> {
    let mut changed = Vec::new();
    for Pending { seq, body } in inbox.pending(PLATFORM, 0, usize::MAX).await? {
        let Ok(input) = serde_json::from_str::<Input>(&body) else { continue };
        match scrubbed(input, theirs, messages) {
            None => (),
            Some(Input::Forgotten) => changed.push((seq, None)),
            Some(rest) => {
                let body = serde_json::to_string(&rest).expect("an input is plain data");
                changed.push((seq, Some(body)));
            }
        }
    }
    if changed.is_empty() { Ok(()) } else { inbox.amend(PLATFORM, changed).await }
}

#[cfg(test)]
mod tests {
    use aizuchi_core::Time;
    use aizuchi_core::types::PersonId;

    use super::super::talk::{Refusal, history, say};
    use super::*;
    use crate::stores::Database;

    fn saying(by: &str, key: &str, text: &str, reply_to: Option<&str>) -> Saying {
        Saying {
            room: "lobby".into(),
            key: key.into(),
            at: Time(1),
            by: Speaker { id: by.into(), name: by.into() },
            voice: if by == "bot" { Voice::Me } else { Voice::Person },
            text: text.into(),
            thread: None,
            reply_to: reply_to.map(Into::into),
        }
    }

    #[tokio::test]
    async fn answers_go_part_by_part_and_what_comes_too_late_is_not_posted() {
        let folder = std::env::temp_dir().join(format!("aizuchi-web-forget-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let database = Database::open(&folder.join("aizuchi.db")).unwrap();
        let write = |transaction: &Transaction<'_>| {
            transaction.execute("INSERT INTO web_room (name, opened) VALUES ('lobby', 0)", [])?;
            let say = |saying| say(transaction, saying, &[], &[]).unwrap().map(|changed| changed.stored.id);
            let asked = say(saying("x1", "x1/1", "which way?", None)).unwrap();
            let other = say(saying("y1", "y1/1", "and where to?", None)).unwrap();
            say(saying("bot", "web:lobby/1/0", "This way,", Some(&asked))).unwrap();
            say(saying("bot", "web:lobby/1/1", "and then left.", None)).unwrap();
            say(saying("bot", "web:lobby/2/0", "To the mill.", Some(&other))).unwrap();
            let request = ForgetRequest { ids: vec![PersonId::new("web:x1")], ..ForgetRequest::default() };
            forget(transaction, &request)?;
            let late = say(saying("bot", "web:lobby/3/0", "Over there.", Some(&asked)));
            let late_part = say(saying("bot", "web:lobby/1/2", "Mind the step.", None));
            assert_eq!((late, late_part), (Err(Refusal::NoSuchMessage), Err(Refusal::NoSuchMessage)));
            assert!(say(saying("bot", "web:lobby/2/1", "It is closed.", None)).is_ok());
            let (kept, _) = history(transaction, "lobby", u64::MAX, 50)?;
            let keys = "SELECT count(*) FROM web_message WHERE instr(key, 'x1') > 0 OR instr(body, 'x1') > 0";
            Ok((kept, transaction.query_row(keys, [], |row| row.get::<_, i64>(0))?))
        };
        let (kept, keys) = database.write(write).await.unwrap();
        let texts: Vec<&str> =
            kept.iter().map(|kept| kept.body.text.as_str()).filter(|text| !text.is_empty()).collect();
        assert_eq!(texts, ["and where to?", "To the mill.", "It is closed."]);
        assert_eq!(keys, 0, "a key still says who it was");
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
