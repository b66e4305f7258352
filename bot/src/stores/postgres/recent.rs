//! Recent messages, read from the journal.

use std::collections::HashMap;

use aizuchi_core::types::{Place, Time};

use super::PostgresDatabase;
use crate::journal::{KnownMessage, recent_messages};
use crate::ports::{BoxFuture, RecentMessages, StoreBackend as _};
use crate::stores::StoreError;

impl RecentMessages for PostgresDatabase {
    fn recent<'a>(
        &'a self,
        platform: &'a str,
        now: Time,
    ) -> BoxFuture<'a, Result<HashMap<Place, Vec<KnownMessage>>, StoreError>> {
        Box::pin(recent_messages(self.stores(), platform, now))
    }
}
