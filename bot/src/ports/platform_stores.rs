//! The stores that platforms use, whichever adapter serves them.

use std::sync::Arc;

use super::{ArrivedThreads, ChannelMarks, Inbox, PostLedger, RecentMessages, WebSessions, WebTalk};

/// Cheap to clone.
#[derive(Clone)]
pub struct PlatformStores {
    pub inbox: Arc<dyn Inbox>,
    pub threads: Arc<dyn ArrivedThreads>,
    pub posts: Arc<dyn PostLedger>,
    pub marks: Arc<dyn ChannelMarks>,
    pub recent: Arc<dyn RecentMessages>,
    pub web: Arc<dyn WebTalk>,
    pub web_sessions: Arc<dyn WebSessions>,
}
