//! A task ended that must run as long as the program does.

use std::any::Any;
use std::fmt;
use std::panic::AssertUnwindSafe;

use aizuchi_core::effect::Failure as CallFailure;
use futures_util::FutureExt as _;
use tokio::task::JoinError;

use crate::stores::StoreError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskFailure {
    pub task: String,
    pub why: String,
}

impl fmt::Display for TaskFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {}", self.task, self.why)
    }
}

impl std::error::Error for TaskFailure {}

impl TaskFailure {
    pub fn of_shard(ended: Result<Result<(), StoreError>, JoinError>) -> TaskFailure {
        let why = match ended {
            Ok(Ok(())) => "it ended".to_owned(),
            Ok(Err(error)) => error.to_string(),
            Err(error) => match error.try_into_panic() {
                Ok(panic) => panic_message(&*panic),
                Err(error) => error.to_string(),
            },
        };
        TaskFailure { task: "the engine".into(), why }
    }
}

pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panicked: {}", text.unwrap_or("no message"))
}

/// A call whose task panics counts as failed, because its engine waits for a result.
pub async fn or_failure<T>(call: impl Future<Output = Result<T, CallFailure>>) -> Result<T, CallFailure> {
    AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|panic| {
        let why = panic_message(&*panic);
        tracing::error!(why, "model call failed");
        Err(CallFailure::new(why))
    })
}
