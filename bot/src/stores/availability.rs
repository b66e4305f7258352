//! Waits for space on a full disk, and for a server that does not answer.

use std::time::Duration;

use super::StoreError;

const TRIES_EVERY: Duration = Duration::from_secs(2);
/// How many attempts are made between two log lines.
const SAYS_EVERY: u32 = 30;

/// Retries until there is space and the server answers. Fails at once for any other reason.
pub async fn wait_until_available<T>(mut attempt: impl AsyncFnMut() -> Result<T, StoreError>) -> Result<T, StoreError> {
    let mut tries: u32 = 0;
    loop {
        match attempt().await {
            Err(error @ StoreError::Full(_)) => {
                if tries.is_multiple_of(SAYS_EVERY) {
                    tracing::error!(%error, "the disk is full; waiting: free some space, or move store.folder and restart");
                }
                tries += 1;
                tokio::time::sleep(TRIES_EVERY).await;
            }
            Err(error @ StoreError::Unavailable(_)) => {
                if tries.is_multiple_of(SAYS_EVERY) {
                    tracing::error!(%error, "waiting for the store: check store.url and its server");
                }
                tries += 1;
                tokio::time::sleep(TRIES_EVERY).await;
            }
            done => return done,
        }
    }
}
