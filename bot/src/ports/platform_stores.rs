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
    /// Searches the talk of the web room for a person.
    pub own_talk: Arc<dyn OwnTalk>,
    pub web_sessions: Arc<dyn WebSessions>,
    pub files: Arc<dyn StoreFiles>,
}

impl PlatformStores {
    /// All ports of one adapter.
    pub fn of<T>(adapter: Arc<T>) -> PlatformStores
    where
        T: Inbox
            + ArrivedThreads
            + PostLedger
            + ChannelMarks
            + RecentMessages
            + WebTalk
            + OwnTalk
            + WebSessions
            + StoreFiles,
        T: 'static,
    {
        PlatformStores {
            inbox: adapter.clone(),
            threads: adapter.clone(),
            posts: adapter.clone(),
            marks: adapter.clone(),
            recent: adapter.clone(),
            web: adapter.clone(),
            own_talk: adapter.clone(),
            web_sessions: adapter.clone(),
            files: adapter,
        }
    }
}
