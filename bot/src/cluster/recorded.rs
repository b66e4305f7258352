//! Recent messages of a cluster: what Restate has accepted is durable before a worker has recorded it.

use std::collections::HashMap;
use std::sync::Arc;

use aizuchi_core::types::{Place, RoomId, Time};

use super::ingress::{RestateClient, RestateError};
use crate::journal::KnownMessage;
use crate::ports::{BoxFuture, RecentMessages, UnrecordedInputs};
use crate::stores::StoreError;

pub struct RecordedMessages {
    pub records: Arc<dyn RecentMessages>,
    pub restate: RestateClient,
}

impl RecentMessages for RecordedMessages {
    fn recent<'a>(
        &'a self,
        platform: &'a str,
        now: Time,
    ) -> BoxFuture<'a, Result<HashMap<Place, Vec<KnownMessage>>, StoreError>> {
        self.records.recent(platform, now)
    }

    fn unrecorded<'a>(
        &'a self,
        platform: &'a str,
    ) -> BoxFuture<'a, Result<HashMap<RoomId, UnrecordedInputs>, StoreError>> {
        let unavailable = |error: RestateError| StoreError::Unavailable(error.to_string());
        Box::pin(async move { self.restate.unheard_rooms(platform).await.map_err(unavailable) })
    }
}
