//! Plain IRC logs, as irssi, WeeChat, XChat, mIRC and the public archives write them.

mod clock;
mod line;
mod log;
mod stamp;

pub use log::{read, recognise};
