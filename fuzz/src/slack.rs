//! What reads Slack's envelopes.

#[path = "../../bot/src/platforms/slack/envelope.rs"]
pub mod envelope;
#[path = "../../bot/src/platforms/slack/event.rs"]
pub mod event;
#[path = "../../bot/src/transcript/slack/markup.rs"]
pub mod markup;
#[path = "../../bot/src/platforms/slack/people.rs"]
pub mod people;
#[path = "../../bot/src/platforms/slack/read.rs"]
pub mod read;
