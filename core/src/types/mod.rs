//! The basic types: when, where, who and what was said.

mod address;
mod conversation;
mod flags;
mod kind;
mod message;
mod names;
mod place;
mod prefetch;
mod question;
mod response;
mod share;
mod time;
mod unseen;

pub use address::{Addressed, HeardAs};
pub use conversation::ConversationId;
pub(crate) use conversation::or_zero;
pub(crate) use flags::Flags;
pub use kind::Kind;
pub use message::{Author, Change, Message, Reaction, Reply, Voice};
pub use names::{BOT_KEY, MessageId, PersonId, RoomId, ThreadId, stable_hash};
pub(crate) use names::{NameMap, shared_start};
pub(crate) use place::own_id;
pub use place::{CallId, Place, Visibility};
pub(crate) use prefetch::prefetch;
pub use question::Question;
pub use question::State;
pub use response::Response;
pub use share::Share;
pub(crate) use time::ShortTime;
pub use time::{ClockShift, Span, Time, Zone};
pub use unseen::is_hidden;
pub(crate) use unseen::{is_invisible, is_unseen};
