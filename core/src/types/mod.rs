//! The nouns: when, where, who and what was said.

mod message;
mod names;
mod place;
mod share;
mod time;

pub use message::{Author, Change, Message, Reaction, Reply, Voice};
pub use names::{MessageId, NameMap, PersonId, RoomId, ThreadId, stable_hash};
pub use place::{CallId, Place, Visibility, own_id};
pub use share::Share;
pub use time::{ClockShift, Span, Time, Zone};
