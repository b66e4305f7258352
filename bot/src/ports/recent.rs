//! What was said lately, as it is known: for platforms that look for what was changed while they were not connected.

use std::collections::HashMap;

use aizuchi_core::types::{Place, Time};

use super::BoxFuture;
use crate::journal::KnownMessage;
use crate::stores::StoreError;

pub trait RecentMessages: Send + Sync {
    /// By place, oldest first, of one platform. What was forgotten on request is not among it.
    fn recent<'a>(
        &'a self,
        platform: &'a str,
        now: Time,
    ) -> BoxFuture<'a, Result<HashMap<Place, Vec<KnownMessage>>, StoreError>>;
}
