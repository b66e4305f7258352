//! Recent messages as they are known, for platforms that detect what was changed while they were disconnected.

use std::collections::HashMap;

use aizuchi_core::types::{Place, Time};

use super::BoxFuture;
use crate::journal::KnownMessage;
use crate::stores::StoreError;

pub trait RecentMessages: Send + Sync {
    /// The recent messages of one platform by place, oldest first. Those that were forgotten on request are not included.
    fn recent<'a>(
        &'a self,
        platform: &'a str,
        now: Time,
    ) -> BoxFuture<'a, Result<HashMap<Place, Vec<KnownMessage>>, StoreError>>;
}
