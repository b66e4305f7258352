//! Tools that a model may use while it writes, and where they come from.

use std::sync::Arc;

use aizuchi_core::tools::{ToolAccess, ToolOutput};
use aizuchi_core::types::{MessageId, PersonId, Place};
use aizuchi_core::{Policy, Time};
use serde_json::{Map, Value};

use super::BoxFuture;

/// One tool. Dropping the future of a call cancels it.
pub trait Tool: Send + Sync {
    fn spec(&self) -> &ToolSpec;

    /// `Err` is for the model: it says what was wrong and how to correct it.
    fn run<'a>(&'a self, request: ToolRequest<'a>) -> BoxFuture<'a, Result<ToolOutput, String>>;
}

/// What a model is shown of a tool, and what a call of it does.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// ASCII letters, digits, `_` and `-`, at most 64 of them: what every provider accepts.
    pub name: String,
    pub description: String,
    /// The JSON schema of its arguments, which are an object.
    pub schema: Value,
    pub access: ToolAccess,
}

/// One call on behalf of a person.
#[derive(Clone, Copy)]
pub struct ToolRequest<'a> {
    pub arguments: &'a Map<String, Value>,
    pub place: &'a Place,
    /// Who is being answered, and the message that asked.
    pub asker: &'a PersonId,
    pub answering: &'a MessageId,
    pub now: Time,
    /// Memory has to include everything up to this record of the journal.
    pub seq: u64,
    pub policy: &'a Policy,
}

/// Tools that come and go while the program runs.
pub trait ToolSource: Send + Sync {
    /// The tools available now.
    fn tools(&self) -> Vec<Arc<dyn Tool>>;

    /// Waits until its tools are available, or have failed.
    fn settled(&self) -> BoxFuture<'_, ()>;

    /// Why it does not offer all of them, one sentence each.
    fn problems(&self) -> Vec<String> {
        Vec::new()
    }

    /// Stops what it started.
    fn stop(&self) -> BoxFuture<'_, ()>;
}
