//! The nouns: when, where, who and what was said.

mod address;
mod conversation;
mod flags;
mod kind;
mod message;
mod names;
mod place;
mod question;
mod response;
mod share;
mod time;

pub use address::Addressed;
pub use conversation::{ConversationId, or_zero};
pub use flags::Flags;
pub use kind::Kind;
pub use message::{Author, Change, Message, Reaction, Reply, Voice};
pub use names::{MessageId, NameMap, PersonId, RoomId, ThreadId, stable_hash};
pub use place::{CallId, Place, Visibility, own_id};
pub use question::{Question, State};
pub use response::Response;
pub use share::Share;
pub use time::{ClockShift, Span, Time, Zone};
