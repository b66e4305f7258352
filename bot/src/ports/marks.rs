//! How far each channel of a platform was heard, so that a gap can be filled after a time without a connection.

use super::BoxFuture;
use crate::stores::StoreError;

/// How far a channel was heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChannelMark {
    pub channel: String,
    /// What the channel is part of, such as a guild. Empty if that is unknown, and for direct messages.
    pub server: String,
    /// Its last message. Of two marks of a platform, the one that is greater as text is further.
    pub heard: String,
}

/// How an arrival changes the mark of a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkChange {
    Heard(ChannelMark),
    /// The channel of this name is no longer heard.
    Left(String),
}

pub trait ChannelMarks: Send + Sync {
    /// Advances marks, all in one commit; none moves back, and a channel stays with its first server.
    fn advance<'a>(&'a self, platform: &'a str, marks: Vec<ChannelMark>) -> BoxFuture<'a, Result<(), StoreError>>;

    /// The marks of these channels, if there are any.
    fn find<'a>(
        &'a self,
        platform: &'a str,
        channels: Vec<String>,
    ) -> BoxFuture<'a, Result<Vec<ChannelMark>, StoreError>>;

    /// The marks of a server's channels, the furthest first.
    fn of_server<'a>(
        &'a self,
        platform: &'a str,
        server: &'a str,
        at_most: usize,
    ) -> BoxFuture<'a, Result<Vec<ChannelMark>, StoreError>>;
}
