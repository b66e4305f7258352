//! The stores that platforms use, whichever adapter serves them.

use std::sync::Arc;

use super::{
    ArrivedThreads, ChannelMarks, Inbox, OwnTalk, PostLedger, RecentMessages, StoreFiles, WebSessions, WebTalk,
};

/// Cheap to clone.
#[derive(Clone)]
pub struct PlatformStores {
    pub inbox: Arc<dyn Inbox>,
    pub threads: Arc<dyn ArrivedThreads>,
    pub posts: Arc<dyn PostLedger>,
    pub marks: Arc<dyn ChannelMarks>,
    pub recent: Arc<dyn RecentMessages>,
    pub web: Arc<dyn WebTalk>,
    /// The talk of the web room, looked through for a person.
    pub own_talk: Arc<dyn OwnTalk>,
    pub web_sessions: Arc<dyn WebSessions>,
    pub files: Arc<dyn StoreFiles>,
}
