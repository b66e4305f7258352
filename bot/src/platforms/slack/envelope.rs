//! Messages of the web socket: an envelope with a payload, or a notice about the connection itself.

use serde_json::Value;

use super::read::text;

#[derive(Clone, Debug, PartialEq)]
pub enum SocketFrame {
    /// The connection is open.
    Hello,
    /// The connection will be closed: soon, or at once.
    Disconnect {
        reason: String,
    },
    /// An event.
    Event {
        envelope: String,
        payload: Value,
    },
    /// A slash command.
    Command {
        envelope: String,
        payload: Value,
    },
    /// Only to be acknowledged: a type we do not subscribe to, or one that is too large to read.
    Other {
        envelope: String,
    },
    Nothing,
}

/// A larger envelope is acknowledged and dropped: otherwise it would only be sent again.
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

/// Tells Slack not to send an envelope again.
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
