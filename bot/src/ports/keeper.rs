//! How far long memory is, and who is being forgotten, as a store keeps it.

use aizuchi_core::Time;
use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::types::RoomId;

use super::BoxFuture;
use crate::stores::StoreError;

pub trait KeeperStore: Send + Sync {
    /// Up to which record of the journal long memory has counted people and followed deletions.
    fn position(&self) -> BoxFuture<'_, Result<i64, StoreError>>;

    /// Noted sometime soon.
    fn set_position(&self, seq: i64) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Rooms it is no longer in, with the time it left them, or is in after all.
    fn note_left(&self, rooms: Vec<(RoomId, Option<Time>)>) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Rooms that were left at this time or before.
    fn left_by(&self, at: Time) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>>;
}

/// Who is being forgotten: from before anything is deleted until nothing is left.
pub trait ForgetJobs: Send + Sync {
    /// Notes what is to be done; when this returns it is durable. Returns its number.
    fn begin(&self, step: JobStep) -> BoxFuture<'_, Result<i64, StoreError>>;

    /// The oldest that has not ended, after this one.
    fn next(&self, after: i64) -> BoxFuture<'_, Result<Option<(i64, JobStep)>, StoreError>>;

    fn go_on(&self, id: i64, step: JobStep) -> BoxFuture<'_, Result<(), StoreError>>;

    fn end(&self, id: i64) -> BoxFuture<'_, Result<(), StoreError>>;
}

/// What is to be done next to forget somebody.
#[derive(Clone, Debug)]
pub enum JobStep {
    /// Everything of them is to be deleted.
    Delete(Box<ForgetRequest>),
    /// Nothing says any more who it was; copies of what was deleted have to leave the pages of the files.
    RemoveCopies,
    /// What was deleted has to leave the files.
    Settle,
}

impl JobStep {
    /// As every store keeps it.
    pub fn encode(&self) -> Option<String> {
        match self {
            JobStep::Delete(request) => Some(serde_json::to_string(request).expect("a request is plain data")),
            JobStep::RemoveCopies => Some(String::new()),
            JobStep::Settle => None,
        }
    }

    pub fn decode(body: Option<&str>) -> Result<JobStep, StoreError> {
        let unreadable = |error| StoreError::Failed(format!("cannot read who is to be forgotten: {error}"));
        Ok(match body {
            None => JobStep::Settle,
            Some("") => JobStep::RemoveCopies,
            Some(body) => JobStep::Delete(Box::new(serde_json::from_str(body).map_err(unreadable)?)),
        })
    }
}
