//! The stores that platforms use, whichever adapter serves them.

use std::sync::Arc;

use super::{ArrivedThreads, ChannelMarks, Inbox, PostLedger, RecentMessages};

/// Cheap to clone.
#[derive(Clone)]
pub struct PlatformStores {
    pub inbox: Arc<dyn Inbox>,
    pub threads: Arc<dyn ArrivedThreads>,
    pub posts: Arc<dyn PostLedger>,
    pub marks: Arc<dyn ChannelMarks>,
    pub recent: Arc<dyn RecentMessages>,
}
