//! What a model may use while it writes: tools, and where they come from.

use std::sync::Arc;

use aizuchi_core::tools::{ToolAccess, ToolOutput};
use aizuchi_core::types::{MessageId, PersonId, Place};
use aizuchi_core::{Policy, Time};
use serde_json::{Map, Value};

use super::BoxFuture;

/// One tool. A call that is dropped is cancelled.
pub trait Tool: Send + Sync {
    fn spec(&self) -> &ToolSpec;

    /// `Err` is for the model: it says what was wrong and what would be right.
    fn run<'a>(&'a self, request: ToolRequest<'a>) -> BoxFuture<'a, Result<ToolOutput, String>>;
}

/// What a model is shown of a tool, and what a call of it does.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// ASCII letters, digits, `_` and `-`, at most 64 of them: what every provider takes.
    pub name: String,
    pub description: String,
    /// The JSON schema of its arguments, which are an object.
    pub schema: Value,
    pub access: ToolAccess,
}

/// One call, for somebody.
#[derive(Clone, Copy)]
pub struct ToolRequest<'a> {
    pub arguments: &'a Map<String, Value>,
    pub place: &'a Place,
    /// Who is being answered, and the message that asked.
    pub asker: &'a PersonId,
    pub answering: &'a MessageId,
    pub now: Time,
    /// Memory has to know everything up to this record of the journal.
    pub seq: u64,
    pub policy: &'a Policy,
}

/// Tools that come and go while the program runs.
pub trait ToolSource: Send + Sync {
    /// Those there are now.
    fn tools(&self) -> Vec<Arc<dyn Tool>>;

    /// Waits until it has got those that there are, or has failed to.
    fn settled(&self) -> BoxFuture<'_, ()>;

    /// What keeps it from offering all of them, in a sentence each.
    fn problems(&self) -> Vec<String> {
        Vec::new()
    }

    /// Ends what it started.
    fn stop(&self) -> BoxFuture<'_, ()>;
}
