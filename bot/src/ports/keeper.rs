//! The progress of long-term memory, and who is being forgotten, as a store keeps them.

use aizuchi_core::Time;
use aizuchi_core::memory::ForgetRequest;
use aizuchi_core::types::{PersonId, RoomId};

use super::BoxFuture;
use crate::stores::StoreError;

pub trait KeeperStore: Send + Sync {
    /// The record of the journal up to which long-term memory has counted people and processed deletions.
    fn position(&self) -> BoxFuture<'_, Result<i64, StoreError>>;

    /// Stored soon.
    fn set_position(&self, seq: i64) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Rooms that the bot left, with the time, or `None` for rooms it is in after all.
    fn note_left(&self, rooms: Vec<(RoomId, Option<Time>)>) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Rooms that were left at this time or before.
    fn left_by(&self, at: Time) -> BoxFuture<'_, Result<Vec<RoomId>, StoreError>>;
}

/// Jobs to forget a person: from before anything is deleted until nothing is left.
pub trait ForgetJobs: Send + Sync {
    /// Stores a job; it is durable when this returns. Returns its number.
    fn begin(&self, step: JobStep) -> BoxFuture<'_, Result<i64, StoreError>>;

    /// The oldest unfinished job after this one.
    fn next(&self, after: i64) -> BoxFuture<'_, Result<Option<(i64, JobStep)>, StoreError>>;

    fn go_on(&self, id: i64, step: JobStep) -> BoxFuture<'_, Result<(), StoreError>>;

    fn end(&self, id: i64) -> BoxFuture<'_, Result<(), StoreError>>;
}

/// The next step in forgetting a person.
#[derive(Clone, Debug)]
pub enum JobStep {
    /// What is known here without memory is to be deleted here.
    DeleteHere(Box<ForgetRequest>),
    /// What is remembered of them is to be looked up and added to this, which is known without it.
    LookUp(Box<ForgetRequest>),
    /// They opted out: what is remembered of them is to be deleted.
    OptOut(PersonId),
    /// Everything of them is to be deleted.
    Delete(Box<ForgetRequest>),
    /// Nothing identifies the person any more; copies of deleted data have to be removed from the pages of the files.
    RemoveCopies,
    /// Deleted data has to leave the files.
    Settle,
}

/// What the others begin with.
const DELETE_HERE: &str = "delete-here ";
const LOOK_UP: &str = "look-up ";
const OPT_OUT: &str = "opt-out ";

impl JobStep {
    /// The format that every store uses.
    pub fn encode(&self) -> Option<String> {
        let json = |request: &ForgetRequest| serde_json::to_string(request).expect("a request is plain data");
        match self {
            JobStep::DeleteHere(request) => Some(format!("{DELETE_HERE}{}", json(request))),
            JobStep::LookUp(request) => Some(format!("{LOOK_UP}{}", json(request))),
            JobStep::OptOut(person) => Some(format!("{OPT_OUT}{person}")),
            JobStep::Delete(request) => Some(json(request)),
            JobStep::RemoveCopies => Some(String::new()),
            JobStep::Settle => None,
        }
    }

    pub fn decode(body: Option<&str>) -> Result<JobStep, StoreError> {
        let unreadable = |error| StoreError::Failed(format!("cannot read who is to be forgotten: {error}"));
        let request = |json: &str| serde_json::from_str(json).map(Box::new).map_err(unreadable);
        let Some(body) = body else { return Ok(JobStep::Settle) };
        if body.is_empty() {
            Ok(JobStep::RemoveCopies)
        } else if let Some(json) = body.strip_prefix(DELETE_HERE) {
            request(json).map(JobStep::DeleteHere)
        } else if let Some(json) = body.strip_prefix(LOOK_UP) {
            request(json).map(JobStep::LookUp)
        } else if let Some(person) = body.strip_prefix(OPT_OUT) {
            Ok(JobStep::OptOut(PersonId::new(person)))
        } else {
            request(body).map(JobStep::Delete)
        }
    }
}
