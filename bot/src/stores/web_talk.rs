//! The talk of the web room as everybody else sees it, the same for every store.

use aizuchi_core::types::{MessageId, PersonId, RoomId};

use crate::ports::{StoredUtterance, WebMessage};

/// How rooms and people of the web begin for everybody else.
const PREFIX: &str = "web:";

/// What the tables call a room or a person of the web; `None` for those of other platforms.
pub fn local_name(id: &str) -> Option<&str> {
    id.strip_prefix(PREFIX).filter(|name| !name.is_empty())
}

pub fn person_id(name: &str) -> PersonId {
    PersonId::new(format!("{PREFIX}{name}"))
}

/// What was forgotten is nobody's any more, and left out.
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
