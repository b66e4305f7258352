//! Every store of the platforms in one SQLite file.

use std::collections::HashMap;
use std::sync::Arc;

use aizuchi_core::types::{Place, Time};

use super::{Database, StoreError};
use crate::journal::{KnownMessage, recent_messages};
use crate::ports::{BoxFuture, PlatformStores, RecentMessages};

impl Database {
    pub fn platform_stores(&self) -> PlatformStores {
        PlatformStores::of(Arc::new(self.clone()))
    }
}

impl RecentMessages for Database {
    fn recent<'a>(
        &'a self,
        platform: &'a str,
        now: Time,
    ) -> BoxFuture<'a, Result<HashMap<Place, Vec<KnownMessage>>, StoreError>> {
        Box::pin(recent_messages(self, platform, now))
    }
}
