//! Logs with labels: who answers whom (`gold_reply_to`), or which conversation a message is in (`gold_conversation`). If a
//! log has no such fields, the replies and threads of its platform are the labels, see [`platform`].

mod platform;

use aizuchi_core::Input;
use aizuchi_core::types::{Message, MessageId};
use serde::Deserialize;

use super::detect::unpack;
use super::error::ReadError;
use super::lines::parse_line;
use super::log::{BadLine, Event, Format, Options};
use super::open::{name_of, open, read};
use super::text_lines::for_each_line;

/// A message and its labels.
#[derive(Clone, Debug)]
pub struct LabelledMessage {
    pub message: Message,
    /// What it answers; itself if it starts a conversation. Absent if it is not labelled.
    pub replies_to: Option<Vec<MessageId>>,
    /// The conversation it is in, within its channel. Absent if unknown.
    pub conversation: Option<String>,
}

#[derive(Deserialize)]
struct Labels {
    gold_reply_to: Option<Vec<String>>,
    gold_conversation: Option<String>,
}

/// A log for training or measuring.
#[derive(Clone, Debug)]
pub struct LabelledLog {
    pub messages: Vec<LabelledMessage>,
    /// The events, without what the labels reveal.
    pub events: Vec<Event>,
}

/// Reads a log of any format with its labels: those of a transcript, or else the platform's own (threads, replies). The
/// latter are removed from the events, which are flattened into their channel: a model that is to predict them must not see
/// them.
pub fn read_labelled_log(path: &str, options: &Options) -> Result<LabelledLog, ReadError> {
    let log = read(path, options, &mut |_| ())?;
    if log.format == Format::Transcript {
        let messages = read_labelled(path)?;
        if messages.iter().any(|one| one.replies_to.is_some() || one.conversation.is_some()) {
            return Ok(LabelledLog { messages, events: log.events });
        }
    }
    let mut events = log.events;
    Ok(LabelledLog { messages: platform::take_labels(&mut events), events })
}

/// Reads a transcript with labels, plain or packed with gzip, or `-` for standard input. The first bad line ends the
/// reading: a skipped label would be measured as a mistake of the model.
pub fn read_labelled(path: &str) -> Result<Vec<LabelledMessage>, ReadError> {
    labelled_text(name_of(path), &open(path)?)
}

/// The same for a log in bytes; `name` is used in error messages.
pub fn labelled_text(name: &str, bytes: &[u8]) -> Result<Vec<LabelledMessage>, ReadError> {
    let unpacked = unpack(name, bytes)?;
    let bad = |line, problem| ReadError::BadLine(BadLine { file: name.to_owned(), line, problem });
    let mut all = Vec::new();
    let mut last = 0;
    for_each_line(&unpacked.text, &mut |_| (), |number, line| {
        last = number;
        all.extend(labelled(line, number).map_err(|problem| bad(number, problem))?);
        Ok(())
    })?;
    match unpacked.broken {
        Some(problem) => Err(bad(last, problem)),
        None => Ok(all),
    }
}

/// `None` for what is not a message: edits, deletions, reactions.
fn labelled(line: &[u8], number: u64) -> Result<Option<LabelledMessage>, String> {
    let line = std::str::from_utf8(line).map_err(|_| "not UTF-8".to_owned())?;
    let Some(Input::Said(message)) = parse_line(line, number)?.map(|event| event.input) else { return Ok(None) };
    let labels: Labels = serde_json::from_str(line)
        .map_err(|_| "`gold_reply_to` must be a list of message ids, and `gold_conversation` a text".to_owned())?;
    let replies_to = labels.gold_reply_to.map(|ids| ids.into_iter().map(MessageId::new).collect());
    Ok(Some(LabelledMessage { message, replies_to, conversation: labels.gold_conversation }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"ts": 1, "channel": "c", "id": "m1", "author": "花子", "text": "はい""#;

    fn read(more: &str) -> Result<Vec<LabelledMessage>, String> {
        labelled_text("log", format!("{LINE}{more}}}\n").as_bytes()).map_err(|error| error.to_string())
    }

    #[test]
    fn labels_are_read_beside_the_message() {
        let one = read(r#", "gold_reply_to": ["m1", "m0"]"#).unwrap().remove(0);
        assert_eq!((one.message.id.as_str(), &*one.message.text), ("m1", "はい"));
        assert_eq!(one.replies_to, Some(vec![MessageId::new("m1"), MessageId::new("m0")]));
        assert_eq!(read("").unwrap()[0].replies_to, None);
        assert_eq!(read(r#", "gold_conversation": "昼食""#).unwrap()[0].conversation.as_deref(), Some("昼食"));
        assert_eq!(read(r#", "type": "deleted""#).unwrap().len(), 0);
    }

    #[test]
    fn a_bad_line_ends_the_reading() {
        let told = read(r#", "gold_reply_to": "m0""#).unwrap_err();
        assert_eq!(told, "log:1: `gold_reply_to` must be a list of message ids, and `gold_conversation` a text");
        assert!(labelled_text("log", b"{}").unwrap_err().to_string().starts_with("log:1: "));
    }
}
