//! What reads Discord's gateway.

#[path = "../../bot/src/platforms/discord/places.rs"]
pub mod places;
#[path = "../../bot/src/platforms/discord/read.rs"]
pub mod read;
#[path = "../../bot/src/platforms/discord/readable.rs"]
pub mod readable;
#[path = "../../bot/src/platforms/discord/say.rs"]
pub mod say;
