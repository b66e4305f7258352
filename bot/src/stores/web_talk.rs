//! The talk of the web room with global ids, the same for every store.

use aizuchi_core::types::{MessageId, PersonId, RoomId};

use crate::ports::{StoredUtterance, WebMessage};

/// The prefix of the ids of web rooms and people.
const PREFIX: &str = "web:";

/// The name of a web room or person in the tables; `None` for those of other platforms.
pub fn local_name(id: &str) -> Option<&str> {
    id.strip_prefix(PREFIX).filter(|name| !name.is_empty())
}

pub fn person_id(name: &str) -> PersonId {
    PersonId::new(format!("{PREFIX}{name}"))
}

/// Forgotten messages have no author any more, and are left out.
pub fn to_utterances(messages: Vec<WebMessage>) -> Vec<StoredUtterance> {
    messages.into_iter().filter(|message| !message.body.by.id.is_empty()).map(to_utterance).collect()
}

fn to_utterance(message: WebMessage) -> StoredUtterance {
    let WebMessage { id, room, body, .. } = message;
    StoredUtterance {
        room: RoomId::new(format!("{PREFIX}{room}")),
        id: MessageId::new(id),
        at: body.at,
        by: person_id(&body.by.id),
        name: body.by.name.into(),
        voice: body.voice,
        text: body.text.into(),
        reply: body.reply_to.map(MessageId::new),
        deleted: body.deleted,
    }
}
