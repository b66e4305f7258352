//! What comes through the web socket: an envelope with something inside, or a word about the line itself.

use serde_json::Value;

use super::read::text;

#[derive(Clone, Debug, PartialEq)]
pub enum SocketFrame {
    /// The line is open.
    Hello,
    /// The line will be closed: soon, or at once.
    Disconnect {
        reason: String,
    },
    /// Something happened.
    Event {
        envelope: String,
        payload: Value,
    },
    /// Somebody used the slash command.
    Command {
        envelope: String,
        payload: Value,
    },
    /// To be acknowledged, and nothing more: a kind we do not ask for, or more than we can read.
    Other {
        envelope: String,
    },
    Nothing,
}

/// More is acknowledged and let go: it would only come again.
const BYTES_MAX: usize = 1024 * 1024;
const ENVELOPE_CHARS_MAX: usize = 200;

pub fn read(frame: &str) -> SocketFrame {
    let Ok(value) = serde_json::from_str::<Value>(frame) else { return SocketFrame::Nothing };
    find(value, frame.len() > BYTES_MAX).unwrap_or(SocketFrame::Nothing)
}

fn find(mut value: Value, too_much: bool) -> Option<SocketFrame> {
    let kind = text(&value, "type").unwrap_or_default().to_owned();
    match kind.as_str() {
        "hello" => return Some(SocketFrame::Hello),
        "disconnect" => {
            let reason = text(&value, "reason").unwrap_or("not told").chars().take(100).collect();
            return Some(SocketFrame::Disconnect { reason });
        }
        _ => (),
    }
    let envelope = text(&value, "envelope_id").filter(|id| id.len() <= ENVELOPE_CHARS_MAX)?.to_owned();
    if too_much {
        tracing::warn!(kind, "dropped an oversized event");
        return Some(SocketFrame::Other { envelope });
    }
    let payload = value.get_mut("payload").map(Value::take).unwrap_or_default();
    Some(match kind.as_str() {
        "events_api" => SocketFrame::Event { envelope, payload },
        "slash_commands" => SocketFrame::Command { envelope, payload },
        _ => SocketFrame::Other { envelope },
    })
}

/// Tells Slack that an envelope need not come again.
pub fn acknowledgement(envelope: &str) -> String {
    serde_json::json!({"envelope_id": envelope}).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_has_an_envelope_is_acknowledged() {
        let kind = |frame: &str| match read(frame) {
            SocketFrame::Event { .. } => "event",
            SocketFrame::Other { .. } => "other",
            SocketFrame::Nothing => "nothing",
            SocketFrame::Hello | SocketFrame::Disconnect { .. } | SocketFrame::Command { .. } => "line",
        };
        assert_eq!(kind(r#"{"type": "events_api", "envelope_id": "e", "payload": 3}"#), "event");
        assert_eq!(kind(r#"{"type": 3, "envelope_id": "e"}"#), "other");
        assert_eq!(kind(r#"{"type": "events_api", "envelope_id": ""}"#), "nothing");
        assert_eq!(kind(r#"{"type": "hello"}"#), "line");
        assert_eq!(kind("not json"), "nothing");
        let huge = "x".repeat(BYTES_MAX);
        assert_eq!(kind(&format!(r#"{{"type": "events_api", "envelope_id": "e", "payload": "{huge}"}}"#)), "other");
    }
}
