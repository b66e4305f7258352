//! Why a call to Firestore failed, and whether a retry is useful.

use std::time::Duration;

use backon::{BackoffBuilder as _, ExponentialBackoff, ExponentialBuilder};
use tonic::{Code, Status};

use crate::stores::StoreError;

/// How often a change is retried: with these pauses, for about twelve seconds in total.
const RETRIES_MAX: usize = 9;
const PAUSE_MIN: Duration = Duration::from_millis(40);
const PAUSE_MAX: Duration = Duration::from_secs(3);

#[derive(Clone, Debug)]
pub struct CallFailure {
    pub code: Code,
    message: String,
}

impl CallFailure {
    pub fn new(code: Code, message: impl Into<String>) -> CallFailure {
        CallFailure { code, message: message.into() }
    }

    /// Whether the same call may succeed a little later. A missing permission is not temporary.
    pub fn is_passing(&self) -> bool {
        self.code == Code::Aborted || self.leaves_in_doubt()
    }

    /// Whether a document was not as a write required it to be.
    pub fn is_overtaken(&self) -> bool {
        matches!(self.code, Code::FailedPrecondition | Code::AlreadyExists | Code::NotFound)
    }

    /// Whether a commit may have succeeded despite this error.
    pub fn leaves_in_doubt(&self) -> bool {
        matches!(
            self.code,
            Code::Unavailable
                | Code::DeadlineExceeded
                | Code::ResourceExhausted
                | Code::Internal
                | Code::Unknown
                | Code::Cancelled
        )
    }
}

impl From<Status> for CallFailure {
    fn from(status: Status) -> CallFailure {
        CallFailure::new(status.code(), status.message())
    }
}

impl From<CallFailure> for StoreError {
    fn from(failure: CallFailure) -> StoreError {
        let told = format!("Firestore: {} ({:?})", failure.message, failure.code);
        if failure.is_passing() { StoreError::Unavailable(told) } else { StoreError::Failed(told) }
    }
}

/// Why something could not be read.
#[derive(Clone, Debug)]
pub enum FirestoreFailure {
    Call(CallFailure),
    /// The content is invalid.
    Content(StoreError),
}

impl From<StoreError> for FirestoreFailure {
    fn from(error: StoreError) -> FirestoreFailure {
        FirestoreFailure::Content(error)
    }
}

impl From<CallFailure> for FirestoreFailure {
    fn from(failure: CallFailure) -> FirestoreFailure {
        FirestoreFailure::Call(failure)
    }
}

/// Growing pauses with jitter, so that two processes do not retry in step.
pub fn pauses() -> ExponentialBackoff {
    let pauses = ExponentialBuilder::new().with_min_delay(PAUSE_MIN).with_max_delay(PAUSE_MAX);
    pauses.with_max_times(RETRIES_MAX).with_jitter().build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permission_is_not_asked_for_twice() {
        for code in [Code::PermissionDenied, Code::Unauthenticated, Code::InvalidArgument, Code::NotFound] {
            assert!(!CallFailure::new(code, "").is_passing(), "{code:?}");
        }
        for code in [Code::Aborted, Code::Unavailable, Code::DeadlineExceeded] {
            assert!(CallFailure::new(code, "").is_passing(), "{code:?}");
        }
        assert!(!CallFailure::new(Code::Aborted, "").leaves_in_doubt(), "nothing was written");
        assert_eq!(pauses().count(), RETRIES_MAX);
    }
}
