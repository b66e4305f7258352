//! A task ended that must run as long as the program does.

use std::any::Any;
use std::fmt;
use std::panic::AssertUnwindSafe;

use aizuchi_core::effect::Failure as CallFailure;
use futures_util::FutureExt as _;
use tokio::task::JoinError;

use crate::redacted;
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
            Err(error) => redacted::join_error(&error).into(),
        };
        TaskFailure { task: "the engine".into(), why }
    }
}

/// The message of a panic, which may quote what people said.
pub fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panicked: {}", text.unwrap_or("no message"))
}

/// A call of this kind whose task panics counts as failed, because its engine waits for a result.
pub async fn or_failure<T>(
    kind: &'static str,
    call: impl Future<Output = Result<T, CallFailure>>,
) -> Result<T, CallFailure> {
    AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|_| {
        tracing::error!(kind, "a panic counts as a failed call");
        Err(CallFailure::new(redacted::PANIC))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_panics_fails_and_quotes_nothing() {
        let words = std::hint::black_box("しかし quokka");
        let failed = or_failure("tool", async { Ok(words[8..].len()) }).await.expect_err("a letter is cut in two");
        assert_eq!(&*failed.what, redacted::PANIC);
        let ended = tokio::spawn(async move { Err(StoreError::Failed(words[8..].to_owned())) }).await;
        assert_eq!(TaskFailure::of_shard(ended).to_string(), format!("the engine failed: {}", redacted::PANIC));
    }
}
